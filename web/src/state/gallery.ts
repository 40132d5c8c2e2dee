// The scenes that come with the page.

import type { SceneEntry, ScenePlace } from '../../tools/scenes';
import type { SceneFile, SceneSource } from '../core/protocol';
import { applyEdits, type Edit, type Json, type SceneRef } from './experiment';

export type { SceneEntry };

let index: Promise<SceneEntry[]> | null = null;
let places: Promise<ScenePlace[]> | null = null;

async function get(path: string): Promise<Response> {
    const response = await fetch(`./scenes/${path}`);
    if (!response.ok) throw new Error(`scenes/${path}: ${response.status} ${response.statusText}`);
    return response;
}

export function galleryIndex(): Promise<SceneEntry[]> {
    index ??= get('index.json').then((r) => r.json());
    return index;
}

function scenePlaces(): Promise<ScenePlace[]> {
    places ??= get('places.json').then((r) => r.json());
    return places;
}

const documents = new Map<string, Promise<{ text: string; files: SceneFile[] }>>();

async function fetchScene(entry: ScenePlace): Promise<{ text: string; files: SceneFile[] }> {
    const text = await (await get(entry.path)).text();
    const files = await Promise.all(
        entry.files.map(async (path) => ({
            path,
            data: new Uint8Array(await (await get(path)).arrayBuffer()),
        })),
    );
    return { text, files };
}

/** The document behind a reference, unedited, with the files it names. */
export async function sceneDocument(
    ref: SceneRef,
): Promise<{ name: string; text: string; files: SceneFile[] }> {
    if (ref.kind === 'own') return { name: ref.name, text: ref.text, files: ownFiles.get(ref.name) ?? [] };
    const entry = (await scenePlaces()).find((e) => e.id === ref.id);
    if (!entry) throw new Error(`There is no scene "${ref.id}" in the gallery.`);
    let document = documents.get(entry.id);
    if (!document) documents.set(entry.id, (document = fetchScene(entry)));
    return { name: entry.path, ...(await document) };
}

/** Files dropped together with an own scene, by the scene's name. They stay on this computer. */
export const ownFiles = new Map<string, SceneFile[]>();

export async function sceneSource(
    ref: SceneRef,
    edits: Edit[],
): Promise<{ source: SceneSource; misfits: Edit[] }> {
    const { name, text, files } = await sceneDocument(ref);
    if (edits.length === 0) return { source: { name, text, files }, misfits: [] };
    const { document, misfits } = applyEdits(JSON.parse(text) as Json, edits);
    return { source: { name, text: JSON.stringify(document, null, 2), files }, misfits };
}
