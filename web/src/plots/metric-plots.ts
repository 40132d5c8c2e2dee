// One plot per metric of the core's table.
import { tables } from '../state/session';
import type { PlotDefinition } from './definition';
import { recordCurves } from './lane-curves';

function recordPlot(id: string, title: string, text: string, unit: string, log: boolean): PlotDefinition {
    return {
        id,
        title,
        text,
        unit,
        xTitle: 'time [s]',
        xIsTime: true,
        log,
        data: () => recordCurves(id, log),
    };
}

export function metricPlots(): PlotDefinition[] {
    return (tables.value?.metrics ?? []).map((m) => recordPlot(m.id, m.title, m.text, m.unit, m.log));
}
