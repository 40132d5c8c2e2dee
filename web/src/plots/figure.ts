// A plot as a stand-alone SVG figure; this part and its library are loaded only when asked for.
import * as Plot from '@observablehq/plot';
import { FLOOR } from './axes';
import { decimate } from './decimate';
import type { PlotData, PlotDefinition } from './definition';

export function figure(definition: PlotDefinition, unit: string, data: PlotData): string {
    const rows = decimate(
        data.curves.map((c) => c.column),
        ...data.x,
        600,
        definition.log ? FLOOR : 0,
        definition.logX,
    );
    const marks = data.curves.map((curve, i) =>
        Plot.lineY(
            rows[0].flatMap((x, k) => (rows[i + 1][k] === undefined ? [] : [{ x, y: rows[i + 1][k] }])),
            { x: 'x', y: 'y', stroke: curve.color, strokeDasharray: curve.dash.join(' ') || undefined },
        ),
    );
    const plot = Plot.plot({
        width: 720,
        height: 360,
        marginLeft: 70,
        marginTop: 34,
        document,
        x: { label: definition.xTitle, type: definition.logX ? 'log' : 'linear' },
        y: {
            label: unit ? `${definition.title} [${unit}]` : definition.title,
            type: definition.log ? 'log' : 'linear',
            grid: true,
        },
        marks,
    }) as unknown as SVGElement;
    plot.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    data.curves.forEach((curve, i) => {
        const label = document.createElementNS('http://www.w3.org/2000/svg', 'text');
        label.setAttribute('x', String(80 + 150 * i));
        label.setAttribute('y', '14');
        label.setAttribute('fill', curve.color);
        label.textContent = curve.label;
        plot.append(label);
    });
    return new XMLSerializer().serializeToString(plot);
}
