// One contact of the problem at hand, looked at along its normal. With all other reactions held at those of
// the focused solver, the contact's own free velocity is b = v_f,k + sum_j D_kj lambda_j (paper: single-contact
// problem). Points of no normal velocity, D_n lambda + b_n = 0, make the plane of maximum compression; where
// it cuts the friction cone lies the conic on which a slipping reaction must be. Where it would stick,
// lambda_0 = -D_kk^-1 b, is a cross. Full marks are where the solvers ended on the whole problem, hollow ones where
// each of them lands on this contact by itself. The second picture is the section through the normal along the
// friction: the cone's two edges and the plane.
import { signal } from '@preact/signals-core';
import { html, svg } from 'lit';
import { KlElement } from '../app/element';
import { number } from '../app/format';
import type { Matrix } from '../core/protocol';
import type { ProblemInfo } from '../core/types';
import { stepCurves, withPreset } from '../state/explain';
import { lanes, selection, styles, toolClient } from '../state/session';

const SIZE = 300;
const STEPS = 180;
const chosen = signal(0);

interface Mark {
    id: string;
    t: number;
    o: number;
    n: number;
}

const alone = signal<{ key: string; marks: Mark[] }>({ key: '', marks: [] });
let asked = '';

/** Where each chosen solver lands on this contact alone. */
async function solveAlone(key: string, { D, b, mu }: LocalProblem, dt: number): Promise<void> {
    if (asked === key) return;
    asked = key;
    const text = JSON.stringify({
        contacts: 1,
        dt,
        mu,
        v_f: b,
        D: [D.slice(0, 3), D.slice(3, 6), D.slice(6, 9)],
    });
    try {
        await toolClient().request('problem', { text, name: 'contact.json', index: 0 });
        const marks: Mark[] = [];
        for (const { choice } of lanes.value) {
            const { lambda } = await toolClient().request('resolve', {
                solver: withPreset(choice),
                natural: false,
            });
            marks.push({ id: choice.id, t: lambda[0], o: lambda[1], n: lambda[2] });
        }
        if (asked === key) alone.value = { key, marks };
    } catch {
        alone.value = { key, marks: [] }; // a contact that is no problem by itself, e.g. of mass zero
    }
}

export interface LocalProblem {
    D: number[]; // (3 x 3) rows t, o, n
    b: number[]; // (3)
    mu: number;
}

/** The problem of contact `k` when all other reactions stay as they are. */
export function localProblem(matrix: Matrix, first: number, k: number): LocalProblem {
    const { dim, delassus, freeVelocity, friction, lambda } = matrix;
    const row = first + 3 * k;
    const D: number[] = [];
    const b: number[] = [];
    for (let i = 0; i < 3; i++) {
        let sum = freeVelocity[row + i];
        for (let j = 0; j < dim; j++) {
            const inside = j >= row && j < row + 3;
            if (inside) D.push(delassus[(row + i) * dim + j]);
            else sum += delassus[(row + i) * dim + j] * lambda[j];
        }
        b.push(sum);
    }
    return { D, b, mu: friction[k] };
}

/** The conic, seen along the normal: (lambda_t, lambda_o), NaN where the cone and the plane do not meet. */
export function conic({ D, b, mu }: LocalProblem): [number, number][] {
    return Array.from({ length: STEPS + 1 }, (_, i) => {
        const angle = (2 * Math.PI * i) / STEPS;
        const slope = D[8] + mu * (D[6] * Math.cos(angle) + D[7] * Math.sin(angle));
        const normal = slope > 0 && b[2] < 0 ? -b[2] / slope : Number.NaN;
        return [mu * normal * Math.cos(angle), mu * normal * Math.sin(angle)];
    });
}

/** -D^-1 b by Cramer's rule; null when D is singular. */
export function stickPoint({ D, b }: LocalProblem): number[] | null {
    const det = (m: number[]) =>
        m[0] * (m[4] * m[8] - m[5] * m[7]) -
        m[1] * (m[3] * m[8] - m[5] * m[6]) +
        m[2] * (m[3] * m[7] - m[4] * m[6]);
    const whole = det(D);
    const scale = Math.max(...D.map(Math.abs)) ** 3;
    if (!(Math.abs(whole) > 1e-12 * scale)) return null;
    return [0, 1, 2].map((c) => -det(D.map((v, i) => (i % 3 === c ? b[Math.floor(i / 3)] : v))) / whole);
}

export class KlContactFigure extends KlElement {
    matrix!: Matrix;
    problem!: ProblemInfo;

    override render() {
        const { contactCount, jointRows, limitCount } = this.problem;
        if (contactCount === 0 || this.matrix.lambda.length === 0) return html``;
        const picked = selection.value?.kind === 'contact' ? selection.value.index : chosen.value;
        const k = Math.min(picked, contactCount - 1);
        const first = jointRows + limitCount;
        const local = localProblem(this.matrix, first, k);
        return html`
            <h3>One contact</h3>
            <label class="field"
                >contact
                <select @change=${(e: Event) => (chosen.value = Number((e.target as HTMLSelectElement).value))}>
                    ${Array.from({ length: contactCount }, (_, i) => html`<option value=${i} ?selected=${i === k}>${i + 1}</option>`)}
                </select>
                of ${contactCount}, μ = ${number(local.mu)}</label
            >
            ${this.figures(local, first + 3 * k)}
        `;
    }

    private figures(local: LocalProblem, row: number) {
        const key = JSON.stringify([local, lanes.value.map((l) => l.choice)]);
        void solveAlone(key, local, this.problem.dt);
        const ends = stepCurves.value
            .filter((c) => c.lambda.length >= row + 3)
            .map((c) => ({ id: c.solver, t: c.lambda[row], o: c.lambda[row + 1], n: c.lambda[row + 2] }));
        const landings = alone.value.key === key ? alone.value.marks : [];
        return html`${this.figure(local, ends, landings)} ${this.section(local, ends, landings)}`;
    }

