// The address of what is seen now, and opening such an address.
import { effect } from '@preact/signals-core';
import type { SceneFile } from '../core/protocol';
import { openPlots } from '../plots/deck';
import { canonical, FIRST_EXPERIMENT, type Json, type SceneRef } from '../state/experiment';
import { sceneDocument } from '../state/gallery';
import type { Lane } from '../state/lane';
import { say } from '../state/messages';
import {
    cursor,
    documentText,
    dt,
    experiment,
    lanes,
    open,
    playing,
    scene,
    selection,
    steps,
    tables,
} from '../state/session';
import { cameraState } from '../views3d/options';
import { BLOCK, blocksUpTo, firstDifference } from './blocks';
import {
    type Blocks,
    decodeLink,
    type Expected,
    encodeLink,
    type FileSum,
    type Linked,
    type View,
} from './codec';
import { sha256 } from './digest';
import { linkVerdict } from './verdict';

export const embedded = new URLSearchParams(location.search).has('embed');

function currentView(): View {
    return {
        time: cursor.value * dt.value,
        camera: cameraState.value,
        selection: selection.value,
        plots: openPlots.value,
    };
}

/** State hashes of all lanes at the step shown; null where a lane has not got there. */
async function currentHashes(): Promise<Expected | null> {
    const step = cursor.value;
    const hashes: string[] = [];
    for (const lane of lanes.value) {
        const frame = lane.history.frameAt(step);
        if (frame?.step === step) hashes.push(frame.hash.toString(16).padStart(16, '0'));
        else if (lane.alive && lane.filled.value >= step) hashes.push(await hashAt(lane, step));
        else return null;
    }
    return { step, hashes, core: tables.value?.version ?? '', blocks: await currentBlocks(step) };
}

async function hashAt(lane: Lane, step: number): Promise<string> {
    return (await lane.client.request('inspect', { step, natural: false, condition: false })).hash;
}

async function currentBlocks(step: number): Promise<Blocks | null> {
    if (step < BLOCK || lanes.value.some((lane) => !lane.alive)) return null;
    return blocksUpTo(
        step,
        await Promise.all(lanes.value.map((lane) => lane.client.request('blockHashes', null))),
    );
}

/** The link to what is seen; `apart` leaves the scene to a file that travels beside it. */
export async function currentLink(apart = false): Promise<string> {
    const { scene } = experiment.value;
    const { files } = await sceneDocument(scene);
    const beside = scene.kind === 'gallery' || (scene.url && !apart) ? [] : await sums(files);
    const file = apart
        ? { name: sceneFileName(), sum: await sha256(new TextEncoder().encode(documentText.value)) }
        : null;
    return encodeLink(experiment.value, currentView(), await currentHashes(), beside, file);
}

export function sceneFileName(): string {
    return `${(scene.value?.id || 'scene').replace(/[^\w.-]/g, '_').slice(0, 60)}.json`;
}

function sums(files: SceneFile[]): Promise<FileSum[]> {
    return Promise.all(
        files.map(async ({ path, data }) => ({
            name: path.replace(/[^\w./ -]/g, '_').slice(0, 120),
            sum: await sha256(data),
        })),
    );
}

export function absolute(fragment: string): string {
    return `${location.origin}${location.pathname}${fragment}`;
}

/** The address as the person gave it, while the page shows something else in its place. */
let kept = false;

/** Opens what the fragment says; a bad one gives a message, the first experiment, and stays in the address. */
export async function openFragment(fragment: string): Promise<void> {
    linkVerdict.value = null;
    kept = false;
    if (fragment.length <= 1) {
        await open(FIRST_EXPERIMENT, { play: true });
        return remember();
    }
    try {
        const linked = await decodeLink(fragment);
        for (const text of linked.dropped) say('warning', 'A part of the link was left out.', text);
        const found = await sceneOf(linked);
        if (!found)
            return await fallBack('info', 'The scene was not fetched; the first experiment is shown.', '');
        const missing = linked.experiment.solvers.filter(
            (s) => !tables.value?.solvers.some((t) => t.id === s.id),
        );
        for (const s of missing) say('warning', `This version has no solver "${s.id}".`);
        const solvers = linked.experiment.solvers.filter((s) => !missing.includes(s));
        if (linked.view.plots) openPlots.value = linked.view.plots;
        cameraState.value = linked.view.camera;
        const opened = await open(
            { ...linked.experiment, scene: found, solvers },
            { play: linked.expected === null && linked.view.time === 0, estimate: true },
        );
        if (!opened) return await stay();
        cursor.value = Math.min(steps.value, Math.round(linked.view.time / dt.value));
        selection.value = linked.view.selection;
        remember();
        if (linked.expected) void verify(linked.expected);
    } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        await fallBack('error', 'This link cannot be opened; the first experiment is shown.', why);
    }
}

