// The impedance curve of the softened constraints: d over the violation r, with every joint and contact of the step
// shown as a dot on it. Where d is low the constraint gives way, where it nears one it is hard. Loaded when a run is
// softened.
import { signal } from '@preact/signals-core';
import { html, svg } from 'lit';
import { KlElement } from '../app/element';
import { number } from '../app/format';
import type { SofteningInfo } from '../core/types';
import { inspection } from '../state/explain';
import { focused, runIndex, scene } from '../state/session';

const POINTS = 121;
const WIDTH = 300;
const HEIGHT = 150;
const LEFT = 40;
const BOTTOM = 28;

interface Kind {
    title: string;
    soft: SofteningInfo;
    unit: string;
    violations: number[]; // of the step looked at
}

const curves = signal<{ key: string; reach: number[]; values: (Float64Array | null)[] } | null>(null);
let asked = '';

function kinds(): (Kind | null)[] {
    const now = scene.value?.runs[runIndex.value]?.settings;
    if (!now) return [];
    const field = (id: string) =>
        Array.from((inspection.value?.frame.find((f) => f.id === id)?.values ?? []) as Float64Array);
    const of = (title: string, soft: SofteningInfo, unit: string, violations: number[]) =>
        soft.on ? { title, soft, unit, violations } : null;
    return [
        of('joints', now.softJoint, 'm, rad', field('joint_residual')),
        of('limits', now.softLimit, 'm, rad', []),
        of(
            'contacts',
            now.softContact,
            'm',
            field('contact_gap').map((gap) => Math.max(0, -gap)),
        ),
    ];
}

export class KlImpedance extends KlElement {
    override render() {
        const shown = kinds();
        const reach = shown.map((k) => (k ? 1.5 * Math.max(k.soft.width, ...k.violations) : 0));
        void this.ask(shown, reach);
        const known = curves.value;
        return html`<h3>Impedance</h3>
            ${shown.map((k, i) => (k && known?.values[i] ? this.figure(k, known.reach[i], known.values[i]) : null))}`;
    }

    private async ask(shown: (Kind | null)[], reach: number[]): Promise<void> {
        const lane = focused.value;
        const key = JSON.stringify([shown.map((k) => k?.soft), reach, lane?.choice.id]);
        if (!lane?.alive || key === asked) return;
        asked = key;
        try {
            const values = await Promise.all(
                shown.map((k, kind) =>
                    k ? lane.client.request('impedance', { kind, reach: reach[kind], count: POINTS }) : null,
                ),
            );
            if (key === asked) curves.value = { key, reach, values };
        } catch {
            asked = ''; // the run has just changed; the next look asks again
        }
    }

    private figure(kind: Kind, reach: number, values: Float64Array) {
        const low = Math.min(kind.soft.d0, kind.soft.dw);
        const high = Math.max(kind.soft.d0, kind.soft.dw);
        const pad = Math.max(0.1 * (high - low), 0.01);
        const x = (r: number) => LEFT + (r / reach) * (WIDTH - LEFT - 8);
        const y = (d: number) => 8 + ((high + pad - d) / (high - low + 2 * pad)) * (HEIGHT - BOTTOM - 8);
        const at = (r: number) => values[Math.min(POINTS - 1, Math.round((r / reach) * (POINTS - 1)))];
        const path = Array.from(
            values,
            (d, i) => `${i ? 'L' : 'M'}${x((reach * i) / (POINTS - 1)).toFixed(1)} ${y(d).toFixed(1)}`,
        ).join('');
        return html`<figure class="impedance">
            <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${`Impedance of ${kind.title} over their violation`}>
                <line class="axis" x1=${LEFT} y1=${HEIGHT - BOTTOM} x2=${WIDTH - 8} y2=${HEIGHT - BOTTOM} />
                <line class="axis" x1=${x(kind.soft.width)} y1="8" x2=${x(kind.soft.width)} y2=${HEIGHT - BOTTOM} stroke-dasharray="3 3" />
                <path class="curve" d=${path} />
                ${kind.violations.map((r) => svg`<circle cx=${x(r)} cy=${y(at(r))} r="3.5"><title>${number(r)} ${kind.unit}: d ${number(at(r))}</title></circle>`)}
                <text x=${LEFT - 4} y=${y(kind.soft.d0) + 4} text-anchor="end">${number(kind.soft.d0)}</text>
                <text x=${LEFT - 4} y=${y(kind.soft.dw) + 4} text-anchor="end">${number(kind.soft.dw)}</text>
                <text x=${LEFT} y=${HEIGHT - 14}>0</text>
                <text x=${x(kind.soft.width)} y=${HEIGHT - 14} text-anchor="middle">width ${number(kind.soft.width)}</text>
                <text x=${WIDTH - 8} y=${HEIGHT - 2} text-anchor="end">violation |r| [${kind.unit}]</text>
            </svg>
            <figcaption>
                d of ${kind.title}: time constant ${number(kind.soft.timeConst)} s, damping ratio ${number(kind.soft.dampRatio)}, midpoint
                ${number(kind.soft.midpoint)}, power ${number(kind.soft.power)}.
                ${kind.violations.length > 0 ? `Dots: the ${kind.violations.length} of this step.` : ''}
            </figcaption>
        </figure>`;
    }
}

customElements.define('kl-impedance', KlImpedance);
