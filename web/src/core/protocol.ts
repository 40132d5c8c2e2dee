// Messages between the page and a worker. Requests carry an id and are answered once; chunks of
// history flow on their own, at most two of them unacknowledged, and carry the epoch they belong to.
import type {
    ConditionInfo,
    ErrorInfo,
    FieldInfo,
    ProblemInfo,
    SceneInfo,
    SolutionInfo,
    Tables,
} from './types';

export interface SceneFile {
    path: string;
    data: Uint8Array;
}

export interface SceneSource {
    name: string;
    text: string;
    files: SceneFile[];
}

export interface SolverChoice {
    id: string;
    preset: string; // '' keeps the solver's own defaults
    params: Record<string, number>; // only what differs
}

export interface Job {
    source: SceneSource;
    run: number;
    driver: SolverChoice;
    observer: SolverChoice | null; // curated: solves what the driver meets
    memory: number; // bytes for checkpoints
    categories?: boolean; // the record tells each problem's category
}

export interface Loaded {
    scene: SceneInfo;
    fields: FieldInfo[];
    params: Record<string, number>; // of the solver looked at, after preset and changes
    dt: number;
}

/** One field over the frames of a chunk, one frame's rows after the other. */
export interface FieldChunk {
    id: string;
    columns: number;
    values: Float64Array | Int32Array | BigUint64Array | Float32Array;
    offsets: Int32Array; // (frames + 1) in elements
}

export interface Chunk {
    first: number; // step number before the first row
    count: number;
    record: Float64Array; // (count x columns)
    work: number; // [s] that the worker took for it, its waits left out
    frameSteps: Int32Array;
    hashes: BigUint64Array;
    fields: FieldChunk[];
}

export interface Inspection {
    step: number;
    time: number;
    hash: string;
    frame: FieldChunk[]; // one frame each
    row: Float64Array;
    trace: Float64Array; // (x 6)
    problem: ProblemInfo | null;
    solution: SolutionInfo | null;
    lambda: Float64Array;
    blocks: Float64Array; // error of each joint, limit and contact
}

export interface Resolved {
    solver: string;
    trace: Float64Array;
    solution: SolutionInfo;
    lambda: Float64Array;
    blocks: Float64Array;
}

export interface ProfileRequest {
    problems: number;
    solvers: number;
    measure: Float64Array;
    floor: boolean;
    points: number;
    tauMax: number;
}

export interface Profile {
    tau: Float64Array;
    rho: Float64Array;
}

export interface Matrix {
    dim: number;
    delassus: Float64Array;
    freeVelocity: Float64Array;
    softening: Float64Array; // R, in D unless it was asked for without
    friction: Float64Array;
    lambda: Float64Array;
}

/** Every step of a run done again: state hashes, and fields as (steps x width). */
export interface Recording {
    hashes: BigUint64Array;
    fields: { id: string; width: number; values: Float64Array }[];
}

/** Rank and spectrum of the problem at hand, and of each reaction the share that moves nothing. */
export interface ConditionAnswer {
    condition: ConditionInfo;
    shares: number[];
}

/** Requests by name: what goes in, what comes back. */
export interface Requests {
    start: { in: { module: WebAssembly.Module }; out: Tables };
    load: { in: Job; out: Loaded };
    inspect: { in: { step: number; natural: boolean; condition: boolean }; out: Inspection };
    problem: {
        in: { text: string; name: string; index: number };
        out: { count: number; problem: ProblemInfo };
    };
    resolve: { in: { solver: SolverChoice; natural: boolean }; out: Resolved };
    /** D + R, or D alone when `hard`. */
    matrix: { in: { hard: boolean }; out: Matrix };
    condition: { in: { lambdas: Float64Array[] }; out: ConditionAnswer };
    /** Impedance at `count` residuals from 0 to `reach`; kind 0 joints, 1 limits, 2 contacts. */
    impedance: { in: { kind: number; reach: number; count: number }; out: Float64Array };
    recording: { in: { steps: number; fields: string[] }; out: Recording };
    /** State hashes after 64, 128, 192 … steps. */
    blockHashes: { in: null; out: BigUint64Array };
    document: { in: null; out: string };
    rewind: { in: { step: number }; out: { step: number } };
    amend: { in: { source: SceneSource; step: number }; out: Loaded };
    profile: { in: ProfileRequest; out: Profile };
}

export type RequestName = keyof Requests;

export type ToWorker =
    | { [N in RequestName]: { type: N; id: number; body: Requests[N]['in'] } }[RequestName]
    | { type: 'run'; until: number }
    | { type: 'pause' }
    | { type: 'cancel' } // ends a look back or a resolve in progress
    | { type: 'ack' };

export type FromWorker =
    | { type: 'reply'; id: number; body: unknown }
    | { type: 'refused'; id: number; error: ErrorInfo }
    | { type: 'chunk'; epoch: number; chunk: Chunk }
    | { type: 'stopped'; epoch: number; step: number; error: ErrorInfo } // this step could not be done
    | { type: 'idle'; epoch: number; step: number }; // reached `until`
