// Time of a step in wasm beside the native build, under Node: both do the same run by turns, each steps'
// median, and the ratio of every turn. Machines are shared; a ratio of neighbours in time still tells.
// usage: node wasm/speed.mjs [--json] [TURNS] [SCENE] [SOLVER] [STEPS]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Page, startCore } from './loader/page.mjs';

const root = resolve(import.meta.dirname, '..');
const build = process.env.KINLOOP_WASM_DIR ?? join(root, 'build/wasm');
const command = process.env.KINLOOP ?? join(root, 'build/native/kinloop');
const asJson = process.argv.includes('--json');
const [turns = '9', scene = 'walker', solver = 'admm-ncp-plus', steps = '1000'] =
    process.argv.slice(2).filter((a) => a !== '--json');

const { default: createModule } = await import(pathToFileURL(join(build, 'kinloop.mjs')).href);
const core = await startCore(createModule, readFileSync(join(build, 'kinloop.wasm')));
const file = join(root, 'scenes', `${scene}.json`);

/** Milliseconds of every step, and the state in the end. */
function native() {
    const csv = execFileSync(command, ['run', file, '--solver', solver, '--preset', 'high-throughput',
        '--steps', steps, '--record', '-', '--progress', 'none'], { encoding: 'utf8', maxBuffer: 1 << 28 });
    const [head, ...rows] = csv.split('\n').filter((line) => line && !line.startsWith('#'));
    const column = head.split(',').indexOf('t_step');
    return rows.map((row) => 1000 * Number(row.split(',')[column]));
}

function wasm() {
    const page = new Page(core);
    try {
        page.load(readFileSync(file, 'utf8'), `${scene}.json`);
        page.start(0, solver);
        page.configure(false, 'high-throughput', {});
        const columns = page.tables().record;
        const column = columns.indexOf('t_step');
        const times = [];
        while (page.step() < Number(steps)) {
            page.work(Math.min(256, Number(steps) - page.step()), Infinity);
            const record = page.record(columns.length);
            for (let i = column; i < record.length; i += columns.length) times.push(1000 * record[i]);
        }
        return times;
    } finally {
        page.destroy();
    }
}

const sorted = (values) => [...values].sort((a, b) => a - b);
const quantile = (values, q) => sorted(values)[Math.round(q * (values.length - 1))];
const median = (values) => quantile(values, 0.5);

wasm(); // compiled in full before it is timed
const rows = [];
for (let turn = 0; turn < Number(turns); turn++) {
    const n = median(native());
    const w = median(wasm());
    rows.push({ native_ms: n, wasm_ms: w, ratio: w / n });
}
const ratios = rows.map((r) => r.ratio);
const result = {
    scene, solver, steps: Number(steps), machine: cpus()[0].model, node: process.version,
    native_ms: median(rows.map((r) => r.native_ms)), wasm_ms: median(rows.map((r) => r.wasm_ms)),
    ratio: median(ratios), ratio_quartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)], turns: rows,
};
if (asJson) console.log(JSON.stringify(result, null, 1));
else {
    console.log(`${scene}, ${solver}: native ${result.native_ms.toFixed(4)} ms a step, wasm ${result.wasm_ms.toFixed(4)} ms, ` +
        `ratio ${result.ratio.toFixed(3)} (quartiles ${result.ratio_quartiles.map((r) => r.toFixed(3)).join(' to ')})`);
}
