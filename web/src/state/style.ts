// One colour, dash and marker per solver, everywhere. They follow from the solver table: the word before
// the first hyphen chooses the hue, the place within that group the dash and the marker.
import type { SolverInfo } from '../core/types';

export interface SolverStyle {
    color: string;
    dash: number[];
    marker: string;
    title: string;
}

// Okabe and Ito's palette without yellow and black, which vanish on one of the two backgrounds.
const HUES = ['#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#0072b2', '#d55e00'];
const HUES_DARK = ['#e69f00', '#00b386', '#d98fb8', '#7fc8f2', '#3b9fe0', '#f07a2e'];
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2, 2, 2, 2, 2]];
const MARKERS = ['●', '■', '▲', '◆', '✚'];

// Towards black or white, by place within the group; on a light page only a little towards white.
const SHADES = [0, -0.32, 0.22, -0.55, 0.12];
const SHADES_DARK = [0, 0.35, -0.25, 0.6, -0.12];

function shade(color: string, by: number): string {
    const end = by < 0 ? 0 : 255;
    const mixed = [1, 3, 5].map((at) => {
        const channel = Number.parseInt(color.slice(at, at + 2), 16);
        return Math.round(channel + (end - channel) * Math.abs(by));
    });
    return `rgb(${mixed.join(', ')})`;
}

export function solverStyles(solvers: SolverInfo[], dark: boolean): Map<string, SolverStyle> {
    const groups: string[] = [];
    const members = new Map<string, number>();
    const styles = new Map<string, SolverStyle>();
    for (const solver of solvers) {
        const group = solver.id.split('-')[0];
        if (!groups.includes(group)) groups.push(group);
        const place = members.get(group) ?? 0;
        members.set(group, place + 1);
        styles.set(solver.id, {
            color: shade(
                (dark ? HUES_DARK : HUES)[groups.indexOf(group) % HUES.length],
                (dark ? SHADES_DARK : SHADES)[place % SHADES.length],
            ),
            dash: DASHES[place % DASHES.length],
            marker: MARKERS[place % MARKERS.length],
            title: solver.title,
        });
    }
    return styles;
}
