// Scenes, models and problems from another address. Whatever can go wrong there is told by its own name: no
// answer, no permission to read (CORS), a status, a size, a web page in place of a file. Loaded when first needed.
import type { GivenFile } from '../app/given-files';
import { sha256 } from './digest';
import { checkedAddress } from './link-parts';

const MOST = 8 * 1024 * 1024; // bytes of the file itself
const MOST_BESIDE = 32 * 1024 * 1024; // bytes of all that it names
const MOST_FILES = 64;
const PATIENCE = 20_000; // [ms]

export interface Fetched {
    files: GivenFile[]; // the first is the one that was asked for
    text: string; // of the first, '' when it is not text
    kind: 'scene' | 'model' | 'problem';
    sum: string;
    missing: string[]; // what it names and could not be got
}

function size(bytes: number): string {
    return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

async function bytesOf(url: URL, cap: number): Promise<Uint8Array> {
    let response: Response;
    try {
        response = await fetch(url, {
            credentials: 'omit',
            referrerPolicy: 'no-referrer',
            signal: AbortSignal.timeout(PATIENCE),
        });
    } catch (error) {
        if (error instanceof Error && error.name === 'TimeoutError')
            throw new Error(`${url.host} has not answered within ${PATIENCE / 1000} s.`);
        throw new Error(
            `${url.host} cannot be reached, or does not let other pages read its files: it must send ` +
                '“Access-Control-Allow-Origin: *” (CORS). Download the file and open it here instead.',
        );
    }
    if (!response.ok) throw new Error(`${url.host} answers ${response.status} ${response.statusText}`.trim());
    const told = Number(response.headers.get('content-length'));
    if (told > cap) throw new Error(`${nameOf(url)} has ${size(told)}; at most ${size(cap)} are fetched.`);
    const reader = response.body!.getReader();
    const parts: Uint8Array[] = [];
    let got = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        got += value.length;
        if (got > cap) {
            await reader.cancel();
            throw new Error(`${nameOf(url)} is larger than ${size(cap)}, the most that is fetched.`);
        }
        parts.push(value);
    }
    return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

function nameOf(url: URL): string {
    return decodeURIComponent(url.pathname.split('/').pop() ?? '') || url.host;
}

function isHdf5(data: Uint8Array): boolean {
    return data[0] === 0x89 && data[1] === 0x48 && data[2] === 0x44 && data[3] === 0x46;
}

/** What the bytes are, whatever the address ends with. */
function kindOf(data: Uint8Array, text: string): { kind: Fetched['kind']; ending: string } {
    if (isHdf5(data)) return { kind: 'problem', ending: 'h5' };
    const start = text.trimStart().slice(0, 400);
    if (/^<!doctype html|^<html/i.test(start))
        throw new Error('This address gives a web page, not a file: take the address of the raw file.');
    if (/<\s*robot\b/.test(text) && start.startsWith('<')) return { kind: 'model', ending: 'urdf' };
    if (/<\s*mujoco\b/.test(text) && start.startsWith('<')) return { kind: 'model', ending: 'xml' };
    if (start.startsWith('{') || start.startsWith('['))
        return /"v_f"\s*:/.test(text)
            ? { kind: 'problem', ending: 'json' }
            : { kind: 'scene', ending: 'json' };
    throw new Error('This is neither a scene or problem (JSON), nor a URDF, an MJCF or an HDF5 file.');
}

/** Files that a scene or model names, relative to itself. */
function named(text: string, kind: Fetched['kind']): string[] {
    const pattern =
        kind === 'model'
            ? /\b(?:filename|file)\s*=\s*["']([^"']+)["']/g
            : /"([^"\\\n]{1,160}\.(?:stl|obj|json))"/gi;
    const found = new Set<string>();
    for (const [, path] of text.matchAll(pattern))
        if (PACKAGE.test(path) || !/^([a-z]+:|\/|\\)/i.test(path)) found.add(path);
    return [...found].slice(0, MOST_FILES);
}

const PACKAGE = /^package:\/\/([^/]*)\/(.+)$/; // some exporters leave the name empty

/**
 * Where a named file may lie. A package of ROS is a folder that holds the model or lies beside one that does:
 * its name in the model's own address, else the folders above the model, nearest first.
 */
function places(path: string, model: URL): { path: string; urls: URL[] } {
    const [, name, inside] = PACKAGE.exec(path) ?? [];
    if (!inside) return { path, urls: [new URL(path, model)] };
    const at = name ? model.pathname.lastIndexOf(`/${name}/`) : -1;
    const above = ['./', '../', '../../'].map((up) => new URL(up + inside, model));
    const own = at < 0 ? [] : [new URL(model.pathname.slice(0, at + name.length + 2) + inside, model)];
    const urls = [...own, ...above, ...(name ? [new URL(`../${name}/${inside}`, model)] : [])];
    return { path: inside, urls: urls.filter((u, i) => urls.findIndex((v) => v.href === u.href) === i) };
}

/** The first of these that can be had. */
async function firstOf(urls: URL[], cap: number): Promise<Uint8Array | null> {
    for (const url of urls) {
        const data = await bytesOf(url, cap).catch(() => null);
        if (data) return data;
    }
    return null;
}

export async function fetchScene(address: string): Promise<Fetched> {
    const url = new URL(checkedAddress(address));
    const data = await bytesOf(url, MOST);
    const text = isHdf5(data) ? '' : new TextDecoder().decode(data);
    const { kind, ending } = kindOf(data, text);
    const base = nameOf(url)
        .replace(/[^\w.-]/g, '_')
        .slice(0, 70);
    const name = base.toLowerCase().endsWith(`.${ending}`) ? base : `${base}.${ending}`;
    const files: GivenFile[] = [{ path: name, file: new File([data as BlobPart], name) }];
    const missing: string[] = [];
    let room = MOST_BESIDE;
    for (const asked of kind === 'problem' ? [] : named(text, kind)) {
        const { path, urls } = places(asked, url);
        const part = await firstOf(urls, Math.min(MOST, room));
        if (!part) {
            missing.push(asked);
            continue;
        }
        room -= part.length;
        files.push({ path, file: new File([part as BlobPart], path) });
    }
    return { files, text, kind, sum: await sha256(data), missing };
}
