// The plots that are open: pick, reorder by moving, resize, close. They lie on a grid whose columns are thirds of a
// usual plot, so that time axes line up.
import { effect, signal } from '@preact/signals-core';
import { html } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { KlElement } from '../app/element';
import { stepCurves } from '../state/explain';
import { profile } from '../state/profiles';
import { hidden, lanes, styles, tick } from '../state/session';
import { convergencePlot } from './convergence-plot';
import type { OwnAxes, PlotDefinition } from './definition';
import { type PlotSize, USUAL_THIRDS } from './grip';
import './line-plot';
import { type KlPlot, PLOT_DRAG } from './line-plot';
import { metricPlots } from './metric-plots';
import { profilePlot } from './profile-plot';
import { reactionPlot } from './reaction-plot';
import { stagePlot } from './stage-plot';
import { statePlot } from './state-plot';

export interface OpenPlot {
    id: string;
    choice: string;
    axes?: OwnAxes;
    size?: PlotSize;
}

export const FIRST_PLOTS = [
    'convergence',
    'r_nat',
    'iterations',
    'state',
    'reactions',
    'r_pen',
    'r_dual',
    'r_ncp',
];

export const openPlots = signal<OpenPlot[]>(FIRST_PLOTS.map((id) => ({ id, choice: '' })));
const VAST = 2400; // [px] a window that would be left half empty by small plots
export const usualPlotSize = globalThis.innerWidth >= VAST ? 'large' : 'small';
export const plotSize = signal<'small' | 'large'>(usualPlotSize);

export function allPlots(): PlotDefinition[] {
    return [statePlot, reactionPlot, convergencePlot, profilePlot, stagePlot, ...metricPlots()];
}

export function showPlot(id: string): void {
    if (!openPlots.value.some((p) => p.id === id)) openPlots.value = [{ id, choice: '' }, ...openPlots.value];
}

export function hidePlot(id: string): void {
    openPlots.value = openPlots.value.filter((p) => p.id !== id);
}

export function movePlot(id: string, by: number): void {
    const list = [...openPlots.value];
    const at = list.findIndex((p) => p.id === id);
    const to = Math.max(0, Math.min(list.length - 1, at + by));
    list.splice(to, 0, ...list.splice(at, 1));
    openPlots.value = list;
}

/** Puts plot `id` in the place of plot `at`. */
function placePlot(id: string, at: string): void {
    const place = (p: string): number => openPlots.value.findIndex((o) => o.id === p);
    if (place(id) >= 0) movePlot(id, place(at) - place(id));
}

const dragsPlot = (event: DragEvent): boolean => event.dataTransfer?.types.includes(PLOT_DRAG) ?? false;

const LEAST_WIDTH = { small: 330, large: 560 }; // of a usual plot [px]
const USUAL_HEIGHT = { small: 150, large: 260 }; // of its chart
const HEIGHTS = [90, 900];
const GAP = 8;

export class KlDeck extends KlElement {
    private dispose: (() => void) | null = null;
    private readonly observer = new ResizeObserver(() => this.measure());
    private readonly width = signal(LEAST_WIDTH.small); // of the grid

    override connectedCallback(): void {
        super.connectedCallback();
        this.observer.observe(this);
        // These come without new steps; the plots only listen to `tick`.
        this.dispose = effect(() => {
            void [stepCurves.value, profile.value, hidden.value, lanes.value];
            queueMicrotask(() => (tick.value = tick.peek() + 1));
        });
    }

    override disconnectedCallback(): void {
        super.disconnectedCallback();
        this.dispose?.();
        this.observer.disconnect();
    }

    protected override firstUpdated(): void {
        this.measure();
    }

    private measure(): void {
        const grid = this.querySelector<HTMLElement>('.deck');
        if (grid) this.width.value = grid.clientWidth - 20; // its padding
    }

    /** Columns of the grid. */
    private get thirds(): number {
        return (
            USUAL_THIRDS *
            Math.max(1, Math.floor((this.width.value + GAP) / (LEAST_WIDTH[plotSize.value] + GAP)))
        );
    }

    private sizeOf(plot: OpenPlot): PlotSize {
        const { thirds, height } = plot.size ?? {
            thirds: USUAL_THIRDS,
            height: USUAL_HEIGHT[plotSize.value],
        };
        const [least, most] = HEIGHTS;
        return {
            thirds: Math.max(2, Math.min(this.thirds, thirds)),
            height: Math.max(least, Math.min(most, height)),
        };
    }

