// Viridis in five colours with mixtures between: order shows without hue, too.
const STOPS = [
    [68, 1, 84],
    [59, 82, 139],
    [33, 145, 140],
    [94, 201, 98],
    [253, 231, 37],
];

/** CSS colour of a share in [0, 1]. */
export function viridis(share: number): string {
    const at = share * (STOPS.length - 1);
    const low = Math.min(STOPS.length - 2, Math.floor(at));
    const mixed = STOPS[low].map((c, i) => Math.round(c + (STOPS[low + 1][i] - c) * (at - low)));
    return `rgb(${mixed.join(', ')})`;
}
