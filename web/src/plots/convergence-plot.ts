// Residual over iteration within the step shown, for every solver.
import { number } from '../app/format';
import { belongs, bestIteration, blockAt, worstBlock } from '../state/blame';
import {
    compareBy,
    explainError,
    explaining,
    inspection,
    type StepCurve,
    stepCurves,
} from '../state/explain';
import { cursor, experiment, hidden, styles } from '../state/session';
import { FLOOR } from './axes';
import type { PlotDefinition } from './definition';

const RESIDUALS = [
    { id: 'nat', title: 'r_nat_rel', column: 4 },
    { id: 'p', title: 'r_p primal', column: 1 },
    { id: 'd', title: 'r_d dual', column: 2 },
    { id: 'c', title: 'r_c complementarity', column: 3 },
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

/** Where the worst solver is wrong, unless all have got there. */
function worst(): string {
    const problem = inspection.value?.problem;
    if (!problem) return '';
    const open = stepCurves.value.filter(
        (c) => c.solution?.outcome !== 'converged' && !hidden.value.has(c.solver) && belongs(c, problem),
    );
    if (open.length === 0) return '';
    const error = (c: StepCurve): number => c.blocks[worstBlock(c.blocks)];
    const last = open.reduce((a, b) => (error(b) > error(a) ? b : a));
    const title = styles.value.get(last.solver)?.title ?? last.solver;
    return `Worst: ${blockAt(worstBlock(last.blocks), problem).name} of ${title}, ${number(error(last), 2)}; best at iteration ${bestIteration(last)}.`;
}

function note(curves: number): string {
    if (explainError.value) return explainError.value;
    if (curves > 0) {
        const own = experiment.value.mode === 'curated' || compareBy.value === 'own';
        return `${own ? '' : 'One problem, each solver from zero. '}${worst()}`;
    }
    if (cursor.value === 0) return 'Step 0 has no problem yet: move on.';
    if (explaining.value) return 'Solving…';
    if (inspection.value?.step !== cursor.value) return 'Shown when paused, and once the buffers are full.';
    return 'No constraint is active in this step.';
}
