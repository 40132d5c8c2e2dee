// Which constraint a solver gets wrong, and when: names of the blocks of a problem, the worst of them, and the
// iteration at which a trace was best.
import type { ProblemInfo } from '../core/types';
import type { StepCurve } from './explain';
import { type Selection, scene } from './session';

export interface Block {
    name: string;
    selection: Selection;
}

/** Joints of the scene that have rows, in their order; drives of one row follow them in the problem. */
function jointsWithRows(): number[] {
    return (scene.value?.joints ?? []).flatMap((j, i) => (j.dofs < 6 ? [i] : []));
}

/** Blocks are joints (then drives), limits, contacts. */
export function blockAt(index: number, problem: ProblemInfo): Block {
    const { jointCount, limitCount } = problem;
    if (index >= jointCount + limitCount) {
        const contact = index - jointCount - limitCount;
        return { name: `contact ${contact + 1}`, selection: { kind: 'contact', index: contact } };
    }
    if (index >= jointCount) return { name: `limit ${index - jointCount + 1}`, selection: null };
    const joints = jointsWithRows();
    if (index >= joints.length) return { name: `drive ${index - joints.length + 1}`, selection: null };
    const joint = joints[index];
    return { name: scene.value!.joints[joint].name, selection: { kind: 'joint', index: joint } };
}

/** Whether `curve` solved a problem of this shape. */
export function belongs(curve: StepCurve, problem: ProblemInfo): boolean {
    return (
        curve.blocks.length > 0 &&
        curve.blocks.length === problem.jointCount + problem.limitCount + problem.contactCount
    );
}

/** The block with the largest error; -1 without one. A value that is no number is worse than any. */
export function worstBlock(blocks: ArrayLike<number>): number {
    let worst = -1;
    for (let i = 0; i < blocks.length; i++) {
        if (Number.isNaN(blocks[i])) return i;
        if (worst < 0 || blocks[i] > blocks[worst]) worst = i;
    }
    return worst;
}

/** Iteration with the smallest scale-free residual; NaN without a trace. */
export function bestIteration(curve: StepCurve): number {
    let best = Number.NaN;
    let least = Number.POSITIVE_INFINITY;
    for (let i = 0; i < curve.trace.length; i += 6) {
        if (curve.trace[i + 4] < least) [best, least] = [curve.trace[i], curve.trace[i + 4]];
    }
    return best;
}
