// Long runs: every system for an hour of simulated time, natively (build/native/tests/hours) and as
// WebAssembly. Each minute both must have the same state hash; neither may allocate or grow after the first minute, and no
// step may fail. What was run is kept in build/long/, so that a second call goes on with what is missing. Takes hours;
// the last line says "N passed, N failed".
//
//   node wasm/long.mjs [SYSTEM ...]
//     --parts N      60 parts are compared, each of
//     --seconds S    60 seconds
//     --native       the native half alone, for later
//     --fresh        keeps nothing and takes nothing that was kept
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Page, startCore } from './loader/page.mjs';
import { sceneFiles } from './scene_files.mjs';

const SOLVER = 'newton-ncp';
// A standing walker's jammed feet take newton-ncp sixteen factorizations a step.
const SOLVER_OF = { walker: 'admm-ncp-plus' };
const solverOf = (scene) => SOLVER_OF[scene] ?? SOLVER;
// From the cheapest on.
const SYSTEMS = {
    box_on_plane: 'hard',
    boxes_fixed: 'dropped_dragged_stabilized',
    nunchaku: 'stabilized',
    fourbar_fixed: 'driven_stabilized',
    fourbar_free: 'stabilized',
    arm7d: 'track_stabilized',
    quadruped: 'squat_stabilized',
    misha: 'track_stabilized',
    lima: 'squat_stabilized',
    bdx: 'bob_stabilized',
    gazelle: 'track_stabilized',
    ironman: 'track_stabilized',
    walker: 'stabilized',
};
const root = resolve(import.meta.dirname, '..');
const build = process.env.KINLOOP_WASM_DIR ?? join(root, 'build/wasm');
const hours = process.env.KL_HOURS ?? join(root, 'build/native/tests/hours');
const kept = join(root, 'build/long');
const { values, positionals } = parseArgs({
    options: {
        parts: { type: 'string', default: '60' },
        seconds: { type: 'string', default: '60' },
        native: { type: 'boolean', default: false },
        fresh: { type: 'boolean', default: false },
    },
    allowPositionals: true,
});
const parts = Number(values.parts);
const seconds = Number(values.seconds);
mkdirSync(kept, { recursive: true });

/** The file that keeps one half of a run. */
const keeper = (name, half) => join(kept, `${name}-${parts}x${seconds}-${half}.json`);

/** The parts of one half of a run, from the file that keeps them or run now. */
async function once(name, half, make) {
    const file = keeper(name, half);
    if (values.fresh) return make();
    if (!existsSync(file)) {
        writeFileSync(`${file}.partial`, JSON.stringify(await make()));
        renameSync(`${file}.partial`, file);
    }
    return JSON.parse(readFileSync(file, 'utf8'));
}

function native(scene, run) {
    const child = spawnSync(hours, [join(root, 'scenes', `${scene}.json`), run, solverOf(scene), String(parts), String(seconds)], { encoding: 'utf8' });
    if (child.status !== 0) throw new Error(`hours: ${child.stderr}`);
    return child.stdout.trim().split('\n').map((line) => {
        const [step, hash, open, unconverged, allocations, memory] = line.split(' ');
        return { step: Number(step), hash, open: Number(open), unconverged: Number(unconverged),
            allocations: Number(allocations), memory: Number(memory) };
    });
}

async function wasm(scene, run, steps) {
    const { default: createModule } = await import(pathToFileURL(join(build, 'kinloop.mjs')).href);
    const core = await startCore(createModule, readFileSync(join(build, 'kinloop.wasm')));
    const page = new Page(core);
    for (const { name, data } of sceneFiles()) page.putFile(name, data);
    page.load(readFileSync(join(root, 'scenes', `${scene}.json`), 'utf8'), `${scene}.json`);
    page.start(page.scene().runs.findIndex((r) => r.id === run), solverOf(scene));
    page.configure(false, 'high-throughput', {});
    const found = [];
    for (const step of steps) {
        while (page.step() < step) page.work(Math.min(256, step - page.step()), Infinity);
        found.push({ step, hash: page.hash(), memory: core.HEAPU8.length / 1024 });
    }
    page.destroy();
    return found;
}

let passed = 0;
let failed = 0;
for (const [scene, run] of Object.entries(SYSTEMS)) {
    if (positionals.length > 0 && !positionals.includes(scene)) continue;
    try {
        const here = await once(scene, 'native', () => native(scene, run));
        if (values.native) continue;
        const there = await once(scene, 'wasm', () => wasm(scene, run, here.map((m) => m.step)));
        const different = here.findIndex((m, i) => m.hash !== there[i].hash);
        const [first, last] = [here[0], here.at(-1)];
        const allocated = last.allocations - first.allocations;
        const grown = there.at(-1).memory - there[0].memory;
        const good = different < 0 && here.length === parts && allocated === 0 && grown === 0;
        if (good) passed++;
        else failed++;
        const [open, unconverged] = [Math.max(...here.map((m) => m.open)), here.reduce((sum, m) => sum + m.unconverged, 0)];
        console.log(`${good ? 'ok' : 'FAILED'} ${scene} ${run} ${solverOf(scene)}: ${last.step} steps in ${here.length} parts of ${seconds} s, ${last.hash}, ` +
            `${different < 0 ? 'equal after each' : `different after part ${different + 1}`}; joints open by ${open.toExponential(2)} m at most, ` +
            `in the last part ${last.open.toExponential(2)}; ${unconverged} steps unconverged; after the first part ${allocated} allocations, ` +
            `native memory ${first.memory} to ${last.memory} kB, wasm ${grown} kB more`);
    } catch (error) {
        failed++;
        console.log(`FAILED ${scene} ${run}: ${error.message}`);
    }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || (passed === 0 && !values.native) ? 1 : 0;
