// The experiments that come with the page, each with what to look for.

import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { galleryIndex, type SceneEntry } from '../state/gallery';
import { experiment, open } from '../state/session';
import { dialog, KlDialog } from './dialogs';
import { chooseFiles } from './own-input';

const entries = signal<SceneEntry[]>([]);

export class KlGallery extends KlDialog {
    readonly name = 'gallery';
    readonly heading = 'Experiments';

    protected override opening(): void {
        void galleryIndex().then((list) => {
            entries.value = list;
        });
    }

    content() {
        return html`
            <p class="quiet">
                Every scene with its runs. Your own: a scene (JSON), or a dual problem (JSON, HDF5).
                <button @click=${() => void chooseFiles()}>Open a file…</button>
                Files stay on this computer.
            </p>
            <ul class="gallery">
                ${entries.value.map((entry) => this.card(entry))}
            </ul>
        `;
    }

    private card(entry: SceneEntry) {
        const current = experiment.value.scene;
        const here = current.kind === 'gallery' && current.id === entry.id;
        return html`<li class=${here ? 'here' : ''}>
            <h3>
                ${entry.title}
                ${entry.surrogate ? html`<span class="tag" title="Built here in place of a robot that is not public">surrogate</span>` : null}
            </h3>
            <p>${entry.text}</p>
            <p class="quiet">${entry.bodies > 0 ? `${entry.bodies} bodies, ${entry.joints} joints` : null}</p>
            <div class="runs">
                ${(entry.runs.length > 0 ? entry.runs : [{ id: '', title: 'Open', text: '' }]).map(
                    (
                        run,
                    ) => html`<button title=${run.text} data-scene=${entry.id} data-run=${run.id} @click=${() => this.start(entry.id, run.id)}>
                        ${run.title}
                    </button>`,
                )}
            </div>
        </li>`;
    }

    private start(id: string, run: string): void {
        dialog.value = '';
        void open(
            {
                scene: { kind: 'gallery', id },
                run,
                mode: experiment.value.mode,
                driver: '',
                preset: '',
                solvers: [],
                edits: [],
                duration: 0,
            },
            { play: true },
        );
    }
}

customElements.define('kl-gallery', KlGallery);
