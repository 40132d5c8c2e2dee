// A closer look at the step shown: each lane does the step again with its convergence recorded, or all
// solvers solve the very same problem, the one that the focused lane met.
import { effect, signal } from '@preact/signals-core';
import type { Inspection, SolverChoice } from '../core/protocol';
import type { SolutionInfo } from '../core/types';
import type { Lane } from './lane';
import { cursor, experiment, focused, laneKeys, lanes, playing, scene, touchedData } from './session';

export interface StepCurve {
    solver: string;
    trace: Float64Array; // (x 6) iteration, r_p, r_d, r_c, r_nat_rel, penalty
    solution: SolutionInfo | null;
    lambda: Float64Array;
    blocks: Float64Array; // error of each joint, limit and contact, scale-free
}

/** 'same': one problem for all, solved from nothing. 'own': each lane's own problem, as it was solved. */
export const compareBy = signal<'same' | 'own'>('same');
export const inspection = signal<Inspection | null>(null); // of the focused lane
export const stepCurves = signal<StepCurve[]>([]);
export const explaining = signal(false);
export const explainError = signal('');

let ticket = 0;

export async function explainStep(): Promise<void> {
    const mine = ++ticket;
    const step = cursor.value;
    const lane = focused.value;
    if (!lane?.alive || lane.filled.value < step) return;
    explaining.value = true;
    explainError.value = '';
    try {
        const seen = await lane.client.request('inspect', { step, natural: true, condition: false });
        if (mine !== ticket) return;
        inspection.value = seen;
        keepFrame(lane, seen);
        const exact = exactFrames(step, lane);
        const curves =
            compareBy.value === 'own' || experiment.value.mode === 'curated'
                ? await ownCurves(step, lane, seen)
                : await sameProblem(lane, seen);
        await exact;
        if (mine === ticket) stepCurves.value = curves;
    } catch (error) {
        if (mine === ticket) explainError.value = error instanceof Error ? error.message : String(error);
    } finally {
        if (mine === ticket) explaining.value = false;
    }
}

/** The exact frame of this step joins the history, which keeps frames at 120 Hz only. */
function keepFrame(lane: Lane, seen: Inspection): void {
    lane.history.insertFrame({
        step: seen.step,
        hash: BigInt(`0x${seen.hash}`),
        fields: new Map(seen.frame.map((f) => [f.id, { columns: f.columns, values: f.values }])),
    });
    touchedData();
}

/** The other views show the very same step, too. */
async function exactFrames(step: number, first: Lane): Promise<void> {
    const others = lanes.value.filter(
        (l) => l !== first && l.alive && l.filled.value >= step && l.history.frameAt(step)?.step !== step,
    );
    await Promise.allSettled(
        others.map(async (l) =>
            keepFrame(l, await l.client.request('inspect', { step, natural: false, condition: false })),
        ),
    );
}

async function ownCurves(step: number, first: Lane, seen: Inspection): Promise<StepCurve[]> {
    const others = lanes.value.filter((lane) => lane !== first && lane.alive && lane.filled.value >= step);
    const results = await Promise.allSettled(
        others.map(async (lane) => {
            const own = await lane.client.request('inspect', { step, natural: true, condition: false });
            keepFrame(lane, own);
            return { ...own, solver: lane.choice.id };
        }),
    );
    return [
        { ...seen, solver: first.choice.id },
        ...results.flatMap((r) => (r.status === 'fulfilled' ? [r.value] : [])),
    ];
}

async function sameProblem(lane: Lane, seen: Inspection): Promise<StepCurve[]> {
    if (!seen.problem || seen.problem.dim === 0) return [];
    const curves: StepCurve[] = [];
    for (const choice of lanes.value.map((l) => l.choice)) {
        const result = await lane.client.request('resolve', { solver: withPreset(choice), natural: true });
        curves.push(result);
    }
    return curves;
}

export function withPreset(choice: SolverChoice): SolverChoice {
    return { ...choice, preset: choice.preset || experiment.value.preset || scene.value?.preset || '' };
}

// The next curves can take long; until then none of a solver that is gone.
effect(() => {
    const ids = laneKeys.value;
    const kept = stepCurves.peek().filter((c) => ids.includes(c.solver));
    if (kept.length < stepCurves.peek().length) stepCurves.value = kept;
});

let timer = 0;

effect(() => {
    const settled =
        lanes.value.length > 0 &&
        lanes.value.every((l) => l.state.value !== 'running' && l.state.value !== 'loading');
    void [cursor.value, focused.value, compareBy.value];
    if (playing.value) {
        // While the film runs and the workers rest: about once a second.
        if (settled && !timer) timer = later(900);
        return;
    }
    clearTimeout(timer);
    timer = later(180);
});

function later(wait: number): number {
    return setTimeout(() => {
        timer = 0;
        if (!explaining.peek() || !playing.peek()) void explainStep();
    }, wait) as unknown as number;
}
