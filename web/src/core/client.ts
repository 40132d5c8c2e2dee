// The page's end of a worker: typed requests as promises, chunks as calls, crashes as errors.
import type { Chunk, FromWorker, RequestName, Requests, ToWorker } from './protocol';
import type { ErrorInfo } from './types';

export class Refused extends Error {
    constructor(readonly info: ErrorInfo) {
        super(info.message);
        this.name = 'Refused';
    }
}

export interface ClientEvents {
    chunk(chunk: Chunk): void;
    stopped(step: number, error: ErrorInfo): void;
    idle(step: number): void;
    crashed(message: string): void;
}

type Waiting = { accept: (body: never) => void; refuse: (error: Error) => void };

export class CoreClient {
    private readonly worker: Worker;
    private readonly waiting = new Map<number, Waiting>();
    private nextId = 1;
    private epoch = 0;
    private ended = ''; // why nothing will be answered any more

    constructor(private readonly events: ClientEvents) {
        this.worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
        this.worker.onmessage = ({ data }: MessageEvent<FromWorker>) => this.receive(data);
        this.worker.onerror = (event) => {
            event.preventDefault();
            this.fail(event.message || 'the worker stopped');
        };
    }

    request<N extends RequestName>(type: N, body: Requests[N]['in']): Promise<Requests[N]['out']> {
        if (this.ended) return Promise.reject(new Error(this.ended));
        const id = this.nextId++;
        return new Promise((accept, refuse) => {
            this.waiting.set(id, { accept: accept as Waiting['accept'], refuse });
            if (type === 'load' || type === 'amend' || type === 'rewind') this.epoch = id;
            this.worker.postMessage({ type, id, body } as ToWorker);
        });
    }

    run(until: number): void {
        this.tell({ type: 'run', until });
    }

    pause(): void {
        this.tell({ type: 'pause' });
    }

    /** Ends a look back or a resolve in progress; its promise is refused. */
    cancel(): void {
        this.tell({ type: 'cancel' });
    }

    /** Ends the worker at once; what waits is refused. */
    end(): void {
        this.refuseAll('the worker was ended');
    }

    /** For tests of the error state: as if the worker had failed by itself. */
    crash(): void {
        this.fail('ended from outside');
    }

    private tell(message: ToWorker): void {
        this.worker.postMessage(message);
    }

    private receive(message: FromWorker): void {
        switch (message.type) {
            case 'chunk':
                this.tell({ type: 'ack' });
                if (message.epoch === this.epoch) this.events.chunk(message.chunk);
                return;
            case 'stopped':
                if (message.epoch === this.epoch) this.events.stopped(message.step, message.error);
                return;
            case 'idle':
                if (message.epoch === this.epoch) this.events.idle(message.step);
                return;
            case 'reply':
                this.waiting.get(message.id)?.accept(message.body as never);
                this.waiting.delete(message.id);
                return;
            case 'refused':
                this.waiting.get(message.id)?.refuse(new Refused(message.error));
                this.waiting.delete(message.id);
        }
    }

    private fail(message: string): void {
        this.refuseAll(message);
        this.events.crashed(message);
    }

    private refuseAll(message: string): void {
        this.worker.terminate();
        this.ended = message;
        for (const { refuse } of this.waiting.values()) refuse(new Error(message));
        this.waiting.clear();
    }
}
