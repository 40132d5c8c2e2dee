// An experiment as the page holds it: which scene and run, which solvers, what was changed. Plain data;
// everything the page can undo, share or re-run is in here.
import type { SolverChoice } from '../core/protocol';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A place in the scene document and what stands there instead. */
export interface Edit {
    path: string; // e.g. "bodies.1.mass"
    value: Json;
}

/** From the gallery; or one's own: typed, dropped, carried by a link, or fetched from `url`. */
export type SceneRef =
    | { kind: 'gallery'; id: string }
    | { kind: 'own'; name: string; text: string; url?: string; sum?: string };

export type Mode = 'independent' | 'curated';

export interface Experiment {
    scene: SceneRef;
    run: string; // '' = the first
    mode: Mode;
    driver: string; // curated: the solver that moves the bodies
    preset: string; // '' = the scene's own
    solvers: SolverChoice[];
    edits: Edit[];
    duration: number; // [s], 0 = the run's own
}

export const PRESETS = ['high-throughput', 'high-precision'] as const;
export const MAX_SOLVERS = 4;

export const FIRST_EXPERIMENT: Experiment = {
    scene: { kind: 'gallery', id: 'box_on_plane' },
    run: '',
    mode: 'independent',
    driver: '',
    preset: 'high-throughput',
    solvers: [],
    edits: [],
    duration: 2,
};

export function parsePath(path: string): (string | number)[] {
    return path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

type Container = Record<string | number, Json>;

/** A copy of `document` with the edits applied; edits that fit nowhere are returned. */
export function applyEdits(document: Json, edits: Edit[]): { document: Json; misfits: Edit[] } {
    const copy = structuredClone(document);
    const misfits = edits.filter((edit) => !place(copy, parsePath(edit.path), edit.value));
    return { document: copy, misfits };
}

function place(root: Json, path: (string | number)[], value: Json): boolean {
    if (path.some((key) => key === '__proto__' || key === 'constructor' || key === 'prototype')) return false;
    let at = root as Container;
    for (const key of path.slice(0, -1)) {
        if (at === null || typeof at !== 'object') return false;
        if (Array.isArray(at) && !(typeof key === 'number' && key < at.length)) return false;
        if (at[key] === undefined) at[key] = {};
        at = at[key] as Container;
    }
    const last = path[path.length - 1];
    if (at === null || typeof at !== 'object') return false;
    if (Array.isArray(at) && !(typeof last === 'number' && last <= at.length)) return false;
    at[last] = value;
    return true;
}

export function readPath(document: Json, path: string): Json | undefined {
    let at: Json | undefined = document;
    for (const key of parsePath(path)) {
        if (at === null || typeof at !== 'object') return undefined;
        at = (at as Container)[key];
    }
    return at;
}

/** `edits` with one more; a later edit of the same place replaces the earlier. */
export function withEdit(edits: Edit[], edit: Edit): Edit[] {
    return [...edits.filter((e) => e.path !== edit.path), edit];
}

export function sameExperiment(a: Experiment, b: Experiment): boolean {
    return canonical(a as unknown as Json) === canonical(b as unknown as Json);
}

/** JSON with sorted keys, so that equal values give equal text. */
export function canonical(value: Json): string {
    if (value === null || typeof value !== 'object') return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
    const keys = Object.keys(value)
        .filter((k) => value[k] !== undefined)
        .sort();
    return `{${keys.map((k) => `${JSON.stringify(k)}:${canonical(value[k])}`).join(',')}}`;
}
