// Benchmark in the page: a suite of curated runs over chosen solvers, and heatmaps over two masses.
import './bench-dialog.css';
import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { heatmapPicture } from '../panels/heatmap-picture';
import type { PlotDefinition } from '../plots/definition';
import '../plots/line-plot';
import { rhoTable } from '../plots/profile-tools';
import { withEdit } from '../state/experiment';
import { withPreset } from '../state/explain';
import { galleryIndex, type SceneEntry } from '../state/gallery';
import { change, experiment, runIndex, scene, styles, tables, tick } from '../state/session';
import {
    type Case,
    cancelHeatmap,
    cancelSuite,
    heatmap,
    heatmapRunning,
    poolSize,
    runHeatmap,
    runSuite,
    suiteGroup,
    suiteGroups,
    suiteMeasure,
    suiteProfile,
    suiteProfileOf,
    suiteProgress,
    suiteRows,
} from '../state/suite';
import { dialog, KlDialog } from './dialogs';
import { number } from './format';

const entries = signal<SceneEntry[]>([]);
const chosenScenes = signal<ReadonlySet<string>>(new Set());
const chosenSolvers = signal<ReadonlySet<string>>(new Set());
const stepsPerRun = signal(300);
const part = signal<'suite' | 'heatmap'>('suite');
const heat = signal({ x: '', y: '', solver: '', measure: 'iterations', at: 0.001 });

async function drawProfile(): Promise<void> {
    await suiteProfileOf(suiteRows.value.map((r) => ({ id: r.solver, preset: '', params: {} })));
    tick.value++;
}

const suitePlot: PlotDefinition = {
    id: 'suite-profile',
    title: 'Performance profile of the suite',
    unit: '',
    xTitle: 'τ, ratio to the best',
    xIsTime: false,
    log: false,
    logX: true,
    yRange: [-0.03, 1.03],
    text: 'Share of problems solved within τ times the effort of the best solver.',
    choices: () => [
        { id: 'iterations', title: 'iterations' },
        { id: 't_solve', title: 'time (indicative)' },
        { id: 't_iter', title: 'time per iteration (indicative)' },
        ...(tables.value?.metrics ?? [])
            .filter((m) => m.id.startsWith('r_') && !m.id.startsWith('r_pen'))
            .map((m) => ({ id: m.id, title: m.title })),
    ],
    data: (choice) => {
        if (choice && choice !== suiteMeasure.peek()) {
            queueMicrotask(() => {
                suiteMeasure.value = choice;
                void drawProfile();
            });
        }
        const now = suiteProfile.value;
        if (!now) return { curves: [], x: [1, 100], note: 'No case is finished by all solvers yet.' };
        const { tau, rho } = now.result;
        return {
            x: [1, 100],
            note: `${now.problems} problems${suiteMeasure.peek().startsWith('r_') ? ', residuals floored at rounding (Dingle–Higham)' : ''}`,
            curves: now.solvers.map((id, s) => ({
                label: styles.value.get(id)?.title ?? id,
                color: styles.value.get(id)?.color ?? '#888',
                dash: styles.value.get(id)?.dash ?? [],
                column: { x: tau, y: rho.subarray(s * tau.length, (s + 1) * tau.length) },
                lane: id,
            })),
        };
    },
    foot: () => {
        const now = suiteProfile.value;
        return now ? rhoTable(now.solvers, now.result) : null;
    },
};

function flip(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
    const next = new Set(set);
    if (!next.delete(id)) next.add(id);
    return next;
}

export class KlBench extends KlDialog {
    readonly name = 'bench';
    readonly heading = 'Benchmark';

    protected override opening(): void {
        void galleryIndex().then((all) => {
            const list = all.filter((e) => !e.experiment);
            entries.value = list;
            if (chosenScenes.value.size === 0)
                chosenScenes.value = new Set(list.slice(0, 3).map((e) => e.id));
        });
        if (chosenSolvers.value.size === 0)
            chosenSolvers.value = new Set(experiment.value.solvers.map((s) => s.id));
        const bodies = scene.value?.bodies.length ?? 0;
        heat.value = {
            ...heat.value,
            x: 'bodies.0.mass',
            y: bodies > 1 ? 'bodies.1.mass' : 'bodies.0.mass',
            solver: experiment.value.solvers[0]?.id ?? '',
        };
    }

