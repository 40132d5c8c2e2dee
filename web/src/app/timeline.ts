// The timeline: buffers fill like a video's, marks show events, the range input scrubs.
import { computed } from '@preact/signals-core';
import { html, svg } from 'lit';
import { estimate } from '../state/estimate';
import { ticks } from '../state/events';
import {
    cursor,
    dt,
    lanes,
    pause,
    play,
    playing,
    reset,
    seek,
    speed,
    steps,
    styles,
    tick,
} from '../state/session';
import { tallViews } from '../views3d/options';
import { KlElement } from './element';
import { number } from './format';
import { icon } from './icons';

const SPEEDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5];

/** The marks of each kind as one path, on a timeline 1000 wide and 10 high. */
const marks = computed(() => {
    const total = Math.max(1, steps.value);
    const paths = new Map<string, string>();
    for (const { kind, step } of ticks.value)
        paths.set(kind, `${paths.get(kind) ?? ''}M${((1000 * step) / total).toFixed(1)} 0h1.5v10h-1.5z`);
    return paths;
});

export class KlTimeline extends KlElement {
    override render() {
        void tick.value;
        const total = Math.max(1, steps.value);
        return html`
            <div class="transport" role="group" aria-label="Playback">
                <button class="icon" title="Run or pause (space)" aria-label=${playing.value ? 'Pause' : 'Run'} @click=${() => (playing.value ? pause() : play())}>
                    ${icon(playing.value ? 'pause' : 'play')}
                </button>
                <button class="icon" title="Step back (←)" aria-label="Step back" @click=${() => this.step(-1)}>${icon('back')}</button>
                <button class="icon" title="Step (→)" aria-label="Step forward" @click=${() => this.step(1)}>${icon('forward')}</button>
                <button class="icon" title="Reset (R)" aria-label="Reset" @click=${() => reset()}>${icon('reset')}</button>
                <select aria-label="Speed" @change=${(e: Event) => (speed.value = Number((e.target as HTMLSelectElement).value))}>
                    ${SPEEDS.map((s) => html`<option value=${s} ?selected=${s === speed.value}>${s}×</option>`)}
                </select>
            </div>
            <div class="track">
                <div class="buffers" aria-hidden="true">
                    ${lanes.value.map((lane) => {
                        const color = styles.value.get(lane.choice.id)?.color ?? '#888';
                        const share = Math.min(100, (100 * lane.filled.peek()) / total);
                        return html`<div class="buffer buffer-${lane.state.value}"><i .style=${`width:${share}%;background:${color}`}></i></div>`;
                    })}
                </div>
                <svg class="ticks" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 1000 10">
                    ${[...marks.value].map(([kind, path]) => svg`<path class="tick tick-${kind}" d=${path}></path>`)}
                </svg>
                <input
                    type="range"
                    min="0"
                    max=${total}
                    step="1"
                    aria-label="Time"
                    aria-valuetext=${`${(cursor.value * dt.value).toFixed(3)} seconds, step ${cursor.value}`}
                    .value=${String(cursor.value)}
                    @input=${(e: Event) => {
                        pause();
                        seek(Number((e.target as HTMLInputElement).value));
                    }}
                />
            </div>
            <output class="clock">${(cursor.value * dt.value).toFixed(3)} s<small> / ${number(steps.value * dt.value, 4)} s</small>${this.remaining()}</output>
            <button class="icon" title="Larger views (L)" aria-label="Larger views" aria-pressed=${tallViews.value} @click=${() => (tallViews.value = !tallViews.value)}>${icon('tall')}</button>
        `;
    }

    /** What the estimate said, as long as the buffers fill. */
    private remaining() {
        const now = estimate.value;
        const filling = lanes.value.some((lane) => lane.state.value === 'running');
        if (!now || now.waiting || !filling || now.seconds < 3) return null;
        return html`<small class="remaining" title="Judged by the first steps">about ${Math.round(now.seconds)} s to compute</small>`;
    }

    private step(by: number): void {
        pause();
        seek(cursor.value + by);
    }
}

customElements.define('kl-timeline', KlTimeline);
