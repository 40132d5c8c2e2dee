// Performance profiles of a curated run, as it grows: every solver has met the same problems.
import { computed, effect, signal } from '@preact/signals-core';
import type { Profile } from '../core/protocol';
import type { History } from './history';
import type { Lane } from './lane';
import { experiment, hidden, lanes, tables, tick, toolClient } from './session';

const MOST = 4000; // problems taken, evenly spread over the run
const POINTS = 120;

export const profileMeasure = signal('iterations');
/** Residuals below this are no better: the rounding unit (Dingle and Higham 2013), or what was asked for. */
export type Floor = 'none' | 'rounding' | 'tolerance';
export const profileFloor = signal<Floor>('rounding');
export const profilePair = signal<readonly string[]>([]); // two solvers alone; none = all that are shown
export const profileTau = signal(100);
export const profile = signal<{ solvers: string[]; problems: number; result: Profile } | null>(null);
export const comparable = computed(() => experiment.value.mode === 'curated');

/**
 * (problems x solvers): the measure, `least` where it is smaller, NaN where a solver has not converged. Failures
 * never count as best.
 */
export function measureMatrix(
    measure: string,
    columns: { value: ArrayLike<number>; outcome: ArrayLike<number> }[],
    most = MOST,
    least = 0,
): { problems: number; values: Float64Array } {
    const common = Math.min(...columns.map((c) => c.value.length));
    const stride = Math.max(1, Math.ceil(common / most));
    const problems = Math.floor(common / stride);
    const values = new Float64Array(problems * columns.length);
    const judged = measure.startsWith('r_');
    for (let p = 0; p < problems; p++) {
        columns.forEach((c, s) => {
            const failed = c.outcome[p * stride] !== 0 && !judged;
            values[p * columns.length + s] = failed ? Number.NaN : Math.max(least, c.value[p * stride]);
        });
    }
    return { problems, values };
}

let busy = false;
let again = false;
let made: { of: string; histories: History[] } | null = null; // what the profile shown was made from

/** The lanes compared: the pair, if both are shown, else all that are. */
function compared(): Lane[] {
    const shown = lanes.value.filter((l) => !hidden.value.has(l.choice.id) && l.history.rows > 0);
    const pair = shown.filter((l) => profilePair.value.includes(l.choice.id));
    return pair.length === 2 ? pair : shown;
}

/** The coarsest tolerance that was asked for. */
export const profileTolerance = computed(() =>
    Math.max(0, ...lanes.value.map((l) => l.loaded.value?.params.tolerance ?? 0)),
);

async function refresh(): Promise<void> {
    if (busy) {
        again = true;
        return;
    }
    const shown = compared();
    if (!comparable.value || shown.length < 2 || !tables.value) {
        profile.value = made = null;
        return;
    }
    const measure = profileMeasure.value;
    const floor = measure.startsWith('r_') ? profileFloor.value : 'none';
    const histories = shown.map((l) => l.history);
    const tau = profileTau.value;
    const of = [measure, floor, profileTolerance.value, tau, ...histories.map((h) => h.version)].join();
    // A profile that is drawn says so to all panels, and so to this one: what it was made from is not new.
    if (made?.of === of && made.histories.every((h, i) => h === histories[i])) return;
    made = { of, histories };
    busy = true;
    const matrix = measureMatrix(
        measure,
        shown.map((l) => ({ value: l.history.column(measure), outcome: l.history.column('outcome') })),
        MOST,
        floor === 'tolerance' ? profileTolerance.value : 0,
    );
    try {
        const result = await toolClient().request('profile', {
            problems: matrix.problems,
            solvers: shown.length,
            measure: matrix.values,
            floor: floor === 'rounding',
            points: POINTS,
            tauMax: tau,
        });
        profile.value = { solvers: shown.map((l) => l.choice.id), problems: matrix.problems, result };
    } catch {
        profile.value = made = null;
    }
    setTimeout(() => {
        busy = false;
        if (again) {
            again = false;
            void refresh();
        }
    }, 700);
}

effect(() => {
    void [
        tick.value,
        hidden.value,
        profileMeasure.value,
        profileFloor.value,
        profilePair.value,
        profileTau.value,
        comparable.value,
    ];
    void refresh();
});
