// The page: top bar, 3D views, inspector, timeline, plots, status line, dialogs.
import { html } from 'lit';
import { embedded } from '../link/share';
import { loadProgress } from '../state/core-module';
import { estimate } from '../state/estimate';
import { partMissing } from '../state/messages';
import { lanes, phase } from '../state/session';
import { tallViews } from '../views3d/options';
import { dialog } from './dialogs';
import { KlElement } from './element';
import '../panels/inspector';
import '../plots/deck';
import '../views3d/stage';
import './lazy-dialogs';
import './messages';
import './status-bar';
import './timeline';
import './top-bar';

export class KlApp extends KlElement {
    override render() {
        if (phase.value === 'unsupported') {
            return html`<main class="notice">
                <h1>kinloop</h1>
                <p>This browser has no WebAssembly with SIMD, which the simulation needs. Firefox 89, Chrome 91 and Safari 16.4, or newer, have it.</p>
            </main>`;
        }
        if (phase.value === 'broken') {
            return html`<main class="notice">
                <h1>kinloop</h1>
                <p role="alert">The simulation core could not be loaded. Check the connection, then try again.</p>
                <button @click=${() => location.reload()}>Try again</button>
                <kl-messages></kl-messages>
            </main>`;
        }
        return html`
            <a class="skip" href="#plots" @click=${this.skip}>Skip to plots</a>
            <div class="shell ${embedded ? 'embedded' : ''}">
                ${embedded ? null : html`<kl-top-bar role="banner"></kl-top-bar>`}
                <main class="work ${tallViews.value ? 'tall-views' : ''}">
                    <section class="views" aria-label="3D views">
                        <kl-stage></kl-stage>
                        ${estimate.value?.waiting ? html`<kl-estimate></kl-estimate>` : null}
                        ${
                            phase.value === 'loading' || lanes.value.length === 0
                                ? html`<div class="loading" role="status">
                                  <span>${loadProgress.value < 1 ? `Loading the core, ${Math.round(100 * loadProgress.value)} %` : 'Preparing the scene…'}</span>
                                  <progress max="1" .value=${loadProgress.value} aria-label="Loading"></progress>
                              </div>`
                                : null
                        }
                    </section>
                    ${embedded ? null : html`<aside class="side" aria-label="Inspector"><kl-inspector></kl-inspector></aside>`}
                    <section class="time" aria-label="Timeline"><kl-timeline></kl-timeline></section>
                    <section class="plots" id="plots" tabindex="-1" aria-label="Plots"><kl-deck></kl-deck></section>
                </main>
                <kl-status-bar role="contentinfo"></kl-status-bar>
            </div>
            ${dialog.value ? null : html`<kl-messages></kl-messages>`}
            <kl-gallery></kl-gallery>
            <kl-share></kl-share>
            <kl-help></kl-help>
            <kl-bench></kl-bench>
            <kl-import></kl-import>
        `;
    }

    protected override updated(): void {
        if (estimate.peek()?.waiting) import('./estimate-note').catch(partMissing);
    }

    private skip(event: Event): void {
        event.preventDefault();
        document.getElementById('plots')?.focus();
    }
}

customElements.define('kinloop-app', KlApp);
