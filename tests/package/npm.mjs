// The npm package as its users meet it: installed without a network into an empty project, its README's
// example run, its types checked, loaded in Chromium from a plain web server, equal to the native command.
// Ends with a line "N passed, N failed". Usage: node tests/package/npm.mjs (after `make npm native`)
import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import assert from 'node:assert/strict';

const root = resolve(fileURLToPath(import.meta.url), '../../..');
const web = createRequire(join(root, 'web/package.json'));
const project = mkdtempSync(join(tmpdir(), 'kinloop-npm-'));

const run = (command, args) => execFileSync(command, args, { cwd: project, encoding: 'utf8' });
const node = (file) => run(process.execPath, [file]);
const block = (language) => new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``);
const readme = () => readFileSync(join(project, 'node_modules/kinloop/README.md'), 'utf8');

// The same steps by the command; iterations are not compared, they may differ between versions.
const hashRun = `
import { createPage, readScene } from 'kinloop';
const page = await createPage();
page.load(await readScene('fourbar_free'), 'fourbar_free.json');
page.start(0, 'admm-ncp-fp');
page.configure(false, 'high-throughput', {});
for (let left = 100; left > 0; ) left -= page.work(left, Infinity);
`;

const types = `
import { createPage, readScene, CoreError, type FieldView, type SolverId } from 'kinloop';
const page = await createPage();
const driver: SolverId = 'admm-ncp-fp';
page.load(await readScene('walker'), 'walker.json');
page.start(0, driver);
page.configure<'pgs-ncp'>(false, 'high-precision', { omega: 0.9, warm_start: 1 });
const [modes]: FieldView<'contact_mode'>[] = page.fields(['contact_mode']);
const first: number | undefined = modes?.values[0];
const ids: bigint | undefined = page.fields(['contact_id'])[0]?.values[0];
const column: number = page.tables().record.indexOf('r_nat_rel');
const sphere: string | undefined = page.scene().geoms[0]?.kind;
try { page.start(99, driver); } catch (error) { if (error instanceof CoreError) console.log(error.info.path); }
// @ts-expect-error there is no such solver
page.start(0, 'magic');
// @ts-expect-error a splitting solver has no penalty
page.configure<'pgs-ncp'>(false, '', { rho: 1 });
// @ts-expect-error no such field
page.fields(['colour']);
// @ts-expect-error no such scene
await readScene('nowhere');
console.log(first, ids, column, sphere);
`;

async function serve(folder) {
    const kinds = { '.html': 'text/html', '.mjs': 'text/javascript', '.json': 'application/json' };
    const server = createServer((request, response) => {
        const file = join(folder, new URL(request.url, 'http://localhost').pathname);
        if (!existsSync(file)) return response.writeHead(404).end();
        response.writeHead(200, { 'Content-Type': kinds[extname(file)] ?? 'application/octet-stream' });
        createReadStream(file).pipe(response);
    });
    await new Promise((done) => server.listen(0, '127.0.0.1', done));
    return server;
}

async function runInBrowser(script) {
    const { chromium } = web('playwright-core');
    const map = readme().match(block('html'))[1];
    writeFileSync(join(project, 'index.html'), `<!doctype html><link rel="icon" href="data:,">${map}
<script type="module">${script}</script>`);
    const server = await serve(project);
    const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    try {
        const page = await browser.newPage();
        const lines = [];
        const ended = new Promise((done, refuse) => {
            page.on('console', (message) => lines.push(message.text()));
            page.on('pageerror', refuse);
            page.exposeFunction('ended', done);
        });
        ended.catch(() => {}); // it is awaited below
        await page.goto(`http://127.0.0.1:${server.address().port}/index.html`);
        await ended;
        return `${lines.join('\n')}\n`;
    } finally {
        await browser.close();
        server.close();
    }
}

const claims = {
    'installs without a network into an empty project'() {
        const archive = readdirSync(join(root, 'build/npm')).find((name) => name.endsWith('.tgz'));
        writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
        run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', join(root, 'build/npm', archive)]);
        for (const name of ['kinloop.wasm', 'index.mjs', 'index.d.mts', 'tables.d.mts', 'LICENSE', 'scenes/walker.json']) {
            assert.ok(existsSync(join(project, 'node_modules/kinloop', name)), `${name} is missing`);
        }
    },
    "the README's example prints what the README says"() {
        const counts = (text) => text.replace(/\d+ iterations/g, 'N iterations');
        const [, code] = readme().match(block('js'));
        writeFileSync(join(project, 'example.mjs'), code);
        assert.equal(counts(node('example.mjs')), counts(readme().match(block('text'))[1]));
    },
    'gives the state hash of the native command'() {
        writeFileSync(join(project, 'hash.mjs'), `${hashRun}console.log(page.hash());`);
        const native = run(join(root, 'build/native/kinloop'), ['run', join(root, 'scenes/fourbar_free.json'), '--solver',
            'admm-ncp-fp', '--preset', 'high-throughput', '--steps', '100', '--hash', '--progress', 'none']);
        assert.equal(node('hash.mjs').trim(), native.trim().split(/\s+/).at(-1));
    },
    'says where a scene is wrong'() {
        writeFileSync(join(project, 'wrong.mjs'), `import { createPage, CoreError } from 'kinloop';
const page = await createPage();
try { page.load('{"schema": 1, "id": "x", "title": "x", "bodies": [{"name": "a", "mass": -1, "inertia": [1, 1, 1]}]}', 'x.json'); }
catch (error) { console.log(error instanceof CoreError, error.info.status, error.info.path); }`);
        assert.equal(node('wrong.mjs'), 'true scene bodies[0].mass\n');
    },
    'two pages do not disturb each other'() {
        writeFileSync(join(project, 'two.mjs'), `${hashRun}const first = page.hash();
const other = await createPage();
other.load(await readScene('fourbar_free'), 'a.json'); other.start(0, 'pgs-ncp'); other.work(10, Infinity);
console.log(page.hash() === first && other.hash() !== first);`);
        assert.equal(node('two.mjs'), 'true\n');
    },
    'its types pass tsc, and refuse unknown names'() {
        writeFileSync(join(project, 'types.mts'), types);
        for (const [module, resolution] of [['nodenext', 'nodenext'], ['esnext', 'bundler']]) {
            run(process.execPath, [join(root, 'web/node_modules/typescript/bin/tsc'), '--strict', '--noEmit', '--types', '',
                '--target', 'es2022', '--lib', 'es2023,dom', '--module', module, '--moduleResolution', resolution, 'types.mts']);
        }
    },
    async 'runs in Chromium from a plain web server'() {
        assert.equal(await runInBrowser(`${hashRun}console.log(page.hash()); await ended();`), node('hash.mjs'));
    },
};

let passed = 0;
let failed = 0;
for (const [name, claim] of Object.entries(claims)) {
    try {
        await claim();
        passed++;
        console.log(`ok ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAILED ${name}: ${error.stdout ?? ''}${error.stderr ?? ''}${error.message}`);
    }
}
rmSync(project, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
