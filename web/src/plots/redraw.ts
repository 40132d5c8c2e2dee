// Plots take turns: one is redrawn per animation frame, so that none of them makes a frame long. New data
// of a run that goes on redraws a plot ten times a second: more is not seen, and costs every frame.
const REST = 100; // [ms] between two redraws for new data

interface Turn {
    draw: () => void;
    due: number; // [ms], not before
}

const waiting = new Map<object, Turn>();
const drawnAt = new WeakMap<object, number>();
let frameAsked = false;
let timer = 0;

/** Asks for a turn of `owner`: soon, or, when it is but for new data, after its rest. */
export function enqueue(owner: object, draw: () => void, patient = false): void {
    const rested = (drawnAt.get(owner) ?? Number.NEGATIVE_INFINITY) + REST;
    const due = patient ? rested : 0;
    const before = waiting.get(owner);
    waiting.set(owner, { draw, due: Math.min(due, before?.due ?? due) });
    schedule();
}

function schedule(): void {
    if (frameAsked || waiting.size === 0) return;
    clearTimeout(timer);
    const wait = Math.min(...[...waiting.values()].map((turn) => turn.due)) - performance.now();
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
        if (turn.due > now) continue;
        waiting.delete(owner);
        drawnAt.set(owner, now);
        turn.draw();
        break;
    }
    schedule();
}
