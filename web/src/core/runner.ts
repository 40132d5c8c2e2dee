// The simulation inside a worker: fills the buffer ahead in short slices, keeps checkpoints, and looks
// at any earlier step again by replaying from the nearest checkpoint in a second page of the same core.
import { CoreError, type Page } from '#loader/page.mjs';
import type {
    Chunk,
    ConditionAnswer,
    FieldChunk,
    Inspection,
    Job,
    Loaded,
    Matrix,
    Recording,
    Resolved,
    SceneSource,
    SolverChoice,
} from './protocol';
import type { ErrorInfo, ProblemInfo, Tables } from './types';

const SLICE = 0.008; // [s] between two looks at the mailbox
const CHECKPOINT = 64; // steps
const FRAME_RATE = 120; // [Hz] of simulated time
const CHUNK_BYTES = 256 * 1024;
const CHUNK_MS = 100;
const SHOWN = [
    'pose',
    'twist',
    'joint_position',
    'joint_velocity',
    'joint_wrench',
    'joint_residual',
    'contact_position',
    'contact_frame',
    'contact_gap',
    'contact_mode',
    'contact_force',
    'contact_friction',
    'contact_bodies',
    'stage_time',
];

interface Checkpoint {
    step: number;
    state: Uint8Array;
}

export function errorInfo(error: unknown): ErrorInfo {
    if (error instanceof CoreError) return error.info as ErrorInfo;
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { status: 'crashed', message, file: '', line: 0, column: 0, path: '' };
}

const channel = new MessageChannel();
const resting: (() => void)[] = [];
channel.port1.onmessage = () => resting.shift()?.();

/** Lets waiting messages in; quicker than a timer. */
function pause(): Promise<void> {
    return new Promise((done) => {
        resting.push(done);
        channel.port2.postMessage(0);
    });
}

/** Error of each joint, limit and contact of the problem at hand. */
function blockErrors(page: Page, lambda: Float64Array): Float64Array {
    const { jointCount, limitCount, contactCount } = page.problem(false);
    return page.blockResiduals(lambda, jointCount + limitCount + contactCount);
}

function stateHash(page: Page): bigint {
    return BigInt(`0x${page.hash()}`);
}

/** Collects rows and frames until they are worth a message. */
class ChunkBuilder {
    work = 0; // [ms]
    private rows: Float64Array[] = [];
    private steps: number[] = [];
    private hashes: bigint[] = [];
    private parts = new Map<string, { columns: number; arrays: FieldChunk['values'][] }>();
    private bytes = 0;
    private since = performance.now();
    private count = 0;
    constructor(
        private first: number,
        private columns: number,
    ) {}

    addRows(record: Float64Array): void {
        this.rows.push(record.slice());
        this.count += record.length / this.columns;
        this.bytes += record.byteLength;
    }

    addFrame(page: Page): void {
        this.steps.push(page.step());
        this.hashes.push(stateHash(page));
        for (const view of page.fields(SHOWN)) {
            let part = this.parts.get(view.id);
            if (!part) this.parts.set(view.id, (part = { columns: view.columns, arrays: [] }));
            part.arrays.push(view.values.slice());
            this.bytes += view.values.byteLength;
        }
    }

    get ripe(): boolean {
        return this.count > 0 && (this.bytes > CHUNK_BYTES || performance.now() - this.since > CHUNK_MS);
    }

    get empty(): boolean {
        return this.count === 0 && this.steps.length === 0;
    }

    take(): Chunk {
        const record = new Float64Array(this.count * this.columns);
        let at = 0;
        for (const rows of this.rows) {
            record.set(rows, at);
            at += rows.length;
        }
        const fields = [...this.parts].map(([id, part]) => joinFrames(id, part.columns, part.arrays));
        const chunk = {
            first: this.first,
            count: this.count,
            record,
            work: this.work / 1000,
            frameSteps: Int32Array.from(this.steps),
            hashes: BigUint64Array.from(this.hashes),
            fields,
        };
        this.first += this.count;
        this.rows = [];
        this.steps = [];
        this.hashes = [];
        this.parts = new Map();
        this.bytes = this.count = this.work = 0;
        this.since = performance.now();
        return chunk;
    }
}

