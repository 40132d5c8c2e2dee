// One live plot: uPlot with decimated columns, a play cursor that costs no redraw, zoom, a table view and
// arrow keys. Every plot has the same left gutter, so that time axes line up.
import { html } from 'lit';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { effect } from '@preact/signals-core';
import { KlElement } from '../app/element';
import { number } from '../app/format';
import { cursor, dark, dt, seek, tick } from '../state/session';
import { decades, FLOOR, linearRange, logRange, powerLabel, tickLabel } from './axes';
import { decimate } from './decimate';
import type { Curve, OwnAxes, PlotData, PlotDefinition } from './definition';
import { type Grip, grip } from './grip';
import { enqueue } from './redraw';

const GUTTER = 62; // px left of every plot
export const PLOT_DRAG = 'application/x-kinloop-plot'; // what a dragged title carries: the plot's id

export class KlPlot extends KlElement {
    definition!: PlotDefinition;
    choice = '';
    axes: OwnAxes = {};
    size: Omit<Grip, 'title'> | null = null; // of a plot that can be resized
    onRemove: (() => void) | null = null;
    onMove: ((by: number) => void) | null = null;
    onChoice: ((choice: string) => void) | null = null;
    onAxes: ((axes: OwnAxes) => void) | null = null;
    private chart: uPlot | null = null;
    private data: PlotData = { curves: [], x: [0, 1] };
    private zoom: [number, number] | null = null;
    private layoutKey = '';
    private disposers: (() => void)[] = [];
    private observer: ResizeObserver | null = null;
    private box = { width: 0, height: 0 }; // of the chart; asking the browser in a redraw would lay out the page
    private marker: HTMLElement | null = null;
    private readout = '';
    private asTable = false;
    private toolsOpen = false; // on a narrow plot; a wide one has room for them
    private seen = false;
    private visibility: IntersectionObserver | null = null;

    private get picked(): string {
        const choices = this.definition.choices?.() ?? [];
        return choices.some((c) => c.id === this.choice) ? this.choice : (choices[0]?.id ?? '');
    }

    private get unit(): string {
        return this.definition.unitOf?.(this.picked) ?? this.definition.unit;
    }

    private get logX(): boolean {
        return this.axes.x ?? this.definition.logX ?? false;
    }

    private get logY(): boolean {
        return this.axes.y ?? this.definition.log;
    }

    override render() {
        const def = this.definition;
        const choices = def.choices?.() ?? [];
        const picked = this.picked;
        return html`
            <figure
                class="plot"
                tabindex="0"
                aria-label=${`Plot: ${def.title}. Arrow keys move the cursor.`}
                @keydown=${(event: KeyboardEvent) => this.key(event)}
            >
                <figcaption title=${def.text}>
                    <span
                        class="plot-title"
                        draggable=${this.onMove ? 'true' : 'false'}
                        @dragstart=${(e: DragEvent) => e.dataTransfer?.setData(PLOT_DRAG, def.id)}
                        >${def.title}</span
                    >
                    <span class="plot-unit">${this.unit ? `[${this.unit}]` : ''}</span>
                    ${
                        choices.length > 0
                            ? html`<select
                              aria-label=${`${def.title}: quantity`}
                              .value=${picked}
                              @change=${(e: Event) => this.choose((e.target as HTMLSelectElement).value)}
                          >
                              ${choices.map((c) => html`<option value=${c.id} ?selected=${c.id === picked}>${c.title}</option>`)}
                          </select>`
                            : null
                    }
                    <span class="spacer"></span>
                    ${this.zoom ? html`<button class="small" @click=${() => this.setZoom(null)}>Back to live</button>` : null}
                    <button
                        class="plot-more"
                        title="Axes, table, files, place"
                        aria-label=${`Tools of plot ${def.title}`}
                        aria-expanded=${this.toolsOpen}
                        @click=${() => this.flipTools()}
                    >
                        ⋯
                    </button>
                </figcaption>
                <div class="plot-tools ${this.toolsOpen ? 'open' : ''}" role="group" aria-label=${`Tools of ${def.title}`}>
                    ${def.logX ? this.axisButton('x', this.logX) : null}
                    ${def.yRange ? null : this.axisButton('y', this.logY)}
                    <button title="View as table" aria-pressed=${this.asTable} @click=${() => this.flipTable()}>table</button>
                    <button title="Save as CSV" @click=${() => this.save('csv')}>CSV</button>
                    <button title="Save as JSON" @click=${() => this.save('json')}>JSON</button>
                    <button title="Save as PNG" @click=${() => this.save('png')}>PNG</button>
                    <button title="Save as SVG" @click=${() => this.save('svg')}>SVG</button>
                    ${
                        this.onMove
                            ? html`<button title="Move left (Alt ←)" aria-label=${`Move plot ${def.title} left`} @click=${() => this.onMove?.(-1)}>‹</button>
                                  <button title="Move right (Alt →)" aria-label=${`Move plot ${def.title} right`} @click=${() => this.onMove?.(1)}>›</button>`
                            : null
                    }
                    ${
                        this.onRemove
                            ? html`<button title="Close this plot" aria-label=${`Close plot ${def.title}`} @click=${() => this.onRemove?.()}>×</button>`
                            : null
                    }
                </div>
                <div class="chart" ?hidden=${this.asTable}></div>
                ${this.asTable ? this.table() : null}
                ${this.data.note ? html`<p class="plot-note ${this.data.curves.length > 0 ? 'below' : ''}">${this.data.note}</p>` : null}
                ${def.foot?.()}
                ${this.size ? grip({ title: def.title, ...this.size }) : null}
                <p class="visually-hidden" aria-live="polite">${this.readout}</p>
            </figure>
        `;
    }

