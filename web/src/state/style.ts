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
const HUES = ['#e69f00', '#009e73', '#cc79a7', '#0072b2', '#56b4e9', '#d55e00'];
const HUES_DARK = ['#e69f00', '#00b386', '#d98fb8', '#3b9fe0', '#7fc8f2', '#f07a2e'];
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2, 2, 2, 2, 2]];
const MARKERS = ['●', '■', '▲', '◆', '✚'];

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
            color: (dark ? HUES_DARK : HUES)[groups.indexOf(group) % HUES.length],
            dash: DASHES[place % DASHES.length],
            marker: MARKERS[place % MARKERS.length],
            title: solver.title,
        });
    }
    return styles;
}
