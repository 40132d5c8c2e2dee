// Tries the first steps of a run and says how long the rest will take. Loaded for links and precise runs.
import { currentTicket, estimate, forgetEstimate } from './estimate';
import type { Lane } from './lane';

const PATIENCE = 20; // [s] that are taken without asking
const FIRST_TRIAL = 16; // steps
const SHORTEST_TRIAL = 0.4; // [s] of work: less says nothing
const LONGEST_TRIAL = 3; // [s]

/** Fills the buffers a little, judges by that, then fills the rest or waits. */
export function startWithEstimate(lanes: Lane[], total: number): void {
    forgetEstimate();
    const mine = currentTicket();
    const began = performance.now();
    const from = lanes.map((lane) => lane.filled.value);
    let trial = FIRST_TRIAL;
    const goal = (i: number): number => Math.min(total, from[i] + trial);
    const runTrial = (): void => lanes.forEach((lane, i) => void lane.run(total, goal(i)));
    const look = (): void => {
        if (mine !== currentTicket()) return;
        const seconds = (performance.now() - began) / 1000;
        const there = lanes.every((lane, i) => !lane.alive || lane.filled.value >= goal(i));
        if (!there && seconds < LONGEST_TRIAL) return void setTimeout(look, 5);
        const whole = lanes.every((lane, i) => !lane.alive || goal(i) >= total);
        if (there && !whole && seconds < SHORTEST_TRIAL) {
            trial *= 4;
            runTrial();
            return void setTimeout(look, 5);
        }
        const left = lanes.map((lane, i) => secondsLeft(lane, total, from[i], seconds));
        const done = lanes.map((lane, i) => lane.filled.value - from[i]);
        decide(lanes, total, left, done);
    };
    runTrial();
    look();
}

/** What `lane` still needs, if it goes on as it went. */
function secondsLeft(lane: Lane, total: number, from: number, spent: number): number {
    const done = lane.filled.value - from;
    const open = total - lane.filled.value;
    if (!lane.alive || open <= 0) return 0;
    return done > 0 ? (spent * open) / done : Number.POSITIVE_INFINITY;
}

function decide(lanes: Lane[], total: number, left: number[], done: number[]): void {
    const seconds = Math.max(0, ...left);
    const waiting = seconds > PATIENCE;
    for (const lane of lanes) {
        if (waiting) lane.pause();
        else lane.run(total);
    }
    const slowest = left.indexOf(seconds);
    estimate.value = {
        seconds,
        steps: done[slowest] ?? 0,
        slowest: lanes[slowest]?.choice.id ?? '',
        waiting,
    };
}