    private axisButton(axis: 'x' | 'y', on: boolean) {
        return html`<button
            title=${`Logarithmic ${axis} axis`}
            aria-pressed=${on}
            @click=${() => this.setAxis(axis, !on)}
        >
            log ${axis}
        </button>`;
    }

    protected override firstUpdated(): void {
        this.observe();
    }

    /** Heeds size and visibility; again after each move to another place, which disconnects. */
    private observe(): void {
        const chart = this.querySelector<HTMLElement>('.chart')!;
        this.observer = new ResizeObserver(
            ([
                {
                    contentRect: { width, height },
                },
            ]) => {
                this.box = { width: Math.floor(width), height: Math.floor(height) };
                this.refresh(true);
            },
        );
        this.observer.observe(chart);
        this.visibility = new IntersectionObserver((entries) => {
            this.seen = entries[entries.length - 1].isIntersecting;
            if (this.seen) this.refresh(false);
        });
        this.visibility.observe(chart);
    }

    override connectedCallback(): void {
        super.connectedCallback();
        if (this.hasUpdated) this.observe();
        this.disposers = [
            effect(() => {
                void tick.value;
                if (this.seen) enqueue(this, () => this.redraw(), true);
            }),
            effect(() => {
                void dark.value;
                this.refresh(false);
            }),
            effect(() => {
                void cursor.value;
                this.moveMarker();
            }),
        ];
    }

    override disconnectedCallback(): void {
        super.disconnectedCallback();
        for (const dispose of this.disposers) dispose();
        this.observer?.disconnect();
        this.visibility?.disconnect();
        this.chart?.destroy();
        this.chart = null;
        this.layoutKey = '';
    }

    protected override updated(): void {
        this.refresh(false);
    }

    private choose(choice: string): void {
        this.choice = choice;
        this.onChoice?.(choice);
        this.requestUpdate();
    }

    private setAxis(axis: 'x' | 'y', log: boolean): void {
        const usual = (axis === 'x' ? this.definition.logX : this.definition.log) ?? false;
        const { [axis]: _, ...others } = this.axes;
        this.axes = log === usual ? others : { ...others, [axis]: log };
        this.onAxes?.(this.axes);
        this.requestUpdate();
    }

    private setZoom(zoom: [number, number] | null): void {
        this.zoom = zoom;
        this.requestUpdate();
    }

    private flipTools(): void {
        this.toolsOpen = !this.toolsOpen;
        this.requestUpdate();
    }

    private flipTable(): void {
        this.asTable = !this.asTable;
        this.requestUpdate();
    }

