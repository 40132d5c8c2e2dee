// Benchmarks in the page: many short curated runs in a small pool of workers, with progress and cancel.
import { signal } from '@preact/signals-core';
import { CoreClient } from '../core/client';
import type { Job, Profile, SolverChoice } from '../core/protocol';
import type { ErrorInfo } from '../core/types';
import { coreModule } from './core-module';
import type { Edit, SceneRef } from './experiment';
import { sceneSource } from './gallery';
import { dt, tables, toolClient } from './session';

export interface Case {
    scene: SceneRef;
    run: number;
    label: string;
    edits: Edit[];
    steps: number;
}

export interface Outcome {
    rows: number;
    columns: Map<string, Float64Array>; // per step
    error: ErrorInfo | null;
}

/** Runs one case with one solver: alone, or watching `driver`. */
async function runCase(
    client: PoolWorker,
    item: Case,
    solver: SolverChoice,
    driver: SolverChoice | null,
): Promise<Outcome> {
    const { source } = await sceneSource(item.scene, item.edits);
    const watches = driver !== null && driver.id !== solver.id;
    const job: Job = {
        source,
        run: item.run,
        driver: watches ? driver : solver,
        observer: watches ? solver : null,
        memory: 1 << 16,
        categories: !watches, // the driver's problems are everyone's
    };
    return client.run(job, item.steps);
}

class PoolWorker {
    private rows: Float64Array[] = [];
    private broken = false; // the next run needs another worker
    private finish: ((error: ErrorInfo | null) => void) | null = null;
    client!: CoreClient;
    private started!: Promise<unknown>;

    constructor() {
        this.connect();
    }

    private connect(): void {
        this.client = new CoreClient({
            chunk: (chunk) => void this.rows.push(chunk.record),
            stopped: (_step, error) => this.finish?.(error),
            idle: () => this.finish?.(null),
            crashed: (message) => {
                this.finish?.({ status: 'crashed', message, file: '', line: 0, column: 0, path: '' });
                this.broken = true;
            },
        });
        this.broken = false;
        this.started = coreModule().then((module) => this.client.request('start', { module }));
    }

    async run(job: Job, steps: number): Promise<Outcome> {
        if (this.broken) this.connect();
        await this.started;
        this.rows = [];
        await this.client.request('load', job);
        const error = await new Promise<ErrorInfo | null>((done) => {
            this.finish = done;
            this.client.run(steps);
        });
        return { ...this.table(), error };
    }

    private table(): { rows: number; columns: Map<string, Float64Array> } {
        const names = tables.value!.record;
        const total = this.rows.reduce((sum, r) => sum + r.length / names.length, 0);
        const columns = new Map(names.map((n) => [n, new Float64Array(total)]));
        let at = 0;
        for (const part of this.rows) {
            const count = part.length / names.length;
            names.forEach((n, c) => {
                const column = columns.get(n)!;
                for (let i = 0; i < count; i++) column[at + i] = part[i * names.length + c];
            });
            at += count;
        }
        return { rows: total, columns };
    }
}

export const poolSize = (): number => Math.max(1, Math.min(8, (navigator.hardwareConcurrency || 2) - 1));

/** Does all `tasks` in a pool; `stop.aborted` ends it after the tasks in work. */
async function inPool(tasks: ((worker: PoolWorker) => Promise<void>)[], stop: AbortSignal): Promise<void> {
    const waiting = [...tasks];
    const workers = Array.from({ length: Math.min(poolSize(), tasks.length) }, () => new PoolWorker());
    const stopAll = () => {
        for (const w of workers) w.client.end();
    };
    stop.addEventListener('abort', stopAll);
    try {
        await Promise.all(
            workers.map(async (worker) => {
                for (let task = waiting.shift(); task && !stop.aborted; task = waiting.shift())
                    await task(worker);
            }),
        );
    } catch (error) {
        if (!stop.aborted) throw error;
    } finally {
        stopAll();
    }
}

// ------------------------------------------------------------------------------------------------
// The suite
// ------------------------------------------------------------------------------------------------

