// Numbers as people read them: few digits, a true minus, units apart.

export function number(value: number | null | undefined, digits = 3): string {
    if (value === null || value === undefined || Number.isNaN(value)) return '–';
    if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
    if (value === 0) return '0';
    const size = Math.abs(value);
    const text =
        size >= 1e-3 && size < 1e5 ? String(Number(value.toPrecision(digits))) : exponent(value, digits);
    return text.replaceAll('-', '−');
}

function exponent(value: number, digits: number): string {
    const [mantissa, power] = value.toExponential(digits - 1).split('e');
    return `${Number(mantissa)}e${Number(power)}`;
}

export function seconds(value: number): string {
    return `${value.toFixed(3)} s`;
}

export function bytes(value: number): string {
    return value < 1e6 ? `${Math.round(value / 1e3)} kB` : `${Math.round(value / 1e6)} MB`;
}

export function withUnit(text: string, unit: string): string {
    return unit ? `${text} ${unit}` : text;
}
