// Convergence traces of the wasm build against the native command's, under Node: every solver on every
// reference problem, each residual of each iteration bit for bit; and rank, spectrum and internal shares.
// usage: node wasm/traces.mjs [KINLOOP]   KINLOOP: the command (build/native/kinloop)
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Page, startCore } from './loader/page.mjs';

const root = resolve(import.meta.dirname, '..');
const build = process.env.KINLOOP_WASM_DIR ?? join(root, 'build/wasm');
const command = process.argv[2] ?? join(root, 'build/native/kinloop');
const problems = join(root, 'tests/data/problems.json');
const columns = ['iteration', 'primal', 'dual', 'complementarity', 'natural_relative', 'penalty'];

const { default: createModule } = await import(pathToFileURL(join(build, 'kinloop.mjs')).href);
const core = await startCore(createModule, readFileSync(join(build, 'kinloop.wasm')));
const text = readFileSync(problems, 'utf8');
const { results, problems: conditions } = JSON.parse(execFileSync(command,
    ['solve', problems, '--solver', 'all', '--max-iter', '300', '--trace', '--condition', '--json', '--progress', 'none'],
    { encoding: 'utf8', maxBuffer: 1 << 28 }));

function solveInWasm(index, solver) {
    const page = new Page(core);
    try {
        page.loadProblem(text, 'problems.json', index);
        page.observe(solver);
        page.configure(true, 'high-precision', { max_iterations: 300 });
        page.setTrace(true, true);
        page.resolveBegin();
        while (!page.resolve(0.01));
        const { dim, condition } = page.problem(true);
        return { trace: page.trace(), condition, share: page.internalShare(page.lambda(dim)) };
    } finally {
        page.destroy();
    }
}

let passed = 0;
let failed = 0;
const told = ({ rank, jacobian_rank, eigen_min, eigen_max, condition, density, spectrum }, share) =>
    JSON.stringify([rank, jacobian_rank, eigen_min, eigen_max, condition, density, spectrum, share]);
for (const { index, solver, trace, internal_share } of results) {
    const native = trace.flatMap((row) => columns.map((c) => row[c]));
    const { trace: wasm, condition: c, share } = solveInWasm(index, solver);
    const inWasm = told({ ...c, jacobian_rank: c.jacobianRank, eigen_min: c.eigenMin, eigen_max: c.eigenMax }, share);
    if (inWasm !== told(conditions.find((p) => p.index === index), internal_share)) {
        failed++;
        console.log(`problem ${index}, ${solver}: rank, spectrum or internal share differ: ${inWasm}`);
        continue;
    }
    const at = native.findIndex((value, i) => !Object.is(value ?? Number.NaN, wasm[i]));
    if (native.length === wasm.length && at < 0) {
        passed++;
        continue;
    }
    failed++;
    console.log(`problem ${index}, ${solver}: ${native.length / 6} rows natively, ${wasm.length / 6} in wasm; first ` +
        `difference in row ${Math.floor(at / 6)}, ${columns[at % 6]}: ${native[at]} and ${wasm[at]}`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
