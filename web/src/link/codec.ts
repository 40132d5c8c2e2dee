// An experiment in the fragment of an address. Readable for gallery scenes, packed for own ones:
//   v=1            version of this format
//   scene=ID@1     gallery scene; scene=x with x=<base64url(deflate-raw(JSON))> and name=...;
//                  scene=url with u=<address>; scene=file with name=...   sum=sha256-... of the latter two
//   m=name~sum     a file that the scene needs beside it, repeated
//   run=ID         run of the scene                    mode=curated   (independent when absent)
//   drive=ID       solver that moves the bodies        pre=hp|ht      preset, the scene's when absent
//   s=ID,ID        solvers                             p=ID.param:number   one parameter, repeated
//   set=path:JSON  one change of the scene, repeated   T=seconds      duration
//   t=seconds      time shown                          cam=x,y,z,x,y,z     camera, then its target
//   sel=kind.index selection                           plots=id~choice~axes~size,id  open plots; axes: xlin.ylog,
//                                                        size: thirds of the usual width x height [px], as 4x220
//   tab=ID         tab of the inspector, the first when absent
//   show=WORD,-WORD,WORD.value     what views and plots show besides, where it differs from how the page begins
//   e=version      of the core that wrote the link     h=step:hash,hash    state per solver
//   b=stride:digests,digests   two characters per block of `stride` steps on the way there, per solver
import type { OwnAxes } from '../plots/definition';
import type { PlotSize } from '../plots/grip';
import type { Edit, Experiment, Json } from '../state/experiment';
import { deflate, toBase64url } from './deflate';

export const LINK_VERSION = '1';
export const WARN_LENGTH = 2000;
export const MAX_LENGTH = 32000;

export interface PlotLink {
    id: string;
    choice: string;
    axes?: OwnAxes;
    size?: PlotSize;
}

export interface View {
    time: number;
    camera: number[] | null;
    selection: { kind: 'body' | 'joint' | 'contact' | 'geom'; index: number } | null;
    plots: PlotLink[] | null;
    tab?: string; // of the inspector, the first when absent
    show?: string[]; // words of what views and plots show besides
}

export interface Expected {
    step: number;
    hashes: string[]; // in the order of the solvers
    core: string;
    blocks: Blocks | null;
}

/** Digests of the states after each block of steps, to tell where two runs part. */
export interface Blocks {
    stride: number;
    digests: string[]; // per solver, two characters per block
}

/** A file by name and SHA-256. */
export interface FileSum {
    name: string;
    sum: string; // sha256-<base64url>, '' when not known
}

/** A scene that the link does not carry itself. */
export type Wanted = { kind: 'url'; url: string; sum: string } | ({ kind: 'file' } & FileSum);

export interface Linked {
    experiment: Experiment;
    view: View;
    expected: Expected | null;
    wanted: Wanted | null;
    files: FileSum[]; // beside the scene
    dropped: string[]; // fields that could not be used, and why
}

export class BadLink extends Error {}

const PRESET_CODES: Record<string, string> = { 'high-precision': 'hp', 'high-throughput': 'ht' };

/** `file`: the scene travels apart from the link, as a file of this name and sum. */
export async function encodeLink(
    experiment: Experiment,
    view: View,
    expected: Expected | null,
    files: FileSum[] = [],
    file: FileSum | null = null,
): Promise<string> {
    const out: [string, string][] = [['v', LINK_VERSION]];
    const { scene } = experiment;
    if (file) out.push(['scene', 'file'], ['name', file.name], ['sum', file.sum]);
    else if (scene.kind === 'gallery') out.push(['scene', `${scene.id}@1`]);
    else if (scene.url) out.push(['scene', 'url'], ['u', scene.url], ['sum', scene.sum ?? '']);
    else {
        const packed = await deflate(new TextEncoder().encode(JSON.stringify(JSON.parse(scene.text))));
        out.push(['scene', 'x'], ['name', scene.name], ['x', toBase64url(packed)]);
    }
    for (const { name, sum } of files) out.push(['m', `${name}~${sum}`]);
    if (experiment.run) out.push(['run', experiment.run]);
    if (experiment.mode === 'curated') out.push(['mode', 'curated']);
    if (experiment.driver) out.push(['drive', experiment.driver]);
    if (experiment.preset) out.push(['pre', PRESET_CODES[experiment.preset] ?? experiment.preset]);
    if (experiment.solvers.length > 0) out.push(['s', experiment.solvers.map((s) => s.id).join(',')]);
    for (const s of experiment.solvers) {
        for (const [param, value] of Object.entries(s.params)) out.push(['p', `${s.id}.${param}:${value}`]);
    }
    for (const { path, value } of file ? [] : experiment.edits)
        out.push(['set', `${path}:${JSON.stringify(value)}`]);
    if (experiment.duration > 0) out.push(['T', String(experiment.duration)]);
    if (view.time > 0) out.push(['t', String(Number(view.time.toPrecision(12)))]);
    if (view.camera) out.push(['cam', view.camera.map((c) => Number(c.toPrecision(4))).join(',')]);
    if (view.selection) out.push(['sel', `${view.selection.kind}.${view.selection.index}`]);
    if (view.tab) out.push(['tab', view.tab]);
    if (view.show) out.push(['show', view.show.join(',')]);
    if (view.plots) out.push(['plots', view.plots.map(plotText).join(',')]);
    if (expected) out.push(['e', expected.core], ['h', `${expected.step}:${expected.hashes.join(',')}`]);
    if (expected?.blocks) out.push(['b', `${expected.blocks.stride}:${expected.blocks.digests.join(',')}`]);
    const told = out.filter(([key, value]) => value !== '' || key === 'plots');
    return `#${told.map(([key, value]) => `${key}=${escapeValue(value)}`).join('&')}`;
}

