// Marks on the timeline: steps in which something happens, of the focused lane.
import { computed } from '@preact/signals-core';
import type { Frame } from './history';
import { dt, focused, runIndex, scene, tables, tick } from './session';

export interface Tick {
    step: number;
    kind: 'contact' | 'mode' | 'limit' | 'push' | 'stopped';
    text: string;
}

const MOST = 400;

function contactKey(frame: Frame): { count: number; modes: string } {
    const modes = frame.fields.get('contact_mode')?.values;
    return { count: modes?.length ?? 0, modes: modes ? Array.from(modes as Int32Array).join('') : '' };
}

export const ticks = computed<Tick[]>(() => {
    void tick.value;
    const lane = focused.value;
    if (!lane) return [];
    const out: Tick[] = [];
    for (const event of scene.value?.runs[runIndex.value]?.events ?? []) {
        out.push({ step: Math.round(event.start / dt.value), kind: 'push', text: 'push begins' });
    }
    let before: ReturnType<typeof contactKey> | null = null;
    for (const frame of lane.history.allFrames()) {
        const now = contactKey(frame);
        if (before && now.count !== before.count) {
            out.push({ step: frame.step, kind: 'contact', text: `contacts ${before.count} → ${now.count}` });
        } else if (before && now.modes !== before.modes) {
            out.push({ step: frame.step, kind: 'mode', text: 'stick, slip or open changed' });
        }
        before = now;
    }
    const limit = tables.value?.outcomes.indexOf('max-iterations') ?? 1;
    const outcomes = lane.history.column('outcome');
    let inside = false;
    for (let i = 0; i < outcomes.length; i++) {
        if (outcomes[i] === limit && !inside)
            out.push({ step: i + 1, kind: 'limit', text: 'out of iterations' });
        inside = outcomes[i] === limit;
    }
    if (lane.stoppedAt >= 0) out.push({ step: lane.stoppedAt, kind: 'stopped', text: 'stopped' });
    return thin(out);
});

function thin(all: Tick[]): Tick[] {
    if (all.length <= MOST) return all;
    const rare = all.filter((t) => t.kind !== 'mode');
    return rare.length <= MOST ? rare : rare.filter((_, i) => i % Math.ceil(rare.length / MOST) === 0);
}
