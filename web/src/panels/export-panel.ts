// What can be taken away: scene, problem, numbers, picture, film, command line.
import './panels.css';
import { effect, signal } from '@preact/signals-core';
import { html } from 'lit';
import { commandLine, repeatingWords } from '../app/command-line';
import { download } from '../app/download';
import { KlElement } from '../app/element';
import { bytes } from '../app/format';
import { problemDocument } from '../app/problem-document';
import type { Lane } from '../state/lane';
import { say } from '../state/messages';
import {
    cursor,
    documentText,
    dt,
    focused,
    lanes,
    play,
    playing,
    reset,
    runIndex,
    scene,
    tables,
} from '../state/session';
import type { KlStage } from '../views3d/stage';

const LAST_PICTURE = 200; // [ms] that the last picture of a film takes to get into it
const MOST = 256 * 1024 * 1024; // bytes of a written run

const writing = signal(false);
const recording = signal<MediaRecorder | null>(null);

function stage(): KlStage | null {
    return document.querySelector<KlStage>('kl-stage');
}

function name(ending: string): string {
    return `${scene.value?.id ?? 'scene'}${ending}`;
}

export class KlExportPanel extends KlElement {
    override render() {
        return html`
            <div class="buttons">
                <button @click=${() => download(name('.json'), new Blob([documentText.value], { type: 'application/json' }))}>Scene (JSON)</button>
                <button @click=${() => void this.problem('json')}>Dual problem of this step (JSON)</button>
                <button @click=${() => void this.problem('h5')}>Dual problem of this step (HDF5)</button>
                <button @click=${() => this.numbers('csv')}>All steps, all metrics (CSV)</button>
                <button @click=${() => this.numbers('json')}>All steps, all metrics (JSON)</button>
                <button ?disabled=${writing.value} @click=${() => void this.run()}>${writing.value ? 'Doing every step again…' : 'The whole run (HDF5)'}</button>
                <button @click=${() => void this.picture()}>3D views (PNG)</button>
                <button aria-pressed=${recording.value !== null} @click=${() => this.film()}>${recording.value ? 'Stop recording' : 'Film of the run (WebM)'}</button>
            </div>
            <h3>Command line</h3>
            <pre class="command" tabindex="0">${commandLine()}</pre>
            <p class="quiet">Each plot has its own CSV, JSON, PNG and SVG behind ⋯.</p>
        `;
    }

    private async problem(kind: 'json' | 'h5'): Promise<void> {
        const lane = focused.value;
        if (!lane || cursor.value === 0) return say('warning', 'Step 0 has no problem yet.');
        try {
            const seen = await lane.client.request('inspect', {
                step: cursor.value,
                natural: false,
                condition: false,
            });
            if (!seen.problem || seen.problem.dim === 0)
                return say('warning', 'This step has no constraints.');
            const matrix = await lane.client.request('matrix', { hard: kind === 'h5' });
            const file = name(`-step${seen.step}-problem.${kind}`);
            if (kind === 'json') {
                const text = problemDocument(seen.problem, matrix);
                return download(file, new Blob([text], { type: 'application/json' }));
            }
            const { problemToHdf5 } = await import('../app/hdf5-write');
            const data = await problemToHdf5(seen.problem, matrix, seen.solution, {
                scene: scene.value?.id || 'scene',
                run: scene.value?.runs[runIndex.value]?.id ?? '',
                step: seen.step,
                massRatio: scene.value?.info.massRatio ?? 1,
                version: tables.value?.version ?? '',
            });
            download(file, new Blob([data as BlobPart], { type: 'application/x-hdf5' }));
        } catch (error) {
            say(
                'error',
                'The problem cannot be exported.',
                error instanceof Error ? error.message : String(error),
            );
        }
    }

