// Dual problems out of HDF5 files: our own layout and FCLIB's local one. The library is loaded only when
// such a file is opened. FCLIB puts the normal first in each contact, we put it last.
import type { Dataset, Group, File as H5File } from 'h5wasm';

export interface ProblemJson {
    joint_rows: number;
    joints?: number[];
    limits: number;
    contacts: number;
    dt: number;
    mu: number[];
    v_f: number[];
    R?: number[];
    D: number[][];
    name: string;
}

let files = 0; // in the library's own file system
const MOST_ROWS = 2000; // D is handed on as a dense list
const MOST_PROBLEMS = 50;

function numbers(file: H5File, path: string): number[] {
    const entity = file.get(path);
    if (!entity) throw new Error(`${path} is missing`);
    const { value } = entity as Dataset;
    if (typeof value === 'number' || typeof value === 'bigint') return [Number(value)];
    return Array.from(value as ArrayLike<number | bigint>, Number);
}

function attribute(group: Group, key: string): number {
    const value = group.attrs[key]?.value;
    if (value === undefined) throw new Error(`${group.path} has no attribute ${key}`);
    return Number(
        Array.isArray(value) || ArrayBuffer.isView(value)
            ? (value as unknown as ArrayLike<number>)[0]
            : value,
    );
}

function zeros(dim: number): number[][] {
    return Array.from({ length: dim }, () => new Array(dim).fill(0));
}

function checkSize(dim: number, path: string): void {
    if (!(dim > 0)) throw new Error(`${path} has no rows`);
    if (dim > MOST_ROWS) throw new Error(`${path} has ${dim} rows; the page takes at most ${MOST_ROWS}`);
}

/** The constraint that each row belongs to: joints of several rows, limits of one, contacts of three. */
function blockOfRows(jointStarts: number[], jointRows: number, limits: number, dim: number): number[] {
    return Array.from({ length: dim }, (_, row) => {
        if (row < jointRows) return jointStarts.filter((start) => start <= row).length - 1;
        if (row < jointRows + limits) return jointStarts.length + row - jointRows;
        return jointStarts.length + limits + Math.floor((row - jointRows - limits) / 3);
    });
}

/** D = J M^-1 J^T, for files that were written without it. */
function delassusOfBodies(file: H5File, at: (name: string) => string, blocks: number[]): number[][] {
    const dim = blocks.length;
    const bodies = numbers(file, at('J/body'));
    const value = numbers(file, at('J/value'));
    const inverseMass = numbers(file, at('M/inverse_mass'));
    const inverseInertia = numbers(file, at('M/inverse_inertia'));
    const D = zeros(dim);
    for (let body = 0; body < inverseMass.length; body++) {
        const rows: { row: number; j: number[]; w: number[] }[] = []; // J and J M^-1 of this body
        for (let row = 0; row < dim; row++) {
            for (let side = 0; side < 2; side++) {
                if (bodies[2 * blocks[row] + side] !== body) continue;
                const j = value.slice(12 * row + 6 * side, 12 * row + 6 * side + 6);
                const turn = [0, 1, 2].map((c) =>
                    [0, 1, 2].reduce((sum, r) => sum + j[3 + r] * inverseInertia[9 * body + 3 * r + c], 0),
                );
                rows.push({ row, j, w: [...j.slice(0, 3).map((x) => x * inverseMass[body]), ...turn] });
            }
        }
        for (const a of rows)
            for (const b of rows) D[a.row][b.row] += a.w.reduce((sum, x, k) => sum + x * b.j[k], 0);
    }
    return D;
}

function checkEntry(row: number, column: number, dim: number, path: string): void {
    if (!(row >= 0 && row < dim && column >= 0 && column < dim))
        throw new Error(`${path}: entry (${row}, ${column}) lies outside ${dim} rows`);
}

function delassusAsWritten(file: H5File, at: (name: string) => string, dim: number): number[][] {
    const start = numbers(file, at('D/start'));
    const index = numbers(file, at('D/index'));
    const value = numbers(file, at('D/value'));
    const D = zeros(dim);
    for (let i = 0; i < dim; i++) {
        for (let k = start[i]; k < start[i + 1]; k++) {
            checkEntry(i, index[k], dim, at('D'));
            D[i][index[k]] = value[k];
        }
    }
    return D;
}

