// Where the time of a step goes: one curve per stage, for the focused lane.
import { dt, focused, tables } from '../state/session';
import type { PlotDefinition } from './definition';
import { timeSpan } from './lane-curves';

const HUES = ['#0072b2', '#e69f00', '#009e73', '#d55e00', '#cc79a7', '#56b4e9', '#8a929c', '#7a5c1e'];

export const stagePlot: PlotDefinition = {
    id: 'stages',
    title: 'Time by stage',
    text: 'Wall time of the stages of a step, of the focused view. Timers in pages are coarse: indicative.',
    unit: 's',
    xTitle: 'time [s]',
    xIsTime: true,
    log: true,
    data: () => {
        const frames = focused.value?.history.allFrames() ?? [];
        const x = Float64Array.from(frames, (f) => f.step * dt.value);
        // The solve runs in slices outside the core's own stage clock.
        const solve = focused.value?.history.column('t_solve') ?? new Float64Array(0);
        const stageTime = (stage: string, i: number) =>
            Float64Array.from(frames, (f) => {
                const value =
                    stage === 'solve' ? solve[f.step - 1] : Number(f.fields.get('stage_time')?.values[i]);
                return value > 0 ? value : Number.NaN;
            });
        const curves = (tables.value?.stages ?? []).map((stage, i) => ({
            label: stage,
            color: HUES[i % HUES.length],
            dash: [],
            column: { x, y: stageTime(stage, i) },
            lane: '',
        }));
        return { curves, x: timeSpan() };
    },
};
