// Curves over time, one per lane.

import type { Frame } from '../state/history';
import type { Lane } from '../state/lane';
import { dt, hidden, lanes, steps, styles } from '../state/session';
import type { Curve, PlotData } from './definition';

function curve(lane: Lane, x: ArrayLike<number>, y: ArrayLike<number>): Curve {
    const style = styles.value.get(lane.choice.id);
    return {
        label: style?.title ?? lane.choice.id,
        color: style?.color ?? '#888',
        dash: style?.dash ?? [],
        column: { x, y },
        lane: lane.choice.id,
    };
}

function visible(): Lane[] {
    return lanes.value.filter((lane) => !hidden.value.has(lane.choice.id));
}

export function timeSpan(): [number, number] {
    return [0, Math.max(steps.value * dt.value, dt.value)];
}

/** A column of the step record; what the solver says is left out of steps without a constraint. */
export function recordCurves(column: string, ofSolve: boolean): PlotData {
    const curves = visible().map((lane) => {
        const made = curve(lane, lane.history.column('time'), lane.history.column(column));
        if (ofSolve) made.column.mask = lane.history.column('n_d');
        return made;
    });
    return { curves, x: timeSpan() };
}

/** A number made from each frame. */
export function frameCurves(value: (frame: Frame) => number): PlotData {
    const curves = visible().map((lane) => {
        const frames = lane.history.allFrames();
        const x = new Float64Array(frames.length);
        const y = new Float64Array(frames.length);
        frames.forEach((frame, i) => {
            x[i] = frame.step * dt.value;
            y[i] = value(frame);
        });
        return curve(lane, x, y);
    });
    return { curves, x: timeSpan() };
}
