// The line at the bottom: step, time, hash per lane, frame rate, outcomes, memory.

import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { linkVerdict } from '../link/verdict';
import { cursor, dt, lanes, seek, stale, styles, tables, tick } from '../state/session';
import { KlElement } from './element';
import { bytes } from './format';

const picturesPerSecond = signal(0); // of the views, which rest when nothing moves

export class KlStatusBar extends KlElement {
    private timer = 0;
    private pictures = 0;
    private readonly count = () => this.pictures++;

    override connectedCallback(): void {
        super.connectedCallback();
        document.addEventListener('kl-drawn', this.count);
        this.timer = window.setInterval(() => {
            picturesPerSecond.value = this.pictures;
            this.pictures = 0;
        }, 1000);
    }

    override disconnectedCallback(): void {
        super.disconnectedCallback();
        document.removeEventListener('kl-drawn', this.count);
        clearInterval(this.timer);
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
                    <code class=${exact ? '' : 'earlier'} data-hash-lane=${lane.choice.id} data-step=${frame?.step ?? -1}>${frame ? frame.hash.toString(16).padStart(16, '0') : '…'}</code>
                    <small>${this.outcomes(lane.history.tally('outcome'))}</small>
                </span>`;
            })}
            <span class="spacer"></span>
            ${stale.value ? html`<span class="stale">edited, running again…</span>` : null}
            ${this.verdict()}
            <span title="Memory of the frames kept">${bytes(memory)}</span>
            ${picturesPerSecond.value > 0 ? html`<span title="Pictures of the views in a second">${picturesPerSecond.value} fps</span>` : null}
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
    private outcomes(counts: ReadonlyMap<number, number>): string {
        const names = tables.value?.outcomes ?? [];
        const unusual = [...counts].filter(([o]) => o !== 0);
        if (counts.size === 0) return '';
        if (unusual.length === 0) return 'all converged';
        return unusual.map(([o, n]) => `${n} ${names[o] ?? o}`).join(', ');
    }
}

customElements.define('kl-status-bar', KlStatusBar);