export interface SuiteRow {
    solver: string;
    problems: number;
    converged: number;
    iterations: number; // median
    worst: number; // r_nat_rel
    time: number; // [s] per solve, mean: page timers are too coarse for a median
    failures: string[];
}

export const suiteProgress = signal({ done: 0, total: 0, running: false, label: '' });
export const suiteRows = signal<SuiteRow[]>([]);
export const suiteProfile = signal<{ solvers: string[]; problems: number; result: Profile } | null>(null);
export const suiteMeasure = signal('iterations');
/** What the profile is over: 'all', 'system:' and a case, 'category:' and a category. */
export const suiteGroup = signal('all');
export const suiteGroups = signal<{ id: string; title: string }[]>([]);

type Results = Map<string, (Outcome | null)[]>; // solver -> by case
let results: Results = new Map();
let labels: string[] = []; // of the cases
let suiteStop = new AbortController();

export function cancelSuite(): void {
    suiteStop.abort();
    suiteProgress.value = { ...suiteProgress.value, running: false };
}

export async function runSuite(cases: Case[], solvers: SolverChoice[], driver: SolverChoice): Promise<void> {
    suiteStop = new AbortController();
    results = new Map(solvers.map((s) => [s.id, cases.map(() => null)]));
    suiteRows.value = [];
    suiteProfile.value = null;
    suiteGroup.value = 'all';
    suiteGroups.value = [];
    labels = cases.map((c) => c.label);
    suiteProgress.value = { done: 0, total: cases.length * solvers.length, running: true, label: '' };
    const tasks = cases.flatMap((item, c) =>
        solvers.map((solver) => async (worker: PoolWorker) => {
            suiteProgress.value = { ...suiteProgress.value, label: `${item.label}, ${solver.id}` };
            const outcome = await runCase(worker, item, solver, driver).catch(
                (error): Outcome => ({
                    rows: 0,
                    columns: new Map(),
                    error: {
                        status: 'failed',
                        message: String(error),
                        file: '',
                        line: 0,
                        column: 0,
                        path: '',
                    },
                }),
            );
            results.get(solver.id)![c] = outcome;
            suiteProgress.value = { ...suiteProgress.value, done: suiteProgress.value.done + 1 };
            await summarise(solvers, cases);
        }),
    );
    await inPool(tasks, suiteStop.signal);
    suiteProgress.value = { ...suiteProgress.value, running: false };
    await summarise(solvers, cases);
}

function median(values: number[]): number {
    const sorted = values.filter((v) => !Number.isNaN(v)).sort((a, b) => a - b);
    return sorted.length > 0 ? sorted[Math.floor((sorted.length - 1) / 2)] : Number.NaN;
}

function mean(values: number[]): number {
    return values.reduce((a, b) => a + b, 0) / values.length;
}

/** Steps that have a constraint: only those are problems. */
function problemsOf(outcome: Outcome): number[] {
    const rows = outcome.columns.get('n_d');
    return rows ? Array.from({ length: outcome.rows }, (_, i) => i).filter((i) => rows[i] > 0) : [];
}

async function summarise(solvers: SolverChoice[], cases: Case[]): Promise<void> {
    suiteRows.value = solvers.map((solver) => {
        const done = results.get(solver.id)!.filter((o) => o !== null);
        const pick = (name: string) =>
            done.flatMap((o) => problemsOf(o).map((i) => o.columns.get(name)?.[i] ?? Number.NaN));
        const outcomes = pick('outcome');
        return {
            solver: solver.id,
            problems: outcomes.length,
            converged: outcomes.filter((o) => o === 0).length,
            iterations: median(pick('iterations')),
            worst: Math.max(0, ...pick('r_nat_rel').filter(Number.isFinite)),
            time: mean(pick('t_solve')),
            failures: results
                .get(solver.id)!
                .flatMap((o, c) => (o?.error ? [`${cases[c].label}: ${o.error.message}`] : [])),
        };
    });
    await suiteProfileOf(solvers);
}

