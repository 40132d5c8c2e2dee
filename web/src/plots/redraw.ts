// Plots take turns: one is redrawn per animation frame, so that none of them makes a frame long.
const waiting = new Map<object, () => void>();
let scheduled = false;

export function enqueue(owner: object, draw: () => void): void {
    waiting.set(owner, draw);
    if (!scheduled) {
        scheduled = true;
        requestAnimationFrame(next);
    }
}

function next(): void {
    const first = waiting.entries().next().value;
    if (first) {
        waiting.delete(first[0]);
        first[1]();
    }
    scheduled = waiting.size > 0;
    if (scheduled) requestAnimationFrame(next);
}