    /** Asks for a redraw in one of the next frames; plots take turns. */
    refresh(now: boolean): void {
        if (!this.isConnected || !this.definition) return;
        if (!this.seen && !now) return;
        enqueue(this, () => this.redraw());
    }

    private redraw(): void {
        const host = this.querySelector<HTMLElement>('.chart');
        const { width, height } = this.box;
        if (!host || this.asTable || width < 40 || height < 20) return;
        const note = this.data.note;
        this.data = this.definition.data(this.picked);
        if (note !== this.data.note) this.requestUpdate();
        const key =
            this.data.curves.map((c) => c.label + c.color).join() +
            this.unit +
            dark.value +
            this.logX +
            this.logY +
            this.definition.id;
        const columns = this.aligned(width);
        if (!this.chart || key !== this.layoutKey) {
            this.chart?.destroy();
            this.layoutKey = key;
            this.chart = new uPlot(this.options(width, height), columns as uPlot.AlignedData, host);
            this.marker = document.createElement('div');
            this.marker.className = 'play-cursor';
            if (this.definition.xIsTime) this.chart.over.append(this.marker);
        } else {
            if (this.chart.width !== width || this.chart.height !== height)
                this.chart.setSize({ width, height });
            this.chart.setData(columns as uPlot.AlignedData);
        }
        this.moveMarker();
    }

    private aligned(width: number) {
        const [from, to] = this.zoom ?? this.data.x;
        if (this.data.curves.length === 0) return [[]];
        const rows = decimate(
            this.data.curves.map((c) => c.column),
            from,
            to,
            Math.max(50, width - GUTTER),
            this.logY ? FLOOR : 0,
            this.logX,
        );
        // Residuals of 0 stand on the floor; other quantities have no place on a logarithmic axis then.
        if (!this.logY || this.definition.log) return rows;
        return [rows[0], ...rows.slice(1).map((row) => row.map((y) => (y === FLOOR ? null : y)))];
    }

    private options(width: number, height: number): uPlot.Options {
        const css = getComputedStyle(this);
        const ink = css.getPropertyValue('--ink-2').trim() || '#555';
        const grid = { stroke: css.getPropertyValue('--grid').trim() || '#ddd', width: 1 };
        const font = '11px system-ui, sans-serif';
        const [log, logX] = [this.logY, this.logX];
        return {
            width,
            height,
            padding: [8, 18, 0, 0], // right: half of the last label
            legend: { show: false },
            cursor: {
                sync: this.definition.xIsTime ? { key: 'time', setSeries: false } : undefined,
                drag: { x: true, y: false, setScale: false },
                points: { size: 5 },
                bind: {
                    dblclick: () => () => {
                        this.setZoom(null);
                        return null;
                    },
                },
            },
            scales: {
                x: { time: false, range: () => this.zoom ?? this.data.x, distr: logX ? 3 : 1 },
                y: {
                    distr: log ? 3 : 1,
                    range: (_u, min, max) =>
                        this.definition.yRange ?? (log ? logRange(min, max) : linearRange(min, max)),
                },
            },
            axes: [
                {
                    stroke: ink,
                    font,
                    grid,
                    size: 30,
                    ticks: { show: false },
                    space: 60,
                    filter: (_u, splits) => splits,
                    ...(logX
                        ? { splits: (_u: uPlot, _a: number, min: number, max: number) => decades(min, max) }
                        : {}),
                    values: (_u, splits) => splits.map((v) => (logX && v > 0 ? powerLabel(v) : tickLabel(v))),
                },
                {
                    stroke: ink,
                    font,
                    grid,
                    size: GUTTER,
                    ticks: { show: false },
                    filter: (_u, splits) => splits,
                    ...(log
                        ? {
                              splits: (_u: uPlot, _a: number, min: number, max: number) =>
                                  decades(min, max, Math.max(2, Math.floor(height / 28))),
                          }
                        : { space: 28 }),
                    values: (_u, splits) => splits.map((v) => (log ? powerLabel(v) : tickLabel(v))),
                },
            ],
            series: [{}, ...this.data.curves.map((c) => this.seriesOf(c))],
            hooks: {
                setSelect: [
                    (u) => {
                        if (u.select.width < 6) return;
                        const zoom: [number, number] = [
                            u.posToVal(u.select.left, 'x'),
                            u.posToVal(u.select.left + u.select.width, 'x'),
                        ];
                        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
                        this.setZoom(zoom);
                    },
                ],
                ready: [
                    (u) => {
                        u.over.addEventListener('click', (event) => {
                            if (this.definition.xIsTime && u.select.width < 6)
                                seek(u.posToVal(event.offsetX, 'x') / dt.value);
                        });
                    },
                ],
            },
        };
    }