function plotText({ id, choice, axes = {}, size }: PlotLink): string {
    const own = (['x', 'y'] as const).flatMap((a) =>
        axes[a] === undefined ? [] : [`${a}${axes[a] ? 'log' : 'lin'}`],
    );
    const parts = [id, choice, own.join('.'), size ? `${size.thirds}x${size.height}` : ''];
    return parts.join('~').replace(/~+$/, '');
}

/** Only what would break the fragment is escaped, so that links stay readable. */
function escapeValue(text: string): string {
    return encodeURIComponent(text).replace(/%(3A|2C|40|5B|5D|7E|2F)/g, (code) => decodeURIComponent(code));
}

function pairs(fragment: string): [string, string][] {
    return fragment
        .replace(/^#/, '')
        .split('&')
        .filter((part) => part.length > 0)
        .map((part) => {
            const at = part.indexOf('=');
            const [key, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
            try {
                return [key, decodeURIComponent(value)];
            } catch {
                throw new BadLink('its text is damaged');
            }
        });
}

export async function decodeLink(fragment: string): Promise<Linked> {
    if (fragment.length > MAX_LENGTH) throw new BadLink(`it is longer than ${MAX_LENGTH} characters`);
    const fields = pairs(fragment);
    const get = (key: string) => fields.find(([k]) => k === key)?.[1];
    if (get('v') !== LINK_VERSION)
        throw new BadLink(`its version is "${get('v') ?? ''}", this page reads ${LINK_VERSION}`);
    const dropped: string[] = [];
    const drop = (key: string, why: string) => void dropped.push(`${key}: ${why}`);
    const apart =
        /^(url|file)$/.test(get('scene') ?? '') || fields.some(([key]) => key === 'm' || key === 'b');
    const parts = apart ? await import('./link-parts') : null;
    const wanted = parts?.readWanted(get) ?? null;
    const experiment: Experiment = {
        scene: wanted
            ? { kind: 'own', name: 'wanted.json', text: '{}' }
            : await readScene(get('scene'), get('x'), get('name')),
        run: word(get('run'), 'run', drop),
        mode: get('mode') === 'curated' ? 'curated' : 'independent',
        driver: word(get('drive'), 'drive', drop),
        preset: readPreset(get('pre'), drop),
        solvers: readSolvers(get('s'), fields, drop),
        edits: readEdits(fields, drop),
        duration: positive(get('T'), 'T', drop),
    };
    return {
        experiment,
        view: {
            time: positive(get('t'), 't', drop),
            camera: readNumbers(get('cam'), 6, 'cam', drop),
            selection: readSelection(get('sel'), drop),
            plots: readPlots(get('plots'), drop),
            tab: word(get('tab'), 'tab', drop) || undefined,
            show: readShow(get('show'), drop),
        },
        expected: readExpected(get('h'), get('e'), drop, (solvers) =>
            parts ? parts.readBlocks(get('b'), solvers, drop) : null,
        ),
        wanted,
        files: parts?.readFiles(fields, drop) ?? [],
        dropped,
    };
}

export type Drop = (key: string, why: string) => void;
async function readScene(scene: string | undefined, packed: string | undefined, name: string | undefined) {
    if (!scene) throw new BadLink('it names no scene');
    if (scene !== 'x') {
        const id = scene.replace(/@1$/, '');
        if (!/^[\w.-]{1,64}$/.test(id)) throw new BadLink('the name of its scene is not valid');
        return { kind: 'gallery' as const, id };
    }
    return (await import('./link-parts')).unpackScene(packed, name);
}

export function checkNumbers(value: Json, depth = 0): void {
    if (depth > 64) throw new Error('it is nested too deeply');
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('a number in it is not finite');
    if (value && typeof value === 'object')
        for (const part of Object.values(value)) checkNumbers(part, depth + 1);
}

function word(text: string | undefined, key: string, drop: Drop): string {
    if (!text) return '';
    if (/^[\w.-]{1,64}$/.test(text)) return text;
    drop(key, 'not a name');
    return '';
}

function positive(text: string | undefined, key: string, drop: Drop): number {
    if (text === undefined) return 0;
    const value = Number(text);
    if (Number.isFinite(value) && value >= 0 && value <= 1e6) return value;
    drop(key, `"${text.slice(0, 20)}" is not a time`);
    return 0;
}

function readPreset(code: string | undefined, drop: Drop): string {
    if (!code) return '';
    const found = Object.entries(PRESET_CODES).find(([, c]) => c === code);
    if (!found) drop('pre', `"${code.slice(0, 20)}" is not hp or ht`);
    return found?.[0] ?? '';
}

function readSolvers(
    list: string | undefined,
    fields: [string, string][],
    drop: Drop,
): Experiment['solvers'] {
    const ids = (list ?? '').split(',').filter((id) => id.length > 0);
    const solvers: Experiment['solvers'] = [];
    for (const id of ids) {
        const name = word(id, 's', drop);
        if (name && !solvers.some((s) => s.id === name)) solvers.push({ id: name, preset: '', params: {} });
    }
    if (solvers.length > 4) drop('s', 'only the first four solvers are taken');
    for (const [key, text] of fields) {
        if (key !== 'p') continue;
        const match = /^([\w-]+)\.(\w+):(.+)$/.exec(text);
        const solver = solvers.find((s) => s.id === match?.[1]);
        const value = Number(match?.[3]);
        if (match && solver && Number.isFinite(value)) solver.params[match[2]] = value;
        else drop('p', `"${text.slice(0, 40)}" is not a parameter of a solver here`);
    }
    return solvers.slice(0, 4);
}

function readEdits(fields: [string, string][], drop: Drop): Edit[] {
    const edits: Edit[] = [];
    for (const [key, text] of fields) {
        if (key !== 'set') continue;
        const match = /^([\w.-]{1,120}):(.+)$/s.exec(text);
        try {
            if (!match) throw new Error();
            const value = JSON.parse(match[2]) as Json;
            checkNumbers(value);
            edits.push({ path: match[1], value });
        } catch {
            drop('set', `"${text.slice(0, 40)}" is not path:value`);
        }
    }
    return edits;
}

function readNumbers(text: string | undefined, count: number, key: string, drop: Drop): number[] | null {
    if (!text) return null;
    const values = text.split(',').map(Number);
    if (values.length === count && values.every((v) => Number.isFinite(v) && Math.abs(v) < 1e6))
        return values;
    drop(key, `needs ${count} numbers`);
    return null;
}

function readSelection(text: string | undefined, drop: Drop): View['selection'] {
    if (!text) return null;
    const match = /^(body|joint|contact|geom)\.(\d{1,5})$/.exec(text);
    if (match) return { kind: match[1] as 'body', index: Number(match[2]) };
    drop('sel', 'not a selection');
    return null;
}

function readShow(text: string | undefined, drop: Drop): View['show'] {
    const words = text?.split(',').filter((word) => word.length > 0) ?? [];
    const [good, bad] = [true, false].map((fits) =>
        words.filter((w) => /^-?\w+(\.[\w.-]{1,64})?$/.test(w) === fits),
    );
    if (bad.length > 0) drop('show', `"${bad[0].slice(0, 20)}" is not a word of it`);
    return good.length > 0 ? good : undefined;
}

function readPlots(text: string | undefined, drop: Drop): View['plots'] {
    if (text === undefined) return null;
    const plots = text.split(',').map((part) => {
        const [id, choice = '', axes, size] = part.split('~');
        return { id, choice, ...readAxes(axes, drop), ...readSize(size, drop) };
    });
    if (plots.every((p) => /^\w{0,40}$/.test(p.id) && /^\w{0,40}$/.test(p.choice)))
        return plots.filter((p) => p.id);
    drop('plots', 'not a list of plots');
    return null;
}

function readSize(text: string | undefined, drop: Drop): { size?: PlotSize } {
    if (!text) return {};
    const match = /^([2-9]|[1-9]\d)x([1-9]\d{1,2})$/.exec(text);
    if (match) return { size: { thirds: Number(match[1]), height: Number(match[2]) } };
    drop('plots', `"${text.slice(0, 20)}" is not a size, as in 4x220`);
    return {};
}

function readAxes(text: string | undefined, drop: Drop): { axes?: OwnAxes } {
    if (!text) return {};
    const match = /^(?:x(log|lin))?\.?(?:y(log|lin))?$/.exec(text);
    if (!match) {
        drop('plots', `"${text.slice(0, 20)}" does not name axes, as in xlin.ylog`);
        return {};
    }
    const [, x, y] = match;
    return { axes: { ...(x && { x: x === 'log' }), ...(y && { y: y === 'log' }) } };
}

function readExpected(
    text: string | undefined,
    core: string | undefined,
    drop: Drop,
    blocks: (solvers: number) => Blocks | null,
): Expected | null {
    if (!text) return null;
    const match = /^(\d{1,9}):([0-9a-f]{16}(?:,[0-9a-f]{16})*)$/.exec(text);
    if (!match) {
        drop('h', 'not a step and hashes');
        return null;
    }
    const hashes = match[2].split(',');
    return {
        step: Number(match[1]),
        hashes,
        core: (core ?? '').slice(0, 20),
        blocks: blocks(hashes.length),
    };
}
