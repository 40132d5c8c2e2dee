// Plots take turns: one is redrawn per animation frame, so that none of them makes a frame long. New data
// of a run that goes on redraws a plot ten times a second at most, and all of them twenty times: more is not seen, and
// costs every frame.
const REST = 100; // [ms] between two redraws of one plot for new data
const APART = 50; // [ms] between two such redraws of any plots

interface Turn {
    draw: () => void;
    due: number; // [ms], not before
    patient: boolean;
}

const waiting = new Map<object, Turn>();
const drawnAt = new WeakMap<object, number>();
let patientAt = Number.NEGATIVE_INFINITY; // the last redraw for new data
let frameAsked = false;
let timer = 0;

/** Asks for a turn of `owner`: soon, or, when it is but for new data, after its rest. */
export function enqueue(owner: object, draw: () => void, patient = false): void {
    const rested = (drawnAt.get(owner) ?? Number.NEGATIVE_INFINITY) + REST;
    const before = waiting.get(owner);
    const waits = patient && (before?.patient ?? true);
    waiting.set(owner, { draw, due: waits ? rested : 0, patient: waits });
    schedule();
}

const dueTime = (turn: Turn): number => (turn.patient ? Math.max(turn.due, patientAt + APART) : turn.due);

function schedule(): void {
    if (frameAsked || waiting.size === 0) return;
    clearTimeout(timer);
    const wait = Math.min(...[...waiting.values()].map(dueTime)) - performance.now();
    if (wait > 0) {
        timer = window.setTimeout(schedule, wait);
        return;
    }
    frameAsked = true;
    requestAnimationFrame(next);
}

function next(now: number): void {
    frameAsked = false;
    for (const [owner, turn] of waiting) {
        if (dueTime(turn) > now) continue;
        waiting.delete(owner);
        drawnAt.set(owner, now);
        if (turn.patient) patientAt = now;
        turn.draw();
        break;
    }
    schedule();
}
