// The one store: the experiment, its lanes, the player and what is selected. Panels read signals and
// call the functions below; nothing else starts or stops workers.
import { batch, computed, effect, signal } from '@preact/signals-core';
import { CoreClient } from '../core/client';
import type { Job, Loaded, SolverChoice } from '../core/protocol';
import type { RunInfo, SceneInfo, SolverInfo, Tables } from '../core/types';
import { coreModule } from './core-module';
import { estimate, forgetEstimate, undecided } from './estimate';
import {
    canonical,
    type Experiment,
    FIRST_EXPERIMENT,
    type Json,
    MAX_SOLVERS,
    sameExperiment,
    withEdit,
} from './experiment';
import { sceneSource } from './gallery';
import { Lane } from './lane';
import { say } from './messages';
import { solverStyles } from './style';

export type Selection = { kind: 'body' | 'joint' | 'contact' | 'geom'; index: number } | null;

const MEMORY = 256 * 1024 * 1024; // bytes for frames and checkpoints of all lanes

export const tables = signal<Tables | null>(null);
export const experiment = signal<Experiment>(FIRST_EXPERIMENT);
export const scene = signal<SceneInfo | null>(null);
export const runIndex = signal(0);
export const documentText = signal(''); // the edited scene as the core gets it
export const lanes = signal<Lane[]>([]);
export const dt = signal(1e-3);
export const steps = signal(0); // of the whole run
export const cursor = signal(0); // step shown
export const playing = signal(false);
export const speed = signal(1);
export const stale = signal(false); // edited, not yet run again
export const selection = signal<Selection>(null);
export const hidden = signal<ReadonlySet<string>>(new Set());
export const focusLane = signal(0);
export const tick = signal(0); // data has come in; at most 30 times a second
export const dark = signal(false);
export const phase = signal<'loading' | 'ready' | 'unsupported' | 'broken'>('loading');

export const styles = computed(() => solverStyles(tables.value?.solvers ?? [], dark.value));
export const laneKeys = computed(() => lanes.value.map((lane) => lane.choice.id));
export const time = computed(() => cursor.value * dt.value);
export const focused = computed(() => lanes.value[Math.min(focusLane.value, lanes.value.length - 1)] ?? null);

let tool: CoreClient | null = null;

/** A worker for tables, profiles and problems without a simulation. */
export function toolClient(): CoreClient {
    if (!tool) throw new Error('the core is not started');
    return tool;
}

export async function startCore(): Promise<void> {
    tool?.end();
    let works = false;
    const client = new CoreClient({
        chunk: () => {},
        stopped: () => {},
        idle: () => {},
        crashed: (message) => {
            if (works) void replaceHelper(message);
        },
    });
    tool = client;
    const answer = await client.request('start', { module: await coreModule() });
    works = true;
    tables.value ??= answer;
    phase.value = 'ready';
}

/** What the helper was asked when it stopped is refused; a new one answers what comes later. */
async function replaceHelper(message: string): Promise<void> {
    say('warning', 'The helper worker stopped; another has taken its place.', message);
    await startCore().catch((error) =>
        say('error', 'The helper worker cannot be started again; reload the page.', String(error)),
    );
}

/** Reads a scene in the helper, with a solver that needs no dense matrix: whatever fits is read. */
export function readScene(source: Job['source'], run: number): Promise<Loaded> {
    return toolClient().request('load', {
        source,
        run,
        driver: { id: 'newton-ncp', preset: '', params: {} },
        observer: null,
        memory: 1 << 20,
    });
}

export function solverInfo(id: string): SolverInfo | undefined {
    return tables.value?.solvers.find((s) => s.id === id);
}

let tickTimer = 0;
let lastTick = 0;

/** Says that data has come in; panels hear of it at most 30 times a second, and at most once a picture. */
export function touchedData(): void {
    if (tickTimer) return;
    const wait = Math.max(0, 33 - (performance.now() - lastTick));
    tickTimer = window.setTimeout(() => {
        tickDue = true;
        if (document.hidden) tellPanels();
        else requestAnimationFrame(tellPanels);
    }, wait);
}

let tickDue = false;

function tellPanels(): void {
    if (!tickDue) return; // the player has told them, together with the step
    tickDue = false;
    tickTimer = 0;
    lastTick = performance.now();
    tick.value++;
}