/** After a link that cannot run: what ran before goes on, or the first experiment, and the address stays. */
async function stay(): Promise<void> {
    if (lanes.value.length === 0) await open(FIRST_EXPERIMENT, { play: false });
    remember();
    kept = true;
}

async function fallBack(kind: 'info' | 'error', text: string, why: string): Promise<void> {
    say(kind, text, why);
    await open(FIRST_EXPERIMENT, { play: false });
    await stay();
}

/** Fetches or asks for what the link does not carry; null when the person declines. */
async function sceneOf({ wanted, files, experiment: { scene } }: Linked): Promise<SceneRef | null> {
    if (!wanted && files.length === 0) return scene;
    const { obtain } = await import('../app/obtain');
    return obtain(wanted, files, scene);
}

/** Waits until every lane has reached the step, then compares. */
async function verify(expected: Expected): Promise<void> {
    linkVerdict.value = { kind: 'waiting', text: `checking the state at step ${expected.step}…`, step: -1 };
    const mine = lanes.value;
    await reached(expected.step);
    if (mine !== lanes.value) {
        linkVerdict.value = null;
        return;
    }
    const results = await Promise.all(
        mine.map(async (lane, i) => {
            if (!expected.hashes[i]) return { text: 'no hash', from: -1 };
            if (lane.filled.value < expected.step || !lane.alive)
                return { text: 'does not get there', from: -1 };
            const hash = await hashAt(lane, expected.step);
            if (hash === expected.hashes[i]) return null;
            const block = expected.blocks
                ? firstDifference(
                      expected.blocks,
                      i,
                      await lane.client.request('blockHashes', null),
                      expected.step,
                  )
                : null;
            const where = block ? `, first in steps ${block[0]} to ${block[1]}` : '';
            return { text: `${hash} instead of ${expected.hashes[i]}${where}`, from: block ? block[0] : -1 };
        }),
    );
    const wrong = results.flatMap((r, i) => (r ? [`${mine[i].choice.id}: ${r.text}`] : []));
    const from = results.flatMap((r) => (r && r.from > 0 ? [r.from] : []));
    const first = from.length > 0 ? Math.min(...from) : -1;
    linkVerdict.value =
        wrong.length === 0
            ? { kind: 'same', text: `✓ same state as the sender at step ${expected.step}`, step: -1 }
            : {
                  kind: 'differs',
                  text: `✗ the state differs from the sender’s at step ${expected.step}${first > 0 ? `, from step ${first} on` : ''}`,
                  step: first,
              };
    if (wrong.length > 0) {
        const versions =
            expected.core !== tables.value?.version
                ? `written by kinloop ${expected.core}, this is ${tables.value?.version}\n`
                : '';
        say('warning', 'The linked state is not reproduced.', versions + wrong.join('\n'));
    }
}

function reached(step: number): Promise<void> {
    return new Promise((done) => {
        const dispose = effect(() => {
            const waiting = lanes.value.some(
                (l) => (l.state.value === 'running' || l.state.value === 'loading') && l.filled.value < step,
            );
            if (!waiting)
                queueMicrotask(() => {
                    dispose();
                    done();
                });
        });
    });
}

let entry = ''; // the experiment that the newest entry of the browser's history holds

function remember(): void {
    entry = canonical(experiment.value as unknown as Json);
}

/** Keeps the address in step with what is seen: a changed experiment is a new entry, a changed view is not. */
export function followAddress(): void {
    let timer = 0;
    addEventListener('hashchange', (event) => {
        clearTimeout(timer); // else the old experiment would overwrite the new address
        void openFragment(new URL(event.newURL).hash);
    });
    if (embedded) return; // the page around it chose the address
    effect(() => {
        void [experiment.value, selection.value, openPlots.value, playing.value, lanes.value];
        clearTimeout(timer);
        timer = window.setTimeout(() => void writeAddress(), 800);
    });
}

async function writeAddress(): Promise<void> {
    if (lanes.value.length === 0 || playing.peek()) return;
    const now = canonical(experiment.value as unknown as Json);
    if (kept && now === entry) return;
    kept = false;
    const fragment = await encodeLink(experiment.value, currentView(), null);
    if (fragment.length >= 8000 || fragment === location.hash) return;
    if (now === entry) history.replaceState(null, '', fragment);
    else history.pushState(null, '', fragment);
    entry = now;
}
