// Over the views while a long run waits: how long it will take, and the ways on. Loaded when one waits.
import './estimate-note.css';
import { html } from 'lit';
import { estimate } from '../state/estimate';
import { change, dt, experiment, play, steps, styles } from '../state/session';
import { KlElement } from './element';

export function duration(seconds: number): string {
    if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
    if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
    return `${(seconds / 3600).toFixed(1)} h`;
}

export class KlEstimate extends KlElement {
    override render() {
        const now = estimate.value;
        if (!now?.waiting) return html``;
        const solver = styles.value.get(now.slowest)?.title ?? now.slowest;
        return html`<div class="estimate" role="alert">
            <strong>${Number.isFinite(now.seconds) ? `This run takes about ${duration(now.seconds)}` : 'How long this run takes is not known yet'}</strong>
            <span>
                ${steps.value} steps, ${(steps.value * dt.value).toFixed(1)} s of motion; ${solver} is the slowest. ${now.steps > 0 ? `Judged by ${now.steps} of its first steps` : 'Its first step is not done after 20 s'}; contacts to come can make it longer.
            </span>
            <span class="row">
                <button class="primary" @click=${play}>Run</button>
                ${
                    experiment.value.preset === 'high-throughput'
                        ? null
                        : html`<button @click=${() => void change({ ...experiment.value, preset: 'high-throughput' })}>High throughput instead</button>`
                }
            </span>
        </div>`;
    }
}

customElements.define('kl-estimate', KlEstimate);
