import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decades, FLOOR, linearRange, logRange } from '../../src/plots/axes';
import { decimate } from '../../src/plots/decimate';

const ramp = (n: number) => Float64Array.from({ length: n }, (_, i) => i);

describe('decimate', () => {
    it('keeps the smallest and the largest value of every bucket', () => {
        fc.assert(
            fc.property(
                fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), {
                    minLength: 2000,
                    maxLength: 4000,
                }),
                (list) => {
                    const [, y] = decimate([{ x: ramp(list.length), y: list }], 0, list.length, 100);
                    const kept = y.filter((v): v is number => typeof v === 'number');
                    expect(Math.max(...kept)).toBe(Math.max(...list));
                    expect(Math.min(...kept)).toBe(Math.min(...list));
                    expect(y.length).toBe(200);
                },
            ),
            { numRuns: 20 },
        );
    });

    it('leaves short columns as they are', () => {
        const [x, y] = decimate([{ x: [0, 1, 2], y: [5, Number.NaN, 7] }], 0, 2, 100);
        expect(x).toEqual([0, 1, 2]);
        expect(y).toEqual([5, null, 7]);
    });

    it('lifts what a logarithmic axis cannot show', () => {
        const [, y] = decimate([{ x: [0, 1, 2], y: [0, 1e-30, 1] }], 0, 2, 100, FLOOR);
        expect(y).toEqual([FLOOR, FLOOR, 1]);
    });

    it('leaves out masked samples', () => {
        const [, y] = decimate([{ x: [0, 1, 2], y: [1, 2, 3], mask: [0, 1, 1] }], 0, 2, 100);
        expect(y).toEqual([null, 2, 3]);
    });

    it('leaves the first of many samples in their place on a logarithmic axis, and keeps the last', () => {
        const n = 10_000;
        const long = { x: Float64Array.from({ length: n }, (_, i) => i + 1), y: ramp(n) };
        const short = { x: [1, 2], y: [5, 7] };
        const [x, y, z] = decimate([long, short], 1, n, 400, 0, true);
        const bucket = n ** (1 / 400);
        for (const [value, place] of [
            [5, 1],
            [7, 2],
        ]) {
            const at = x[z.indexOf(value)] as number;
            expect(at / place).toBeLessThan(bucket);
            expect(place / at).toBeLessThan(bucket);
        }
        expect(y.findLast((v) => v !== undefined)).toBe(n - 1);
        expect(z.filter((v) => v !== undefined).length).toBe(2);
    });

    it('draws through empty buckets and breaks at gaps', () => {
        const long = { x: ramp(1000), y: ramp(1000) };
        const sparse = { x: [0, 500, 999], y: [1, Number.NaN, 3] };
        const [, , y] = decimate([long, sparse], 0, 1000, 100);
        expect(y[0]).toBe(1);
        expect(y[2]).toBeUndefined();
        expect(y[100]).toBeNull();
    });
});

describe('axes', () => {
    it('never make an empty logarithmic range', () => {
        for (const [a, b] of [
            [0, 0],
            [1, 1],
            [null, null],
            [1e-30, 1e-30],
            [1e-5, 1e3],
        ] as [number | null, number | null][]) {
            const [low, high] = logRange(a, b);
            expect(low).toBeGreaterThan(0);
            expect(high).toBeGreaterThan(low);
        }
    });

    it('do not turn rounding noise into a signal', () => {
        const [low, high] = linearRange(1, 1 + 1e-14);
        expect(high - low).toBeGreaterThan(0.1);
    });

    it('thin out decades', () => {
        expect(decades(1e-16, 1, 5).length).toBeLessThanOrEqual(5);
        expect(decades(1e-3, 1e3)).toContain(1e3);
    });
});
