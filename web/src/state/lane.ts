// A lane is one solver of the experiment: its worker, its history, its state.
import { type Signal, signal } from '@preact/signals-core';
import { CoreClient, Refused } from '../core/client';
import type { Job, Loaded, SolverChoice } from '../core/protocol';
import type { ErrorInfo, Tables } from '../core/types';
import { coreModule } from './core-module';
import { History } from './history';

export type LaneState = 'loading' | 'running' | 'paused' | 'finished' | 'diverged' | 'failed' | 'crashed';

export class Lane {
    readonly state: Signal<LaneState> = signal('loading');
    readonly error: Signal<ErrorInfo | null> = signal(null);
    readonly loaded: Signal<Loaded | null> = signal(null);
    readonly filled: Signal<number> = signal(0); // steps in the buffer
    history: History;
    client: CoreClient;
    stoppedAt = -1;
    worked = 0; // [s] that its worker took for all it has done
    job: Job | null = null;
    private target = 0;
    private started: Promise<Tables>;

    constructor(
        readonly choice: SolverChoice,
        private tables: Tables,
        private readonly memory: number,
        private readonly changed: () => void,
    ) {
        this.history = new History(tables.record, memory);
        this.client = this.connect();
        this.started = this.boot();
    }

    private connect(): CoreClient {
        return new CoreClient({
            chunk: (chunk) => {
                this.history.append(chunk);
                this.worked += chunk.work;
                this.filled.value = this.history.lastStep;
                this.changed();
            },
            stopped: (step, error) => {
                this.stoppedAt = step;
                this.error.value = error;
                this.state.value =
                    error.status === 'diverged'
                        ? 'diverged'
                        : error.status === 'crashed'
                          ? 'crashed'
                          : 'failed';
                this.changed();
            },
            idle: (step) => {
                if (this.state.value === 'running' && step >= this.target) this.state.value = 'finished';
                this.changed();
            },
            crashed: (message) => this.crash(message),
        });
    }

    private crash(message: string): void {
        this.error.value = { status: 'crashed', message, file: '', line: 0, column: 0, path: '' };
        this.state.value = 'crashed';
        this.changed();
    }

    private async boot(): Promise<Tables> {
        return this.client.request('start', { module: await coreModule() });
    }

    get alive(): boolean {
        return (
            this.state.value === 'running' || this.state.value === 'paused' || this.state.value === 'finished'
        );
    }

    async load(job: Job): Promise<Loaded> {
        this.state.value = 'loading';
        this.error.value = null;
        this.stoppedAt = -1;
        try {
            await this.started;
            this.job = job;
            const loaded = await this.client.request('load', job);
            this.history = new History(this.tables.record, this.memory);
            this.filled.value = 0;
            this.loaded.value = loaded;
            this.state.value = 'paused';
            return loaded;
        } catch (error) {
            this.refused(error);
            throw error;
        }
    }

    private refused(error: unknown): void {
        if (this.state.value === 'crashed') return;
        this.error.value =
            error instanceof Refused
                ? error.info
                : { status: 'failed', message: String(error), file: '', line: 0, column: 0, path: '' };
        this.state.value = 'failed';
    }

    /** Fills the buffer up to step `until`; only up to `first` for now, if that is given. */
    run(until: number, first = until): void {
        if (!this.alive) return;
        this.target = until;
        if (this.filled.value < until) this.state.value = 'running';
        this.client.run(first);
    }

    pause(): void {
        if (this.state.value === 'running') {
            this.client.pause();
            this.state.value = 'paused';
        }
    }

    /** Continues from `step` with a changed document. */
    async amend(source: Job['source'], step: number): Promise<void> {
        this.loaded.value = await this.client.request('amend', { source, step });
        if (this.job) this.job = { ...this.job, source };
        this.history.truncate(step);
        this.filled.value = step;
        this.state.value = 'paused';
        this.error.value = null;
    }

    /** A new worker in place of one that has died. */
    restart(): void {
        this.client.end();
        this.client = this.connect();
        this.started = this.boot();
        this.state.value = 'loading';
        this.error.value = null;
    }

    end(): void {
        this.client.end();
    }
}
