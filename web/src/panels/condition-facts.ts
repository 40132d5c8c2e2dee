// What a problem is like to solve: rank, condition and spectrum of D + R. Loaded when first asked for.
import { html, svg } from 'lit';
import { KlElement } from '../app/element';
import { number } from '../app/format';
import type { ConditionInfo } from '../core/types';

const WIDTH = 300;
const HEIGHT = 90;
const DECADES = 17; // below the largest eigenvalue; rounding is what lies there

export class KlCondition extends KlElement {
    condition!: ConditionInfo;
    share: number | undefined; // of the run's reaction that moves nothing

    override render() {
        const c = this.condition;
        const facts: [string, string][] = [
            ['rank of D', String(c.rank)],
            ['rank of J', String(c.jacobianRank)],
            ['λ max', number(c.eigenMax)],
            ['λ min > 0', number(c.eigenMin)],
            ['condition κ', number(c.condition)],
            ['density', `${number((c.density ?? 0) * 100)} %`],
        ];
        if (this.share !== undefined) facts.push(['internal share', number(this.share)]);
        return html`
            <dl class="facts">${facts.map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}</dl>
            ${this.spectrum(c.spectrum ?? [], c.rank)}
        `;
    }

    private spectrum(values: number[], rank: number) {
        const n = values.length;
        if (n === 0) return null;
        const point = (value: number, i: number) => {
            const decades = value > 0 ? Math.log10(values[n - 1] / value) : DECADES;
            const y = (Math.min(DECADES, decades) / DECADES) * (HEIGHT - 8) + 4;
            return `M${(((i + 0.5) / n) * WIDTH).toFixed(1)} ${y.toFixed(1)}h0`;
        };
        const dots = values.map(point);
        return html`<figure class="spectrum">
            <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${`Spectrum of D: ${n} eigenvalues, ${rank} above rounding`}>
                ${svg`<path class="zero" d=${dots.slice(0, n - rank).join('')} /><path d=${dots.slice(n - rank).join('')} />`}
            </svg>
            <figcaption>Eigenvalues of D, ascending, logarithmic over ${DECADES} decades; grey: zero to rounding</figcaption>
        </figure>`;
    }
}

customElements.define('kl-condition', KlCondition);
