// Error of every joint, limit and contact over the iterations of one solve, as a picture: where and when a method
// goes wrong. The solver does the problem of this step again, stopped after 1, 2, … iterations, from zero each time.
// Loaded when asked for.
import { signal } from '@preact/signals-core';
import { html, svg } from 'lit';
import { KlElement } from '../app/element';
import { number } from '../app/format';
import type { ProblemInfo } from '../core/types';
import { blockAt, worstBlock } from '../state/blame';
import { inspection, stepCurves, withPreset } from '../state/explain';
import { focused, lanes, selection, styles } from '../state/session';
import { viridis } from './viridis';

const COLUMNS = 24;
const MOST_ROWS = 24; // the worst ones, when there are more
const LEFT = 92;
const CELL = 11;
const HIGH = 1; // errors are relative
const LOW = 1e-10;

interface ErrorMap {
    step: number;
    solver: string;
    problem: ProblemInfo;
    iterations: number[];
    errors: Float64Array[]; // by iteration: (blocks)
    done: boolean;
}

const map = signal<ErrorMap | null>(null);
const failure = signal('');
const chosen = signal('');
let ticket = 0;

/** 1, 2, 3 … `most`, about evenly spread over the decades. */
export function samples(most: number): number[] {
    const out = new Set<number>([1]);
    for (let i = 0; i < COLUMNS; i++) out.add(Math.round(most ** (i / (COLUMNS - 1))));
    return [...out].sort((a, b) => a - b);
}

export function heatColor(error: number): string {
    if (Number.isNaN(error)) return 'var(--error)';
    const part = Math.log(Math.max(error, LOW) / LOW) / Math.log(HIGH / LOW);
    return viridis(Math.min(1, Math.max(0, part)));
}

async function compute(step: number, solver: string): Promise<void> {
    const lane = focused.value;
    const choice = lanes.value.find((l) => l.choice.id === solver)?.choice;
    const most = stepCurves.value.find((c) => c.solver === solver)?.solution?.iterations ?? 0;
    if (!lane || !choice || most < 1) return;
    const mine = ++ticket;
    failure.value = '';
    try {
        // The problem of this step comes back to hand: others may have been looked at meanwhile.
        const seen = await lane.client.request('inspect', { step, natural: false, condition: false });
        if (!seen.problem) return;
        const iterations = samples(most);
        const errors: Float64Array[] = [];
        for (const count of iterations) {
            const base = withPreset(choice);
            const stopped = { ...base, params: { ...base.params, max_iterations: count } };
            const { blocks } = await lane.client.request('resolve', { solver: stopped, natural: false });
            if (mine !== ticket) return;
            errors.push(blocks);
            const done = errors.length === iterations.length;
            map.value = { step, solver, problem: seen.problem, iterations, errors: [...errors], done };
        }
    } catch (error) {
        if (mine === ticket) failure.value = error instanceof Error ? error.message : String(error);
    }
}

/** When the error of a constraint became what it is at the end. */
function since({ errors, iterations }: ErrorMap, block: number): string {
    const end = errors[errors.length - 1][block];
    let i = errors.length - 1;
    while (i >= 0 && !(errors[i][block] < 0.1 * end)) i--;
    if (i >= 0) return `it was a tenth of that at iteration ${iterations[i]}, and grew`;
    const still = errors.findIndex((e) => e[block] <= 2 * end);
    return `it has hardly fallen since iteration ${iterations[still]}`;
}

export class KlErrorMap extends KlElement {
    static override properties = { step: { attribute: false } };
    declare step: number;

    override render() {
        const ids = stepCurves.value.map((c) => c.solver);
        const solver = ids.includes(chosen.value) ? chosen.value : (this.slowest() ?? '');
        const now = map.value;
        const fits = now && now.step === this.step && now.solver === solver;
        if (!fits && inspection.value?.step === this.step && ids.length > 0)
            queueMicrotask(() => this.begin(solver));
        return html`
            <h3>Error by constraint and iteration</h3>
            <label class="field"
                >of
                <select aria-label="Solver of the error map" @change=${(e: Event) => (chosen.value = (e.target as HTMLSelectElement).value)}>
                    ${ids.map((id) => html`<option value=${id} ?selected=${id === solver}>${styles.value.get(id)?.title ?? id}</option>`)}
                </select></label
            >
            ${failure.value ? html`<p role="alert">${failure.value}</p>` : null} ${fits ? this.figure(now) : html`<p role="status">Solving…</p>`}
        `;
    }

    private started = '';

    private begin(solver: string): void {
        const key = `${this.step} ${solver}`;
        if (this.started === key) return;
        this.started = key;
        void compute(this.step, solver);
    }

    /** The solver that ends worst. */
    private slowest(): string | undefined {
        const error = (blocks: Float64Array) => blocks[worstBlock(blocks)] ?? 0;
        return [...stepCurves.value].sort((a, b) => error(b.blocks) - error(a.blocks))[0]?.solver;
    }

    private figure(now: ErrorMap) {
        const last = now.errors[now.errors.length - 1];
        const order = Array.from(last, (_, i) => i);
        const rows =
            order.length <= MOST_ROWS
                ? order
                : order
                      .sort((a, b) => last[b] - last[a])
                      .slice(0, MOST_ROWS)
                      .sort((a, b) => a - b);
        const height = rows.length * CELL + 14;
        const width = LEFT + now.iterations.length * CELL;
        const worst = worstBlock(last);
        return html`<figure class="error-map">
            <svg viewBox="0 0 ${width} ${height}" role="img" aria-label=${`Error of ${last.length} constraints over ${now.iterations.length} iteration counts`}>
                ${rows.map((row, y) => this.row(now, row, y, row === worst))}
                <text x=${LEFT} y=${height - 3}>1</text>
                <text x=${width} y=${height - 3} text-anchor="end">${now.iterations[now.iterations.length - 1]} iterations</text>
            </svg>
            <figcaption>
                Worst at the end: <b>${blockAt(worst, now.problem).name}</b>, ${number(last[worst], 2)}; ${since(now, worst)}. Violet ≤ 1e-10, yellow ≥ 1, relative to the largest reaction.
                ${rows.length < last.length ? `The worst ${rows.length} of ${last.length} are shown.` : ''} ${now.done ? '' : 'More to come…'}
            </figcaption>
        </figure>`;
    }

    private row(now: ErrorMap, block: number, y: number, worst: boolean) {
        const { name, selection: target } = blockAt(block, now.problem);
        const short = name.length > 15 ? `${name.slice(0, 14)}…` : name;
        return svg`<g class=${worst ? 'worst' : ''} @click=${() => target && ((selection.value = target))}>
            <text x=${LEFT - 4} y=${y * CELL + 9} text-anchor="end">${short}</text>
            ${now.errors.map(
                (e, x) =>
                    svg`<rect x=${LEFT + x * CELL} y=${y * CELL} width=${CELL - 0.5} height=${CELL - 0.5} fill=${heatColor(e[block])}><title>${name}, iteration ${now.iterations[x]}: ${number(e[block], 2)}</title></rect>`,
            )}
        </g>`;
    }
}

customElements.define('kl-error-map', KlErrorMap);