// ------------------------------------------------------------------------------------------------
// Changing the experiment, with undo
// ------------------------------------------------------------------------------------------------

const past = signal<Experiment[]>([]);
const future = signal<Experiment[]>([]);
export const canUndo = computed(() => past.value.length > 0);
export const canRedo = computed(() => future.value.length > 0);

let rerun = 0; // the timer of a change that waits for more of them

/** Replaces the experiment; what still fits keeps running. */
export function change(next: Experiment, wait = 0): Promise<void> {
    const before = experiment.value;
    if (sameExperiment(before, next)) return Promise.resolve();
    batch(() => {
        past.value = [...past.value.slice(-99), before];
        future.value = [];
        experiment.value = next;
        stale.value = true;
    });
    return schedule(wait);
}

function schedule(wait: number): Promise<void> {
    clearTimeout(rerun);
    rerun = 0;
    if (wait === 0) return reconcile();
    return new Promise((done) => {
        rerun = window.setTimeout(() => {
            rerun = 0;
            void reconcile().then(done);
        }, wait);
    });
}

export function undo(): void {
    const previous = past.value[past.value.length - 1];
    if (!previous) return;
    batch(() => {
        past.value = past.value.slice(0, -1);
        future.value = [experiment.value, ...future.value];
        experiment.value = previous;
    });
    void schedule(0);
}

export function redo(): void {
    const [next, ...rest] = future.value;
    if (!next) return;
    batch(() => {
        past.value = [...past.value, experiment.value];
        future.value = rest;
        experiment.value = next;
    });
    void schedule(0);
}

export function edit(path: string, value: Json): void {
    void change({ ...experiment.value, edits: withEdit(experiment.value.edits, { path, value }) }, 400);
}

export function addSolver(id: string): void {
    const { solvers } = experiment.value;
    if (solvers.length >= MAX_SOLVERS || solvers.some((s) => s.id === id)) return;
    void change({ ...experiment.value, solvers: [...solvers, { id, preset: '', params: {} }] });
}

export function removeSolver(id: string): void {
    const solvers = experiment.value.solvers.filter((s) => s.id !== id);
    if (solvers.length > 0) void change({ ...experiment.value, solvers });
}

export function setParam(id: string, param: string, value: number | null): void {
    const solvers = experiment.value.solvers.map((s): SolverChoice => {
        if (s.id !== id) return s;
        const params = { ...s.params };
        if (value === null) delete params[param];
        else params[param] = value;
        return { ...s, params };
    });
    void change({ ...experiment.value, solvers }, 400);
}

// ------------------------------------------------------------------------------------------------
// Lanes follow the experiment
// ------------------------------------------------------------------------------------------------

let reconciling: Promise<void> = Promise.resolve();
let wanted = 0;
let arrived = 0; // the last change that was set up, refused or overtaken

/** No change of the experiment waits to be run. */
export const settled = (): boolean => !stale.value && arrived === wanted;

/** Opens an experiment from a link, the gallery or a file. */
export interface Opening {
    play: boolean;
    at?: number;
    estimate?: boolean; // a run that takes long waits for the person
}

/** False when it cannot run: then the page keeps what it had. */
export async function open(next: Experiment, options: Opening): Promise<boolean> {
    batch(() => {
        if (lanes.value.length > 0) past.value = [...past.value, experiment.value].slice(-100);
        future.value = [];
        experiment.value = next;
        cursor.value = options.at ?? 0;
        selection.value = null;
        playing.value = false;
        autoplay = options.play;
        cautious = options.estimate ?? false;
    });
    await schedule(0);
    return !failed;
}

let autoplay = false;
let cautious = false; // the next run shows first how long it takes
let running: Experiment | null = null; // the last one that could be set up
let failed = false; // the last one that was tried could not

function reconcile(): Promise<void> {
    const ticket = ++wanted;
    reconciling = reconciling.then(async () => {
        if (ticket !== wanted) return;
        const asked = experiment.value;
        try {
            running = await rebuild(asked);
            failed = false;
        } catch (error) {
            say(
                'error',
                'This experiment cannot run; the page keeps what it had.',
                error instanceof Error ? error.message : String(error),
            );
            failed = true;
            if (experiment.value === asked) goBack();
        }
        arrived = ticket;
    });
    return reconciling;
}

