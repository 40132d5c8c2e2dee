// Marks on the timeline: steps in which something happens, of the focused lane.
import { computed } from '@preact/signals-core';
import type { Frame } from './history';
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

export const ticks = computed<Tick[]>(() => {
    void tick.value;
    const lane = focused.value;
    if (!lane) return [];
    const out: Tick[] = [];
    for (const event of scene.value?.runs[runIndex.value]?.events ?? []) {
        out.push({ step: Math.round(event.start / dt.value), kind: 'push' });
    }
    let before: Int32Array | null = null;
    for (const frame of lane.history.allFrames()) {
        const now = contactModes(frame);
        if (before && now.length !== before.length) out.push({ step: frame.step, kind: 'contact' });
        else if (before?.some((mode, k) => mode !== now[k])) out.push({ step: frame.step, kind: 'mode' });
        before = now;
    }
    const limit = tables.value?.outcomes.indexOf('max-iterations') ?? 1;
    const outcomes = lane.history.column('outcome');
    let inside = false;
    for (let i = 0; i < outcomes.length; i++) {
        if (outcomes[i] === limit && !inside) out.push({ step: i + 1, kind: 'limit' });
        inside = outcomes[i] === limit;
    }
    if (lane.stoppedAt >= 0) out.push({ step: lane.stoppedAt, kind: 'stopped' });
    return thin(out);
});

function thin(all: Tick[]): Tick[] {
    if (all.length <= MOST) return all;
    const rare = all.filter((t) => t.kind !== 'mode');
    return rare.length <= MOST ? rare : rare.filter((_, i) => i % Math.ceil(rare.length / MOST) === 0);
}
