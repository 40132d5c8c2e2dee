// The slip problem of the reference (math: corrections): its known solution lies on the conic.
import { expect, it, vi } from 'vitest';

vi.mock('lit', () => ({ html: () => null, svg: () => null, LitElement: class {} }));
vi.stubGlobal('customElements', { define: () => {} });
vi.stubGlobal('window', { setTimeout });
const { conic, localProblem, stickPoint } = await import('../../src/panels/contact-figure');

const D = [2, 0, 0.5, 0, 3, -0.25, 0.5, -0.25, 4];
const SLIP = [-0.368141487870186, -0.139406093674472, 0.787304805129119];
const matrix = {
    dim: 3,
    delassus: Float64Array.from(D),
    freeVelocity: Float64Array.from([4, 2, -3]),
    softening: new Float64Array(0),
    friction: Float64Array.from([0.5]),
    lambda: Float64Array.from(SLIP),
};

it('a slipping reaction lies on the conic', () => {
    const local = localProblem(matrix, 0, 0);
    expect(local.b).toEqual([4, 2, -3]);
    const nearest = Math.min(...conic(local).map(([t, o]) => Math.hypot(t - SLIP[0], o - SLIP[1])));
    expect(nearest).toBeLessThan(0.008); // half a step of the curve
});

it('the sticking reaction stops the contact', () => {
    const local = localProblem(matrix, 0, 0);
    const stick = stickPoint(local)!;
    for (let i = 0; i < 3; i++) {
        const velocity = D.slice(3 * i, 3 * i + 3).reduce((sum, d, j) => sum + d * stick[j], local.b[i]);
        expect(Math.abs(velocity)).toBeLessThan(1e-12);
    }
});

it('the other reactions enter the free velocity', () => {
    const two = new Float64Array(36);
    for (let i = 0; i < 3; i++)
        for (let j = 0; j < 3; j++) two[6 * i + j] = two[6 * (i + 3) + j + 3] = D[3 * i + j];
    two[6 * 2 + 5] = 1;
    const both = {
        dim: 6,
        delassus: two,
        freeVelocity: new Float64Array(6),
        softening: new Float64Array(0),
        friction: Float64Array.from([0.5, 0.5]),
        lambda: Float64Array.from([0, 0, 0, 0, 0, 2]),
    };
    expect(localProblem(both, 0, 0).b).toEqual([0, 0, 2]);
});
