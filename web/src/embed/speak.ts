// What an embedded page tells the page around it, and takes from it. Nothing secret is here: any page may frame
// this one, and what it can do is play, pause and seek. Loaded in frames only.
import { effect } from '@preact/signals-core';
import { linkVerdict } from '../link/verdict';
import { cursor, dt, lanes, pause, play, playing, scene, seek, steps, tick } from '../state/session';
import type { CompareState } from './compare';

const EVERY = 200; // [ms]

function state(): CompareState {
    return {
        scene: scene.peek()?.id ?? '',
        time: cursor.peek() * dt.peek(),
        duration: steps.peek() * dt.peek(),
        playing: playing.peek(),
        solvers: lanes.peek().map((lane) => {
            const frame = lane.history.frameAt(cursor.peek());
            return {
                id: lane.choice.id,
                state: lane.state.peek(),
                filled: lane.filled.peek(),
                hash: frame?.hash.toString(16).padStart(16, '0') ?? '',
            };
        }),
        verdict: linkVerdict.peek()?.kind ?? '',
    };
}

export function speakToParent(): void {
    let timer = 0;
    effect(() => {
        void [cursor.value, tick.value, playing.value, lanes.value, linkVerdict.value];
        void lanes.value.map((lane) => lane.state.value);
        if (timer) return;
        timer = window.setTimeout(() => {
            timer = 0;
            parent.postMessage({ kinloopState: state() }, '*');
        }, EVERY);
    });
    addEventListener('message', ({ source, data }) => {
        if (source !== parent || typeof data !== 'object' || data === null) return;
        if (data.kinloop === 'play') play();
        else if (data.kinloop === 'pause') pause();
        else if (data.kinloop === 'seek' && Number.isFinite(data.time)) {
            pause();
            seek(data.time / dt.peek());
        }
    });
}
