// Columns of any length onto about two points per pixel: each bucket of x keeps its smallest and largest
// value in the order they came, so that no spike is lost. All series share the bucket grid, whose buckets are equally wide
// on the axis, a logarithmic one too.

export interface Column {
    x: ArrayLike<number>; // ascending
    y: ArrayLike<number>;
    mask?: ArrayLike<number>; // 0 = nothing to show here
}

/** x, then one array per column. null is a gap, undefined a bucket without a sample: the line goes on. */
export type Aligned = (number | null | undefined)[][];

function lowerBound(x: ArrayLike<number>, value: number): number {
    let low = 0;
    let high = x.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (x[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

/** Place of a bucket, or of a part of it, on the axis. */
type Place = (bucket: number) => number;

/** `floor` > 0 lifts smaller values to it: what a logarithmic axis can show. `logX` when that of x is one. */
export function decimate(
    columns: Column[],
    from: number,
    to: number,
    buckets: number,
    floor = 0,
    logX = false,
): Aligned {
    if (!(to > from)) return [[], ...columns.map(() => [])];
    const place: Place =
        logX && from > 0
            ? (b) => (b === buckets ? to : from * (to / from) ** (b / buckets))
            : (b) => (b === buckets ? to : from + (b * (to - from)) / buckets);
    const sparse = columns.every((c) => lowerBound(c.x, to) - lowerBound(c.x, from) <= 2 * buckets);
    return sparse && sameGrid(columns)
        ? exact(columns, from, to, floor)
        : bucketed(columns, place, buckets, floor);
}

function sameGrid(columns: Column[]): boolean {
    const longest = columns.reduce((a, b) => (b.x.length > a.x.length ? b : a), columns[0]);
    return columns.every((c) => {
        const last = c.x.length - 1;
        return last < 0 || (c.x[0] === longest.x[0] && c.x[last] === longest.x[last]);
    });
}

function shows(c: Column, i: number): boolean {
    return c.mask === undefined || c.mask[i] !== 0;
}

function lift(y: number, floor: number): number | null {
    if (!Number.isFinite(y)) return null;
    return floor > 0 && y < floor ? floor : y;
}

function exact(columns: Column[], from: number, to: number, floor: number): Aligned {
    const longest = columns.reduce((a, b) => (b.x.length > a.x.length ? b : a), columns[0]);
    const first = Math.max(0, lowerBound(longest.x, from) - 1);
    const last = Math.min(longest.x.length, lowerBound(longest.x, to) + 2);
    const rows: Aligned = [[], ...columns.map(() => [] as (number | null)[])];
    for (let i = first; i < last; i++) {
        rows[0].push(longest.x[i]);
        columns.forEach((c, k) => {
            rows[k + 1].push(i < c.y.length && shows(c, i) ? lift(c.y[i], floor) : null);
        });
    }
    return rows;
}

function bucketed(columns: Column[], place: Place, buckets: number, floor: number): Aligned {
    const x: number[] = [];
    for (let b = 0; b < buckets; b++) x.push(place(b + 0.25), place(b + 0.75));
    return [x, ...columns.map((c) => bucketColumn(c, place, buckets, floor))];
}

function bucketColumn(
    c: Column,
    place: Place,
    buckets: number,
    floor: number,
): (number | null | undefined)[] {
    const out: (number | null | undefined)[] = new Array(2 * buckets).fill(undefined);
    let i = lowerBound(c.x, place(0));
    for (let b = 0; b < buckets && i < c.x.length; b++) {
        const end = place(b + 1);
        const last = b + 1 === buckets; // which has its end
        let least = Number.POSITIVE_INFINITY;
        let most = Number.NEGATIVE_INFINITY;
        let leastFirst = true;
        const begun = i;
        for (; i < c.x.length && (c.x[i] < end || (last && c.x[i] === end)); i++) {
            const y = c.y[i];
            if (!Number.isFinite(y) || !shows(c, i)) continue;
            if (y < least) {
                least = y;
                leastFirst = false;
            }
            if (y > most) {
                most = y;
                leastFirst = true;
            }
        }
        if (most < least) {
            if (i > begun) out[2 * b] = null;
            continue;
        }
        out[2 * b] = lift(leastFirst ? least : most, floor);
        if (i - begun > 1) out[2 * b + 1] = lift(leastFirst ? most : least, floor);
    }
    return out;
}
