// The dual problem of the step shown: sizes, category, rank, spectrum and internal forces, a picture of D,
// how each solver ended on it.
import './panels.css';
import { signal } from '@preact/signals-core';
import { html, nothing } from 'lit';
import { KlElement } from '../app/element';
import { number, withUnit } from '../app/format';
import type { Matrix } from '../core/protocol';
import type { ConditionInfo, ProblemInfo } from '../core/types';
import { belongs, bestIteration, blockAt, worstBlock } from '../state/blame';
import { compareBy, explaining, inspection, type StepCurve, stepCurves } from '../state/explain';
import { cursor, experiment, focused, runIndex, scene, selection, styles, tables } from '../state/session';
import './own-problem';

const detail = signal<{
    step: number;
    condition: ConditionInfo | null;
    share: number; // of the run's reaction that moves nothing
    curves: Map<StepCurve, number>; // the same of the solvers on this very problem
    matrix: Matrix | null;
    error: string;
} | null>(null);
const mapOpen = signal(false);

const RESIDUALS = ['r_dual', 'r_ncp', 'r_nat', 'r_nat_rel'];

/** What is told of how a solver ended. */
interface Quantity {
    name: string;
    text?: string;
    of: (curve: StepCurve) => unknown;
}

/** The core's own words on a metric. */
function metric(id: string, name: string): { name: string; text: string } {
    const info = tables.value?.metrics.find((m) => m.id === id);
    return { name, text: info ? `${withUnit(info.title, info.unit && `[${info.unit}]`)}. ${info.text}` : '' };
}

export class KlProblemPanel extends KlElement {
    override render() {
        return html`<kl-own-problem></kl-own-problem> ${this.ofStep()}`;
    }

    private ofStep() {
        const seen = inspection.value;
        const problem = seen?.problem;
        if (!seen || !problem) {
            return html`<p class="quiet">${cursor.value === 0 ? 'Step 0 has no problem yet.' : explaining.value ? 'Looking at this step…' : 'Pause to look at a step.'}</p>`;
        }
        return html`
            <p class="quiet">
                Step ${seen.step} of ${styles.value.get(focused.value?.choice.id ?? '')?.title}.
                ${seen.step === cursor.value ? null : 'The step shown is another; pause to update.'}
            </p>
            <dl class="facts">${this.sizes(problem).map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
            ${this.conditionPart(seen.step)}
            <h3>How each solver ends on it</h3>
            ${
                experiment.value.mode === 'curated'
                    ? null
                    : html`<div class="segmented" role="group" aria-label="Which problems">
                      <button aria-pressed=${compareBy.value === 'same'} @click=${() => (compareBy.value = 'same')}>this problem, from zero</button>
                      <button aria-pressed=${compareBy.value === 'own'} @click=${() => (compareBy.value = 'own')}>each its own</button>
                  </div>`
            }
            ${this.endings()}
            ${this.mapPart(seen.step)} ${this.softPart()}
            ${detail.value?.step === seen.step && detail.value.matrix ? html`<kl-contact-figure .matrix=${detail.value.matrix} .problem=${problem}></kl-contact-figure>` : null}
        `;
    }

    private sizes(p: ProblemInfo): [string, string][] {
        return [
            ['rows n_d', String(p.dim)],
            ['joints', `${p.jointCount}, ${p.jointRows} rows`],
            ['limits', String(p.limitCount)],
            ['contacts', String(p.contactCount)],
            ['bodies', String(p.bodyCount)],
            ['category', p.category ?? '–'],
        ];
    }

    private conditionPart(step: number) {
        const d = detail.value;
        if (!d || d.step !== step) {
            return html`<button @click=${() => void this.look(step)}>Rank, spectrum, internal forces</button>`;
        }
        if (d.error) return html`<p role="alert">${d.error}</p>`;
        return html`
            ${d.condition ? html`<kl-condition .condition=${d.condition} .share=${d.share}></kl-condition>` : null}
            ${d.matrix ? html`<kl-matrix .matrix=${d.matrix}></kl-matrix>` : null}
        `;
    }