/** What cannot run leaves no trace, neither on the page nor in undo. */
function goBack(): void {
    const good = running;
    if (!good) return;
    batch(() => {
        past.value = past.value.filter((e) => e !== good);
        experiment.value = good;
        stale.value = false;
    });
}

function jobKey(job: Job): string {
    const { files, ...source } = job.source;
    return canonical({ ...job, source: { ...source, files: files.map((f) => f.path) } } as unknown as Json);
}

const laneJobs = new WeakMap<Lane, string>();

/** Sets up what is asked; its answer has the solvers that a scene suggests. */
async function rebuild(asked: Experiment): Promise<Experiment> {
    let current = asked;
    const [careful, plays] = [cautious, autoplay]; // a later change brings its own
    cautious = autoplay = false;
    const { source, misfits } = await sceneSource(current.scene, current.edits);
    for (const misfit of misfits)
        say('warning', `A change does not fit this scene and was left out: ${misfit.path}`);

    const facts = await probe(source, current);
    const choices = current.solvers.length > 0 ? current.solvers : facts.solvers;
    if (current.solvers.length === 0) {
        current = { ...current, solvers: choices };
        if (experiment.value === asked) experiment.value = current;
    }
    const chosenRun = facts.scene.runs[facts.run];
    const preset = current.preset || chosenRun.preset || facts.scene.preset;
    const ownLimits = current.preset ? {} : runLimits(chosenRun);
    const perLane = MEMORY / 2 / choices.length;
    const driver = current.driver || choices[0].id;

    const old = new Map(lanes.value.map((lane) => [laneJobs.get(lane) ?? '', lane]));
    const next: { lane: Lane; job: Job; fresh: boolean }[] = choices.map((choice) => {
        const complete = (c: SolverChoice) => ({
            ...c,
            preset: c.preset || preset,
            params: { ...ownLimits, ...c.params },
        });
        const own = complete(choice);
        const curated = current.mode === 'curated' && choice.id !== driver;
        const driverChoice = choices.find((c) => c.id === driver) ?? { id: driver, preset: '', params: {} };
        const job: Job = {
            source,
            run: facts.run,
            driver: curated ? complete(driverChoice) : own,
            observer: curated ? own : null,
            memory: MEMORY / 2 / MAX_SOLVERS,
        };
        const kept = old.get(jobKey(job));
        if (kept && kept.state.value !== 'crashed') return { lane: kept, job, fresh: false };
        const lane = new Lane(choice, tables.value!, perLane, touchedData);
        laneJobs.set(lane, jobKey(job));
        return { lane, job, fresh: true };
    });
    const keep = new Set(next.map((n) => n.lane));
    for (const lane of lanes.value) if (!keep.has(lane)) lane.end();
    const again = undecided();
    forgetEstimate();

    const total = Math.round((current.duration || facts.scene.runs[facts.run].duration) / facts.dt);
    batch(() => {
        scene.value = facts.scene;
        runIndex.value = facts.run;
        documentText.value = source.text;
        dt.value = facts.dt;
        steps.value = total;
        lanes.value = next.map((n) => n.lane);
        cursor.value = Math.min(cursor.value, total);
        stale.value = rerun !== 0;
    });
    await Promise.all(
        next.map(async ({ lane, job, fresh }) => {
            if (fresh) await lane.load(job).catch(() => {});
        }),
    );
    const precise = preset === 'high-precision' && next.some((n) => n.fresh);
    if (careful || precise || again) (await import('./estimate-run')).startWithEstimate(lanes.value, total);
    else for (const { lane } of next) lane.run(total);
    if (plays) playing.value = true;
    return current;
}

/** Iterations and tolerance that a run sets for itself. */
function runLimits(run: RunInfo): Record<string, number> {
    return {
        ...(run.maxIterations > 0 ? { max_iterations: run.maxIterations } : {}),
        ...(run.tolerance > 0 ? { tolerance: run.tolerance } : {}),
    };
}

interface Facts {
    scene: SceneInfo;
    run: number;
    dt: number;
    solvers: SolverChoice[];
}