function joinFrames(id: string, columns: number, arrays: FieldChunk['values'][]): FieldChunk {
    const offsets = new Int32Array(arrays.length + 1);
    for (let i = 0; i < arrays.length; i++) offsets[i + 1] = offsets[i] + arrays[i].length;
    const Values = arrays[0].constructor as Float64ArrayConstructor;
    const values = new Values(offsets[arrays.length]);
    for (let i = 0; i < arrays.length; i++) values.set(arrays[i] as Float64Array, offsets[i]);
    return { id, columns, values, offsets };
}

export function transferList(fields: FieldChunk[]): Transferable[] {
    return fields.flatMap((f) => [f.values.buffer as ArrayBuffer, f.offsets.buffer as ArrayBuffer]);
}

export interface RunnerOutput {
    chunk(chunk: Chunk): void;
    stopped(step: number, error: ErrorInfo): void;
    idle(step: number): void;
}

export class Runner {
    private job: Job | null = null;
    private checkpoints: Checkpoint[] = [];
    private stride = CHECKPOINT;
    private until = 0;
    private working = false;
    private failed = false;
    private credit = 2;
    private builder: ChunkBuilder;
    private frameEvery = 1;
    private generation = 0;
    private inspected = -1;
    private rested = 0; // when the mailbox was last looked at [ms]
    private hashes: bigint[] = []; // after every CHECKPOINT steps

    constructor(
        private readonly page: Page,
        private readonly second: Page, // looks back without disturbing the run
        private readonly tables: Tables,
        private readonly out: RunnerOutput,
    ) {
        this.builder = new ChunkBuilder(0, tables.record.length);
    }

    load(job: Job): Loaded {
        for (const page of [this.page, this.second]) this.prepare(page, job);
        this.page.setCategories(job.categories ?? false);
        this.job = job;
        this.generation++;
        this.checkpoints = [{ step: 0, state: this.page.save() }];
        this.hashes = [];
        this.stride = CHECKPOINT;
        this.failed = false;
        this.until = 0;
        this.inspected = -1;
        this.credit = 2;
        this.builder = new ChunkBuilder(0, this.tables.record.length);
        this.builder.addFrame(this.page);
        return this.describe(job);
    }

    /** The same run with a changed document from `step` on: the past stays. */
    amend(source: SceneSource, step: number): Loaded {
        if (!this.job) throw new Error('nothing is loaded');
        const kept = this.nearest(step);
        const job = { ...this.job, source };
        for (const page of [this.page, this.second]) this.prepare(page, job);
        this.job = job;
        this.page.restore(kept.state);
        this.replay(this.page, step);
        this.restart(step);
        return this.describe(job);
    }

    /** Drops everything after `step`. */
    rewind(step: number): { step: number } {
        this.page.restore(this.nearest(step).state);
        this.replay(this.page, step);
        this.restart(step);
        return { step };
    }

    private restart(step: number): void {
        this.generation++;
        this.checkpoints = this.checkpoints.filter((c) => c.step <= step);
        this.hashes.length = Math.min(this.hashes.length, Math.floor(step / CHECKPOINT));
        this.failed = false;
        this.inspected = -1;
        this.credit = 2;
        this.builder = new ChunkBuilder(step, this.tables.record.length);
        this.builder.addFrame(this.page);
    }

    private prepare(page: Page, job: Job): void {
        for (const file of job.source.files) page.putFile(file.path, file.data);
        page.load(job.source.text, job.source.name);
        page.observe(job.observer ? job.observer.id : '');
        page.start(job.run, job.driver.id);
        page.configure(false, job.driver.preset, job.driver.params);
        if (job.observer) page.configure(true, job.observer.preset, job.observer.params);
    }

    private describe(job: Job): Loaded {
        const scene = this.page.scene() as Loaded['scene'];
        const dt = scene.runs[job.run].settings.dt;
        this.frameEvery = Math.max(1, Math.floor(1 / (FRAME_RATE * dt)));
        const looked = job.observer ?? job.driver;
        const info = this.tables.solvers.find((s) => s.id === looked.id);
        const params: Record<string, number> = {};
        for (const p of info?.params ?? []) params[p.id] = this.page.param(job.observer !== null, p.id);
        const fields = this.page.fieldTable.map(({ id, unit, text, rows, columns, type }) => ({
            id,
            unit,
            text,
            rows,
            columns,
            type,
        }));
        return { scene, fields, params, dt };
    }

