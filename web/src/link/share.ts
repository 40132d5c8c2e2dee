// The address of what is seen now, and opening such an address.
import { effect } from '@preact/signals-core';
import { openPlots } from '../plots/deck';
import { FIRST_EXPERIMENT } from '../state/experiment';
import { say } from '../state/messages';
import { cursor, dt, experiment, lanes, open, playing, selection, tables } from '../state/session';
import { cameraState } from '../views3d/options';
import { BadLink, decodeLink, type Expected, encodeLink, type View } from './codec';
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
        else if (lane.alive && lane.filled.value >= step) {
            hashes.push(
                (await lane.client.request('inspect', { step, natural: false, condition: false })).hash,
            );
        } else return null;
    }
    return { step, hashes, core: tables.value?.version ?? '' };
}

export async function currentLink(): Promise<string> {
    return encodeLink(experiment.value, currentView(), await currentHashes());
}

export function absolute(fragment: string): string {
    return `${location.origin}${location.pathname}${fragment}`;
}

/** Opens what the fragment says; a bad one gives a message and the first experiment. */
export async function openFragment(fragment: string): Promise<void> {
    linkVerdict.value = null;
    if (fragment.length <= 1) return open(FIRST_EXPERIMENT, { play: true });
    try {
        const linked = await decodeLink(fragment);
        for (const text of linked.dropped) say('warning', 'A part of the link was left out.', text);
        const missing = linked.experiment.solvers.filter(
            (s) => !tables.value?.solvers.some((t) => t.id === s.id),
        );
        for (const s of missing) say('warning', `This version has no solver "${s.id}".`);
        const solvers = linked.experiment.solvers.filter((s) => !missing.includes(s));
        if (linked.view.plots) openPlots.value = linked.view.plots;
        cameraState.value = linked.view.camera;
        await open(
            { ...linked.experiment, solvers },
            { play: linked.expected === null && linked.view.time === 0 },
        );
        cursor.value = Math.round(linked.view.time / dt.value);
        selection.value = linked.view.selection;
        if (linked.expected) void verify(linked.expected);
    } catch (error) {
        const why = error instanceof BadLink ? error.message : String(error);
        say('error', 'This link cannot be opened; the default experiment is shown.', why);
        await open(FIRST_EXPERIMENT, { play: false });
    }
}

/** Waits until every lane has reached the step, then compares. */
async function verify(expected: Expected): Promise<void> {
    linkVerdict.value = { kind: 'waiting', text: `checking the state at step ${expected.step}…` };
    const mine = lanes.value;
    await reached(expected.step);
    if (mine !== lanes.value) {
        linkVerdict.value = null;
        return;
    }
    const results = await Promise.all(
        mine.map(async (lane, i) => {
            if (!expected.hashes[i]) return 'no hash';
            if (lane.filled.value < expected.step || !lane.alive) return 'does not get there';
            const seen = await lane.client.request('inspect', {
                step: expected.step,
                natural: false,
                condition: false,
            });
            return seen.hash === expected.hashes[i] ? '' : `${seen.hash} instead of ${expected.hashes[i]}`;
        }),
    );
    const wrong = results.map((r, i) => (r ? `${mine[i].choice.id}: ${r}` : '')).filter(Boolean);
    linkVerdict.value =
        wrong.length === 0
            ? { kind: 'same', text: `✓ same state as the sender at step ${expected.step}` }
            : { kind: 'differs', text: `✗ the state differs from the sender’s at step ${expected.step}` };
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

/** Keeps the address in step with what is seen, without filling the history. */
export function followAddress(): void {
    if (embedded) return;
    let timer = 0;
    effect(() => {
        void [experiment.value, selection.value, openPlots.value, playing.value, lanes.value];
        clearTimeout(timer);
        timer = window.setTimeout(async () => {
            if (lanes.value.length === 0 || playing.peek()) return;
            const fragment = await encodeLink(experiment.value, currentView(), null);
            if (fragment.length < 8000) history.replaceState(null, '', fragment);
        }, 800);
    });
    addEventListener('hashchange', (event) => {
        clearTimeout(timer); // else the old experiment would overwrite the new address
        void openFragment(new URL(event.newURL).hash);
    });
}