    content() {
        return html`
            <div class="segmented" role="group" aria-label="Kind of benchmark">
                <button aria-pressed=${part.value === 'suite'} @click=${() => (part.value = 'suite')}>Suite</button>
                <button aria-pressed=${part.value === 'heatmap'} @click=${() => (part.value = 'heatmap')}>Heatmap</button>
            </div>
            ${part.value === 'suite' ? this.suite() : this.heat()}
        `;
    }

    private suite() {
        const { running, done, total, label } = suiteProgress.value;
        return html`
            <p class="quiet">
                Curated runs: the first chosen solver moves the bodies, all solve the same problems. ${poolSize()} worker${poolSize() === 1 ? '' : 's'}.
                Timers in pages are coarse: times are indicative.
            </p>
            <fieldset>
                <legend>Scenes, first run of each</legend>
                ${entries.value.map((e) => this.check(e.title, chosenScenes.value.has(e.id), () => (chosenScenes.value = flip(chosenScenes.value, e.id)), `scene-${e.id}`))}
            </fieldset>
            <fieldset>
                <legend>Solvers</legend>
                ${(tables.value?.solvers ?? []).map((s) => this.check(s.title, chosenSolvers.value.has(s.id), () => (chosenSolvers.value = flip(chosenSolvers.value, s.id)), `solver-${s.id}`))}
            </fieldset>
            <p>
                <label class="field">steps per run <input type="number" min="1" max="20000" .value=${String(stepsPerRun.value)} @change=${(e: Event) => (stepsPerRun.value = Math.max(1, Number((e.target as HTMLInputElement).value) || 1))} /></label>
                ${
                    running
                        ? html`<button class="bench-cancel" @click=${cancelSuite}>Cancel</button>`
                        : html`<button class="bench-run primary" ?disabled=${chosenScenes.value.size === 0 || chosenSolvers.value.size === 0} @click=${() => void this.startSuite()}>Run</button>`
                }
                ${total > 0 ? html`<progress max=${total} .value=${done} aria-label="Progress"></progress> <span role="status">${done} of ${total} ${running ? label : ''}</span>` : null}
            </p>
            ${suiteRows.value.length > 0 ? this.table() : null}
            ${suiteGroups.value.length > 0 ? this.groups() : null}
            ${suiteRows.value.length > 0 ? html`<kl-plot .definition=${suitePlot}></kl-plot>` : null}
        `;
    }

    private check(title: string, on: boolean, change: () => void, id: string) {
        return html`<label class="check inline"><input type="checkbox" data-bench=${id} .checked=${on} @change=${change} /> ${title}</label>`;
    }

    private async startSuite(): Promise<void> {
        const cases: Case[] = entries.value
            .filter((e) => chosenScenes.value.has(e.id))
            .map((e) => ({
                scene: { kind: 'gallery', id: e.id },
                run: 0,
                label: e.title,
                edits: [],
                steps: stepsPerRun.value,
            }));
        const solvers = [...chosenSolvers.value].map((id) => withPreset({ id, preset: '', params: {} }));
        await runSuite(cases, solvers, solvers[0]);
        tick.value++;
    }

    /** Which problems the profile is over: all, one system's, one category's. */
    private groups() {
        const [all, ...rest] = suiteGroups.value;
        const option = ({ id, title }: { id: string; title: string }) =>
            html`<option value=${id} ?selected=${id === suiteGroup.value}>${title}</option>`;
        const of = (kind: string) => rest.filter((g) => g.id.startsWith(kind)).map(option);
        return html`<p>
            <label class="field"
                >profile over
                <select data-bench="group" @change=${(e: Event) => this.group((e.target as HTMLSelectElement).value)}>
                    ${option(all)}
                    <optgroup label="one system">${of('system:')}</optgroup>
                    <optgroup label="one category">${of('category:')}</optgroup>
                </select></label
            >
            <span class="quiet">Of problems without contacts, the first of each run decides for the rest.</span>
        </p>`;
    }

