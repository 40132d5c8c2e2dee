// What can be taken away: scene, problem, numbers, picture, film, command line.
import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { commandLine } from '../app/command-line';
import { download } from '../app/download';
import { KlElement } from '../app/element';
import { problemDocument } from '../app/problem-document';
import { say } from '../state/messages';
import { cursor, documentText, focused, lanes, play, scene, tables } from '../state/session';
import type { KlStage } from '../views3d/stage';

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
                <button @click=${() => void this.problem()}>Dual problem of this step (JSON)</button>
                <button @click=${() => this.numbers('csv')}>All steps, all metrics (CSV)</button>
                <button @click=${() => this.numbers('json')}>All steps, all metrics (JSON)</button>
                <button @click=${() => void this.picture()}>3D views (PNG)</button>
                <button aria-pressed=${recording.value !== null} @click=${() => this.film()}>${recording.value ? 'Stop recording' : 'Film of the run (WebM)'}</button>
            </div>
            <h3>Command line</h3>
            <pre class="command" tabindex="0">${commandLine()}</pre>
            <p class="quiet">Each plot has its own CSV, PNG and SVG.</p>
        `;
    }

    private async problem(): Promise<void> {
        const lane = focused.value;
        if (!lane || cursor.value === 0) return say('warning', 'Step 0 has no problem yet.');
        try {
            const seen = await lane.client.request('inspect', {
                step: cursor.value,
                natural: false,
                condition: false,
            });
            const matrix = await lane.client.request('matrix', null);
            download(
                name(`-step${seen.step}-problem.json`),
                new Blob([problemDocument(seen.problem!, matrix)], { type: 'application/json' }),
            );
        } catch (error) {
            say(
                'error',
                'The problem cannot be exported.',
                error instanceof Error ? error.message : String(error),
            );
        }
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
        recorder.onstop = () => {
            recording.value = null;
            download(name('.webm'), new Blob(parts, { type: 'video/webm' }));
        };
        recorder.start();
        recording.value = recorder;
        play();
    }
}

customElements.define('kl-export-panel', KlExportPanel);
