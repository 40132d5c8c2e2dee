// Models of others, URDF and MJCF: chooses the model among the files given, imports it, and tells what became of
// it. Loaded when such a file is given.
import { batch, signal } from '@preact/signals-core';
import { html } from 'lit';
import type { ImportAnswer, ImportRequest } from '../core/import-worker';
import type { ImportNote, ImportReport, ParamInfo } from '../core/types';
import { paramField } from '../panels/field';
import { dialog, KlDialog } from './dialogs';
import { number } from './format';
import type { GivenFile } from './given-files';
import { openScene } from './own-input';

interface Given {
    files: { path: string; data: Uint8Array }[];
    models: string[]; // paths of those that can be the main file
}

const MOST_UNPACKED = 256 * 1024 * 1024; // bytes of a zip

const given = signal<Given | null>(null);
const model = signal('');
const options = signal<Record<string, number>>({});
const params = signal<ParamInfo[]>([]);
const report = signal<ImportReport | null>(null);
const failure = signal('');
const busy = signal(false);

async function unzip(data: Uint8Array): Promise<Given['files']> {
    const { unzipSync } = await import('fflate');
    let total = 0;
    const entries = unzipSync(data, {
        filter: (entry) => {
            total += entry.originalSize;
            if (total > MOST_UNPACKED) throw new Error('it unpacks to more than 256 MB');
            return !entry.name.endsWith('/');
        },
    });
    return Object.entries(entries).map(([path, bytes]) => ({ path, data: bytes }));
}

async function readAll(files: GivenFile[]): Promise<Given['files']> {
    const parts = await Promise.all(
        files.map(async ({ path, file }) => {
            const data = new Uint8Array(await file.arrayBuffer());
            return /\.zip$/i.test(path) ? unzip(data) : [{ path, data }];
        }),
    );
    return parts.flat();
}

/** Models among the files: documents of robots that no other includes; those in upper folders first. */
function findModels(files: Given['files']): string[] {
    const texts = files
        .filter((f) => /\.(urdf|xml|mjcf)$/i.test(f.path))
        .map((f) => ({ path: f.path, text: new TextDecoder().decode(f.data) }))
        .filter(({ text }) => /<\s*(robot|mujoco)\b/.test(text));
    const included = new Set<string>();
    for (const { text } of texts)
        for (const [, file] of text.matchAll(/<\s*include\b[^>]*\bfile\s*=\s*["']([^"']+)["']/g))
            included.add(file.split(/[\\/]/).pop()!);
    const main = texts.filter(({ path }) => !included.has(path.split('/').pop()!));
    const depth = (path: string) => path.split('/').length;
    return (main.length > 0 ? main : texts)
        .map(({ path }) => path)
        .sort((a, b) => depth(a) - depth(b) || a.localeCompare(b));
}

/** The loop closures: robot.yaml beside the model is found by the core; else the only yaml there is. */
function loopsFor(files: Given['files'], path: string): string {
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    const yaml = files.filter((f) => /\.ya?ml$/i.test(f.path));
    if (yaml.some((f) => f.path === `${folder}robot.yaml`)) return '';
    const closing = yaml.filter((f) => /^closed_loop\s*:/m.test(new TextDecoder().decode(f.data)));
    return closing.length === 1 ? closing[0].path : '';
}

function ask(request: ImportRequest): Promise<ImportAnswer> {
    const worker = new Worker(new URL('../core/import-worker.ts', import.meta.url), { type: 'module' });
    return new Promise<ImportAnswer>((done, fail) => {
        worker.onmessage = ({ data }: MessageEvent<ImportAnswer>) => done(data);
        worker.onerror = (event) => {
            event.preventDefault();
            fail(new Error(event.message || 'the importer stopped'));
        };
        worker.postMessage(request);
    }).finally(() => worker.terminate());
}

