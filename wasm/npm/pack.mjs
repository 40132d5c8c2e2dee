// Packs the npm package: the core with its loader, scenes, and types that are written from the core's own
// tables, so that a new solver, parameter, metric or field is typed without anyone writing it down twice.
//
//   node wasm/npm/pack.mjs [folder of kinloop.wasm] [folder for kinloop-VERSION.tgz]
import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Page, startCore } from '../loader/page.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const core = resolve(process.argv[2] ?? join(root, 'build/wasm'));
const out = resolve(process.argv[3] ?? join(root, 'build/npm'));
const folder = join(out, 'package');

const ARRAYS = { f64: 'Float64Array', i32: 'Int32Array', u64: 'BigUint64Array', f32: 'Float32Array' };
const PRESETS = ['high-precision', 'high-throughput'];

async function startPage() {
    const createModule = (await import(pathToFileURL(join(core, 'kinloop.mjs')).href)).default;
    return new Page(await startCore(createModule, readFileSync(join(core, 'kinloop.wasm'))));
}

// --- types from tables ------------------------------------------------------------------------------

const quoted = (id) => `'${id}'`;
const comment = (text, indent) => `${indent}/** ${text.replaceAll('*/', '* /')} */\n`;
const unit = (text) => (text ? ` [${text}]` : '');

function union(name, ids, text) {
    return `${comment(text, '')}export type ${name} =\n${ids.map((id) => `    | ${quoted(id)}`).join('\n')};\n`;
}

function range(param) {
    if (param.kind === 'bool') return `0 or 1, default ${param.initial}`;
    if (param.kind === 'choice') {
        return `${param.choices.split('|').map((name, i) => `${i} ${name}`).join(', ')}; default ${param.initial}`;
    }
    return `${param.min ?? '-inf'} to ${param.max ?? 'inf'}, default ${param.initial}`;
}

function parameters(solver) {
    const rows = solver.params.map(
        (p) => `${comment(`${p.title}${unit(p.unit)}: ${p.text} (${range(p)})`, '        ')}        ${quoted(p.id)}?: number;\n`,
    );
    return `${comment(`${solver.title}: ${solver.text} ${solver.source}`, '    ')}    ${quoted(solver.id)}: {\n${rows.join('')}    };\n`;
}

function fieldRow(field) {
    const text = `(rows x ${field.columns})${unit(field.unit)} ${field.text}`;
    return `${comment(text, '    ')}    ${quoted(field.id)}: ${ARRAYS[field.type]};\n`;
}

function typesOf(tables, fields, scenes) {
    const ids = (list) => list.map((x) => x.id);
    return [
        `// Written by wasm/npm/pack.mjs from the tables of kinloop ${tables.version}.\n`,
        union('SolverId', ids(tables.solvers), 'Solvers; tables().solvers tells about each.'),
        `/** The parameters of each solver; what is absent keeps its value. */\nexport interface SolverParamTable {\n${tables.solvers.map(parameters).join('')}}\n`,
        'export type SolverParams<Id extends SolverId = SolverId> = SolverParamTable[Id];\n',
        union('PresetId', PRESETS, '10^4 iterations and 1e-12, or 10^3 and 1e-6.'),
        union('MetricId', ids(tables.metrics), 'What is measured of each step.'),
        `/** What can be read of a running simulation. */\nexport interface FieldArrays {\n${fields.map(fieldRow).join('')}}\n`,
        'export type FieldId = keyof FieldArrays;\n',
        union('StageName', tables.stages, 'Stages of a step, in the order they run.'),
        union('CategoryName', tables.categories, 'Kinds of dual problems.'),
        union('OutcomeName', tables.outcomes, 'How a solve ended.'),
        union('SceneId', scenes, 'The scenes of this package.'),
    ].join('\n');
}

// --- the package ----------------------------------------------------------------------------------------

// The declarations of the loader's JSDoc and of the page's own table types.
function declare() {
    const work = join(out, 'declare');
    execFileSync(process.execPath, [join(root, 'web/node_modules/typescript/bin/tsc'), '--allowJs', '--checkJs', '--strict',
        '--declaration', '--emitDeclarationOnly', '--target', 'es2022', '--module', 'esnext', '--moduleResolution', 'bundler',
        '--types', '', '--rootDir', root, '--outDir', work,
        join(root, 'wasm/loader/page.mjs'), join(root, 'web/src/core/types.ts')], { stdio: 'inherit' });
    copyFileSync(join(work, 'wasm/loader/page.d.mts'), join(folder, 'page.d.mts'));
    copyFileSync(join(work, 'web/src/core/types.d.ts'), join(folder, 'types.d.mts'));
    rmSync(work, { recursive: true });
}

function copyScenes() {
    const names = readdirSync(join(root, 'scenes')).filter((name) => name.endsWith('.json') && name !== 'schema.json');
    mkdirSync(join(folder, 'scenes'));
    for (const name of [...names, 'schema.json']) {
        copyFileSync(join(root, 'scenes', name), join(folder, 'scenes', name));
    }
    return names.map((name) => name.slice(0, -'.json'.length)).sort();
}

rmSync(out, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const page = await startPage();
const tables = page.tables();
const { version } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
if (version !== tables.version) {
    throw new Error(`wasm/npm/package.json has version ${version}, the core has ${tables.version}`);
}
for (const name of ['package.json', 'README.md', 'index.mjs', 'index.d.mts']) {
    copyFileSync(join(here, name), join(folder, name));
}
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
copyFileSync(join(root, 'wasm/loader/page.mjs'), join(folder, 'page.mjs'));
for (const name of ['kinloop.mjs', 'kinloop.wasm']) {
    cpSync(join(core, name), join(folder, name));
}
const scenes = copyScenes();
page.load(readFileSync(join(root, 'scenes/box_on_plane.json'), 'utf8'), 'box_on_plane.json');
page.start(0, tables.solvers[0].id);
writeFileSync(join(folder, 'tables.d.mts'), typesOf(tables, page.fieldTable, scenes));
page.destroy();
declare();
const packed = JSON.parse(execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out],
    { cwd: folder, encoding: 'utf8' }));
const { size, files } = Array.isArray(packed) ? packed[0] : Object.values(packed)[0];
console.log(`${join(out, `kinloop-${version}.tgz`)}: ${files.length} files, ${Math.round(size / 1024)} kB`);
