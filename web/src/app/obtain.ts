// Asks before anything is fetched from another address, and for files that a link names but does not carry.
// Loaded when first needed.
import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { BadLink, type FileSum, type Wanted } from '../link/codec';
import { sha256 } from '../link/digest';
import { fetchScene } from '../link/fetch-scene';
import { checkedAddress } from '../link/link-parts';
import type { SceneRef } from '../state/experiment';
import { ownFiles } from '../state/gallery';
import { say } from '../state/messages';
import { experiment } from '../state/session';
import { dialog, KlDialog } from './dialogs';
import { fromList, type GivenFile } from './given-files';
import { takeFiles } from './own-input';

interface Question {
    heading: string;
    text: string;
    address: string; // '' = none yet, to be typed
    wants: FileSum[]; // files to be chosen
    answer: (done: SceneRef | null) => void;
}

const question = signal<Question | null>(null);
const address = signal('');
const failure = signal('');
const busy = signal(false);

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What lies there, as a scene. `now` opens it at once; a link opens it later, with its own settings. */
async function fetched(asked: Question, url: string, sum: string, now: boolean): Promise<SceneRef | null> {
    const got = await fetchScene(url);
    if (question.value !== asked) return null; // cancelled meanwhile
    if (sum && got.sum && sum !== got.sum)
        say(
            'warning',
            'The file has changed since the link was made.',
            `${url}\n${got.sum} instead of ${sum}`,
        );
    if (got.missing.length > 0)
        say('warning', 'Files that it names could not be fetched.', got.missing.join('\n'));
    const origin = { url: checkedAddress(url), sum: got.sum };
    if (got.kind === 'scene' && !now) {
        const [main, ...beside] = got.files;
        ownFiles.set(main.path, await Promise.all(beside.map(asSceneFile)));
        return { kind: 'own', name: main.path, text: got.text, ...origin };
    }
    return opened(got.files, origin);
}

/** Opens scene, model or problem as if it had been dropped; null when that gave no new scene. */
async function opened(files: GivenFile[], origin: { url: string; sum: string }): Promise<SceneRef | null> {
    const before = experiment.value;
    handing = true; // other dialogs may take over
    await takeFiles(files).finally(() => {
        handing = false;
    });
    const { scene } = experiment.value;
    if (experiment.value === before || scene.kind !== 'own') return null;
    const ref = { ...scene, ...origin };
    experiment.value = { ...experiment.value, scene: ref };
    return ref;
}

async function asSceneFile({ path, file }: GivenFile) {
    return { path, data: new Uint8Array(await file.arrayBuffer()) };
}

/** The files a link asks for, checked; the first may be the scene itself. */
async function chosen(files: File[], wants: FileSum[], scene: SceneRef | null): Promise<SceneRef> {
    const beside = [];
    let found = scene;
    for (const { name, sum } of wants) {
        const base = name.split('/').pop();
        const file = files.find((f) => f.name === base);
        if (!file) throw new Error(`${name} is not among the chosen files.`);
        const data = new Uint8Array(await file.arrayBuffer());
        const own = await sha256(data);
        if (sum && own && sum !== own)
            throw new Error(
                `This ${name} is not the sender’s: its content differs (${own} instead of ${sum}).`,
            );
        if (found) beside.push({ path: name, data });
        else found = { kind: 'own', name, text: new TextDecoder().decode(data) };
    }
    if (found?.kind === 'own') ownFiles.set(found.name, beside);
    return found!;
}

function ask(next: Omit<Question, 'answer'>): Promise<SceneRef | null> {
    question.value?.answer(null);
    failure.value = '';
    address.value = next.address;
    return new Promise((done) => {
        question.value = { ...next, answer: done };
        if (!document.querySelector('kl-obtain')) document.body.append(new KlObtain());
        dialog.value = ''; // may be closing just now, by Escape
        dialog.value = 'obtain';
    });
}

let handing = false;
let pending: SceneRef | null = null; // carried by the link, but for its files

