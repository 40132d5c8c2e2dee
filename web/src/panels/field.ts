// Inputs for one number: a text field with unit, and a slider on the right scale.
import { html } from 'lit';
import { live } from 'lit/directives/live.js';
import { icon } from '../app/icons';
import type { ParamInfo } from '../core/types';

const STOPS = 1000;

/** Position of `value` on a slider, 0..1000. */
export function toSlider(value: number, min: number, max: number, log: boolean): number {
    if (!log) return (STOPS * (value - min)) / (max - min);
    const low = Math.max(min, 1e-16);
    return (STOPS * Math.log(Math.max(value, low) / low)) / Math.log(max / low);
}

export function fromSlider(position: number, min: number, max: number, log: boolean): number {
    const share = position / STOPS;
    if (!log) return min + share * (max - min);
    const low = Math.max(min, 1e-16);
    return Number((low * (max / low) ** share).toPrecision(3));
}

/** As a person writes it: 1e-6, not 0.000001. */
function plain(value: number): string {
    return value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : String(value);
}

export interface NumberField {
    label: string;
    value: number;
    unit: string;
    text: string;
    min: number | null;
    max: number | null;
    log: boolean;
    int: boolean;
    changed: boolean;
    set: (value: number) => void;
    reset?: () => void;
}

export function numberField(field: NumberField) {
    const { min, max } = field;
    const slides = min !== null && max !== null && max > min;
    const accept = (text: string) => {
        const value = Number(text);
        if (text.trim() === '' || !Number.isFinite(value)) return;
        const clipped = Math.min(max ?? value, Math.max(min ?? value, field.int ? Math.round(value) : value));
        field.set(clipped);
    };
    return html`<div class="param ${field.changed ? 'changed' : ''}" title=${field.text}>
        <label>
            <span>${field.label}</span>
            <input
                type="text"
                inputmode="decimal"
                .value=${live(plain(field.value))}
                @change=${(e: Event) => accept((e.target as HTMLInputElement).value)}
            />
        </label>
        <small class="unit">${field.unit}</small>
        ${
            field.reset && field.changed
                ? html`<button class="icon" aria-label=${`Reset ${field.label}`} title="Reset" @click=${field.reset}>${icon('reset')}</button>`
                : html`<span></span>`
        }
        ${
            slides
                ? html`<input
                  type="range"
                  min="0"
                  max=${STOPS}
                  aria-label=${`${field.label} slider`}
                  .value=${String(toSlider(field.value, min, max, field.log))}
                  @input=${(e: Event) => accept(String(fromSlider(Number((e.target as HTMLInputElement).value), min, max, field.log)))}
              />`
                : null
        }
    </div>`;
}

export function paramField(
    info: ParamInfo,
    value: number,
    changed: boolean,
    set: (v: number) => void,
    reset: () => void,
) {
    if (info.kind === 'bool') {
        return html`<div class="param ${changed ? 'changed' : ''}" title=${info.text}>
            <label class="check"><input type="checkbox" .checked=${value !== 0} @change=${(e: Event) => set((e.target as HTMLInputElement).checked ? 1 : 0)} /> ${info.title}</label>
        </div>`;
    }
    if (info.kind === 'choice') {
        return html`<div class="param ${changed ? 'changed' : ''}" title=${info.text}>
            <label
                ><span>${info.title}</span>
                <select @change=${(e: Event) => set(Number((e.target as HTMLSelectElement).value))}>
                    ${info.choices.split('|').map((c, i) => html`<option value=${i} ?selected=${i === value}>${c}</option>`)}
                </select></label
            >
        </div>`;
    }
    return numberField({
        label: info.title,
        value,
        unit: info.unit,
        text: info.text,
        min: info.min,
        max: info.max,
        log: info.log,
        int: info.kind === 'int',
        changed,
        set,
        reset,
    });
}
