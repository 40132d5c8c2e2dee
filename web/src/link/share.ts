// The address of what is seen now, and opening such an address.
import { effect } from '@preact/signals-core';
import { openPlots } from '../plots/deck';
import { canonical, FIRST_EXPERIMENT, type Json, type SceneRef } from '../state/experiment';
import { say } from '../state/messages';
import { cursor, dt, experiment, lanes, open, playing, selection, steps, tables } from '../state/session';
import { FIRST_TAB, openTab } from '../state/tabs';
import { cameraState } from '../views3d/options';
import { decodeLink, encodeLink, type Linked, type View } from './codec';
import { show, shownWords } from './shown';
import { linkVerdict } from './verdict';

export const embedded = new URLSearchParams(location.search).has('embed');

export function currentView(): View {
    return {
        time: cursor.value * dt.value,
        camera: cameraState.value,
        selection: selection.value,
        plots: openPlots.value,
        tab: openTab.value === FIRST_TAB ? undefined : openTab.value,
        show: shownWords(),
    };
}

export function absolute(fragment: string): string {
    return `${location.origin}${location.pathname}${fragment}`;
}

/** The address as the person gave it, while the page shows something else in its place. */
let kept = false;

let newest = 0; // number of the link opened last: those before it have no say any more

/** Opens what the fragment says; a bad one gives a message, the first experiment, and stays in the address. */
async function openFragment(fragment: string): Promise<void> {
    const turn = ++newest;
    const overtaken = () => turn !== newest;
    linkVerdict.value = null;
    kept = false;
    if (fragment.length <= 1) {
        await open(FIRST_EXPERIMENT, { play: true });
        return remember();
    }
    try {
        const linked = await decodeLink(fragment);
        if (overtaken()) return;
        for (const text of linked.dropped) say('warning', 'A part of the link was left out.', text);
        const found = await sceneOf(linked);
        if (overtaken()) return; // while a question stood open, perhaps
        if (!found)
            return await fallBack(turn, 'info', 'The scene was not fetched; the first experiment is shown.');
        const missing = linked.experiment.solvers.filter(
            (s) => !tables.value?.solvers.some((t) => t.id === s.id),
        );
        for (const s of missing) say('warning', `This version has no solver "${s.id}".`);
        const solvers = linked.experiment.solvers.filter((s) => !missing.includes(s));
        if (linked.view.plots) openPlots.value = linked.view.plots;
        if (linked.view.tab) openTab.value = linked.view.tab;
        cameraState.value = linked.view.camera;
        for (const word of show(
            linked.view.show ?? [],
            solvers.map((s) => s.id),
        ))
            say('warning', 'A part of the link was left out.', `show: "${word}" means nothing here`);
        const opened = await open(
            { ...linked.experiment, scene: found, solvers },
            { play: linked.expected === null && linked.view.time === 0, estimate: true },
        );
        if (overtaken()) return;
        if (!opened) return await stay();
        cursor.value = Math.min(steps.value, Math.round(linked.view.time / dt.value));
        selection.value = linked.view.selection;
        remember();
        const { expected } = linked;
        if (expected) void import('./state-link').then((m) => m.verify(expected));
    } catch (error) {
        if (overtaken()) return;
        const why = error instanceof Error ? error.message : String(error);
        await fallBack(turn, 'error', 'This link cannot be opened; the first experiment is shown.', why);
    }
}

/** After a link that cannot run: what ran before goes on, or the first experiment, and the address stays. */
async function stay(): Promise<void> {
    if (lanes.value.length === 0) await open(FIRST_EXPERIMENT, { play: false });
    remember();
    kept = true;
}

async function fallBack(turn: number, kind: 'info' | 'error', text: string, why = ''): Promise<void> {
    await open(FIRST_EXPERIMENT, { play: false });
    if (turn !== newest) return; // another link has come: the first experiment is not what is shown
    say(kind, text, why);
    await stay();
}

/** Fetches or asks for what the link does not carry; null when the person declines. */
async function sceneOf({ wanted, files, experiment: { scene } }: Linked): Promise<SceneRef | null> {
    if (!wanted && files.length === 0) return scene;
    const { obtain } = await import('../app/obtain');
    return obtain(wanted, files, scene);
}

let entry = ''; // the experiment that the newest entry of the browser's history holds

function remember(): void {
    entry = canonical(experiment.value as unknown as Json);
}

let writing = 0; // timer of the next change of the address

/** Opens the link in the address, and whichever a person goes to later, even before the first is there. */
export async function openAddress(): Promise<void> {
    addEventListener('hashchange', (event) => {
        clearTimeout(writing); // else the old experiment would overwrite the new address
        void openFragment(new URL(event.newURL).hash);
    });
    await openFragment(location.hash);
}

/** Keeps the address in step with what is seen: a changed experiment is a new entry, a changed view is not. */
export function followAddress(): void {
    if (embedded) return; // the page around it chose the address
    effect(() => {
        void [experiment.value, selection.value, openPlots.value, openTab.value, playing.value, lanes.value];
        void shownWords();
        clearTimeout(writing);
        writing = window.setTimeout(() => void writeAddress(), 800);
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
