// The wasm build against the state hashes of the native one, under Node: the same bits, or a failure.
// usage: node wasm/golden.mjs [FILTER]   FILTER: part of "scene run solver"
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Page, startCore } from './loader/page.mjs';
import { sceneFiles } from './scene_files.mjs';

const root = resolve(import.meta.dirname, '..');
const build = process.env.KINLOOP_WASM_DIR ?? join(root, 'build/wasm');
const filter = process.argv[2] ?? '';

const { default: createModule } = await import(pathToFileURL(join(build, 'kinloop.mjs')).href);
const core = await startCore(createModule, readFileSync(join(build, 'kinloop.wasm')));
const golden = ['hashes.json', 'matrix.json'].flatMap((name) =>
    JSON.parse(readFileSync(join(root, 'tests/golden', name), 'utf8')));

const files = sceneFiles();

/** The state hash of one line of the golden file, and the time it took. */
function run(entry) {
    const page = new Page(core);
    try {
        for (const { name, data } of files) page.putFile(name, data);
        const name = `${entry.scene}.json`;
        page.load(readFileSync(join(root, 'scenes', name), 'utf8'), name);
        const index = Math.max(0, page.scene().runs.findIndex((r) => r.id === entry.run));
        page.start(index, entry.solver);
        page.configure(false, entry.preset, {});
        const began = performance.now();
        // In short slices, as the page does: how a solve is cut must not matter.
        while (page.step() < entry.steps) page.work(Math.min(256, entry.steps - page.step()), 0.003);
        return { hash: page.hash(), milliseconds: performance.now() - began };
    } finally {
        page.destroy();
    }
}

let passed = 0;
let failed = 0;
for (const entry of golden) {
    const title = `${entry.scene} ${entry.run} ${entry.solver}`;
    if (!title.includes(filter)) continue;
    try {
        const { hash, milliseconds } = run(entry);
        const same = hash === entry.hash;
        console.log(`${same ? 'ok  ' : 'DIFF'} ${title}: ${entry.steps} steps, ${hash}${same ? '' : ` instead of ${entry.hash}`}, ${milliseconds.toFixed(0)} ms`);
        if (same) passed++;
        else failed++;
    } catch (error) {
        failed++;
        console.log(`FAIL ${title}: ${String(error.message).slice(0, 300)}`);
    }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
