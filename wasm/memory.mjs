// Peak memory of one simulation of ironman in wasm, each solver in a fresh instance: below 64 MB.
// usage: node wasm/memory.mjs
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Page, startCore } from './loader/page.mjs';

const LIMIT = 64e6; // bytes
const runs = { 'admm-ncp-plus': 100, 'newton-ncp': 100, 'admm-ncp-fp': 10, 'pgs-ncp': 10 }; // steps
const root = resolve(import.meta.dirname, '..');
const build = process.env.KINLOOP_WASM_DIR ?? join(root, 'build/wasm');
const { default: createModule } = await import(pathToFileURL(join(build, 'kinloop.mjs')).href);
const bytes = readFileSync(join(build, 'kinloop.wasm'));
const document = readFileSync(join(root, 'scenes/ironman.json'), 'utf8');

let passed = 0;
let failed = 0;
for (const [solver, steps] of Object.entries(runs)) {
    const core = await startCore(createModule, bytes);
    const page = new Page(core);
    page.load(document, 'ironman.json');
    page.start(0, solver);
    page.configure(false, 'high-throughput', {});
    while (page.step() < steps) page.work(steps - page.step(), Infinity);
    const peak = core.HEAPU8.length; // this memory never shrinks
    const ok = peak < LIMIT && page.step() === steps;
    console.log(`${ok ? 'ok' : 'TOO MUCH'} ${solver}, ${steps} steps: ${(peak / 1e6).toFixed(1)} MB`);
    if (ok) passed++;
    else failed++;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
