// Residual over iteration within the step shown, for every solver.
import { compareBy, explainError, explaining, inspection, stepCurves } from '../state/explain';
import { cursor, experiment, hidden, styles } from '../state/session';
import { FLOOR } from './axes';
import type { PlotDefinition } from './definition';

const RESIDUALS = [
    { id: 'nat', title: 'r_nat_rel, scale-free', column: 4 },
    { id: 'p', title: 'r_p, primal', column: 1 },
    { id: 'd', title: 'r_d, dual', column: 2 },
    { id: 'c', title: 'r_c, complementarity', column: 3 },
];

export const convergencePlot: PlotDefinition = {
    id: 'convergence',
    title: 'Convergence of this step',
    text: 'Residual of each iterate, for the dual problem of the step shown. In curated runs each solver as it ran; otherwise one problem, solved from nothing by all.',
    unit: '',
    xTitle: 'iteration',
    xIsTime: false,
    log: true,
    logX: true,
    choices: () => RESIDUALS,
    data: (choice) => {
        const column = (RESIDUALS.find((r) => r.id === choice) ?? RESIDUALS[0]).column;
        let longest = 10;
        const curves = stepCurves.value
            .filter((c) => !hidden.value.has(c.solver))
            .map((c) => {
                const rows = c.trace.length / 6;
                const x = new Float64Array(rows);
                const y = new Float64Array(rows);
                for (let i = 0; i < rows; i++) {
                    x[i] = c.trace[6 * i];
                    y[i] = Math.max(FLOOR, c.trace[6 * i + column]);
                }
                longest = Math.max(longest, rows > 0 ? x[rows - 1] : 0);
                const style = styles.value.get(c.solver);
                return {
                    label: style?.title ?? c.solver,
                    color: style?.color ?? '#888',
                    dash: style?.dash ?? [],
                    column: { x, y },
                    lane: c.solver,
                };
            });
        return { curves, x: [1, longest], note: note(curves.length) };
    },
};

function note(curves: number): string {
    if (explainError.value) return explainError.value;
    if (curves > 0)
        return experiment.value.mode === 'curated' || compareBy.value === 'own'
            ? ''
            : 'One problem, each solver from zero.';
    if (cursor.value === 0) return 'Step 0 has no problem yet: move on.';
    if (explaining.value) return 'Solving…';
    if (inspection.value?.step !== cursor.value) return 'Shown when paused, and once the buffers are full.';
    return 'No constraint is active in this step.';
}
