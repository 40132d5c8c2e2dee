// The dual problem of a step in our HDF5 layout (docs/data-format.md), as the command writes it without J and M: D in
// compressed rows, all vectors, the reaction that the run found. Library and this file are loaded when asked for.
import type { Group, File as H5File } from 'h5wasm';
import type { Matrix, Recording } from '../core/protocol';
import type { ProblemInfo, SolutionInfo } from '../core/types';

let files = 0; // in the library's own file system

export interface ProblemOrigin {
    scene: string;
    run: string;
    step: number;
    massRatio: number;
    version: string;
}

interface Joints {
    rows: Int32Array;
    starts: Int32Array;
}

/** Rows of each joint, from the first rows that the core tells. */
function joints(problem: ProblemInfo): Joints {
    const starts = Int32Array.from(problem.jointStarts);
    const rows = starts.map((start, i) => (starts[i + 1] ?? problem.jointRows) - start);
    return { rows, starts };
}

/** D without R, as compressed rows of what is not zero. */
function compressed({ dim, delassus, softening }: Matrix) {
    const start = new Int32Array(dim + 1);
    const index: number[] = [];
    const value: number[] = [];
    for (let i = 0; i < dim; i++) {
        for (let j = 0; j < dim; j++) {
            const d = delassus[i * dim + j] - (i === j ? softening[i] : 0);
            if (d === 0) continue;
            index.push(j);
            value.push(d);
        }
        start[i + 1] = index.length;
    }
    return { start, index: Int32Array.from(index), value: Float64Array.from(value) };
}

function reals(group: Group, name: string, data: Float64Array): void {
    group.create_dataset({ name, data, shape: [data.length], dtype: '<d' });
}

function ints(group: Group, name: string, data: Int32Array): void {
    group.create_dataset({ name, data, shape: [data.length], dtype: '<i' });
}

function attributes(group: Group, whole: Record<string, number>, real: Record<string, number>): void {
    for (const [key, value] of Object.entries(whole)) group.create_attribute(key, value, [], '<i');
    for (const [key, value] of Object.entries(real)) group.create_attribute(key, value, [], '<d');
}

function write(
    file: H5File,
    problem: ProblemInfo,
    matrix: Matrix,
    solution: SolutionInfo | null,
    origin: ProblemOrigin,
): void {
    const root = file as unknown as Group;
    root.create_attribute('format', 'kinloop-problems');
    attributes(root, { version: 1 }, {});
    root.create_attribute('writer', `kinloop ${origin.version}, page`);
    const category = problem.category ?? 'unknown';
    const name = `step${String(origin.step).padStart(6, '0')}`;
    const group = root.create_group(origin.scene).create_group(category).create_group(name);
    attributes(
        group,
        {
            n_d: problem.dim,
            n_jd: problem.jointRows,
            n_j: problem.jointCount,
            n_l: problem.limitCount,
            n_c: problem.contactCount,
            n_b: problem.bodyCount,
            seed: 0,
            step: origin.step,
            rank: -1,
        },
        { dt: problem.dt, mass_ratio: origin.massRatio },
    );
    group.create_attribute('category', category);
    group.create_attribute('scene', origin.scene);
    group.create_attribute('run', origin.run);
    const { rows, starts } = joints(problem);
    ints(group, 'd_j', rows);
    ints(group, 'i_j', starts);
    ints(
        group,
        'i_l',
        Int32Array.from({ length: problem.limitCount }, (_, i) => problem.jointRows + i),
    );
    reals(group, 'mu', matrix.friction);
    reals(group, 'v_f', matrix.freeVelocity);
    if (matrix.softening.some((r) => r !== 0)) reals(group, 'softening', matrix.softening);
    const { start, index, value } = compressed(matrix);
    const d = group.create_group('D');
    ints(d, 'start', start);
    ints(d, 'index', index);
    reals(d, 'value', value);
    if (solution && matrix.lambda.length === problem.dim) {
        const { r_nat, r_nat_rel } = solution.residuals;
        attributes(group, {}, { r_nat: r_nat ?? Number.NaN, r_nat_rel: r_nat_rel ?? Number.NaN });
        reals(group, 'lambda', matrix.lambda);
    }
}

export interface RecordedLane {
    solver: string;
    time: Float64Array;
    metrics: Float64Array; // (steps x metrics)
    recording: Recording;
}

export interface RunOrigin {
    scene: string;
    run: string;
    dt: number;
    command: string; // words of the command that does it again, one a line
    metrics: string[];
    version: string;
}

function writeRun(file: H5File, lanes: RecordedLane[], origin: RunOrigin): void {
    const root = file as unknown as Group;
    root.create_attribute('format', 'kinloop-problems');
    attributes(root, { version: 1 }, {});
    root.create_attribute('writer', `kinloop ${origin.version}, page`);
    const group = root.create_group('trajectory');
    group.create_attribute('scene', origin.scene);
    group.create_attribute('run', origin.run);
    attributes(group, {}, { dt: origin.dt });
    group.create_attribute('command', origin.command);
    group.create_attribute('metrics', origin.metrics.join(','));
    for (const { solver, time, metrics, recording } of lanes) {
        const steps = time.length;
        const own = group.create_group(solver);
        reals(own, 'time', time);
        own.create_dataset({ name: 'hash', data: recording.hashes, shape: [steps], dtype: '<Q' });
        for (const { id, width, values } of recording.fields)
            own.create_dataset({ name: id, data: values, shape: [steps, width], dtype: '<d' });
        own.create_dataset({
            name: 'metrics',
            data: metrics,
            shape: [steps, origin.metrics.length],
            dtype: '<d',
        });
    }
}

export function runToHdf5(lanes: RecordedLane[], origin: RunOrigin): Promise<Uint8Array> {
    return asBytes((file) => writeRun(file, lanes, origin));
}

export function problemToHdf5(
    problem: ProblemInfo,
    matrix: Matrix,
    solution: SolutionInfo | null,
    origin: ProblemOrigin,
): Promise<Uint8Array> {
    return asBytes((file) => write(file, problem, matrix, solution, origin));
}

async function asBytes(fill: (file: H5File) => void): Promise<Uint8Array> {
    const { default: h5wasm } = await import('h5wasm');
    const { FS } = await h5wasm.ready;
    const path = `/written-${files++}.h5`;
    const file = new h5wasm.File(path, 'w');
    try {
        fill(file);
        file.flush();
    } finally {
        file.close();
    }
    const bytes = FS.readFile(path) as Uint8Array;
    FS.unlink(path);
    return bytes.slice();
}
