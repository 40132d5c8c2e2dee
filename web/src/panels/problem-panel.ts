// The dual problem of the step shown: sizes, category, rank and condition, a picture of D, how each
// solver ended on it.
import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { KlElement } from '../app/element';
import { number } from '../app/format';
import type { Matrix } from '../core/protocol';
import type { ConditionInfo, ProblemInfo } from '../core/types';
import { compareBy, explaining, inspection, stepCurves } from '../state/explain';
import { cursor, experiment, focused, styles } from '../state/session';
import './contact-figure';
import './matrix-picture';
import './own-problem';

const detail = signal<{
    step: number;
    condition: ConditionInfo | { error: string } | null;
    matrix: Matrix | null;
    error: string;
} | null>(null);

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
            return html`<button @click=${() => void this.look(step)}>Rank, condition and picture of D</button>`;
        }
        if (d.error) return html`<p role="alert">${d.error}</p>`;
        const c = d.condition;
        const facts: [string, string][] =
            c && 'rank' in c
                ? [
                      ['rank of D', String(c.rank)],
                      ['rank of J', String(c.jacobianRank)],
                      ['λ max', number(c.eigenMax)],
                      ['λ min > 0', number(c.eigenMin)],
                      ['condition κ', number(c.condition)],
                      ['density', `${number((c.density ?? 0) * 100)} %`],
                  ]
                : [];
        return html`
            ${c && 'error' in c ? html`<p role="alert">${c.error}</p>` : null}
            <dl class="facts">${facts.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
            ${d.matrix ? html`<kl-matrix .matrix=${d.matrix}></kl-matrix>` : null}
        `;
    }

    private async look(step: number): Promise<void> {
        const lane = focused.value;
        if (!lane) return;
        try {
            const seen = await lane.client.request('inspect', { step, natural: false, condition: false });
            const problem = await lane.client.request('condition', null);
            const matrix = problem.dim > 0 ? await lane.client.request('matrix', null) : null;
            // The reaction of the run itself: other solvers may have solved the problem meanwhile.
            const own = matrix && { ...matrix, lambda: seen.lambda };
            detail.value = { step, condition: problem.condition ?? null, matrix: own, error: '' };
        } catch (error) {
            detail.value = {
                step,
                condition: null,
                matrix: null,
                error: error instanceof Error ? error.message : String(error),
            };
        }
    }

    private endings() {
        return html`<div class="scroll-x" tabindex="0" role="region" aria-label="Solver outcomes">
            <table class="numbers">
                <thead>
                    <tr><th scope="col">solver</th><th scope="col">outcome</th><th scope="col">it.</th><th scope="col">r_dual</th><th scope="col">r_ncp</th><th scope="col">r_nat</th><th scope="col">r_nat_rel</th></tr>
                </thead>
                <tbody>
                    ${stepCurves.value.map((c) => {
                        const r = c.solution?.residuals ?? {};
                        return html`<tr>
                            <th scope="row">${styles.value.get(c.solver)?.title ?? c.solver}</th>
                            <td>${c.solution?.outcome ?? '–'}</td>
                            <td>${c.solution?.iterations ?? '–'}</td>
                            <td>${number(r.r_dual, 2)}</td>
                            <td>${number(r.r_ncp, 2)}</td>
                            <td>${number(r.r_nat, 2)}</td>
                            <td>${number(r.r_nat_rel, 2)}</td>
                        </tr>`;
                    })}
                </tbody>
            </table>
        </div>`;
    }
}

customElements.define('kl-problem-panel', KlProblemPanel);
