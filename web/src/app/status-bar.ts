// The line at the bottom: step, time, hash per lane, frame rate, outcomes, memory.

import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { linkVerdict } from '../link/verdict';
import { cursor, dt, lanes, seek, stale, styles, tables, tick } from '../state/session';
import { KlElement } from './element';
import { bytes } from './format';

export const framesPerSecond = signal(0);

export class KlStatusBar extends KlElement {
    private timer = 0;

    override connectedCallback(): void {
        super.connectedCallback();
        let frames = 0;
        const count = () => {
            frames++;
            this.timer = requestAnimationFrame(count);
        };
        count();
        setInterval(() => {
            framesPerSecond.value = frames;
            frames = 0;
        }, 1000);
    }

    override disconnectedCallback(): void {
        super.disconnectedCallback();
        cancelAnimationFrame(this.timer);
    }

    override render() {
        void tick.value;
        const memory = lanes.value.reduce((sum, lane) => sum + lane.history.memory, 0);
        return html`
            <span>step <b class="step">${cursor.value}</b></span>
            <span>t <b>${(cursor.value * dt.value).toFixed(4)} s</b></span>
            ${lanes.value.map((lane) => {
                const frame = lane.history.frameAt(cursor.value);
                const exact = frame?.step === cursor.value;
                const style = styles.value.get(lane.choice.id);
                return html`<span class="lane-status" title=${`State hash of ${style?.title} at step ${frame?.step ?? 0}`}>
                    <span class="chip" .style=${`--c: ${style?.color}`} aria-hidden="true">${style?.marker}</span>
                    <code data-hash-lane=${lane.choice.id} data-step=${frame?.step ?? -1}>${frame ? frame.hash.toString(16).padStart(16, '0') : '…'}</code>
                    ${exact || !frame ? null : html`<small>at ${frame.step}</small>`}
                    <small>${this.outcomes(lane.history.column('outcome'))}</small>
                </span>`;
            })}
            <span class="spacer"></span>
            ${stale.value ? html`<span class="stale">edited, running again…</span>` : null}
            ${this.verdict()}
            <span title="Memory of the frames kept">${bytes(memory)}</span>
            <span>${framesPerSecond.value} fps</span>
        `;
    }

    private verdict() {
        const verdict = linkVerdict.value;
        if (!verdict) return null;
        const text = html`<span class="verdict verdict-${verdict.kind}">${verdict.text}</span>`;
        if (verdict.step < 0) return text;
        return html`${text} <button class="small" @click=${() => seek(verdict.step)}>go there</button>`;
    }

    /** How many steps ended in which way, the unusual ones only. */
    private outcomes(column: Float64Array): string {
        const names = tables.value?.outcomes ?? [];
        const counts = new Map<number, number>();
        for (const o of column) counts.set(o, (counts.get(o) ?? 0) + 1);
        counts.delete(0);
        if (column.length === 0) return '';
        if (counts.size === 0) return 'all converged';
        return [...counts].map(([o, n]) => `${n} ${names[o] ?? o}`).join(', ');
    }
}

customElements.define('kl-status-bar', KlStatusBar);
