import { describe, expect, it } from 'vitest';
import type { Chunk } from '../../src/core/protocol';
import type { Tables } from '../../src/core/types';
import { ticks } from '../../src/state/events';
import { History } from '../../src/state/history';
import type { Lane } from '../../src/state/lane';
import { lanes, tables, tick } from '../../src/state/session';

/** A step a row, each kept: its outcome, and the modes of its contacts. */
function chunk(first: number, steps: { outcome: number; modes: number[] }[]): Chunk {
    const offsets = [0];
    for (const { modes } of steps) offsets.push(offsets[offsets.length - 1] + modes.length);
    return {
        first,
        count: steps.length,
        record: Float64Array.from(steps, (s) => s.outcome),
        work: 0,
        frameSteps: Int32Array.from(steps, (_, i) => first + i + 1),
        hashes: new BigUint64Array(steps.length),
        fields: [
            {
                id: 'contact_mode',
                columns: 1,
                values: Int32Array.from(steps.flatMap((s) => s.modes)),
                offsets: Int32Array.from(offsets),
            },
        ],
    };
}

const RUN = [
    { outcome: 0, modes: [] },
    { outcome: 0, modes: [1, 1] }, // two contacts come
    { outcome: 1, modes: [1, 1] }, // the iteration limit is met, and again
    { outcome: 1, modes: [1, 2] }, // one slips
    { outcome: 0, modes: [1, 2] },
    { outcome: 1, modes: [1, 2] }, // and once more
];
const TOLD = ['2 contact', '3 limit', '4 mode', '6 limit'];

function show(history: History): void {
    lanes.value = [{ choice: { id: 'a' }, history, stoppedAt: -1 } as unknown as Lane];
}
const told = () => ticks.value.map(({ step, kind }) => `${step} ${kind}`).sort();

describe('marks of the timeline', () => {
    tables.value = { outcomes: ['converged', 'max-iterations'], solvers: [] } as unknown as Tables;

    it('tell what happens, whatever the pieces in which the steps come', () => {
        for (const size of [1, 2, 5, 6]) {
            const history = new History(['outcome'], 1e9);
            show(history);
            for (let i = 0; i < RUN.length; i += size) {
                history.append(chunk(i, RUN.slice(i, i + size)));
                tick.value++;
                told(); // looks at what is there so far
            }
            expect(told()).toEqual(TOLD);
        }
    });

    it('forget a future that was taken back', () => {
        const history = new History(['outcome'], 1e9);
        show(history);
        history.append(chunk(0, RUN));
        tick.value++;
        expect(told()).toEqual(TOLD);
        history.truncate(3);
        tick.value++;
        expect(told()).toEqual(['2 contact', '3 limit']);
    });

    it('are the same array as long as nothing is new', () => {
        const history = new History(['outcome'], 1e9);
        show(history);
        history.append(chunk(0, RUN));
        tick.value++;
        const before = ticks.value;
        history.append(chunk(6, [{ outcome: 1, modes: [1, 2] }]));
        tick.value++;
        expect(ticks.value).toBe(before);
    });
});
