// Long runs: every system for an hour of simulated time with newton-ncp, natively (build/native/tests/hours) and as
// WebAssembly. Each minute both must have the same state hash; neither may allocate or grow after the first minute, and no
// step may fail. What was run is kept in build/long/, so that a second call goes on with what is missing. Takes hours;
// the last line says "N passed, N failed".
//
//   node wasm/long.mjs [--minutes M] [--native] [SYSTEM ...]     --native: the native half alone, for later
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Page, startCore } from './loader/page.mjs';
import { sceneFiles } from './scene_files.mjs';

const SOLVER = 'newton-ncp';
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
    options: { minutes: { type: 'string', default: '60' }, native: { type: 'boolean', default: false } },
    allowPositionals: true,
});
const minutes = Number(values.minutes);
mkdirSync(kept, { recursive: true });

/** The minutes of one half of a run, from the file that keeps them or run now. */
function once(name, half, make) {
    const file = join(kept, `${name}-${minutes}-${half}.json`);
    if (!existsSync(file)) {
        writeFileSync(`${file}.partial`, JSON.stringify(make()));
        renameSync(`${file}.partial`, file);
    }
    return JSON.parse(readFileSync(file, 'utf8'));
}

function native(scene, run) {
    const child = spawnSync(hours, [join(root, 'scenes', `${scene}.json`), run, SOLVER, String(minutes)], { encoding: 'utf8' });
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
    page.start(page.scene().runs.findIndex((r) => r.id === run), SOLVER);
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
        const here = once(scene, 'native', () => native(scene, run));
        if (values.native) continue;
        const computed = existsSync(join(kept, `${scene}-${minutes}-wasm.json`)) ? null : await wasm(scene, run, here.map((m) => m.step));
        const there = once(scene, 'wasm', () => computed);
        const different = here.findIndex((m, i) => m.hash !== there[i].hash);
        const [first, last] = [here[0], here.at(-1)];
        const allocated = last.allocations - first.allocations;
        const grown = there.at(-1).memory - there[0].memory;
        const good = different < 0 && here.length === minutes && allocated === 0 && grown === 0;
        if (good) passed++;
        else failed++;
        const [open, unconverged] = [Math.max(...here.map((m) => m.open)), here.reduce((sum, m) => sum + m.unconverged, 0)];
        console.log(`${good ? 'ok' : 'FAILED'} ${scene} ${run}: ${last.step} steps in ${here.length} min, ${last.hash}, ` +
            `${different < 0 ? 'equal each minute' : `different in minute ${different + 1}`}; joints open by ${open.toExponential(2)} m at most, ` +
            `in the last minute ${last.open.toExponential(2)}; ${unconverged} steps unconverged; after the first minute ${allocated} allocations, ` +
            `native memory ${first.memory} to ${last.memory} kB, wasm ${grown} kB more`);
    } catch (error) {
        failed++;
        console.log(`FAILED ${scene} ${run}: ${error.message}`);
    }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || (passed === 0 && !values.native) ? 1 : 0;
