// Axes that stay readable over many decades.
import { number } from '../app/format';

export const FLOOR = 1e-17; // smaller residuals are drawn here

/** Powers of ten between two values, thinned to at most `count`. */
export function decades(min: number, max: number, count = 7): number[] {
    const low = Math.ceil(Math.log10(min) - 1e-9);
    const high = Math.floor(Math.log10(max) + 1e-9);
    const step = Math.max(1, Math.ceil((high - low + 1) / count));
    const out: number[] = [];
    for (let e = high; e >= low; e -= step) out.unshift(10 ** e);
    return out;
}

/** A power of ten; raised digits would be prettier, but many fonts have only the first three. */
export function powerLabel(value: number): string {
    const e = Math.round(Math.log10(value));
    return e >= 0 && e <= 3 ? String(10 ** e) : `1e${e}`.replace('-', '−');
}

/** Range of a logarithmic axis around the data, whole decades, never empty. */
export function logRange(min: number | null, max: number | null): [number, number] {
    const low = Math.max(FLOOR, min ?? 1e-6);
    const high = Math.max(low, max ?? 1);
    const from = Math.floor(Math.log10(low) - 0.05);
    const to = Math.max(from + 1, Math.ceil(Math.log10(high) + 0.05));
    return [10 ** from, 10 ** to];
}

export function linearRange(min: number | null, max: number | null): [number, number] {
    if (min === null || max === null || !Number.isFinite(min) || !Number.isFinite(max)) return [0, 1];
    const size = Math.max(Math.abs(min), Math.abs(max));
    if (size === 0) return [-1, 1];
    const span = Math.max(max - min, 1e-9 * size, 1e-15); // rounding noise is not a signal
    const pad = max - min > 1e-9 * size ? 0.06 * span : 0.5 * Math.max(size, 1e-12);
    return [min - pad, max + pad];
}

export const tickLabel = (value: number): string => number(value, 4);
