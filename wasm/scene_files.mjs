// The files below scenes/ that documents refer to: meshes and references.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const folder = resolve(import.meta.dirname, '../scenes');

function* paths(inside = folder) {
    for (const name of readdirSync(inside)) {
        const path = join(inside, name);
        if (statSync(path).isDirectory()) yield* paths(path);
        else yield path;
    }
}

/** Their names as documents say them, and their bytes. */
export function sceneFiles() {
    return [...paths()]
        .filter((path) => !path.endsWith('.json') && !path.endsWith('.py'))
        .map((path) => ({ name: relative(folder, path), data: readFileSync(path) }));
}
