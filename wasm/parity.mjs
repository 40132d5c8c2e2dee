// The WebAssembly core against the native one, under Node: the same scene, solver and steps must end in
// the same state, bit for bit, and the same model must become the same scene and report, byte for byte.
// Ends with a line "N passed, N failed".
//
//   node wasm/parity.mjs [native command] [folder of kinloop.wasm]
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Importer } from './loader/importer.mjs';
import { Page, startCore } from './loader/page.mjs';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const command = resolve(process.argv[2] ?? join(root, 'build/native/kinloop'));
const core = resolve(process.argv[3] ?? join(root, 'build/wasm'));

const unit = (q) => q.map((x) => x / Math.hypot(...q));

// A heap of all shapes falling on all shapes: every collision routine runs within 400 steps.
function heap() {
    const block = { vertices: [], triangles: [] };
    for (let i = 0; i < 8; i++) {
        block.vertices.push([i & 1 ? 0.15 : -0.15, i & 2 ? 0.12 : -0.12, i & 4 ? 0.1 : -0.1]);
    }
    for (const [a, b, c, d] of [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]) {
        block.triangles.push([a, b, c], [a, c, d]);
    }
    const shapes = [
        { type: 'sphere', size: [0.12] },
        { type: 'box', size: [0.3, 0.25, 0.2] },
        { type: 'capsule', size: [0.08, 0.2] },
        { type: 'cylinder', size: [0.12, 0.22] },
        { type: 'convex', mesh: 'block' },
        { type: 'mesh', mesh: 'block' },
    ];
    const bodies = [];
    for (let layer = 0; layer < 3; layer++) {
        for (let k = 0; k < 6; k++) {
            const shape = shapes[(k + 2 * layer + (layer === 2 ? 1 : 0)) % 6];
            bodies.push({
                name: `body${bodies.length}`,
                mass: 1,
                position: [0.29 * (k % 3) + 0.03 * layer, 0.27 * Math.floor(k / 3) + 0.02 * layer, 0.22 + 0.42 * layer],
                orientation: unit([1, 0.05 * k, 0.03 * layer, 0.02]),
                geoms: [{ name: `shape${bodies.length}`, ...shape }],
            });
        }
    }
    return {
        schema: 1,
        id: 'heap',
        title: 'Heap of all shapes',
        gravity: [0, 0, -9.81],
        dt: 0.002,
        settings: { max_contacts: 2000, cull_distance: 0.01 },
        meshes: [{ name: 'block', ...block }],
        bodies,
        geoms: [{ name: 'ground', type: 'plane' }],
        runs: [{ id: 'fall', title: 'Fall', duration: 1 }],
    };
}

function native(file, [solver, param, word], steps) {
    const text = execFileSync(command, ['run', file, '--solver', solver, '--preset', 'high-throughput',
        ...(param ? ['--set', `${param}=${word}`] : []), '--steps', String(steps), '--hash', '--progress', 'none'],
        { encoding: 'utf8' });
    return text.trim().split(/\s+/).at(-1);
}

async function wasm(createModule, bytes, file, [solver, param, , value], steps) {
    const page = new Page(await startCore(createModule, bytes));
    page.load(readFileSync(file, 'utf8'), file);
    page.start(0, solver);
    page.configure(false, 'high-throughput', param ? { [param]: value } : {});
    for (let left = steps; left > 0; ) {
        left -= page.work(Math.min(left, 100), 60);
    }
    const hash = page.hash();
    page.destroy();
    return hash;
}

// Scene and report of the command.
function nativeImport(folder, model, decimate) {
    const scene = join(work, 'imported.json');
    const report = execFileSync(command, ['import', model, '-o', scene, '--force', '--json', '--decimate', decimate],
        { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return JSON.stringify(JSON.parse(report)) + readFileSync(scene, 'utf8');
}

function filesBelow(folder, path = '') {
    return readdirSync(join(folder, path), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? filesBelow(folder, join(path, entry.name)) : [join(path, entry.name)]);
}

async function wasmImport(folder, model, decimate) {
    const create = (await import(pathToFileURL(join(core, 'kinloop-import.mjs')).href)).default;
    const importer = new Importer(await startCore(create, readFileSync(join(core, 'kinloop-import.wasm'))));
    for (const file of filesBelow(folder)) importer.putFile(file, readFileSync(join(folder, file)));
    const { document, report } = importer.run(model, { decimate });
    importer.destroy();
    return JSON.stringify(report) + document;
}

const createModule = (await import(pathToFileURL(join(core, 'kinloop.mjs')).href)).default;
const bytes = readFileSync(join(core, 'kinloop.wasm'));
const work = join(root, 'build/parity');
mkdirSync(work, { recursive: true });
writeFileSync(join(work, 'heap.json'), JSON.stringify(heap(), null, 1));

const cases = [[join(work, 'heap.json'), 400]];
for (const name of readdirSync(join(root, 'scenes')).sort()) {
    if (name.endsWith('.json') && name !== 'schema.json') {
        cases.push([join(root, 'scenes', name), 60]);
    }
}
// A solver, and a choice of it by word and by number.
const solvers = [['pgs-ncp'], ['raisim-ds'], ['admm-ncp-fp'], ['admm-ncp-plus'],
    ['admm-ncp-plus', 'factorization', 'iterative', 4]];

let passed = 0;
let failed = 0;

async function same(name, native, wasm) {
    try {
        const [a, b] = [await native(), await wasm()];
        if (a === b) {
            passed++;
            console.log(`ok ${name}: ${a.length > 100 ? `${a.length} bytes` : a}`);
        } else {
            failed++;
            console.log(`DIFFERS ${name}: native ${a.slice(0, 100)}, wasm ${b.slice(0, 100)}`);
        }
    } catch (error) {
        failed++;
        console.log(`FAILED ${name}: ${error.stderr ?? error.message}`);
    }
}

for (const [file, steps] of cases) {
    for (const solver of solvers) {
        const name = `${file.slice(root.length + 1)} ${solver.slice(0, 3).join(' ')}, ${steps} steps`;
        await same(name, () => native(file, solver, steps), () => wasm(createModule, bytes, file, solver, steps));
    }
}
const models = join(root, 'tests/data/models');
for (const model of filesBelow(models).filter((file) => /\.(urdf|xml)$/.test(file))) {
    for (const decimate of [0, 100]) {  // triangles of a mesh
        await same(`import of ${model}, decimate ${decimate}`, () => nativeImport(models, model, decimate),
            () => wasmImport(models, model, decimate));
    }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
