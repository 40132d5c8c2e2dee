// A dual problem from a file: its sizes, how the chosen solvers do on it, from zero, and its rank, spectrum
// and internal forces.
import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { KlElement } from '../app/element';
import { number } from '../app/format';
import { type OwnProblem, ownProblem, takeProblem } from '../app/own-input';
import type { ConditionAnswer, Resolved } from '../core/protocol';
import { stepCurves, withPreset } from '../state/explain';
import { say } from '../state/messages';
import { lanes, styles, toolClient } from '../state/session';

const results = signal<{ of: OwnProblem; list: Resolved[] } | null>(null);
const conditions = signal<{ of: Resolved[]; answer: ConditionAnswer } | null>(null);
const busy = signal(false);

export class KlOwnProblem extends KlElement {
    override render() {
        const own = ownProblem.value;
        if (!own) return html``;
        const p = own.problem;
        const shown = results.value?.of === own ? results.value.list : [];
        const known = conditions.value?.of === shown ? conditions.value.answer : null;
        return html`
            <h3>${own.name}</h3>
            ${
                own.count > 1
                    ? html`<label class="field"
                          >problem
                          <input
                              type="number"
                              min="0"
                              max=${own.count - 1}
                              .value=${String(own.index)}
                              @change=${(e: Event) => this.pick(own, Number((e.target as HTMLInputElement).value))}
                          />
                          of ${own.count}</label
                      >`
                    : null
            }
            <p class="quiet">${p.dim} rows: ${p.jointRows} of joints, ${p.limitCount} limits, ${p.contactCount} contacts.</p>
            <p>
                <button class="primary" ?disabled=${busy.value} @click=${() => void this.solve(own)}>Solve with all chosen solvers</button>
                <button @click=${() => (ownProblem.value = null)}>Close</button>
            </p>
            ${
                shown.length > 0
                    ? html`<div class="scroll-x" tabindex="0" role="region" aria-label="Solvers on the own problem">
                          <table class="numbers">
                              <thead>
                                  <tr><th scope="col">solver</th><th scope="col">outcome</th><th scope="col">it.</th>${known ? html`<th scope="col">internal</th>` : null}<th scope="col">r_nat</th><th scope="col">r_nat_rel</th></tr>
                              </thead>
                              <tbody>
                                  ${shown.map(
                                      (r, i) => html`<tr>
                                          <th scope="row">${styles.value.get(r.solver)?.title ?? r.solver}</th>
                                          <td>${r.solution.outcome}</td>
                                          <td>${r.solution.iterations}</td>
                                          ${known ? html`<td>${number(known.shares[i])}</td>` : null}
                                          <td>${number(r.solution.residuals.r_nat, 2)}</td>
                                          <td>${number(r.solution.residuals.r_nat_rel, 2)}</td>
                                      </tr>`,
                                  )}
                              </tbody>
                          </table>
                      </div>`
                    : null
            }
            ${
                known
                    ? html`<kl-condition .condition=${known.condition}></kl-condition>`
                    : shown.length > 0
                      ? html`<button ?disabled=${busy.value} @click=${() => void this.look(own, shown)}>Rank, spectrum, internal forces</button>`
                      : null
            }
        `;
    }

    private pick(own: OwnProblem, index: number): void {
        void takeProblem(own.name, own.text, Math.max(0, Math.min(own.count - 1, Math.round(index)))).catch(
            (error) => say('error', 'This problem cannot be read.', String(error)),
        );
    }

    private handOver({ text, name, index }: OwnProblem): Promise<unknown> {
        return toolClient().request('problem', { text, name, index });
    }

    private async look(own: OwnProblem, shown: Resolved[]): Promise<void> {
        try {
            await this.handOver(own);
            const lambdas = shown.map((r) => r.lambda);
            const answer = await toolClient().request('condition', { lambdas });
            await import('./condition-facts');
            conditions.value = { of: shown, answer };
        } catch (error) {
            say(
                'error',
                'The spectrum is not known.',
                error instanceof Error ? error.message : String(error),
            );
        }
    }

    /** Residual curves go to the convergence plot. */
    private async solve(own: OwnProblem): Promise<void> {
        busy.value = true;
        const list: Resolved[] = [];
        try {
            await this.handOver(own);
            for (const lane of lanes.value) {
                list.push(
                    await toolClient().request('resolve', { solver: withPreset(lane.choice), natural: true }),
                );
                results.value = { of: own, list: [...list] };
                stepCurves.value = [...list];
            }
        } catch (error) {
            say(
                'error',
                `${own.name} cannot be solved.`,
                error instanceof Error ? error.message : String(error),
            );
        } finally {
            busy.value = false;
        }
    }
}

customElements.define('kl-own-problem', KlOwnProblem);