    private seriesOf(c: Curve): uPlot.Series {
        return {
            label: c.label,
            stroke: c.color,
            width: 1.6,
            dash: c.dash,
            spanGaps: false,
            points: {
                show: (_u, i) => this.isShort(i - 1),
                filter: (u, i, show) => (show ? null : this.onFloor(u.data[i])),
                size: 5,
            },
        };
    }

    /** So few values that each of them is marked. */
    private isShort(curve: number): boolean {
        const length = this.data.curves[curve]?.column.x.length ?? 0;
        return length > 0 && length < 24;
    }

    /** Places of residuals that are smaller than the axis can show: they are marked. */
    private onFloor(values: ArrayLike<number | null | undefined>): number[] {
        const places: number[] = [];
        if (this.logY) for (let i = 0; i < values.length; i++) if (values[i] === FLOOR) places.push(i);
        return places;
    }

    private moveMarker(): void {
        if (!this.marker || !this.chart || !this.definition.xIsTime) return;
        const left = this.chart.valToPos(cursor.peek() * dt.peek(), 'x');
        this.marker.style.transform = `translateX(${left}px)`;
        const width = this.chart.bbox.width / uPlot.pxRatio; // not asked of the browser: that lays out the page
        this.marker.style.display = left >= 0 && left <= width ? '' : 'none';
    }

    private key(event: KeyboardEvent): void {
        if (!this.definition.xIsTime || (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight')) return;
        if (event.altKey) return; // moves the plot
        if ((event.target as HTMLElement).tagName === 'SELECT') return;
        event.preventDefault();
        event.stopPropagation();
        const stride = event.shiftKey ? 50 : 1;
        seek(cursor.value + (event.key === 'ArrowRight' ? stride : -stride));
        this.readout = this.values()
            .map(([label, value]) => `${label} ${number(value)} ${this.unit}`)
            .join(', ');
        this.requestUpdate();
    }

    /** Value of each curve at the play cursor. */
    private values(): [string, number][] {
        const at = cursor.value * dt.value;
        return this.data.curves.map((c) => {
            let i = 0;
            while (i + 1 < c.column.x.length && c.column.x[i + 1] <= at + 1e-12) i++;
            return [c.label, c.column.y[i]];
        });
    }

    private table() {
        const data = this.definition.data(this.picked);
        const rows = decimate(
            data.curves.map((c) => c.column),
            ...data.x,
            20,
            0,
            this.logX,
        );
        return html`<div class="plot-table" tabindex="0" role="region" aria-label=${`${this.definition.title} as table`}>
            <table>
                <thead>
                    <tr>
                        <th scope="col">${this.definition.xTitle}</th>
                        ${data.curves.map((c) => html`<th scope="col">${c.label}</th>`)}
                    </tr>
                </thead>
                <tbody>
                    ${rows[0].map(
                        (x, i) => html`<tr>
                            <td>${number(x)}</td>
                            ${rows.slice(1).map((column) => html`<td>${number(column[i])}</td>`)}
                        </tr>`,
                    )}
                </tbody>
            </table>
        </div>`;
    }

    private async save(kind: 'csv' | 'json' | 'png' | 'svg'): Promise<void> {
        const { saveCsv, saveJson, savePng, saveSvg } = await import('./export');
        const data = this.definition.data(this.picked);
        if (kind === 'csv') saveCsv(this.definition, data);
        else if (kind === 'json') saveJson(this.definition, this.unit, data);
        else if (kind === 'png') savePng(this.definition, this.chart);
        else await saveSvg({ ...this.definition, log: this.logY, logX: this.logX }, this.unit, data);
    }
}

customElements.define('kl-plot', KlPlot);