    private group(id: string): void {
        suiteGroup.value = id;
        void drawProfile();
    }

    private table() {
        return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Results">
            <table class="numbers bench-table">
                <thead>
                    <tr>
                        <th scope="col">solver</th><th scope="col">problems</th><th scope="col">converged</th><th scope="col">median it.</th>
                        <th scope="col">worst r_nat_rel</th><th scope="col">mean time [ms]</th><th scope="col">failed runs</th>
                    </tr>
                </thead>
                <tbody>
                    ${suiteRows.value.map(
                        (r) => html`<tr>
                            <th scope="row">${styles.value.get(r.solver)?.title ?? r.solver}</th>
                            <td>${r.problems}</td>
                            <td>${r.problems > 0 ? `${number((100 * r.converged) / r.problems)} %` : '–'}</td>
                            <td>${number(r.iterations)}</td>
                            <td>${number(r.worst, 2)}</td>
                            <td>${number(1000 * r.time, 2)}</td>
                            <td title=${r.failures.join('\n')}>${r.failures.length || ''}</td>
                        </tr>`,
                    )}
                </tbody>
            </table>
        </div>`;
    }

    private heat() {
        const now = heat.value;
        const bodies = scene.value?.bodies ?? [];
        const pick = (
            key: 'x' | 'y' | 'solver' | 'measure',
            label: string,
            options: [string, string][],
        ) => html`<label class="field"
            >${label}
            <select aria-label=${label} @change=${(e: Event) => (heat.value = { ...heat.value, [key]: (e.target as HTMLSelectElement).value })}>
                ${options.map(([id, title]) => html`<option value=${id} ?selected=${id === now[key]}>${title}</option>`)}
            </select></label
        >`;
        const masses = bodies.map((b, i): [string, string] => [`bodies.${i}.mass`, `mass of ${b.name}`]);
        return html`
            <p class="quiet">Two masses of ${scene.value?.title} from 10⁻⁶ to 10⁶ kg; one number of one solver at one time.</p>
            <p>
                ${pick('x', 'across', masses)} ${pick('y', 'up', masses)}
                ${pick(
                    'solver',
                    'solver',
                    (tables.value?.solvers ?? []).map((s) => [s.id, s.title]),
                )}
                ${pick(
                    'measure',
                    'shows',
                    (tables.value?.metrics ?? []).filter((m) => m.log).map((m) => [m.id, m.title]),
                )}
                <label class="field">at t [s] <input type="number" step="any" min="0" .value=${String(now.at)} @change=${(e: Event) => (heat.value = { ...heat.value, at: Number((e.target as HTMLInputElement).value) })} /></label>
                ${
                    heatmapRunning.value
                        ? html`<button @click=${cancelHeatmap}>Cancel</button>`
                        : html`<button class="heat-run primary" @click=${() => void this.startHeat()}>Run</button>`
                }
            </p>
            ${heatmap.value ? heatmapPicture(heatmap.value, (x, y) => this.load(x, y)) : null}
        `;
    }

    private async startHeat(): Promise<void> {
        const now = heat.value;
        const solver = experiment.value.solvers.find((s) => s.id === now.solver) ?? {
            id: now.solver,
            preset: '',
            params: {},
        };
        await runHeatmap(
            experiment.value.scene,
            experiment.value.edits,
            runIndex.value,
            now.x,
            now.y,
            withPreset(solver),
            now.measure,
            now.at,
        );
    }

    private load(x: number, y: number): void {
        const map = heatmap.value!;
        const edits = withEdit(withEdit(experiment.value.edits, { path: map.xPath, value: x }), {
            path: map.yPath,
            value: y,
        });
        dialog.value = '';
        void change({ ...experiment.value, edits });
    }
}

customElements.define('kl-bench', KlBench);
