// Parameters of each solver, from the solver's own table.
import { html } from 'lit';
import { KlElement } from '../app/element';
import { change, experiment, focusLane, lanes, setParam, solverInfo, styles } from '../state/session';
import { paramField } from './field';

const SOLVES: Record<string, string> = {
    ncp: 'Converged means: Coulomb’s law holds.',
    ccp: 'Converged means: the convex relaxation of Coulomb’s law holds.',
    local: 'Converged means: exact for one contact at a time.',
};

export class KlSolverPanel extends KlElement {
    override render() {
        const index = Math.min(focusLane.value, lanes.value.length - 1);
        const lane = lanes.value[index];
        if (!lane) return html`<p class="quiet">No solver yet.</p>`;
        const info = solverInfo(lane.choice.id);
        if (!info) return html``;
        const choice = experiment.value.solvers.find((s) => s.id === info.id) ?? lane.choice;
        const values = lane.loaded.value?.params ?? {};
        const curated = experiment.value.mode === 'curated';
        const driver = experiment.value.driver || lanes.value[0].choice.id;
        return html`
            <div class="segmented wrap" role="group" aria-label="Solver to set">
                ${lanes.value.map(
                    (l, i) => html`<button aria-pressed=${i === index} @click=${() => (focusLane.value = i)}>
                        <span class="chip" .style=${`--c: ${styles.value.get(l.choice.id)?.color}`} aria-hidden="true">${styles.value.get(l.choice.id)?.marker}</span>
                        ${styles.value.get(l.choice.id)?.title}
                    </button>`,
                )}
            </div>
            <p>${info.text}</p>
            <p class="quiet">${SOLVES[info.solves] ?? ''} ${info.source}</p>
            ${
                curated && driver !== info.id
                    ? html`<button @click=${() => void change({ ...experiment.value, driver: info.id })}>Let this solver drive</button>`
                    : null
            }
            ${info.params.map((p) =>
                paramField(
                    p,
                    choice.params[p.id] ?? values[p.id] ?? p.initial,
                    p.id in choice.params,
                    (v) => setParam(info.id, p.id, v),
                    () => setParam(info.id, p.id, null),
                ),
            )}
        `;
    }
}

customElements.define('kl-solver-panel', KlSolverPanel);
