// Types of the package. Ids and parameters (tables.d.mts) are written by the build from the core's own
// tables; the methods (page.d.mts) and the tables' shapes (types.d.mts) come from the code that uses them.
import type { Page as AnyPage } from './page.mjs';
import type { FieldArrays, FieldId, MetricId, OutcomeName, PresetId, SceneId, SolverId, SolverParams } from './tables.mjs';
import type { MetricInfo, ProblemInfo, SceneInfo, SolutionInfo, SolverInfo, Tables as AnyTables } from './types.mjs';

export { CoreError } from './page.mjs';
export type { CoreErrorInfo } from './page.mjs';
export type * from './tables.mjs';
export type {
    BodyInfo, ConditionInfo, EventInfo, GeomInfo, JointInfo, MeshInfo, MetricInfo, ParamInfo, ProblemInfo, RunInfo,
    SceneInfo, SettingsInfo, SolutionInfo, SolverInfo,
} from './types.mjs';

export interface Tables extends Omit<AnyTables, 'solvers' | 'metrics' | 'record'> {
    solvers: (SolverInfo & { id: SolverId })[];
    metrics: (MetricInfo & { id: MetricId })[];
    /** Columns of a step's row: 'time', the metrics, 'category' (an index in `categories`; NaN unless set so). */
    record: ('time' | MetricId | 'category')[];
}

export interface FieldView<Id extends FieldId = FieldId> {
    id: Id;
    /** (rows x columns), row-major: a view of the core's memory, good until the next call into it. */
    values: FieldArrays[Id];
    rows: number;
    columns: number;
}

/** One experiment: a scene, a simulation with the solver that drives it, and a solver that observes. */
export interface Page
    extends Omit<AnyPage, 'tables' | 'scene' | 'start' | 'observe' | 'configure' | 'param' | 'fields' | 'problem' | 'solution'> {
    tables(): Tables;
    scene(): SceneInfo;
    /** A simulation of run `run` of the loaded scene, at step 0, moved by `driver`. */
    start(run: number, driver: SolverId): void;
    /** `id` solves every problem that the driver meets, without moving anything; '' ends that. */
    observe(id: SolverId | ''): void;
    /** Preset and parameters of the driver (false) or the observer (true). Choices go by index, booleans as 0 and 1. */
    configure<Id extends SolverId = SolverId>(observer: boolean, preset: PresetId | '', params: SolverParams<Id>): void;
    param(observer: boolean, id: string): number;
    fields<Id extends FieldId>(ids: readonly Id[]): FieldView<Id>[];
    problem(condition: boolean): ProblemInfo;
    solution(): SolutionInfo & { outcome: OutcomeName };
}

/**
 * Starts the core. Compiles kinloop.wasm, which lies beside this module, at the first call.
 * @param options `wasm`: the module compiled, or its bytes, where that is not how your files are served.
 */
export function createPage(options?: { wasm?: WebAssembly.Module | ArrayBuffer | Uint8Array }): Promise<Page>;

/** The document of a scene that comes with the package. */
export function readScene(id: SceneId): Promise<string>;
