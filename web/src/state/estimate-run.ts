// Tries the first steps of a run and says how long the rest will take, judged by what the workers themselves took
// for the steps after those that warm up: meanwhile code is compiled and the first pictures are drawn. Loaded for
// links and precise runs.
import { beginEstimate, currentTicket, tellEstimate } from './estimate';
import type { Lane } from './lane';

const PATIENCE = 20; // [s] that are taken without asking
const FIRST_TRIAL = 16; // steps that warm up
const SHORTEST_TRIAL = 0.4; // [s] of work: less says nothing, as much warms up
const LONGEST_TRIAL = 3; // [s] after the first

/** What a lane has done: steps, and the work for them [s]. */
interface Mark {
    step: number;
    worked: number;
}

const mark = (lane: Lane): Mark => ({ step: lane.filled.value, worked: lane.worked });

/** Fills the buffers a little, judges by that, then fills the rest or waits. */
export function startWithEstimate(lanes: Lane[], total: number): void {
    const mine = beginEstimate();
    const start = lanes.map(mark);
    let since = start; // what is judged begins here
    let began = performance.now();
    let trial = FIRST_TRIAL;
    const goal = (i: number): number => Math.min(total, start[i].step + trial);
    const done = (i: number): boolean => !lanes[i].alive || lanes[i].filled.value >= goal(i);
    const worked = (i: number): number => lanes[i].worked - since[i].worked;
    const every = (test: (i: number) => boolean): boolean => lanes.every((_, i) => test(i));
    const runTrial = (): void => lanes.forEach((lane, i) => void lane.run(total, goal(i)));
    const runLonger = (): void => {
        trial *= 4;
        runTrial();
    };
    const judged = (): boolean => {
        const seconds = (performance.now() - began) / 1000;
        if (seconds > PATIENCE || every((i) => !lanes[i].alive || lanes[i].filled.value >= total))
            return true;
        if (since === start) return false;
        if (every(done)) return lanes.some((_, i) => worked(i) >= SHORTEST_TRIAL);
        return seconds > LONGEST_TRIAL && every((i) => done(i) || worked(i) > 0);
    };
    const look = (): void => {
        if (mine !== currentTicket()) return;
        if (judged()) return void decide(lanes, total, start, since);
        if (since === start && every((i) => done(i) || worked(i) >= SHORTEST_TRIAL)) {
            since = lanes.map(mark);
            began = performance.now();
            runLonger();
        } else if (since !== start && every(done)) {
            runLonger();
        }
        setTimeout(look, 5);
    };
    runTrial();
    look();
}

/** What `lane` still needs, if it goes on as it went. */
function secondsLeft(lane: Lane, total: number, since: Mark): number {
    const open = total - lane.filled.value;
    if (!lane.alive || open <= 0) return 0;
    const steps = lane.filled.value - since.step;
    return steps > 0 ? ((lane.worked - since.worked) * open) / steps : Number.POSITIVE_INFINITY;
}

function decide(lanes: Lane[], total: number, start: Mark[], since: Mark[]): void {
    const from = lanes.map((lane, i) => (lane.filled.value > since[i].step ? since[i] : start[i]));
    const left = lanes.map((lane, i) => secondsLeft(lane, total, from[i]));
    const seconds = Math.max(0, ...left);
    const waiting = seconds > PATIENCE;
    for (const lane of lanes) {
        if (waiting) lane.pause();
        else lane.run(total);
    }
    const slowest = Math.max(0, left.indexOf(seconds));
    tellEstimate({
        seconds,
        steps: lanes[slowest].filled.value - from[slowest].step,
        slowest: lanes[slowest].choice.id,
        waiting,
    });
}
