// Entry of a worker: one core, one runner. Requests are answered in order; run, pause and ack are not.
import createModule from '#core/kinloop.mjs';
import { Page, startCore } from '#loader/page.mjs';
import type { Chunk, FromWorker, RequestName, Requests, ToWorker } from './protocol';
import { errorInfo, Runner, transferList } from './runner';
import type { Tables } from './types';

let runner: Runner | null = null;
let tool: Page | null = null; // profiles need no simulation
let epoch = 0;
let queue: Promise<void> = Promise.resolve();

function send(message: FromWorker, transfer: Transferable[] = []): void {
    self.postMessage(message, { transfer });
}

function sendChunk(chunk: Chunk): void {
    const transfer = [
        chunk.record.buffer,
        chunk.frameSteps.buffer,
        chunk.hashes.buffer,
        ...transferList(chunk.fields),
    ];
    send({ type: 'chunk', epoch, chunk }, transfer as Transferable[]);
}

async function start(module: WebAssembly.Module): Promise<Tables> {
    const core = await startCore(createModule, module);
    tool = new Page(core);
    const tables = tool.tables() as Tables;
    runner = new Runner(new Page(core), new Page(core), tables, {
        chunk: sendChunk,
        stopped: (step, error) => send({ type: 'stopped', epoch, step, error }),
        idle: (step) => send({ type: 'idle', epoch, step }),
    });
    return tables;
}

function ready(): Runner {
    if (!runner) throw new Error('the core is not started');
    return runner;
}

type Answers = {
    [N in RequestName]: (body: Requests[N]['in']) => Requests[N]['out'] | Promise<Requests[N]['out']>;
};

const answers: Answers = {
    start: ({ module }) => start(module),
    load: (job) => ready().load(job),
    amend: ({ source, step }) => ready().amend(source, step),
    rewind: ({ step }) => ready().rewind(step),
    inspect: ({ step, natural, condition }) => ready().inspect(step, natural, condition),
    problem: ({ text, name, index }) => ready().loadProblem(text, name, index),
    resolve: ({ solver, natural }) => ready().resolve(solver, natural),
    matrix: ({ hard }) => ready().matrix(hard),
    condition: ({ lambdas }) => ready().condition(lambdas),
    impedance: ({ kind, reach, count }) => ready().impedance(kind, reach, count),
    recording: ({ steps, fields }) => ready().recording(steps, fields),
    blockHashes: () => ready().blockHashes(),
    document: () => ready().document(),
    profile: ({ problems, solvers, measure, floor, points, tauMax }) =>
        tool!.profile(problems, solvers, measure, { floor, points, tauMax }),
};

const NEW_EPOCH = new Set<RequestName>(['load', 'amend', 'rewind']);

/** A trap, or no memory or stack for the engine: the core may be left in the middle of something. */
function isFatal(error: unknown): boolean {
    return error instanceof WebAssembly.RuntimeError || error instanceof RangeError;
}

function fail(error: unknown): never {
    throw error;
}

async function answer(message: Extract<ToWorker, { id: number; body: unknown }>): Promise<void> {
    try {
        const body = await (answers[message.type] as (b: unknown) => unknown)(message.body);
        if (NEW_EPOCH.has(message.type)) epoch = message.id;
        send({ type: 'reply', id: message.id, body });
    } catch (error) {
        if (isFatal(error)) return void setTimeout(() => fail(error)); // the page hears of it as the worker's end
        send({ type: 'refused', id: message.id, error: errorInfo(error) });
    }
}

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    switch (data.type) {
        case 'run':
            void queue.then(() => runner?.run(data.until));
            return;
        case 'pause':
            runner?.stop();
            return;
        case 'ack':
            runner?.acknowledge();
            return;
        case 'cancel':
            runner?.interrupt();
            return;
        default:
            if (NEW_EPOCH.has(data.type)) runner?.interrupt();
            queue = queue.then(() => answer(data));
    }
};
