import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { estimate, forgetEstimate } from '../../src/state/estimate';
import { startWithEstimate } from '../../src/state/estimate-run';
import type { Lane } from '../../src/state/lane';

/** A lane whose worker takes `cost(step)` seconds for a step, and tells what is done as a worker does. */
class FakeLane {
    alive = true;
    worked = 0;
    filled = { value: 0 };
    paused = false;
    goal = 0;
    private timer: ReturnType<typeof setTimeout> | undefined;

    constructor(
        readonly cost: (step: number) => number,
        readonly late: (step: number) => number = () => 0, // [s] until the page hears of it, no work
        readonly choice = { id: 'fake' },
    ) {}

    run(until: number, first = until): void {
        this.goal = first;
        this.paused = false;
        clearTimeout(this.timer);
        this.next(this.filled.value);
    }

    pause(): void {
        this.paused = true;
        clearTimeout(this.timer);
    }

    private next(step: number): void {
        if (step >= this.goal) return;
        const seconds = this.cost(step + 1);
        this.timer = setTimeout(
            () => {
                this.filled.value = step + 1;
                this.worked += seconds;
                this.next(step + 1);
            },
            1000 * (seconds + this.late(step + 1)),
        );
    }
}

const begin = (total: number, ...lanes: FakeLane[]) => startWithEstimate(lanes as unknown as Lane[], total);

/** Runs until there is an estimate; how long that took [s]. */
async function judged(patience = 60): Promise<number> {
    const began = performance.now();
    while (!estimate.value && performance.now() - began < 1000 * patience)
        await vi.advanceTimersByTimeAsync(10);
    return (performance.now() - began) / 1000;
}

describe('the estimate of a run', () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => {
        forgetEstimate();
        vi.useRealTimers();
    });

    it('leaves out the first steps, in which code is compiled', async () => {
        begin(4000, new FakeLane((step) => (step <= 16 ? 0.02 : 0.001)));
        await judged();
        // Trials of 16, 64, 256 and 1024 steps: the last is the first with enough work.
        expect(estimate.value).toMatchObject({ waiting: false, slowest: 'fake', steps: 1024 - 16 });
        expect(estimate.value?.seconds).toBeCloseTo((4000 - 1024) * 0.001, 9);
    });

    it('leaves out how late the page hears of steps, for it may be drawing', async () => {
        begin(
            4000,
            new FakeLane(
                () => 0.001,
                (step) => (step === 17 ? 4 : 0),
            ),
        );
        await judged();
        expect(estimate.value?.waiting).toBe(false);
        expect(estimate.value?.seconds).toBeLessThan(4);
    });

    it('is none before the first steps are there, however long the start takes', async () => {
        begin(
            4000,
            new FakeLane(
                () => 0.001,
                (step) => (step === 1 ? 12 : 0),
            ),
        );
        expect(await judged(11)).toBeGreaterThanOrEqual(11);
        expect(estimate.value).toBeNull();
        await judged();
        expect(estimate.value?.waiting).toBe(false);
        expect(estimate.value?.seconds).toBeLessThan(4);
    });

    it('goes by the slowest of the solvers that still work, and waits for the person when it is long', async () => {
        const slow = new FakeLane(
            () => 0.05,
            () => 0,
            { id: 'slow' },
        );
        const dead = new FakeLane(() => 10);
        dead.alive = false;
        const quick = new FakeLane(() => 0.001);
        begin(2000, quick, slow, dead);
        const took = await judged();
        expect(took).toBeLessThan(5);
        expect(estimate.value).toMatchObject({ waiting: true, slowest: 'slow' });
        expect(estimate.value?.seconds).toBeGreaterThan(90);
        expect(estimate.value?.seconds).toBeLessThan(100);
        expect(slow.paused && quick.paused).toBe(true);
    });

    it('judges slow steps by few of them', async () => {
        begin(1000, new FakeLane(() => 1.5));
        expect(await judged()).toBeLessThan(8);
        expect(estimate.value?.seconds).toBeGreaterThan(1480);
        expect(estimate.value?.seconds).toBeLessThan(1500);
        expect(estimate.value?.steps).toBeGreaterThan(0);
    });

    it('says that it is not known when not even one step is done in time', async () => {
        begin(1000, new FakeLane(() => 1e4));
        expect(await judged()).toBeLessThan(21);
        expect(estimate.value).toMatchObject({ waiting: true, steps: 0, seconds: Number.POSITIVE_INFINITY });
    });

    it('is nothing to wait for when the whole run is done while it is tried', async () => {
        const lane = new FakeLane(() => 0.001);
        begin(40, lane);
        await judged();
        expect(lane.filled.value).toBe(40);
        expect(estimate.value).toMatchObject({ waiting: false, seconds: 0 });
    });

    it('ends when it is no longer wanted', async () => {
        begin(4000, new FakeLane(() => 0.001));
        await vi.advanceTimersByTimeAsync(5);
        forgetEstimate();
        expect(await judged(5)).toBeGreaterThanOrEqual(5);
        expect(estimate.value).toBeNull();
    });
});