/** What the link does not carry: fetched after a yes, or chosen by the person; null when declined. */
export async function obtain(
    wanted: Wanted | null,
    files: FileSum[],
    scene: SceneRef,
): Promise<SceneRef | null> {
    if (wanted?.kind === 'url')
        return ask({
            heading: 'Fetch a scene from another address?',
            text: `This link takes its scene from ${new URL(wanted.url).host}, which will see that you ask for it. Nothing is sent there.`,
            address: `${wanted.url}${wanted.sum ? ` ${wanted.sum}` : ''}`,
            wants: [],
        });
    pending = wanted ? null : scene;
    const wants = wanted ? [{ name: wanted.name, sum: wanted.sum }, ...files] : files;
    return ask({
        heading: wanted ? 'This link needs a file' : 'This link needs files',
        text: `The sender’s scene ${wanted ? 'is a file that travels apart from the link' : 'uses files that the link does not carry'}. Choose what you were sent; it stays on this computer.`,
        address: '',
        wants,
    });
}

/** Opens a scene, model or problem by an address that the person types. */
export function openByAddress(): void {
    void ask({
        heading: 'Open by address',
        text: 'A scene or dual problem (JSON), URDF, MJCF or HDF5 file on the web. Its host must let other pages read it (CORS). Links to what you open carry the address, not the file.',
        address: '',
        wants: [],
    });
}

/** Who goes to another link has answered: no. */
addEventListener('hashchange', () => {
    if (dialog.value === 'obtain') dialog.value = '';
});

export class KlObtain extends KlDialog {
    readonly name = 'obtain';

    get heading() {
        return question.value?.heading ?? '';
    }

    content() {
        const now = question.value;
        if (!now) return html``;
        const [url, sum = ''] = now.address.split(' ');
        return html`
            <p>${now.text}</p>
            ${
                now.wants.length > 0
                    ? html`<ul>${now.wants.map((f) => html`<li>${f.name}</li>`)}</ul>`
                    : html`<label class="share-row"
                          ><span>Address</span>
                          <input
                              type="url"
                              placeholder="https://…/scene.json"
                              ?readonly=${now.address !== ''}
                              .value=${now.address ? url : address.value}
                              @input=${(e: Event) => (address.value = (e.target as HTMLInputElement).value)}
                              @keydown=${(e: KeyboardEvent) => e.key === 'Enter' && void this.fetch(url || address.value, sum)}
                          />
                      </label>`
            }
            ${busy.value ? html`<p role="status">Fetching…</p>` : null}
            ${failure.value ? html`<p role="alert">${failure.value}</p>` : null}
            <p>
                ${
                    now.wants.length > 0
                        ? html`<button class="primary" @click=${() => this.choose(now)}>Choose ${now.wants.length > 1 ? 'files' : now.wants[0].name}…</button>`
                        : html`<button class="primary" ?disabled=${busy.value} @click=${() => void this.fetch(url || address.value, sum)}>Fetch</button>`
                }
                <button @click=${() => (dialog.value = '')}>Cancel</button>
            </p>
        `;
    }

    protected override closing(): void {
        if (handing) return;
        question.value?.answer(null);
        question.value = null;
    }

    private finish(scene: SceneRef | null): void {
        question.value?.answer(scene);
        question.value = null;
        if (dialog.value === 'obtain') dialog.value = '';
    }

    private async fetch(url: string, sum: string): Promise<void> {
        const asked = question.value;
        if (!asked || busy.value) return;
        busy.value = true;
        failure.value = '';
        try {
            const scene = await fetched(asked, url.trim(), sum, asked.address === '');
            if (question.value === asked) this.finish(scene);
        } catch (error) {
            failure.value = error instanceof BadLink ? `${reason(error)}.` : reason(error);
        } finally {
            busy.value = false;
        }
    }

    private choose(now: Question): void {
        const input = document.createElement('input');
        input.type = 'file';
        input.multiple = now.wants.length > 1;
        input.onchange = async () => {
            try {
                this.finish(
                    await chosen(
                        fromList(input.files ?? []).map((f) => f.file),
                        now.wants,
                        pending,
                    ),
                );
            } catch (error) {
                failure.value = reason(error);
            }
        };
        input.click();
    }
}

customElements.define('kl-obtain', KlObtain);
