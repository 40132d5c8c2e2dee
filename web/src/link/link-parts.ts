// Parts of links that few have: scenes at an address or in a file, files beside, digests of blocks. Loaded for those.
import type { Json } from '../state/experiment';
import { BadLink, type Blocks, checkNumbers, type Drop, type FileSum, type Wanted } from './codec';

type Get = (key: string) => string | undefined;

import { fromBase64url, inflate } from './deflate';

const MAX_BODIES = 500;
const SUM = /^sha256-[\w-]{43}$/;

function readSum(text: string | undefined): string {
    if (text && !SUM.test(text)) throw new BadLink('the sum of its scene is not sha256- and 43 characters');
    return text ?? '';
}

/** A scene at an address or in a file; null for those that need neither. */
export function readWanted(get: Get): Wanted | null {
    const sum = () => readSum(get('sum'));
    if (get('scene') === 'file') {
        const name = get('name') ?? '';
        if (!/^[\w. -]{1,80}$/.test(name)) throw new BadLink('the name of its file is not valid');
        return { kind: 'file', name, sum: sum() };
    }
    if (get('scene') !== 'url') return null;
    return { kind: 'url', url: checkedAddress(get('u') ?? ''), sum: sum() };
}

/** Only https, or http on this very computer: a link must not make a page speak anything else. */
export function checkedAddress(text: string): string {
    let url: URL;
    try {
        url = new URL(text);
    } catch {
        throw new BadLink(`"${text.slice(0, 60)}" is not a whole address (https://…)`);
    }
    const here = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && here))
        throw new BadLink(`scenes are fetched by https only, not by ${url.protocol}`);
    if (url.username || url.password) throw new BadLink('the address of its scene holds a password');
    return url.href;
}

export function readFiles(fields: [string, string][], drop: Drop): FileSum[] {
    return fields.flatMap(([key, text]) => {
        if (key !== 'm') return [];
        const match = /^([\w./ -]{1,120})~(sha256-[\w-]{43})?$/.exec(text);
        if (match) return [{ name: match[1], sum: match[2] ?? '' }];
        drop('m', `"${text.slice(0, 40)}" is not name~sum`);
        return [];
    });
}

export function readBlocks(text: string | undefined, solvers: number, drop: Drop): Blocks | null {
    if (!text) return null;
    const match = /^(\d{1,9}):((?:[\w-]{2})*(?:,(?:[\w-]{2})*)*)$/.exec(text);
    const digests = match?.[2].split(',') ?? [];
    if (match && Number(match[1]) > 0 && digests.length === solvers)
        return { stride: Number(match[1]), digests };
    drop('b', 'not a stride and digests of each solver');
    return null;
}

/** The scene that the link itself carries. */
export async function unpackScene(packed: string | undefined, name: string | undefined) {
    try {
        const text = new TextDecoder('utf-8', { fatal: true }).decode(
            await inflate(fromBase64url(packed ?? '')),
        );
        const document = JSON.parse(text) as Record<string, Json>;
        checkNumbers(document);
        if (Array.isArray(document.bodies) && document.bodies.length > MAX_BODIES) {
            throw new Error(`it has more than ${MAX_BODIES} bodies`);
        }
        return { kind: 'own' as const, name: safeName(name), text: JSON.stringify(document, null, 2) };
    } catch (error) {
        throw new BadLink(`its scene cannot be read: ${error instanceof Error ? error.message : error}`);
    }
}

function safeName(name: string | undefined): string {
    return name && /^[\w. -]{1,80}$/.test(name) ? name : 'linked.json';
}