async function importModel(): Promise<void> {
    const { value: current } = given;
    if (!current) return;
    busy.value = true;
    try {
        const answer = await ask({
            files: current.files,
            model: model.value,
            loops: /\.urdf$/i.test(model.value) ? loopsFor(current.files, model.value) : '',
            options: options.value,
        });
        batch(() => {
            params.value = answer.params;
            report.value = answer.report;
            failure.value = answer.error?.message ?? '';
        });
        if (answer.report) await openScene(`${answer.report.scene}.json`, answer.document, []);
    } catch (error) {
        failure.value = error instanceof Error ? error.message : String(error);
    } finally {
        busy.value = false;
    }
}

/** Imports the model among these files and opens it; the dialog tells what was done. */
export async function openModels(files: GivenFile[]): Promise<void> {
    const all = await readAll(files);
    const models = findModels(all);
    if (models.length === 0)
        throw new Error(
            files.some((f) => /\.xacro$/i.test(f.path))
                ? 'xacro files must be expanded to URDF first.'
                : 'none of them is a <robot> (URDF) or a <mujoco> (MJCF).',
        );
    batch(() => {
        given.value = { files: all, models };
        model.value = models[0];
        options.value = {};
        report.value = null;
        failure.value = '';
    });
    dialog.value = 'import';
    await importModel();
}

function setOption(info: ParamInfo, value: number): void {
    const next = { ...options.value };
    if (value === info.initial) delete next[info.id];
    else next[info.id] = value;
    options.value = next;
}

export class KlImport extends KlDialog {
    readonly name = 'import';
    readonly heading = 'Imported model';

    content() {
        const { value: current } = given;
        return html`
            ${
                current && current.models.length > 1
                    ? html`<label class="field"
                          >Model
                          <select @change=${(e: Event) => (model.value = (e.target as HTMLSelectElement).value)}>
                              ${current.models.map((m) => html`<option value=${m} ?selected=${m === model.value}>${m}</option>`)}
                          </select></label
                      >`
                    : html`<p class="quiet">${model.value}</p>`
            }
            ${busy.value ? html`<p role="status">Reading the model…</p>` : null}
            ${failure.value ? html`<p role="alert">It cannot be used; the page keeps what it had.</p><pre>${failure.value}</pre>` : null}
            ${report.value ? this.summary(report.value) : null}
            <h3>Choices</h3>
            ${params.value.map((p) =>
                paramField(
                    p,
                    options.value[p.id] ?? p.initial,
                    p.id in options.value,
                    (v) => setOption(p, v),
                    () => setOption(p, p.initial),
                ),
            )}
            <p>
                <button ?disabled=${busy.value} @click=${() => void importModel()}>Import again</button>
                <button class="primary" @click=${() => (dialog.value = '')}>Done</button>
            </p>
        `;
    }

    private summary(r: ImportReport) {
        const lost = r.notes.filter((n) => n.lost);
        const other = r.notes.filter((n) => !n.lost);
        return html`
            <p>
                ${r.bodies} bodies, ${r.joints} joints, ${r.joint_rows} joint rows of rank ${r.rank}, ${r.loops} loops, mobility ${r.mobility},
                ${r.actuated_dofs} driven.
            </p>
            ${
                r.open
                    ? html`<p role="alert">Loops stay open: ${r.open}</p>`
                    : html`<p>Loops closed from ${number(r.residual_before, 2)} to ${number(r.residual_after, 2)} m or rad.</p>`
            }
            ${this.notes(`Not carried over (${lost.length})`, lost)} ${this.notes(`Assumed or changed (${other.length})`, other)}
        `;
    }

    private notes(title: string, list: ImportNote[]) {
        if (list.length === 0) return null;
        return html`<h3>${title}</h3>
            <ul class="notes">
                ${list.map((n) => html`<li><code>${n.file.split('/').pop()}:${n.line}</code> ${n.element}: ${n.text}</li>`)}
            </ul>`;
    }
}

customElements.define('kl-import', KlImport);