/** Reads the scene in the helper worker before any lane is touched: a bad scene changes nothing. */
async function probe(source: Job['source'], current: Experiment): Promise<Facts> {
    let loaded = await readScene(source, 0);
    let run = loaded.scene.runs.findIndex((r) => r.id === current.run);
    if (run < 0) {
        if (current.run) say('warning', `This scene has no run "${current.run}"; the first is shown.`);
        run = 0;
    }
    if (run > 0) loaded = await readScene(source, run);
    const known = loaded.scene.solvers.filter((id) => solverInfo(id));
    const suggested = known.length > 0 ? known : tables.value!.solvers.map((s) => s.id);
    return {
        scene: loaded.scene,
        run,
        dt: loaded.dt,
        solvers: suggested.slice(0, MAX_SOLVERS).map((id) => ({ id, preset: '', params: {} })),
    };
}

/**
 * Changes the run from `step` on without doing the past again. While `final` is false the workers look only
 * a little ahead; at the end the whole change becomes one undo step.
 */
export async function amendRun(
    before: Experiment,
    next: Experiment,
    step: number,
    final: boolean,
): Promise<void> {
    const { source } = await sceneSource(next.scene, next.edits);
    const alive = lanes.value.filter((lane) => lane.alive);
    await Promise.all(
        alive.map(async (lane) => {
            await lane.amend(source, Math.min(step, lane.filled.value));
            laneJobs.set(lane, jobKey({ ...lane.job!, source }));
            lane.run(final ? steps.value : Math.min(steps.value, step + Math.ceil(AHEAD / dt.value)));
        }),
    );
    batch(() => {
        documentText.value = source.text;
        experiment.value = next;
        running = next;
        if (final) {
            past.value = [...past.value.slice(-99), before];
            future.value = [];
        }
    });
}

const AHEAD = 0.4; // [s] that workers may run ahead while the run is being changed

/** A crashed lane begins again from the start. */
export async function restartLane(lane: Lane): Promise<void> {
    laneJobs.delete(lane);
    await reconcile();
}

export function cancelRuns(): void {
    for (const lane of lanes.value) lane.pause();
}

// ------------------------------------------------------------------------------------------------
// The player
// ------------------------------------------------------------------------------------------------

/** The step up to which every lane that still works has arrived. */
export function playable(): number {
    let least = steps.value;
    for (const lane of lanes.value) {
        const done =
            lane.state.value === 'diverged' ||
            lane.state.value === 'failed' ||
            lane.state.value === 'crashed';
        if (!done) least = Math.min(least, lane.filled.value);
    }
    return least;
}

export function seek(step: number): void {
    cursor.value = Math.max(0, Math.min(steps.value, Math.round(step)));
}

export function play(): void {
    if (cursor.value >= steps.value) cursor.value = 0;
    compute();
    playing.value = true;
}

/** Fills all buffers, whatever the estimate says. */
export function compute(): void {
    forgetEstimate();
    for (const lane of lanes.value) lane.run(steps.value);
}

export function pause(): void {
    playing.value = false;
}

export function reset(): void {
    batch(() => {
        playing.value = false;
        cursor.value = 0;
    });
}

effect(() => {
    if (estimate.value?.waiting) playing.value = false;
});

let lastFrame = 0;
let fraction = 0;

function playFrame(now: number): void {
    if (!playing.value) return;
    // A late picture is told when it was begun, which may be before playing was.
    const elapsed = Math.min(0.1, Math.max(0, now - lastFrame) / 1000);
    lastFrame = now;
    fraction += (elapsed * speed.value) / dt.value;
    const whole = Math.floor(fraction);
    fraction -= whole;
    const reach = playable();
    batch(() => {
        cursor.value = Math.min(cursor.value + whole, Math.max(reach, cursor.value));
        tellPanels();
    });
    if (cursor.value >= steps.value && steps.value > 0) playing.value = false;
    else requestAnimationFrame(playFrame);
}

effect(() => {
    if (!playing.value) return;
    lastFrame = performance.now();
    fraction = 0;
    requestAnimationFrame(playFrame);
});

const darkQuery = typeof matchMedia === 'function' ? matchMedia('(prefers-color-scheme: dark)') : null;
export const theme = signal<'system' | 'light' | 'dark'>('system');
export const systemDark = signal(darkQuery?.matches ?? false);
darkQuery?.addEventListener('change', () => {
    systemDark.value = darkQuery.matches;
});
effect(() => {
    dark.value = theme.value === 'system' ? systemDark.value : theme.value === 'dark';
    if (typeof document === 'object') document.documentElement.dataset.theme = dark.value ? 'dark' : 'light';
});
