// The tabs at the right: solver, scene, problem, view, export.
import { html, type TemplateResult } from 'lit';
import { KlElement } from '../app/element';
import { partMissing } from '../state/messages';
import { openTab } from '../state/tabs';
import './solver-panel';

interface Tab {
    id: string;
    title: string;
    panel: () => TemplateResult;
    part?: () => Promise<unknown>; // what comes over the network when the tab is first opened
}

const TABS: Tab[] = [
    { id: 'solver', title: 'Solver', panel: () => html`<kl-solver-panel></kl-solver-panel>` },
    {
        id: 'scene',
        title: 'Scene',
        panel: () => html`<kl-scene-panel></kl-scene-panel>`,
        part: () => import('./scene-panel'),
    },
    {
        id: 'problem',
        title: 'Problem',
        panel: () => html`<kl-problem-panel></kl-problem-panel>`,
        part: () => import('./problem-panel'),
    },
    {
        id: 'view',
        title: 'View',
        panel: () => html`<kl-view-panel></kl-view-panel>`,
        part: () => import('./view-panel'),
    },
    {
        id: 'export',
        title: 'Export',
        panel: () => html`<kl-export-panel></kl-export-panel>`,
        part: () => import('./export-panel'),
    },
];

export class KlInspector extends KlElement {
    override render() {
        const now = TABS.find((t) => t.id === openTab.value) ?? TABS[0];
        now.part?.().catch(partMissing);
        return html`
            <div class="tabs" role="tablist" aria-label="Inspector" @keydown=${this.key}>
                ${TABS.map(
                    (t) => html`<button
                        role="tab"
                        id=${`tab-${t.id}`}
                        aria-selected=${t === now}
                        aria-controls="inspector-panel"
                        tabindex=${t === now ? 0 : -1}
                        @click=${() => (openTab.value = t.id)}
                    >
                        ${t.title}
                    </button>`,
                )}
            </div>
            <div id="inspector-panel" class="panel" role="tabpanel" tabindex="0" aria-labelledby=${`tab-${now.id}`}>
                <h2 class="visually-hidden">${now.title}</h2>
                ${now.panel()}
            </div>
        `;
    }

    private key(event: KeyboardEvent): void {
        if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
        event.preventDefault();
        event.stopPropagation();
        const at = TABS.findIndex((t) => t.id === openTab.value);
        const next = TABS[(at + (event.key === 'ArrowRight' ? 1 : TABS.length - 1)) % TABS.length];
        openTab.value = next.id;
        document.getElementById(`tab-${next.id}`)?.focus();
    }
}

customElements.define('kl-inspector', KlInspector);