/** Category of problem `step` of a case, as the driver's run has told. */
function categoryOf(outcomes: Outcome[], step: number): string {
    for (const o of outcomes) {
        const index = o.columns.get('category')?.[step] ?? Number.NaN;
        if (!Number.isNaN(index)) return tables.value!.categories[index];
    }
    return '';
}

/** The profile takes the cases that all solvers have finished. */
export async function suiteProfileOf(solvers: SolverChoice[]): Promise<void> {
    const measure = suiteMeasure.value;
    const values: number[] = [];
    const systems = new Set<string>();
    const categories = new Set<string>();
    const count = results.get(solvers[0].id)?.length ?? 0;
    for (let c = 0; c < count; c++) {
        const outcomes = solvers.map((s) => results.get(s.id)![c]);
        if (outcomes.some((o) => o === null)) continue;
        systems.add(labels[c]);
        const steps = outcomes.map((o) => problemsOf(o!)).reduce((a, b) => (b.length > a.length ? b : a), []);
        for (const i of steps) {
            const category = categoryOf(outcomes as Outcome[], i);
            if (category) categories.add(category);
            if (!['all', `system:${labels[c]}`, `category:${category}`].includes(suiteGroup.value)) continue;
            for (const o of outcomes) {
                const value = o!.columns.get(measure)?.[i];
                const failed =
                    value === undefined || (!measure.startsWith('r_') && o!.columns.get('outcome')![i] !== 0);
                values.push(failed ? Number.NaN : value);
            }
        }
    }
    suiteGroups.value = [
        { id: 'all', title: 'all problems' },
        ...[...systems].map((s) => ({ id: `system:${s}`, title: s })),
        ...[...categories].sort().map((c) => ({ id: `category:${c}`, title: c })),
    ];
    const problems = values.length / solvers.length;
    if (problems < 1 || solvers.length < 1) return;
    const result = await toolClient().request('profile', {
        problems,
        solvers: solvers.length,
        measure: Float64Array.from(values),
        floor: measure.startsWith('r_'),
        points: 120,
        tauMax: 100,
    });
    suiteProfile.value = { solvers: solvers.map((s) => s.id), problems, result };
}

// ------------------------------------------------------------------------------------------------
// The heatmap: one number of one solver over two entries of the scene
// ------------------------------------------------------------------------------------------------

export interface Heatmap {
    xPath: string;
    yPath: string;
    x: number[];
    y: number[];
    measure: string;
    values: (number | null)[]; // (y, x), null = not done
    failed: boolean[];
}

export const heatmap = signal<Heatmap | null>(null);
export const heatmapRunning = signal(false);
let heatStop = new AbortController();

export function cancelHeatmap(): void {
    heatStop.abort();
    heatmapRunning.value = false;
}

export const DECADES = Array.from({ length: 13 }, (_, i) => 10 ** (i - 6));

export async function runHeatmap(
    scene: SceneRef,
    edits: Edit[],
    run: number,
    xPath: string,
    yPath: string,
    solver: SolverChoice,
    measure: string,
    at: number,
): Promise<void> {
    heatStop = new AbortController();
    heatmapRunning.value = true;
    const size = DECADES.length;
    const map: Heatmap = {
        xPath,
        yPath,
        x: DECADES,
        y: DECADES,
        measure,
        values: new Array(size * size).fill(null),
        failed: new Array(size * size).fill(false),
    };
    heatmap.value = map;
    const steps = Math.max(1, Math.round(at / dt.value));
    const tasks = map.values.map((_, cell) => async (worker: PoolWorker) => {
        const change = [
            { path: xPath, value: DECADES[cell % size] },
            { path: yPath, value: DECADES[Math.floor(cell / size)] },
        ];
        const item: Case = { scene, run, label: '', edits: [...edits, ...change], steps };
        const outcome = await runCase(worker, item, solver, null);
        const last = outcome.rows - 1;
        map.failed[cell] = outcome.error !== null || last < 0 || outcome.columns.get('outcome')![last] !== 0;
        map.values[cell] = last < 0 ? Number.NaN : outcome.columns.get(measure)![last];
        heatmap.value = { ...map };
    });
    await inPool(tasks, heatStop.signal);
    heatmapRunning.value = false;
}