    private async look(step: number): Promise<void> {
        const lane = focused.value;
        if (!lane) return;
        try {
            const seen = await lane.client.request('inspect', { step, natural: false, condition: false });
            if (!seen.problem || seen.problem.dim === 0) throw new Error('This step has no constraints.');
            const curves = this.sameProblem() ? stepCurves.value : [];
            const { condition, shares } = await lane.client.request('condition', {
                lambdas: [seen.lambda, ...curves.map((c) => c.lambda)],
            });
            // The reaction of the run itself: other solvers may have solved the problem meanwhile.
            const matrix = { ...(await lane.client.request('matrix', { hard: false })), lambda: seen.lambda };
            await Promise.all([
                import('./condition-facts'),
                import('./matrix-picture'),
                import('./contact-figure'),
            ]);
            detail.value = {
                step,
                condition,
                share: shares[0],
                curves: new Map(curves.map((c, i) => [c, shares[i + 1]])),
                matrix,
                error: '',
            };
        } catch (error) {
            detail.value = {
                step,
                condition: null,
                share: Number.NaN,
                curves: new Map(),
                matrix: null,
                error: error instanceof Error ? error.message : String(error),
            };
        }
    }

    /** Whether the solvers below solved the problem of the step looked at. */
    private sameProblem(): boolean {
        return compareBy.value === 'same' && experiment.value.mode !== 'curated';
    }

    /** The worst constraint of a solver; a click selects it in the views. */
    private worst(curve: StepCurve) {
        const problem = inspection.value?.problem;
        const index = worstBlock(curve.blocks);
        if (!problem || index < 0 || !belongs(curve, problem)) return '–';
        const { name, selection: target } = blockAt(index, problem);
        if (!target) return name;
        return html`<button class="link" title=${`Error ${number(curve.blocks[index], 2)}; select it in the views`} @click=${() => (selection.value = target)}>${name}</button>`;
    }

    private mapPart(step: number) {
        if (!this.sameProblem() || !inspection.value?.problem?.dim) return null;
        return mapOpen.value
            ? html`<kl-error-map .step=${step}></kl-error-map>`
            : html`<button @click=${() => this.openMap()}>Error by constraint and iteration</button>`;
    }

    private openMap(): void {
        mapOpen.value = true;
        void import('./error-map');
    }

    /** The impedance curve, where something is softened. */
    private softPart() {
        const now = scene.value?.runs[runIndex.value]?.settings;
        if (!now || !(now.softJoint.on || now.softLimit.on || now.softContact.on)) return null;
        void import('./impedance-figure');
        return html`<kl-impedance></kl-impedance>`;
    }

    /** What is told of each solver. */
    private quantities(): Quantity[] {
        const shares = detail.value?.curves;
        const known = stepCurves.value.some((c) => shares?.has(c));
        return [
            { name: 'outcome', of: (c) => c.solution?.outcome ?? '–' },
            { name: 'it.', text: 'Iterations', of: (c) => c.solution?.iterations ?? '–' },
            {
                name: 'best at',
                text: 'Iteration with the smallest scale-free residual',
                of: (c) => number(bestIteration(c)),
            },
            {
                name: 'worst at',
                text: 'The joint, limit or contact with the largest scale-free error',
                of: (c) => this.worst(c),
            },
            ...(known
                ? [
                      {
                          ...metric('internal_share', 'internal'),
                          of: (c: StepCurve) => number(shares?.get(c), 3),
                      },
                  ]
                : []),
            ...RESIDUALS.map((id) => ({
                ...metric(id, id),
                of: (c: StepCurve) => number(c.solution?.residuals[id], 2),
            })),
        ];
    }

    /** A row a quantity, a column a solver: as wide as the inspector is, with four solvers too. */
    private endings() {
        const title = (id: string) => styles.value.get(id)?.title ?? id;
        return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Solver outcomes">
            <table class="outcomes">
                <thead>
                    <tr><td></td>${stepCurves.value.map((c) => html`<th scope="col">${title(c.solver)}</th>`)}</tr>
                </thead>
                <tbody>
                    ${this.quantities().map(
                        ({ name, text, of }) =>
                            html`<tr><th scope="row" title=${text ?? nothing}>${name}</th>${stepCurves.value.map((c) => html`<td>${of(c)}</td>`)}</tr>`,
                    )}
                </tbody>
            </table>
        </div>`;
    }
}

customElements.define('kl-problem-panel', KlProblemPanel);
