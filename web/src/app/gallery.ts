// The experiments that come with the page, each with what to look for.

import './gallery.css';
import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { galleryIndex, type SceneEntry, sceneSource } from '../state/gallery';
import { experiment, open, readScene } from '../state/session';
import type { KlStage } from '../views3d/stage';
import { dialog, KlDialog } from './dialogs';
import { chooseFiles } from './own-input';

const entries = signal<SceneEntry[]>([]);
const pictures = signal<ReadonlyMap<string, string>>(new Map());
let drawing = false;

/** Draws what is missing, one scene after another, while the gallery is open. */
async function drawPictures(): Promise<void> {
    if (drawing) return;
    drawing = true;
    for (const entry of entries.value) {
        if (dialog.value !== 'gallery') break;
        if (pictures.value.has(entry.id)) continue;
        const stage = document.querySelector<KlStage>('kl-stage');
        try {
            const { source } = await sceneSource({ kind: 'gallery', id: entry.id }, []);
            const { scene } = await readScene(source, 0);
            const url = stage?.thumbnail(scene, source.text) ?? '';
            if (url) pictures.value = new Map(pictures.value).set(entry.id, url);
        } catch {
            // A scene that does not load has no picture; opening it says why.
        }
    }
    drawing = false;
}

function plural(count: number, one: string, many: string): string {
    return `${count} ${count === 1 ? one : many}`;
}

export class KlGallery extends KlDialog {
    readonly name = 'gallery';
    readonly heading = 'Experiments';

    protected override opening(): void {
        void galleryIndex().then((list) => {
            entries.value = list;
            void drawPictures();
        });
    }

    content() {
        return html`
            <p class="quiet">
                Every scene with its runs. Your own: a scene (JSON), a model (URDF, MJCF; with its meshes), or a dual problem (JSON, HDF5).
                <button @click=${() => void chooseFiles()}>Open files…</button> <button @click=${() => void chooseFiles(true)}>Open a folder…</button>
                <button @click=${() => void import('./obtain').then((m) => m.openByAddress())}>By address…</button>
                Files stay on this computer.
            </p>
            <ul class="gallery">
                ${entries.value.filter((e) => !e.experiment).map((entry) => this.card(entry))}
            </ul>
            <h3>With the report's solvers, and of its discussion</h3>
            <ul class="gallery">
                ${entries.value.filter((e) => e.experiment).map((entry) => this.card(entry))}
            </ul>
        `;
    }

    private card(entry: SceneEntry) {
        const current = experiment.value.scene;
        const picture = pictures.value.get(entry.id);
        const here = current.kind === 'gallery' && current.id === entry.id;
        return html`<li class=${here ? 'here' : ''}>
            ${picture ? html`<img src=${picture} width="240" height="135" alt="" />` : html`<span class="no-picture"></span>`}
            <h3>
                ${entry.title}
                ${entry.surrogate ? html`<span class="tag" title="Built here in place of a robot that is not public">surrogate</span>` : null}
            </h3>
            <p>${entry.text}</p>
            <p class="quiet">${plural(entry.bodies, 'body', 'bodies')}, ${plural(entry.joints, 'joint', 'joints')}</p>
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
