// D as a picture: one cell per entry, darker for larger on a logarithmic scale; sign by hue.
import { html } from 'lit';
import { KlElement } from '../app/element';
import { number } from '../app/format';
import type { Matrix } from '../core/protocol';
import { dark } from '../state/session';

export class KlMatrix extends KlElement {
    matrix!: Matrix;
    private pointed = '';

    override render() {
        void dark.value;
        const { dim } = this.matrix;
        let entries = 0;
        for (const v of this.matrix.delassus) if (v !== 0) entries++;
        return html`<figure class="matrix">
            <canvas width=${dim} height=${dim} role="img" aria-label=${`Picture of D: ${dim} rows, ${entries} entries`} @pointermove=${this.point}></canvas>
            <figcaption>${this.pointed || `D, ${dim} × ${dim}, ${entries} entries; blue positive, orange negative, logarithmic`}</figcaption>
        </figure>`;
    }

    protected override updated(): void {
        const { dim, delassus } = this.matrix;
        const canvas = this.querySelector('canvas');
        const context = canvas?.getContext('2d');
        if (!context || dim === 0) return;
        let most = 0;
        for (const v of delassus) most = Math.max(most, Math.abs(v));
        const image = context.createImageData(dim, dim);
        for (let i = 0; i < dim * dim; i++) {
            const v = delassus[i];
            if (v === 0 || !Number.isFinite(v)) continue;
            const strength = Math.max(0.08, 1 + Math.log10(Math.abs(v) / most) / 12);
            const [r, g, b] = v > 0 ? [0, 114, 178] : [213, 94, 0];
            image.data.set([r, g, b, 255 * Math.min(1, strength)], 4 * i);
        }
        context.putImageData(image, 0, 0);
    }

    private point(event: PointerEvent): void {
        const box = (event.target as HTMLElement).getBoundingClientRect();
        const { dim, delassus } = this.matrix;
        const column = Math.min(dim - 1, Math.floor(((event.clientX - box.left) / box.width) * dim));
        const row = Math.min(dim - 1, Math.floor(((event.clientY - box.top) / box.height) * dim));
        this.pointed = `D[${row}, ${column}] = ${number(delassus[row * dim + column], 6)}`;
        this.requestUpdate();
    }
}

customElements.define('kl-matrix', KlMatrix);
