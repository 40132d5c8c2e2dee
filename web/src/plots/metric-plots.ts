// One plot per metric of the core's table, plus iterations and solve time from the step record.
import { tables } from '../state/session';
import type { PlotDefinition } from './definition';
import { recordCurves } from './lane-curves';

function recordPlot(id: string, title: string, text: string, unit: string, log: boolean): PlotDefinition {
    return { id, title, text, unit, xTitle: 'time [s]', xIsTime: true, log, data: () => recordCurves(id) };
}

export function metricPlots(): PlotDefinition[] {
    const metrics = (tables.value?.metrics ?? []).map((m) => recordPlot(m.id, m.title, m.text, m.unit, m.log));
    const own = [
        recordPlot('iterations', 'Iterations', 'Iterations of each step.', '', true),
        recordPlot('solve_time', 'Solve time', 'Wall time of each solve. Timers in pages are coarse: indicative.', 's', true),
        recordPlot('penalty', 'Penalty', 'Last penalty (ADMM) or relaxation factor (splitting) of each step.', '', true),
    ];
    return [...own.filter((p) => !metrics.some((m) => m.id === p.id)), ...metrics];
}