    /** What all solvers did, step by step, as `kinloop verify` reads it. */
    private async run(): Promise<void> {
        const names = tables.value?.metrics.map((m) => m.id) ?? [];
        const ready = lanes.value.filter((l) => l.alive && l.filled.value > 0);
        const values = (scene.value?.bodies.length ?? 0) * 13 + names.length;
        const size = 8 * values * ready.reduce((sum, l) => sum + l.filled.value, 0);
        if (ready.length === 0) return say('warning', 'There is no run yet.');
        if (size > MOST)
            return say('warning', `The run would take ${bytes(size)}; ${bytes(MOST)} are written at most.`);
        writing.value = true;
        try {
            const { runToHdf5 } = await import('../app/hdf5-write');
            const recorded = await Promise.all(ready.map((lane) => this.recordingOf(lane, names)));
            const data = await runToHdf5(recorded, {
                scene: scene.value?.id || 'scene',
                run: scene.value?.runs[runIndex.value]?.id ?? '',
                dt: dt.value,
                command: repeatingWords().join('\n'),
                metrics: names,
                version: tables.value?.version ?? '',
            });
            download(name('.h5'), new Blob([data as BlobPart], { type: 'application/x-hdf5' }));
        } catch (error) {
            say(
                'error',
                'The run cannot be written.',
                error instanceof Error ? error.message : String(error),
            );
        } finally {
            writing.value = false;
        }
    }

    private async recordingOf(lane: Lane, names: string[]) {
        const steps = lane.filled.value;
        const columns = names.map((n) => lane.history.column(n).slice(0, steps));
        const time = lane.history.column('time').slice(0, steps);
        const recording = await lane.client.request('recording', { steps, fields: ['pose', 'twist'] });
        const metrics = new Float64Array(steps * names.length);
        for (const [c, column] of columns.entries())
            for (let i = 0; i < steps; i++) metrics[i * names.length + c] = column[i];
        return { solver: lane.choice.id, time, metrics, recording };
    }

    private numbers(kind: 'csv' | 'json'): void {
        const columns = tables.value?.record ?? [];
        const table = lanes.value.map((lane) => ({
            solver: lane.choice.id,
            state: lane.state.value,
            reason: lane.error.value?.message ?? '',
            columns: Object.fromEntries(columns.map((c) => [c, Array.from(lane.history.column(c))])),
        }));
        if (kind === 'json') {
            download(name('.metrics.json'), new Blob([JSON.stringify(table)], { type: 'application/json' }));
            return;
        }
        const lines = [['solver', 'step', ...columns].join(',')];
        for (const lane of lanes.value) {
            const values = columns.map((c) => lane.history.column(c));
            for (let i = 0; i < lane.history.rows; i++)
                lines.push([lane.choice.id, i + 1, ...values.map((v) => v[i])].join(','));
            if (lane.error.value)
                lines.push(`# ${lane.choice.id}: ${lane.state.value}: ${lane.error.value.message}`);
        }
        download(name('.metrics.csv'), new Blob([`${lines.join('\n')}\n`], { type: 'text/csv' }));
    }

    private async picture(): Promise<void> {
        const blob = await stage()?.picture();
        if (blob) download(name('.png'), blob);
        else say('warning', 'There is no 3D view to take a picture of.');
    }

    private film(): void {
        if (recording.value) {
            recording.value.stop();
            return;
        }
        const canvas = stage()?.canvas;
        if (!canvas || typeof MediaRecorder !== 'function') {
            say('warning', 'This browser cannot record the 3D view.');
            return;
        }
        const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType: 'video/webm' });
        const parts: Blob[] = [];
        recorder.ondataavailable = (event) => void parts.push(event.data);
        let watch = () => {};
        recorder.onstop = () => {
            watch();
            recording.value = null;
            download(name('.webm'), new Blob(parts, { type: 'video/webm' }));
        };
        recorder.start();
        recording.value = recorder;
        reset();
        play();
        watch = effect(() => {
            if (!playing.value)
                setTimeout(() => recorder.state === 'recording' && recorder.stop(), LAST_PICTURE);
        });
    }
}

customElements.define('kl-export-panel', KlExportPanel);
