// What a plot is: a name, axes, and a function that gives its curves. One file per plot defines one.
import type { Column } from './decimate';

export interface Curve {
    label: string;
    color: string;
    dash: number[];
    column: Column;
    lane: string; // solver id: hidden with it; '' for none
}

export interface PlotData {
    curves: Curve[];
    x: [number, number];
    note?: string; // shown when there is nothing to draw, or what to know about it
}

/** Which axes are logarithmic, where a person has chosen other than the definition. */
export interface OwnAxes {
    x?: boolean;
    y?: boolean;
}

export interface Choice {
    id: string;
    title: string;
}

export interface PlotDefinition {
    id: string;
    title: string;
    text: string;
    unit: string;
    xTitle: string;
    xIsTime: boolean; // carries the play cursor
    log: boolean;
    logX?: boolean;
    yRange?: [number, number];
    choices?: () => Choice[]; // variants in a menu
    unitOf?: (choice: string) => string;
    data: (choice: string) => PlotData;
    foot?: () => unknown; // a template under the chart
}
