// A 13 x 13 heatmap on a shared logarithmic scale in viridis; hatched cells did not converge.
import { html, svg } from 'lit';
import { number } from '../app/format';
import { powerLabel } from '../plots/axes';
import type { Heatmap } from '../state/suite';

// Nine stops of viridis.
const VIRIDIS = [
    '#440154',
    '#472d7b',
    '#3b528b',
    '#2c728e',
    '#21918c',
    '#28ae80',
    '#5ec962',
    '#addc30',
    '#fde725',
];
const CELL = 30;
const LEFT = 54;
const TOP = 10;

function channel(hex: string, at: number): number {
    return Number.parseInt(hex.slice(1 + 2 * at, 3 + 2 * at), 16);
}

export function viridis(share: number): string {
    const place = Math.max(0, Math.min(1, share)) * (VIRIDIS.length - 1);
    const low = Math.min(VIRIDIS.length - 2, Math.floor(place));
    const mix = [0, 1, 2].map((c) =>
        Math.round(
            channel(VIRIDIS[low], c) * (low + 1 - place) + channel(VIRIDIS[low + 1], c) * (place - low),
        ),
    );
    return `rgb(${mix.join(',')})`;
}

export function heatmapPicture(map: Heatmap, pick: (x: number, y: number) => void) {
    const positive = map.values.filter((v): v is number => v !== null && v > 0 && Number.isFinite(v));
    const low = Math.log10(Math.max(1e-17, Math.min(...positive, 1)));
    const high = Math.max(low + 1e-9, Math.log10(Math.max(...positive, 1e-17)));
    const size = map.x.length;
    const color = (v: number | null) =>
        v === null || !Number.isFinite(v)
            ? 'transparent'
            : viridis((Math.log10(Math.max(v, 10 ** low)) - low) / (high - low));
    const cells = map.values.map((value, i) => {
        const column = i % size;
        const row = Math.floor(i / size);
        const x = LEFT + column * CELL;
        const y = TOP + (size - 1 - row) * CELL;
        const label = `${map.xPath} ${powerLabel(map.x[column])}, ${map.yPath} ${powerLabel(map.y[row])}: ${value === null ? 'waiting' : number(value)}${map.failed[i] ? ', not converged' : ''}`;
        return svg`<g class="heat-cell" role="button" tabindex=${i === 0 ? 0 : -1} aria-label=${label}
            @click=${() => pick(map.x[column], map.y[row])}
            @keydown=${(e: KeyboardEvent) => move(e, i, size, () => pick(map.x[column], map.y[row]))}>
            <title>${label}</title>
            <rect x=${x} y=${y} width=${CELL} height=${CELL} fill=${color(value)} />
            ${map.failed[i] ? svg`<rect x=${x} y=${y} width=${CELL} height=${CELL} fill="url(#hatch)" />` : null}
        </g>`;
    });
    const everyThird = (v: number, i: number) => (i % 3 === 0 ? powerLabel(v) : '');
    return html`<figure class="heatmap">
        <svg viewBox="0 0 ${LEFT + size * CELL + 90} ${TOP + size * CELL + 44}" role="group" aria-label="Heatmap">
            <defs>
                <pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                    <line x1="0" y1="0" x2="0" y2="7" stroke="white" stroke-width="1.6" stroke-opacity="0.85" />
                </pattern>
            </defs>
            ${cells}
            ${map.x.map((v, i) => svg`<text x=${LEFT + (i + 0.5) * CELL} y=${TOP + size * CELL + 15} text-anchor="middle">${everyThird(v, i)}</text>`)}
            ${map.y.map((v, i) => svg`<text x=${LEFT - 6} y=${TOP + (size - i - 0.35) * CELL} text-anchor="end">${everyThird(v, i)}</text>`)}
            <text x=${LEFT + (size * CELL) / 2} y=${TOP + size * CELL + 34} text-anchor="middle">${map.xPath} [kg]</text>
            <text transform="translate(12 ${TOP + (size * CELL) / 2}) rotate(-90)" text-anchor="middle">${map.yPath} [kg]</text>
            ${[0, 0.25, 0.5, 0.75, 1].map((s) => {
                const y = TOP + (1 - s) * (size * CELL - 16);
                return svg`<rect x=${LEFT + size * CELL + 14} y=${y} width="16" height="16" fill=${viridis(s)} />
                    <text x=${LEFT + size * CELL + 36} y=${y + 12}>${number(10 ** (low + s * (high - low)), 2)}</text>`;
            })}
        </svg>
        <figcaption>${map.measure}; hatched: not converged; a click loads the cell</figcaption>
    </figure>`;
}

function move(event: KeyboardEvent, index: number, size: number, act: () => void): void {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: size, ArrowDown: -size }[event.key];
    if (event.key === 'Enter' || event.key === ' ') act();
    else if (by === undefined) return;
    else
        (event.currentTarget as Element)
            .parentElement!.querySelectorAll<SVGElement>('.heat-cell')
            [index + by]?.focus();
    event.preventDefault();
    event.stopPropagation();
}