function ours(file: H5File, group: Group): ProblemJson {
    const dim = attribute(group, 'n_d');
    checkSize(dim, group.path);
    const at = (name: string) => `${group.path}/${name}`;
    const jointRows = attribute(group, 'n_jd');
    const limits = attribute(group, 'n_l');
    const starts = jointRows > 0 ? numbers(file, at('i_j')) : [];
    const D = file.get(at('D'))
        ? delassusAsWritten(file, at, dim)
        : delassusOfBodies(file, at, blockOfRows(starts, jointRows, limits, dim));
    return {
        name: group.path,
        joint_rows: jointRows,
        ...(jointRows > 0 ? { joints: starts.map((s, k) => (starts[k + 1] ?? jointRows) - s) } : {}),
        limits,
        contacts: attribute(group, 'n_c'),
        dt: attribute(group, 'dt'),
        mu: attribute(group, 'n_c') > 0 ? numbers(file, at('mu')) : [],
        v_f: numbers(file, at('v_f')),
        ...(file.get(at('softening')) ? { R: numbers(file, at('softening')) } : {}),
        D,
    };
}

/** Row of ours for row i of FCLIB's: (n, t, o) becomes (t, o, n). */
function reordered(i: number): number {
    return i % 3 === 0 ? i + 2 : i - 1;
}

function sparseInto(file: H5File, path: string, dim: number): number[][] {
    const nz = numbers(file, `${path}/nz`)[0];
    const p = numbers(file, `${path}/p`);
    const i = numbers(file, `${path}/i`);
    const x = numbers(file, `${path}/x`);
    const D = zeros(dim);
    const put = (row: number, column: number, value: number) => {
        checkEntry(row, column, dim, path);
        D[reordered(row)][reordered(column)] += value;
    };
    if (nz >= 0) for (let k = 0; k < nz; k++) put(i[k], p[k], x[k]);
    else {
        for (let a = 0; a < dim; a++) {
            for (let k = p[a]; k < p[a + 1]; k++) nz === -1 ? put(i[k], a, x[k]) : put(a, i[k], x[k]);
        }
    }
    return D;
}

function fclib(file: H5File): ProblemJson {
    if (file.get('fclib_local/R') || file.get('fclib_local/V'))
        throw new Error('FCLIB files with an equality block (V, R) are read by the command line only');
    const dim = numbers(file, 'fclib_local/W/m')[0];
    checkSize(dim, 'fclib_local/W');
    const q = numbers(file, 'fclib_local/vectors/q');
    const v_f = new Array<number>(dim);
    for (let i = 0; i < dim; i++) v_f[reordered(i)] = q[i];
    return {
        name: 'fclib_local',
        joint_rows: 0,
        limits: 0,
        contacts: dim / 3,
        dt: 1,
        mu: numbers(file, 'fclib_local/vectors/mu'),
        v_f,
        D: sparseInto(file, 'fclib_local/W', dim),
    };
}

const DEEPEST = 16; // groups in groups; a damaged file may lead back to its root

function* problemGroups(group: Group, depth = 0): Generator<Group> {
    if (depth > DEEPEST) throw new Error(`${group.path}: groups lie deeper than ${DEEPEST}`);
    for (const key of group.keys()) {
        const child = group.get(key);
        if (!child || !('keys' in child)) continue;
        if ('n_d' in (child as Group).attrs) yield child as Group;
        else yield* problemGroups(child as Group, depth + 1);
    }
}

/** What is wrong, without the calls on which the library came to it. */
function reason(error: unknown): string {
    const text = error instanceof Error ? error.message : String(error);
    const deepest = [...text.matchAll(/^ *#\d+: .*?\(\): (.*)$/gm)].pop()?.[1];
    return deepest ? `it is not a readable HDF5 file: ${deepest}` : text;
}

export async function problemsFromHdf5(name: string, data: Uint8Array): Promise<ProblemJson[]> {
    const { default: h5wasm } = await import('h5wasm');
    const { FS, activate_throwing_error_handler } = await h5wasm.ready;
    activate_throwing_error_handler(); // else the library writes what it finds to the console
    const path = `/problem-${files++}.h5`;
    FS.writeFile(path, data);
    let file: H5File | null = null;
    try {
        file = new h5wasm.File(path, 'r');
        if (file.get('fclib_local')) return [fclib(file)];
        if (file.get('fclib_global'))
            throw new Error('FCLIB global problems are read by the command line only (kinloop solve)');
        const found: ProblemJson[] = [];
        for (const group of problemGroups(file as unknown as Group)) {
            found.push(ours(file, group));
            if (found.length === MOST_PROBLEMS) break;
        }
        if (found.length === 0)
            throw new Error('it holds no dual problem of a known layout (ours, or FCLIB local)');
        return found;
    } catch (error) {
        throw new Error(`${name}: ${reason(error)}`);
    } finally {
        file?.close();
        FS.unlink(path);
    }
}