    run(until: number): void {
        this.until = until;
        if (!this.working) void this.loop();
    }

    stop(): void {
        this.until = -1;
    }

    /** Lets go of a long look back: another run is about to begin. */
    interrupt(): void {
        this.generation++;
    }

    acknowledge(): void {
        this.credit = Math.min(2, this.credit + 1);
    }

    private async loop(): Promise<void> {
        this.working = true;
        while (this.job && !this.failed) {
            const step = this.page.step();
            if (step >= this.until && !this.page.busy) break;
            if (this.credit > 0 && this.builder.ripe) this.post();
            if (this.credit > 0 || !this.builder.ripe) this.slice(step);
            await pause();
        }
        if (!this.builder.empty) this.post();
        this.working = false;
        if (this.until >= 0 && !this.failed) this.out.idle(this.page.step());
    }

    private post(): void {
        this.credit--;
        this.out.chunk(this.builder.take());
    }

    private slice(from: number): void {
        const began = performance.now();
        this.work(from, began + 1000 * SLICE);
        this.builder.work += performance.now() - began;
    }

    private work(from: number, end: number): void {
        let step = from;
        while (step < this.until || this.page.busy) {
            const left = (end - performance.now()) / 1000;
            if (left <= 0) return;
            const next = (every: number) => every - (step % every);
            const wanted = this.until - step > 0 ? this.until - step : 1;
            const steps = Math.min(next(this.frameEvery), next(CHECKPOINT), wanted);
            if (!this.advance(steps, left)) return;
            step = this.page.step();
            if (this.page.busy) continue;
            if (step % this.frameEvery === 0 || step === this.until) this.builder.addFrame(this.page);
            if (step === CHECKPOINT * (this.hashes.length + 1)) this.hashes.push(stateHash(this.page));
            if (step % this.stride === 0) this.keep(step);
        }
    }

    private advance(steps: number, seconds: number): boolean {
        try {
            this.page.work(steps, seconds);
            this.builder.addRows(this.page.record(this.tables.record.length));
            return true;
        } catch (error) {
            this.builder.addRows(this.page.record(this.tables.record.length));
            this.failed = true;
            if (!this.builder.empty) this.post();
            this.out.stopped(this.page.step(), errorInfo(error));
            return false;
        }
    }

    private keep(step: number): void {
        if (this.checkpoints[this.checkpoints.length - 1].step >= step) return;
        this.checkpoints.push({ step, state: this.page.save() });
        const bytes = this.checkpoints.length * this.checkpoints[0].state.byteLength;
        if (this.job && bytes > this.job.memory) {
            this.stride *= 2;
            this.checkpoints = this.checkpoints.filter((c) => c.step % this.stride === 0);
        }
    }

    private nearest(step: number): Checkpoint {
        let found = this.checkpoints[0];
        for (const c of this.checkpoints) if (c.step <= step) found = c;
        return found;
    }

    private replay(page: Page, step: number): void {
        while (page.step() < step || page.busy)
            page.work(Math.min(256, Math.max(1, step - page.step())), 1e9);
    }

    /** Step `step` again, with its convergence; step 0 has no problem. */
    async inspect(step: number, natural: boolean, condition: boolean): Promise<Inspection> {
        const generation = this.generation;
        const page = this.second;
        page.restore(this.nearest(Math.max(0, step - 1)).state);
        page.setTrace(false, false);
        await this.replayPolitely(page, step - 1, generation);
        page.setTrace(true, natural);
        if (step > 0) await this.replayPolitely(page, step, generation);
        this.inspected = step;
        const dim = step > 0 ? (page.problem(false).dim as number) : 0;
        const columns = this.tables.record.length;
        const row = page.recordCount() > 0 ? page.record(columns).slice(-columns) : new Float64Array(columns);
        return {
            step,
            time: page.time(),
            hash: page.hash(),
            frame: page.fields(SHOWN).map((v) => joinFrames(v.id, v.columns, [v.values.slice()])),
            row: step > 0 ? row : new Float64Array(columns).fill(Number.NaN),
            trace: step > 0 ? page.trace() : new Float64Array(0),
            problem: step > 0 ? (page.problem(condition) as Inspection['problem']) : null,
            solution: dim > 0 ? (page.solution() as Inspection['solution']) : null,
            lambda: dim > 0 ? page.lambda(dim) : new Float64Array(0),
            blocks: dim > 0 ? blockErrors(page, page.lambda(dim)) : new Float64Array(0),
        };
    }

