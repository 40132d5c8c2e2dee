// Digests of the states on the way to the one a link promises: twelve bits per block of steps. A link of
// any length carries at most MOST of them per solver; longer runs take longer blocks.
import type { Blocks } from './codec';

/** Steps between two hashes that a worker keeps. */
export const BLOCK = 64;
const MOST = 128;
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

function digest(hash: bigint): string {
    const bits = Number(hash & 0xfffn);
    return ALPHABET[bits >> 6] + ALPHABET[bits & 63];
}

/** `hashes`: per solver, of the states after 64, 128, 192 … steps. */
export function blocksUpTo(step: number, hashes: BigUint64Array[]): Blocks {
    let stride = BLOCK;
    while (step / stride > MOST) stride *= 2;
    const count = Math.floor(step / stride);
    const digests = hashes.map((own) => {
        let text = '';
        for (let i = 1; i <= count; i++) {
            const hash = own[(i * stride) / BLOCK - 1];
            if (hash === undefined) break;
            text += digest(hash);
        }
        return text;
    });
    return { stride, digests };
}

/** The first and last step of the first block in which solver `index` parts; null when no block tells. */
export function firstDifference(
    sent: Blocks,
    index: number,
    own: BigUint64Array,
    step: number,
): [number, number] | null {
    const { stride } = sent;
    const theirs = sent.digests[index] ?? '';
    if (stride % BLOCK !== 0) return null;
    const count = Math.min(theirs.length / 2, Math.floor(step / stride));
    for (let i = 1; i <= count; i++) {
        const hash = own[(i * stride) / BLOCK - 1];
        if (hash === undefined) return null;
        if (digest(hash) !== theirs.slice(2 * i - 2, 2 * i)) return [(i - 1) * stride + 1, i * stride];
    }
    return count * stride < step ? [count * stride + 1, step] : null;
}
