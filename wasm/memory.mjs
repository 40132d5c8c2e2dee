// Peak memory of one simulation of ironman in wasm, each solver in a fresh instance: below 64 MB. And what does not fit
// into the two gigabytes that a module may have: a chain of 5400 links has 16200 rows, a dense matrix of them 2.1 GB.
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

/** Ball joints in a row, from the world on. @param {number} links */
function chain(links) {
    const each = (make) => Array.from({ length: links }, (_, i) => make(i));
    return JSON.stringify({
        schema: 1, id: 'chain', title: 'Chain', dt: 0.001, settings: { max_contacts: 0 },
        bodies: each((i) => ({ name: `link${i}`, mass: 1, inertia: [0.01, 0.01, 0.01], position: [i, 0, 1] })),
        joints: each((i) => ({ name: `joint${i}`, type: 'spherical', base: i > 0 ? `link${i - 1}` : 'world',
            follower: `link${i}`, position: [i - 0.5, 0, 1] })),
        runs: [{ id: 'hang', title: 'Hang', duration: 1 }],
    });
}

/** Loads, starts and steps once; what it says when it cannot. */
function attempt(page, links, solver) {
    try {
        page.load(chain(links), 'chain.json');
        page.start(0, solver);
        page.work(1, Infinity);
        return page.step() === 1 ? 'a step' : 'no step';
    } catch (error) {
        return error.message;
    }
}

const page = new Page(await startCore(createModule, bytes));
for (const [links, solver, expected] of [
    [5400, 'admm-ncp-fp', /^admm-ncp-fp: no room for \d+ rows; .* 2\.\d+e\+03 MB/],
    [5400, 'newton-ncp', /^a step$/], // the same module goes on
    [6000, 'admm-ncp-fp', /^admm-ncp-fp: no room for \d+ rows; .* up to 16384 rows/],
    [5, 'admm-ncp-fp', /^a step$/],
]) {
    const said = attempt(page, links, solver);
    const ok = expected.test(said);
    console.log(`${ok ? 'ok' : 'WRONG'} ${solver}, chain of ${links} links: ${said}`);
    if (ok) passed++;
    else failed++;
}

// Where the browser gives no more, the core's reader says how much it wanted and what there is.
const { grow } = WebAssembly.Memory.prototype;
WebAssembly.Memory.prototype.grow = () => {
    throw new RangeError('no more');
};
const small = new Page(await startCore(createModule, bytes));
const said = attempt(small, 9000, 'newton-ncp');
WebAssembly.Memory.prototype.grow = grow;
const told = /out of memory.*: no \d+ bytes more; the core has \d+ MB and may have 2147 MB/.test(said);
console.log(`${told ? 'ok' : 'WRONG'} no memory to grow into: ${said}`);
if (told) passed++;
else failed++;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