    private async replayPolitely(page: Page, step: number, generation: number): Promise<void> {
        while (page.step() < step || page.busy) {
            page.work(Math.min(256, Math.max(1, step - page.step())), SLICE);
            if (performance.now() - this.rested > 1000 * SLICE) {
                await pause();
                this.rested = performance.now();
            }
            if (generation !== this.generation) throw new Error('the run has changed meanwhile');
        }
    }

    loadProblem(
        text: string,
        name: string,
        index: number,
    ): { count: number; problem: Inspection['problem'] & object } {
        this.inspected = 0;
        const count = this.second.loadProblem(text, name, index);
        return { count, problem: this.second.problem(false) as Inspection['problem'] & object };
    }

    /** The inspected problem, solved from nothing by another solver. */
    async resolve(solver: SolverChoice, natural: boolean): Promise<Resolved> {
        if (this.inspected < 0) throw new Error('no step is inspected');
        const page = this.second;
        page.observe(solver.id);
        page.configure(true, solver.preset, solver.params);
        page.setTrace(true, natural);
        page.resolveBegin();
        const generation = this.generation;
        while (!page.resolve(SLICE)) {
            await pause();
            if (generation !== this.generation) throw new Error('the run has changed meanwhile');
        }
        const problem = page.problem(false);
        const lambda = page.lambda(problem.dim);
        const result = {
            solver: solver.id,
            trace: page.trace(),
            solution: page.solution() as Resolved['solution'],
            lambda,
            blocks: blockErrors(page, lambda),
        };
        page.observe(this.job?.observer?.id ?? '');
        if (this.job?.observer) page.configure(true, this.job.observer.preset, this.job.observer.params);
        return result;
    }

    matrix(hard: boolean): Matrix {
        const page = this.second;
        const { dim, contactCount } = page.problem(false);
        return {
            dim,
            delassus: page.delassus(dim, hard),
            softening: page.softening(dim),
            freeVelocity: page.freeVelocity(dim),
            friction: page.friction(contactCount),
            lambda: page.lambda(dim),
        };
    }

    condition(lambdas: Float64Array[]): ConditionAnswer {
        const page = this.second;
        const { condition } = page.problem(true) as ProblemInfo;
        if (!condition || 'error' in condition) throw new Error(condition?.error);
        return { condition, shares: lambdas.map((lambda) => page.internalShare(lambda)) };
    }

    impedance(kind: number, reach: number, count: number): Float64Array {
        return this.page.impedance(this.job?.run ?? 0, kind, reach, count);
    }

    /** Steps 1 to `steps` again, each of them kept. */
    async recording(steps: number, ids: string[]): Promise<Recording> {
        const generation = this.generation;
        const page = this.second;
        page.restore(this.checkpoints[0].state);
        page.setTrace(false, false);
        this.inspected = -1;
        const hashes = new BigUint64Array(steps);
        const fields = page.fields(ids).map((v) => {
            const width = v.values.length;
            return { id: v.id, width, values: new Float64Array(steps * width) };
        });
        for (let i = 0; i < steps; i++) {
            await this.replayPolitely(page, i + 1, generation);
            hashes[i] = stateHash(page);
            for (const [k, view] of page.fields(ids).entries())
                fields[k].values.set(view.values as Float64Array, i * fields[k].width);
        }
        return { hashes, fields };
    }

    blockHashes(): BigUint64Array {
        return BigUint64Array.from(this.hashes);
    }

    document(): string {
        return this.page.document();
    }
}
