// Plots as files: the numbers as CSV or JSON, the picture as PNG or SVG.
import type uPlot from 'uplot';
import { download } from '../app/download';
import { experiment } from '../state/session';
import type { PlotData, PlotDefinition } from './definition';

function fileName(definition: PlotDefinition, ending: string): string {
    const scene = experiment.value.scene;
    return `${scene.kind === 'gallery' ? scene.id : 'scene'}-${definition.id}.${ending}`;
}

function quote(text: string): string {
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Long form: one line per point, so that curves of different length fit. */
export function csv(definition: PlotDefinition, data: PlotData): string {
    const lines = [
        `curve,${quote(definition.xTitle)},${quote(definition.unit ? `${definition.id} [${definition.unit}]` : definition.id)}`,
    ];
    for (const { label, column } of data.curves) {
        for (let i = 0; i < column.x.length; i++) lines.push(`${quote(label)},${column.x[i]},${column.y[i]}`);
    }
    return `${lines.join('\n')}\n`;
}

export function saveCsv(definition: PlotDefinition, data: PlotData): void {
    download(fileName(definition, 'csv'), new Blob([csv(definition, data)], { type: 'text/csv' }));
}

export function saveJson(definition: PlotDefinition, unit: string, data: PlotData): void {
    const curves = data.curves.map(({ label, column }) => ({
        label,
        x: Array.from(column.x),
        y: Array.from(column.y),
    }));
    const text = JSON.stringify({
        plot: definition.id,
        title: definition.title,
        x: definition.xTitle,
        unit,
        curves,
    });
    download(fileName(definition, 'json'), new Blob([text], { type: 'application/json' }));
}

export function savePng(definition: PlotDefinition, chart: uPlot | null): void {
    chart?.ctx.canvas.toBlob((blob) => blob && download(fileName(definition, 'png'), blob));
}

export async function saveSvg(definition: PlotDefinition, unit: string, data: PlotData): Promise<void> {
    const { figure } = await import('./figure');
    const text = figure(definition, unit, data);
    download(fileName(definition, 'svg'), new Blob([text], { type: 'image/svg+xml' }));
}
