// `window.kinloop`: what a script beside the page may read and do. Used by pages that embed this one, and
// by the tests.
import { estimate } from '../state/estimate';
import {
    compute,
    cursor,
    dt,
    experiment,
    focused,
    lanes,
    pause,
    play,
    playing,
    scene,
    seek,
    selection,
    settled,
    steps,
} from '../state/session';
import type { KlStage } from '../views3d/stage';

export interface LaneSummary {
    solver: string;
    state: string;
    filled: number; // steps in the buffer
    shown: number; // step of the frame that is drawn
    hash: string; // of that frame
    error: string;
}

const api = {
    play,
    pause,
    seek,
    /** Fills the buffers of a run that waits because it takes long. */
    compute,
    get waiting() {
        return estimate.value?.waiting ?? false;
    },
    /** What is edited or opened has been set up: its lanes are those of `lanes`. */
    get settled() {
        return settled();
    },
    get step() {
        return cursor.value;
    },
    get steps() {
        return steps.value;
    },
    get dt() {
        return dt.value;
    },
    get playing() {
        return playing.value;
    },
    get selection() {
        return selection.value;
    },
    get experiment() {
        return structuredClone(experiment.value);
    },
    get scene() {
        return scene.value?.id ?? '';
    },
    get lanes(): LaneSummary[] {
        return lanes.value.map((lane) => {
            const frame = lane.history.frameAt(cursor.value);
            return {
                solver: lane.choice.id,
                state: lane.state.value,
                filled: lane.filled.value,
                shown: frame?.step ?? -1,
                hash: frame ? frame.hash.toString(16).padStart(16, '0') : '',
                error: lane.error.value?.message ?? '',
            };
        });
    },
    /** A column of the step record of one lane. */
    column: (lane: number, name: string) => Array.from(lanes.value[lane]?.history.column(name) ?? []),
    /** A field of the frame shown, e.g. "pose". */
    field: (lane: number, name: string) =>
        Array.from(
            (lanes.value[lane]?.history.frameAt(cursor.value)?.fields.get(name)?.values ??
                []) as Float64Array,
            Number,
        ),
    /** Contact force arrows as drawn, [N] times `scale` [m/N]. */
    arrows: (lane: number) => document.querySelector<KlStage>('kl-stage')?.arrowsOf(lane) ?? null,
    /** Ends a lane's worker, to see what the page does then. */
    crashWorker: (lane: number) => (lanes.value[lane] ?? focused.value)?.client.crash(),
};

export type KinloopApi = typeof api;

declare global {
    interface Window {
        kinloop: KinloopApi;
    }
}

window.kinloop = api;