    /** Normal over tangential reaction, along the friction of the first solver that has any. */
    private section(local: LocalProblem, ends: Mark[], landings: Mark[]) {
        const slipping = [...ends, ...landings].find((e) => Math.hypot(e.t, e.o) > 1e-12 * Math.abs(e.n));
        const size = slipping ? Math.hypot(slipping.t, slipping.o) : 1;
        const [c, s] = slipping ? [slipping.t / size, slipping.o / size] : [1, 0];
        const along = (e: Mark) => c * e.t + s * e.o;
        const { D, b, mu } = local;
        const marks = [...ends, ...landings];
        const reach = 1.3 * Math.max(1e-30, ...marks.flatMap((e) => [Math.abs(along(e)), Math.abs(e.n)]));
        const height = SIZE * 0.6;
        const x = (t: number) => SIZE / 2 + (t / reach) * (SIZE / 2);
        const y = (n: number) => height - 8 - (n / reach) * (height - 16);
        const slope = D[6] * c + D[7] * s; // plane: slope t + D_nn n + b_n = 0
        const onPlane = (t: number) => -(b[2] + slope * t) / D[8];
        return html`<figure class="contact-figure">
            <svg viewBox="0 0 ${SIZE} ${height}" role="img" aria-label="Cone and plane of maximum compression, seen from the side">
                <line x1="0" y1=${y(0)} x2=${SIZE} y2=${y(0)} class="axis" />
                <path d=${`M${x(-mu * reach)} ${y(reach)}L${x(0)} ${y(0)}L${x(mu * reach)} ${y(reach)}`} class="cone" />
                <line x1=${x(-reach)} y1=${y(onPlane(-reach))} x2=${x(reach)} y2=${y(onPlane(reach))} class="plane" />
                ${landings.map((e) => this.mark(e.id, x(along(e)), y(e.n), true))} ${ends.map((e) => this.mark(e.id, x(along(e)), y(e.n), false))}
                <text x=${SIZE - 4} y=${y(0) - 4} text-anchor="end" class="label">along the friction</text>
                <text x=${SIZE / 2 + 5} y="13" class="label">λ_n</text>
            </svg>
            <figcaption>Shaded: friction cone. Dashed: plane of maximum compression. ${landings.length > 0 ? 'Hollow: each solver on this contact alone.' : ''}</figcaption>
        </figure>`;
    }

    private mark(id: string, x: number, y: number, hollow: boolean) {
        const style = styles.value.get(id);
        const title = `${style?.title ?? id}${hollow ? ', this contact alone' : ''}`;
        return hollow
            ? svg`<circle class="landing" cx=${x} cy=${y} r="7" stroke=${style?.color ?? '#888'} stroke-dasharray=${(style?.dash ?? []).join(' ')}><title>${title}</title></circle>`
            : svg`<text x=${x} y=${y + 5} text-anchor="middle" fill=${style?.color ?? '#888'}>${style?.marker ?? '●'}<title>${title}</title></text>`;
    }

    private figure(local: LocalProblem, ends: Mark[], landings: Mark[]) {
        const curve = conic(local);
        const stick = stickPoint(local);
        const sizes = [...curve.flat(), ...[...ends, ...landings].flatMap((e) => [e.t, e.o])]
            .filter(Number.isFinite)
            .map(Math.abs);
        const reach = 1.2 * Math.max(1e-30, ...sizes);
        const x = (value: number) => SIZE / 2 + (value / reach) * (SIZE / 2);
        const y = (value: number) => SIZE / 2 - (value / reach) * (SIZE / 2);
        const path = curve
            .map(([t, o], i) =>
                Number.isNaN(t)
                    ? ''
                    : `${i > 0 && !Number.isNaN(curve[i - 1][0]) ? 'L' : 'M'}${x(t).toFixed(1)} ${y(o).toFixed(1)}`,
            )
            .join(' ');
        const inside = stick && Math.abs(stick[0]) < reach && Math.abs(stick[1]) < reach;
        return html`<figure class="contact-figure">
            <svg viewBox="0 0 ${SIZE} ${SIZE}" role="img" aria-label="Tangential reaction of one contact">
                <line x1="0" y1=${SIZE / 2} x2=${SIZE} y2=${SIZE / 2} class="axis" />
                <line x1=${SIZE / 2} y1="0" x2=${SIZE / 2} y2=${SIZE} class="axis" />
                <path d=${path} class="conic" />
                ${inside ? svg`<path d="M${x(stick[0]) - 5} ${y(stick[1]) - 5}l10 10m0 -10l-10 10" class="stick" />` : null}
                ${landings.map((e) => this.mark(e.id, x(e.t), y(e.o), true))} ${ends.map((e) => this.mark(e.id, x(e.t), y(e.o), false))}
                <text x=${SIZE - 4} y=${SIZE / 2 - 5} text-anchor="end" class="label">λ_t</text>
                <text x=${SIZE / 2 + 5} y="13" class="label">λ_o</text>
            </svg>
            <figcaption>
                ${local.b[2] >= 0 ? 'The contact opens: its free normal velocity is not negative. ' : 'Curve: where a slipping reaction must lie. Cross: where it would stick. '}
                Half width ${number(reach, 2)} N s. ${ends.map((e) => `${styles.value.get(e.id)?.title}: λ_n ${number(e.n)}`).join(', ')}
            </figcaption>
        </figure>`;
    }
}

customElements.define('kl-contact-figure', KlContactFigure);
