// The corner of a plot: pulled, or moved by arrow keys, it changes the plot's size.
import { html } from 'lit';

export interface PlotSize {
    thirds: number; // of the usual width
    height: number; // of the chart [px]
}

export const USUAL_THIRDS = 3;

export interface Grip {
    title: string;
    now: () => PlotSize;
    third: () => number; // [px]
    set: (size: PlotSize | null) => void; // null: the usual size
}

const KEYS: Record<string, [number, number]> = {
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -20],
    ArrowDown: [0, 20],
};

function pull(event: PointerEvent, { now, third, set }: Grip): void {
    if (event.button !== 0) return;
    event.preventDefault();
    const grip = event.currentTarget as HTMLElement;
    const [begin, width] = [now(), third()];
    const move = (e: PointerEvent) =>
        set({
            thirds: begin.thirds + Math.round((e.clientX - event.clientX) / width),
            height: 10 * Math.round((begin.height + e.clientY - event.clientY) / 10),
        });
    const end = () => grip.removeEventListener('pointermove', move);
    grip.setPointerCapture(event.pointerId);
    grip.focus();
    grip.addEventListener('pointermove', move);
    grip.addEventListener('lostpointercapture', end, { once: true });
}

function key(event: KeyboardEvent, { now, set }: Grip): void {
    const by = event.altKey ? undefined : KEYS[event.key];
    if (!by && event.key !== 'Home') return;
    event.preventDefault();
    event.stopPropagation();
    const { thirds, height } = now();
    set(by ? { thirds: thirds + by[0], height: height + by[1] } : null);
}

export function grip(own: Grip) {
    return html`<button
        class="plot-grip"
        aria-label=${`Size of plot ${own.title}: arrow keys, Home for the usual size`}
        title="Drag to resize; arrow keys do, too. Double click: usual size"
        @pointerdown=${(event: PointerEvent) => pull(event, own)}
        @dblclick=${() => own.set(null)}
        @keydown=${(event: KeyboardEvent) => key(event, own)}
    ></button>`;
}
