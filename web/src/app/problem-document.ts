// A dual problem as our JSON: dense D, readable by the command line and by this page.
import type { Matrix } from '../core/protocol';
import type { ProblemInfo } from '../core/types';

export function problemDocument(problem: ProblemInfo, matrix: Matrix): string {
    const { dim } = matrix;
    const rows: number[][] = [];
    for (let i = 0; i < dim; i++) rows.push(Array.from(matrix.delassus.subarray(i * dim, (i + 1) * dim)));
    return JSON.stringify({
        joint_rows: problem.jointRows,
        joints: problem.jointStarts.map(
            (start, i) => (problem.jointStarts[i + 1] ?? problem.jointRows) - start,
        ),
        limits: problem.limitCount,
        contacts: problem.contactCount,
        dt: problem.dt,
        mu: Array.from(matrix.friction),
        v_f: Array.from(matrix.freeVelocity),
        D: rows,
    });
}