    private resize(id: string, size: PlotSize | null): void {
        this.remember(id, { size: size ? this.sizeOf({ id, choice: '', size }) : undefined });
    }

    override render() {
        const known = allPlots();
        const closed = known.filter((d) => !openPlots.value.some((p) => p.id === d.id));
        const open = openPlots.value.flatMap((p) => {
            const definition = known.find((d) => d.id === p.id);
            return definition ? [{ ...p, definition }] : [];
        });
        return html`
            <div class="deck-bar">
                ${this.legend()}
                <span class="spacer"></span>
                <select
                    aria-label="Add a plot"
                    @change=${(e: Event) => {
                        const select = e.target as HTMLSelectElement;
                        if (select.value) showPlot(select.value);
                        select.value = '';
                    }}
                >
                    <option value="">+ plot</option>
                    ${closed.map((d) => html`<option value=${d.id} title=${d.text}>${d.title}</option>`)}
                </select>
                <button
                    aria-pressed=${plotSize.value === 'large'}
                    @click=${() => {
                        plotSize.value = plotSize.value === 'large' ? 'small' : 'large';
                    }}
                >
                    Large
                </button>
            </div>
            <div class="deck" .style=${`--thirds: ${this.thirds}`}>
                ${repeat(
                    open,
                    (p) => p.id,
                    (p) => html`<kl-plot
                        data-plot=${p.id}
                        .style=${this.place(p)}
                        .definition=${p.definition}
                        .choice=${p.choice}
                        .axes=${p.axes ?? {}}
                        .size=${{
                            now: () => this.sizeOf(openPlots.value.find(({ id }) => id === p.id) ?? p),
                            third: () => (this.width.value + GAP) / this.thirds,
                            set: (size: PlotSize | null) => this.resize(p.id, size),
                        }}
                        .onMove=${(by: number) => movePlot(p.id, by)}
                        .onRemove=${() => hidePlot(p.id)}
                        .onChoice=${(choice: string) => this.remember(p.id, { choice })}
                        .onAxes=${(axes: OwnAxes) => this.remember(p.id, { axes })}
                        @keydown=${(event: KeyboardEvent) => this.key(event, p.id)}
                        @dragover=${(event: DragEvent) => dragsPlot(event) && event.preventDefault()}
                        @drop=${(event: DragEvent) => {
                            if (!dragsPlot(event)) return;
                            event.preventDefault();
                            placePlot(event.dataTransfer!.getData(PLOT_DRAG), p.id);
                        }}
                    ></kl-plot>`,
                )}
            </div>
        `;
    }

    private place(plot: OpenPlot): string {
        const { thirds, height } = this.sizeOf(plot);
        return `grid-column: span ${thirds}; --chart: ${height}px`;
    }

    private remember(id: string, chosen: Partial<OpenPlot>): void {
        openPlots.value = openPlots.value.map((p) => (p.id === id ? { ...p, ...chosen } : p));
    }

    private key(event: KeyboardEvent, id: string): void {
        if (!event.altKey || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return;
        event.preventDefault();
        event.stopPropagation();
        movePlot(id, event.key === 'ArrowLeft' ? -1 : 1);
        const plot = event.currentTarget as KlPlot;
        void this.updateComplete.then(() => plot.querySelector('figure')?.focus());
    }

    /** Solver names in their colour and dash; a click hides a solver everywhere. */
    private legend() {
        return html`<div class="legend" role="group" aria-label="Solvers in the plots">
            ${lanes.value.map((lane) => {
                const id = lane.choice.id;
                const style = styles.value.get(id);
                const off = hidden.value.has(id);
                return html`<button
                    class="legend-item ${off ? 'off' : ''}"
                    aria-pressed=${!off}
                    title=${off ? 'Show in plots' : 'Hide in plots'}
                    @click=${() => {
                        const next = new Set(hidden.value);
                        if (off) next.delete(id);
                        else next.add(id);
                        hidden.value = next;
                    }}
                >
                    <svg width="26" height="8" aria-hidden="true">
                        <line x1="0" y1="4" x2="26" y2="4" stroke=${style?.color ?? '#888'} stroke-width="2.4" stroke-dasharray=${(style?.dash ?? []).join(' ')} />
                    </svg>
                    ${style?.title ?? id}
                </button>`;
            })}
        </div>`;
    }
}

customElements.define('kl-deck', KlDeck);
