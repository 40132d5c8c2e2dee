// Experiment, solvers, mode and precision: what is compared.
import { html } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { PRESETS } from '../state/experiment';
import {
    addSolver,
    canRedo,
    canUndo,
    change,
    dark,
    experiment,
    laneKeys,
    lanes,
    redo,
    removeSolver,
    runIndex,
    scene,
    styles,
    systemDark,
    tables,
    theme,
    undo,
} from '../state/session';
import { dialog } from './dialogs';
import { KlElement } from './element';
import { icon } from './icons';

export class KlTopBar extends KlElement {
    override render() {
        const info = scene.value;
        const current = experiment.value;
        return html`
            <div class="bar-row">
            <h1 class="brand"><img src="./favicon.svg" width="20" height="20" alt="" /> kinloop</h1>
            <button class="experiment" aria-haspopup="dialog" @click=${() => (dialog.value = 'gallery')}>
                ${info?.title ?? 'Experiments'} ▾
            </button>
            ${
                info && info.runs.length > 1
                    ? html`<label class="field"
                      ><select
                          class="run-select"
                          aria-label="Run"
                          @change=${(e: Event) => this.pickRun((e.target as HTMLSelectElement).value)}
                      >
                          ${info.runs.map((r, i) => html`<option value=${r.id} ?selected=${i === runIndex.value} title=${r.text}>${r.title || r.id}</option>`)}
                      </select></label
                  >`
                    : null
            }
            <span class="spacer"></span>
            <button class="icon" aria-label="Undo" title="Undo (Ctrl Z)" ?disabled=${!canUndo.value} @click=${undo}>${icon('undo')}</button>
            <button class="icon" aria-label="Redo" title="Redo (Ctrl Y)" ?disabled=${!canRedo.value} @click=${redo}>${icon('redo')}</button>
            <button title="Share this experiment (S)" @click=${() => (dialog.value = 'share')}>Share</button>
            <button title="Benchmark, heatmap" @click=${() => (dialog.value = 'bench')}>Benchmark</button>
            <button class="icon" aria-label="Light or dark" title="Light or dark" @click=${this.flipTheme}>${icon('theme')}</button>
            <button class="icon" aria-label="Help" title="Help (?)" @click=${() => (dialog.value = 'help')}>?</button>
            </div>
            <div class="bar-row solvers-row">
            <div class="chips" role="group" aria-label="Solvers">
                ${repeat(
                    laneKeys.value,
                    (id) => id,
                    (id) => this.chip(id),
                )} ${this.adder()}
            </div>
            <span class="spacer"></span>
            <div class="segmented" role="group" aria-label="Comparison">
                <button
                    title="Each solver moves its own copy"
                    aria-pressed=${current.mode === 'independent'}
                    @click=${() => void change({ ...current, mode: 'independent' })}
                >
                    Independent
                </button>
                <button
                    title="One solver moves the bodies, all solve the same problems"
                    aria-pressed=${current.mode === 'curated'}
                    @click=${() => void change({ ...current, mode: 'curated' })}
                >
                    Curated
                </button>
            </div>
            <label class="field"
                ><select class="preset-select" aria-label="Precision" @change=${(e: Event) => void change({ ...current, preset: (e.target as HTMLSelectElement).value })}>
                    <option value="" ?selected=${current.preset === ''}>as in scene</option>
                    ${PRESETS.map((p) => html`<option value=${p} ?selected=${p === current.preset}>${p.replace('-', ' ')}</option>`)}
                </select></label
            >
            </div>
        `;
    }

    private flipTheme(): void {
        const next = dark.value ? 'light' : 'dark';
        theme.value = next === (systemDark.value ? 'dark' : 'light') ? 'system' : next;
    }

    private pickRun(run: string): void {
        void change({ ...experiment.value, run, duration: 0, preset: '' });
    }

    /** Each keeps its own button: the focus of one that is removed does not pass on to the next. */
    private chip(id: string) {
        const style = styles.value.get(id);
        const driver =
            experiment.value.mode === 'curated' &&
            (experiment.value.driver || lanes.value[0]?.choice.id) === id;
        return html`<span class="solver-chip" .style=${`--c: ${style?.color}`}>
            <span aria-hidden="true" class="marker">${style?.marker}</span>${style?.title ?? id}
            ${driver ? html`<small title="This solver moves the bodies">drives</small>` : null}
            ${
                lanes.value.length > 1
                    ? html`<button aria-label=${`Remove ${style?.title ?? id}`} @click=${() => removeSolver(id)}>×</button>`
                    : null
            }
        </span>`;
    }

    private adder() {
        const used = new Set(lanes.value.map((l) => l.choice.id));
        const full = lanes.value.length >= 4;
        return html`<select
            class="solver-add"
            aria-label="Add a solver"
            title=${full ? 'At most four at a time' : 'Add a solver (A)'}
            ?disabled=${full}
            @change=${(e: Event) => {
                const select = e.target as HTMLSelectElement;
                if (select.value) addSolver(select.value);
                select.value = '';
            }}
        >
            <option value="">+ solver</option>
            ${(tables.value?.solvers ?? [])
                .filter((s) => !used.has(s.id))
                .map((s) => html`<option value=${s.id} title=${s.text}>${s.title}</option>`)}
        </select>`;
    }
}

customElements.define('kl-top-bar', KlTopBar);
