import { describe, expect, it } from 'vitest';
import type { Chunk } from '../../src/core/protocol';
import { History } from '../../src/state/history';
import { measureMatrix } from '../../src/state/profiles';

function chunk(first: number, count: number): Chunk {
    const record = new Float64Array(2 * count);
    for (let i = 0; i < count; i++) record.set([(first + i + 1) * 0.1, first + i + 1], 2 * i);
    const steps = Int32Array.from({ length: count }, (_, i) => first + i + 1);
    return {
        first,
        count,
        record,
        work: 0,
        frameSteps: steps,
        hashes: BigUint64Array.from(steps, (s) => BigInt(s)),
        fields: [
            {
                id: 'pose',
                columns: 1,
                values: Float64Array.from(steps),
                offsets: Int32Array.from({ length: count + 1 }, (_, i) => i),
            },
        ],
    };
}

describe('history', () => {
    it('appends chunks and finds frames', () => {
        const history = new History(['time', 'n'], 1e9);
        history.append(chunk(0, 1500));
        history.append(chunk(1500, 1500));
        expect(history.rows).toBe(3000);
        expect(history.column('n')[2999]).toBe(3000);
        expect(history.frameAt(1234)?.step).toBe(1234);
        expect(history.frameAt(0)).toBeNull();
    });

    it('forgets the future when it is rewritten', () => {
        const history = new History(['time', 'n'], 1e9);
        history.append(chunk(0, 100));
        history.append(chunk(50, 10));
        expect(history.rows).toBe(60);
        expect(history.frameAt(1000)?.step).toBe(60);
    });

    it('counts values as rows come, and again when the future is rewritten', () => {
        const history = new History(['time', 'n'], 1e9);
        history.append(chunk(0, 3));
        expect([...history.tally('n')]).toEqual([
            [1, 1],
            [2, 1],
            [3, 1],
        ]);
        history.append(chunk(3, 1));
        expect(history.tally('n').get(4)).toBe(1);
        history.truncate(1);
        expect([...history.tally('n')]).toEqual([[1, 1]]);
    });

    it('thins frames beyond its memory and keeps the last', () => {
        const history = new History(['time', 'n'], 72 * 100);
        history.append(chunk(0, 300));
        expect(history.frameCount).toBeLessThan(300);
        expect(history.frameAt(1000)?.step).toBe(300);
    });
});

describe('the measure of a profile', () => {
    it('lifts residuals to the floor that is asked for', () => {
        const { values } = measureMatrix(
            'r_nat',
            [
                { value: [1e-9, 1e-3], outcome: [0, 1] },
                { value: [1e-7, Number.NaN], outcome: [0, 0] },
            ],
            4000,
            1e-6,
        );
        expect([...values]).toEqual([1e-6, 1e-6, 1e-3, Number.NaN]);
    });

    it('masks failures before any minimum is taken', () => {
        const { problems, values } = measureMatrix('iterations', [
            { value: [3, 1], outcome: [0, 1] },
            { value: [5, 9], outcome: [0, 0] },
        ]);
        expect(problems).toBe(2);
        expect(Array.from(values)).toEqual([3, 5, Number.NaN, 9]);
    });

    it('judges residuals as they are', () => {
        const { values } = measureMatrix('r_nat', [{ value: [1e-3], outcome: [1] }]);
        expect(values[0]).toBe(1e-3);
    });

    it('takes the problems that all have', () => {
        expect(
            measureMatrix('iterations', [
                { value: [1, 2, 3], outcome: [0, 0, 0] },
                { value: [1], outcome: [0] },
            ]).problems,
        ).toBe(1);
    });
});
