// The scene files become part of the page: copied below scenes/, with an index made from their texts, and a shorter one
// that only says where they lie: the first visit reads that.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { Plugin } from 'vite';

export interface ScenePlace {
    id: string;
    path: string; // beside index.json
    files: string[]; // what the scene refers to, beside index.json
}

export interface SceneEntry extends ScenePlace {
    title: string;
    text: string;
    surrogate: boolean;
    experiment: boolean; // names a scene and brings solvers, runs or settings of its own
    bodies: number;
    joints: number;
    runs: { id: string; title: string; text: string }[];
}

/** Every string inside `value`. */
function* strings(value: unknown): Generator<string> {
    if (typeof value === 'string') yield value;
    else if (value && typeof value === 'object') {
        for (const [key, part] of Object.entries(value)) if (key !== '$schema') yield* strings(part);
    }
}

/** Files below `root` that the document at `path` names, directly or through another document. */
function references(root: string, path: string, found = new Set<string>()): Set<string> {
    for (const text of strings(JSON.parse(readFileSync(path, 'utf8')))) {
        if (text.length > 200 || !/\.[a-z0-9]{2,5}$/i.test(text)) continue;
        const target = resolve(dirname(path), text);
        const name = relative(root, target);
        if (name.startsWith('..') || found.has(name) || !existsSync(target) || !statSync(target).isFile())
            continue;
        found.add(name);
        if (target.endsWith('.json')) references(root, target, found);
    }
    return found;
}

function entry(root: string, file: string): SceneEntry | null {
    const path = join(root, file);
    const document = JSON.parse(readFileSync(path, 'utf8'));
    const experiment = typeof document.scene === 'string';
    const scene = experiment
        ? JSON.parse(readFileSync(resolve(dirname(path), document.scene), 'utf8'))
        : document;
    if (!Array.isArray(scene.bodies)) return null;
    return {
        id: document.id ?? file.replace(/\.json$/, ''),
        path: file,
        title: document.title ?? file,
        text: document.text ?? '',
        surrogate: scene.surrogate === true,
        experiment,
        bodies: scene.bodies.length,
        joints: scene.joints?.length ?? 0,
        files: [...references(root, path)].sort(),
        runs: (document.runs ?? scene.runs ?? []).map((run: Record<string, string>) => ({
            id: run.id,
            title: run.title ?? run.id,
            text: run.text ?? '',
        })),
    };
}

const places = (list: SceneEntry[]): ScenePlace[] => list.map(({ id, path, files }) => ({ id, path, files }));

export function scenes(root: string): Plugin {
    const list = (): SceneEntry[] =>
        !existsSync(root)
            ? []
            : ['', 'experiments']
                  .filter((folder) => existsSync(join(root, folder)))
                  .flatMap((folder) => readdirSync(join(root, folder)).map((file) => join(folder, file)))
                  .filter((file) => file.endsWith('.json') && file !== 'schema.json')
                  .sort()
                  .map((file) => entry(root, file))
                  .filter((e) => e !== null)
                  .sort((a, b) => Number(a.experiment) - Number(b.experiment) || a.bodies - b.bodies);
    const files = () => new Set(list().flatMap((e) => [e.path, ...e.files]));
    return {
        name: 'kinloop-scenes',
        configureServer(server) {
            server.middlewares.use((request, response, next) => {
                const match = /\/scenes\/([^?]+)/.exec(request.url ?? '');
                if (!match) return next();
                if (match[1] === 'index.json') return void response.end(JSON.stringify(list()));
                if (match[1] === 'places.json') return void response.end(JSON.stringify(places(list())));
                if (!files().has(match[1])) return next();
                response.end(readFileSync(join(root, match[1])));
            });
        },
        generateBundle() {
            const index = list();
            if (index.length === 0) this.warn(`no scenes in ${root}`);
            const emit = (name: string, content: unknown) =>
                this.emitFile({ type: 'asset', fileName: `scenes/${name}`, source: JSON.stringify(content) });
            emit('index.json', index);
            emit('places.json', places(index));
            for (const file of files()) {
                this.emitFile({
                    type: 'asset',
                    fileName: `scenes/${file}`,
                    source: readFileSync(join(root, file)),
                });
            }
        },
    };
}
