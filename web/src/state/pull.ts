// Pulling a body with the pointer: a spring between the grabbed point and the pointer, recorded as short
// force events in the run. The future is dropped and done again from the moment of each change, so that
// the run stays reproducible and a link carries the pull. One undo takes the whole pull back.

import { type Json, readPath, withEdit } from './experiment';
import { pull } from './grabbed';
import { amendRun, cursor, documentText, dt, experiment, playing, runIndex, scene, steps } from './session';

const STIFFNESS = 40; // [1/s^2] times the mass of the whole mechanism
const DAMPING = 9; // [1/s] times that mass: it must not swing, though the force follows in steps only
const MOST = 10; // times the weight of the mechanism
const INTERVAL = 70; // [ms] between two changes of the force
const REACH = 0.25; // [s] a piece lasts unless it is followed by another

let recording = false;

/** The grabbed point in the world for a pose (r, q). */
export function worldPoint(pose: ArrayLike<number>, at: number, point: number[]): number[] {
    const [w, x, y, z] = [pose[at + 3], pose[at + 4], pose[at + 5], pose[at + 6]];
    const [a, b, c] = point;
    const t = [2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)];
    return [
        pose[at] + a + w * t[0] + y * t[2] - z * t[1],
        pose[at + 1] + b + w * t[1] + z * t[0] - x * t[2],
        pose[at + 2] + c + w * t[2] + x * t[1] - y * t[0],
    ];
}

export function springForce(from: number[], to: number[], velocity: number[], mass: number): number[] {
    const force = [0, 1, 2].map((i) => mass * (STIFFNESS * (to[i] - from[i]) - DAMPING * velocity[i]));
    const size = Math.hypot(...force);
    const limit = MOST * mass * 9.81;
    const scale = size > limit ? limit / size : 1;
    return force.map((f) => Number((f * scale).toPrecision(4)));
}

/** Events of the present run as the document has them: the run's own, or else the scene's. */
function presentEvents(): Json[] {
    const document = JSON.parse(documentText.value) as Json;
    const own = readPath(document, `runs.${runIndex.value}.events`) ?? readPath(document, 'events');
    return Array.isArray(own) ? own : [];
}

function hasRuns(): boolean {
    const runs = readPath(JSON.parse(documentText.value) as Json, 'runs');
    return Array.isArray(runs) && runs.length > 0;
}

export interface Motion {
    pose: ArrayLike<number>; // (n_b x 7)
    twist: ArrayLike<number>; // (n_b x 6)
}

/** Records the pull that is on until it ends. */
export function recordPull(motion: () => Motion | null): void {
    if (recording || !pull.value) return;
    recording = true;
    void record(motion).finally(() => {
        recording = false;
    });
}

async function record(motion: () => Motion | null): Promise<void> {
    const before = experiment.value;
    const events = presentEvents();
    const path = hasRuns() ? `runs.${runIndex.value}.events` : 'events';
    const pieces: { [key: string]: Json }[] = [];
    let lastStep = -1;
    playing.value = true;
    while (pull.value && cursor.value < steps.value) {
        const began = performance.now();
        const now = motion();
        const { body, point, target } = pull.value;
        // Not before the film has moved on: a piece must have a length.
        if (now && cursor.value !== lastStep) {
            lastStep = cursor.value;
            const start = Number((cursor.value * dt.value).toPrecision(9));
            const velocity = [0, 1, 2].map((i) => now.twist[6 * body + i]);
            const last = pieces[pieces.length - 1];
            if (last) endAt(last, start);
            pieces.push({
                body: scene.value!.bodies[body].name,
                start,
                end: Number((start + REACH).toPrecision(9)),
                force: springForce(
                    worldPoint(now.pose, 7 * body, point),
                    target,
                    velocity,
                    scene.value!.info.totalMass,
                ),
                point: point.map((p) => Number(p.toPrecision(4))),
            });
            await apply(before, path, [...events, ...pieces], false);
        }
        await new Promise((done) => setTimeout(done, Math.max(0, INTERVAL - (performance.now() - began))));
    }
    const last = pieces[pieces.length - 1];
    if (!last) return;
    endAt(last, Number((cursor.value * dt.value).toPrecision(9)));
    if ((last.end as number) <= (last.start as number)) pieces.pop();
    await apply(before, path, [...events, ...pieces], true);
}

/** Ends a piece, unless it has already: what the past has been computed with stays. */
function endAt(piece: { [key: string]: Json }, time: number): void {
    piece.end = Math.min(piece.end as number, time);
}

function apply(before: typeof experiment.value, path: string, events: Json[], final: boolean): Promise<void> {
    const next = { ...before, edits: withEdit(before.edits, { path, value: events }) };
    return amendRun(before, next, cursor.value, final);
}
