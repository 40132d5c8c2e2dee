// Marks on the timeline: steps in which something happens, of the focused lane.
import { computed } from '@preact/signals-core';
import type { Frame, History } from './history';
import type { Lane } from './lane';
import { dt, focused, runIndex, scene, tables, tick } from './session';

export interface Tick {
    step: number;
    kind: 'contact' | 'mode' | 'limit' | 'push' | 'stopped';
}

const MOST = 400;

const NONE = new Int32Array(0);

function contactModes(frame: Frame): Int32Array {
    return (frame.fields.get('contact_mode')?.values as Int32Array | undefined) ?? NONE;
}

/** What a lane's steps tell, read on from where the last look ended. */
class LaneEvents {
    readonly ticks: Tick[] = [];
    private readonly history: History;
    private readonly rewritten: number;
    private frames = 0; // read
    private rows = 0;
    private modes: Int32Array | null = null; // of the last frame read
    private atLimit = false; // so was the last row read

    constructor(readonly lane: Lane) {
        this.history = lane.history;
        this.rewritten = lane.history.rewritten;
    }

    /** Whether what has been read still stands. */
    holds(lane: Lane): boolean {
        return (
            lane === this.lane && lane.history === this.history && lane.history.rewritten === this.rewritten
        );
    }

    readOn(): void {
        const frames = this.history.allFrames();
        for (; this.frames < frames.length; this.frames++) this.readFrame(frames[this.frames]);
        const limit = tables.peek()?.outcomes.indexOf('max-iterations') ?? 1;
        const outcomes = this.history.column('outcome');
        for (; this.rows < outcomes.length; this.rows++) {
            const now = outcomes[this.rows] === limit;
            if (now && !this.atLimit) this.ticks.push({ step: this.rows + 1, kind: 'limit' });
            this.atLimit = now;
        }
    }

    private readFrame(frame: Frame): void {
        const now = contactModes(frame);
        const before = this.modes ?? now;
        if (now.length !== before.length) this.ticks.push({ step: frame.step, kind: 'contact' });
        else if (before.some((mode, k) => mode !== now[k]))
            this.ticks.push({ step: frame.step, kind: 'mode' });
        this.modes = now;
    }
}

let events: LaneEvents | null = null; // of the focused lane

/** Changes when there are other marks than before. */
const news = computed(() => {
    void tick.value;
    const lane = focused.value;
    if (!lane) return null;
    if (!events?.holds(lane)) events = new LaneEvents(lane);
    events.readOn();
    return `${lane.choice.id} ${lane.history.rewritten} ${events.ticks.length} ${lane.stoppedAt}`;
});

export const ticks = computed<Tick[]>(() => {
    const lane = focused.value;
    if (news.value === null || !events || !lane) return [];
    const pushes = (scene.value?.runs[runIndex.value]?.events ?? []).map(
        (event): Tick => ({ step: Math.round(event.start / dt.value), kind: 'push' }),
    );
    const stop: Tick[] = lane.stoppedAt >= 0 ? [{ step: lane.stoppedAt, kind: 'stopped' }] : [];
    return thin([...pushes, ...events.ticks, ...stop]);
});

function thin(all: Tick[]): Tick[] {
    if (all.length <= MOST) return all;
    const rare = all.filter((t) => t.kind !== 'mode');
    return rare.length <= MOST ? rare : rare.filter((_, i) => i % Math.ceil(rare.length / MOST) === 0);
}
