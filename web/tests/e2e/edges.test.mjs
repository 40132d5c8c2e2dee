// Own files, exports, embedding, accessibility, small screens, failures, offline.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { download, drawn, filled, newContext, openPage, plotTool, says, seek, shots } from './browser.mjs';
import { browser, server } from './site.mjs';

const SHORT = '#v=1&scene=box_on_plane&s=pgs-ccp,admm-ncp-fp&pre=ht&T=0.1&t=0.05';
const root = resolve(import.meta.dirname, '../../..');
const command = resolve(root, 'build/native/kinloop');
const withCommand = { skip: !existsSync(command) && 'the command is not built' };
const axe = readFileSync(resolve(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8');

async function give(page, name, text) {
    const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        (async () => {
            await page.locator('.experiment').click();
            await page.getByRole('button', { name: 'Open files' }).click();
        })(),
    ]);
    await chooser.setFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
}

test('an own scene opens; a bad one is refused with line and path, and changes nothing', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    const scene = JSON.parse(readFileSync(resolve(root, 'scenes/box_on_plane.json'), 'utf8'));
    scene.id = 'mine';
    scene.title = 'My box';
    const bad = structuredClone(scene);
    bad.bodies[0].mass = -1;
    await give(page, 'bad.json', JSON.stringify(bad, null, 2));
    const alert = page.getByRole('alert').filter({ hasText: 'bad.json' }).first();
    await alert.waitFor();
    assert.match(await alert.textContent(), /bodies\[0\]\.mass/);
    assert.match(await alert.textContent(), /bad\.json:\d+/);
    // The gallery is still open: the message lies over it, within reach.
    await alert.getByRole('button', { name: 'Dismiss' }).click({ trial: true });
    assert.equal(await page.evaluate(() => window.kinloop.scene), 'box_on_plane');
    await page.keyboard.press('Escape');
    await give(page, 'mine.json', JSON.stringify(scene));
    await page.waitForFunction(
        () => window.kinloop.scene === 'mine' && window.kinloop.lanes.some((l) => l.filled > 5),
    );
    assert.deepEqual(errors, []);
    await context.close();
});

test('exports open and hold what is shown', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await seek(page, 50);
    await page.getByRole('tab', { name: 'Export' }).click();
    const scene = await download(page, () => page.getByRole('button', { name: 'Scene (JSON)' }).click());
    assert.equal(JSON.parse(scene.data).id, 'box_on_plane');
    const problem = JSON.parse(
        (
            await download(page, () =>
                page.getByRole('button', { name: 'Dual problem of this step (JSON)' }).click(),
            )
        ).data,
    );
    assert.equal(problem.D.length, problem.joint_rows + problem.limits + 3 * problem.contacts);
    const csv = (
        await download(page, () => page.getByRole('button', { name: 'all metrics (CSV)' }).click())
    ).data.toString();
    assert.match(csv.split('\n')[0], /^solver,step,time,/);
    assert.equal(csv.trim().split('\n').length, 1 + 2 * 100);
    const json = JSON.parse(
        (await download(page, () => page.getByRole('button', { name: 'all metrics (JSON)' }).click())).data,
    );
    assert.deepEqual(
        json.map((l) => l.solver),
        ['pgs-ccp', 'admm-ncp-fp'],
    );
    const png = await download(page, () => page.getByRole('button', { name: '3D views (PNG)' }).click());
    assert.equal(png.data.subarray(1, 4).toString(), 'PNG');
    assert.ok(png.data.length > 5000);
    await page.locator('[data-plot="r_nat"] figure').hover();
    const svg = (
        await download(page, () => plotTool(page, 'r_nat', 'SVG').then((tool) => tool.click()))
    ).data.toString();
    assert.match(svg, /^<svg[\s\S]*<path/);
    const points = (
        await download(page, () => plotTool(page, 'r_nat', 'CSV').then((tool) => tool.click()))
    ).data.toString();
    assert.equal(points.trim().split('\n').length, 1 + 2 * 100);
    assert.deepEqual(errors, []);
    await context.close();
});

test('an exported problem opens again and is solved', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await give(
        page,
        'slip.json',
        JSON.stringify({
            contacts: 1,
            dt: 1,
            mu: 0.5,
            v_f: [4, 2, -3],
            D: [
                [2, 0, 0.5],
                [0, 3, -0.25],
                [0.5, -0.25, 4],
            ],
        }),
    );
    await page.getByRole('status').filter({ hasText: '1 dual problem' }).waitFor();
    await page.getByRole('tab', { name: 'Problem' }).click();
    await page.getByRole('button', { name: 'Solve with all chosen solvers' }).click();
    const row = page.locator('kl-own-problem tbody tr').filter({ hasText: 'ADMM-NCP-FP' });
    await says(row, 'converged');
    assert.deepEqual(errors, []);
    await context.close();
});

test("rank, spectrum and internal forces of a problem are the command's", withCommand, async () => {
    const file = resolve(root, 'tests/data/problems.json');
    const chosen = ['-s', 'admm-ncp-plus', '--preset', 'high-throughput'];
    const told = JSON.parse(
        execFileSync(command, ['solve', `${file}:10`, ...chosen, '-c', '--json'], { encoding: 'utf8' }),
    );
    const { rank, jacobian_rank: ofJ, condition } = told.problems[0];
    const share = told.results[0].internal_share;
    assert.ok(share > 0.1, 'joints and contacts of this problem work against each other');

    const link = '#v=1&scene=box_on_plane&s=admm-ncp-plus&pre=ht&T=0.1';
    const { page, context, errors } = await openPage(browser, server.url + link);
    await filled(page);
    await give(page, 'problems.json', readFileSync(file, 'utf8'));
    await page.getByRole('status').filter({ hasText: 'dual problem' }).waitFor();
    await page.getByRole('tab', { name: 'Problem' }).click();
    await page.getByRole('spinbutton', { name: 'problem' }).fill('10');
    await page.getByRole('spinbutton', { name: 'problem' }).press('Enter');
    await page.getByText('18 rows: 6 of joints').waitFor();
    await page.getByRole('button', { name: 'Solve with all chosen solvers' }).click();
    const own = page.locator('kl-own-problem');
    await own.getByRole('button', { name: /Rank, spectrum/ }).click();
    await own.locator('kl-condition svg').waitFor();
    const facts = own.locator('.facts');
    await says(facts, new RegExp(`rank\\s+of\\s+D\\s*${rank}\\s*rank\\s+of\\s+J\\s*${ofJ}\\s*λ`));
    await says(facts, new RegExp(`condition\\s+κ\\s*${shown(condition)}\\s*density`));
    const label = await own.locator('kl-condition svg').getAttribute('aria-label');
    assert.equal(
        label,
        `Spectrum of D: ${told.problems[0].spectrum.length} eigenvalues, ${rank} above rounding`,
    );
    await says(own.locator('tbody td').nth(2), new RegExp(`^\\s*${shown(share)}\\s*$`));
    await page.screenshot({ path: resolve(shots, 'internal-forces.png') });
    assert.deepEqual(errors, []);
    await context.close();
});

/** As the page writes numbers of this size: three digits. */
function shown(value) {
    const digits = Number(value.toPrecision(3));
    return digits < 1e5 ? String(digits) : digits.toExponential().replace('e+', 'e');
}

const fclib = resolve(root, 'tests/data/fclib');
test('an FCLIB file opens', async () => {
    const { readdirSync } = await import('node:fs');
    const file = readdirSync(fclib).find((f) => /LMGC.*00046|CubeH8/.test(f) && f.endsWith('.hdf5'));
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        (async () => {
            await page.locator('.experiment').click();
            await page.getByRole('button', { name: 'Open files' }).click();
        })(),
    ]);
    await chooser.setFiles(resolve(fclib, file));
    await page.locator('.message').filter({ hasText: file }).waitFor();
    assert.deepEqual(errors, []);
    await context.close();
});

test('a damaged HDF5 file gives a message', async () => {
    const { page, context } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await give(page, 'broken.h5', 'this is no HDF5 file');
    await page.getByRole('alert').filter({ hasText: 'broken.h5' }).first().waitFor();
    await context.close();
});

test('embedded, only views, timeline and plots show, and fill the frame', async () => {
    const { page, context, errors } = await openPage(browser, `${server.url}?embed${SHORT}`);
    await filled(page);
    assert.equal(await page.locator('kl-top-bar').count(), 0);
    assert.equal(await page.locator('kl-inspector').count(), 0);
    assert.equal(await page.locator('kl-stage').count(), 1);
    const [end, status] = await page.evaluate(() => [
        innerHeight,
        document.querySelector('kl-status-bar').getBoundingClientRect(),
    ]);
    assert.ok(Math.abs(status.bottom - end) < 1 && status.height < 60, JSON.stringify(status));
    assert.deepEqual(errors, []);
    await context.close();
});

for (const width of [390, 1024, 1440]) {
    for (const colorScheme of ['light', 'dark']) {
        test(`no accessibility fault and no sideways scrolling at ${width} px, ${colorScheme}`, async () => {
            const { page, context, errors } = await openPage(browser, server.url + SHORT, {
                viewport: { width, height: 844 },
                colorScheme,
                bypassCSP: true,
            });
            await filled(page);
            await seek(page, 50);
            await page.evaluate(axe);
            const check = async (state) => {
                const { violations } = await page.evaluate(() =>
                    window.axe.run(document, { resultTypes: ['violations'] }),
                );
                const found = violations.map(
                    (v) =>
                        `${state}: ${v.id} (${v.impact}): ${v.nodes
                            .slice(0, 3)
                            .map((n) => n.html.slice(0, 140))
                            .join(' | ')}`,
                );
                assert.deepEqual(found, []);
            };
            await check('page');
            for (const tab of ['Scene', 'Problem', 'View', 'Export']) {
                await page.getByRole('tab', { name: tab }).click();
                await page.locator(`kl-${tab.toLowerCase()}-panel > :visible`).first().waitFor();
                await check(tab);
            }
            if (width !== 1024) {
                await page.locator('.experiment').click();
                await page.locator('.gallery li').first().waitFor();
                await check('gallery');
                await page.keyboard.press('Escape');
                await page.getByRole('button', { name: 'Help' }).click();
                await check('help');
                await page.keyboard.press('Escape');
                await page.getByRole('button', { name: 'Share' }).click();
                await page.waitForFunction(() =>
                    document.querySelector('textarea[data-share="Link"]')?.value.includes('&h='),
                );
                await check('share');
                await page.keyboard.press('Escape');
                await page.getByRole('button', { name: 'Benchmark' }).click();
                await check('benchmark');
                await page.keyboard.press('Escape');
            }
            const wider = await page.evaluate(
                () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
            );
            assert.ok(wider <= 0, `${wider} px too wide`);
            await page.screenshot({
                path: resolve(shots, `width-${width}-${colorScheme}.png`),
                fullPage: width < 1000,
            });
            assert.deepEqual(errors, []);
            await context.close();
        });
    }
}

/** What is cut off sideways: it leaves the window, or what holds it hides a part. Containers that scroll may be wide. */
function cutOff() {
    const scrolls = (e) => {
        for (let at = e; at; at = at.parentElement)
            if (/auto|scroll/.test(getComputedStyle(at).overflowX) && at.scrollWidth > at.clientWidth)
                return true;
        return false;
    };
    const shown = (e) => {
        const { width, height } = e.getBoundingClientRect();
        return width > 2 && height > 2 && e.checkVisibility({ visibilityProperty: true });
    };
    const name = (e) => `${e.tagName} ${e.className} "${e.textContent.trim().slice(0, 40)}"`;
    const top = document.querySelector('dialog[open]') ?? document.body;
    const parts = [
        ...top.querySelectorAll('button, select, input, textarea, label, h1, h2, h3, p, th, td, dd, dt'),
    ];
    const outside = parts.filter((e) => {
        const { left, right } = e.getBoundingClientRect();
        return (
            shown(e) && !e.closest('.visually-hidden') && (left < -1 || right > innerWidth + 1) && !scrolls(e)
        );
    });
    const hiding = [...top.querySelectorAll('*')].filter(
        (e) =>
            /hidden|clip/.test(getComputedStyle(e).overflowX) &&
            e.scrollWidth > e.clientWidth + 1 &&
            shown(e) &&
            !e.closest('.visually-hidden, svg, .buffers'),
    );
    const wide = document.documentElement.scrollWidth - innerWidth;
    return [...outside, ...hiding].map(name).concat(wide > 0 ? [`${wide} px too wide`] : []);
}

for (const [what, viewport] of [
    ['1440 px', { width: 720, height: 450 }],
    ['1024 px', { width: 512, height: 384 }],
    ['720 px', { width: 360, height: 320 }],
]) {
    test(`zoomed to 200 % at ${what}, nothing is cut off and nothing scrolls sideways`, async () => {
        const { page, context, errors } = await openPage(browser, server.url + SHORT, {
            viewport,
            deviceScaleFactor: 2,
        });
        await filled(page);
        await seek(page, 50);
        const check = async (state) => assert.deepEqual(await page.evaluate(cutOff), [], state);
        await check('page');
        for (const tab of ['Scene', 'Problem', 'View', 'Export']) {
            await page.getByRole('tab', { name: tab }).click();
            await page.locator(`kl-${tab.toLowerCase()}-panel > :visible`).first().waitFor();
            await check(tab);
        }
        const open = async (button, ready) => {
            await page.getByRole('button', { name: button }).first().click();
            await page.locator(ready).first().waitFor();
            await check(button);
            await page.keyboard.press('Escape');
        };
        await open('Box on plane', '.gallery li');
        await open('Share', 'textarea[data-share="Link"]');
        await open('Benchmark', '[data-bench="scene-box_on_plane"]');
        await open('Help', '.keys');
        assert.deepEqual(errors, []);
        await context.close();
    });
}

test('a worker that dies can be started again, the others go on', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await page.evaluate(() => window.kinloop.crashWorker(0));
    await page.locator('.cell').first().getByRole('button', { name: 'Restart worker' }).click();
    await page.waitForFunction(() => window.kinloop.lanes.every((l) => l.filled === 100));
    await filled(page);
    assert.deepEqual(errors, []);
    await context.close();
});

test('a lane that diverges says at which step and body, and keeps what came before', async () => {
    const push = '[{"body":"box","start":0.1,"end":0.2,"force":[0,0,1e308]}]';
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=pgs-ccp,admm-ncp-fp&pre=ht&T=0.3&t=0.05&set=bodies.0.mass:0.00001&set=events:${encodeURIComponent(push)}`,
    );
    await filled(page);
    const error = page.locator('.cell-error').first();
    await error.waitFor();
    assert.match(await error.textContent(), /Diverged at step 101\s+the motion of body 'box' is not finite/);
    assert.deepEqual(await page.evaluate(() => window.kinloop.lanes.map((l) => [l.state, l.filled])), [
        ['diverged', 100],
        ['diverged', 100],
    ]);
    await seek(page, 80);
    assert.deepEqual(errors, []);
    await context.close();
});

test('a film of the run ends by itself and is a WebM', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await page.getByRole('tab', { name: 'Export' }).click();
    const film = await download(page, () =>
        page.getByRole('button', { name: 'Film of the run (WebM)' }).click(),
    );
    assert.equal(film.name, 'box_on_plane.webm');
    assert.equal(film.data.subarray(0, 4).toString('hex'), '1a45dfa3');
    assert.equal(await page.evaluate(() => window.kinloop.step), 100, 'it shows the run to its end');
    assert.deepEqual(errors, []);
    await context.close();
});

test('a pasted file and a pasted text open as scenes', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    for (const [id, as] of [
        ['first', 'file'],
        ['second', 'text'],
    ]) {
        await page.evaluate(
            async ([id, as]) => {
                const scene = await (await fetch('./scenes/nunchaku.json')).json();
                const text = JSON.stringify({ ...scene, id });
                const clipboardData = new DataTransfer();
                if (as === 'file')
                    clipboardData.items.add(new File([text], `${id}.json`, { type: 'application/json' }));
                else clipboardData.setData('text/plain', text);
                dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
            },
            [id, as],
        );
        await page.waitForFunction((wanted) => window.kinloop.scene === wanted, id);
    }
    assert.deepEqual(errors, []);
    await context.close();
});

test('one press changes between light and dark', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    const seen = [await theme()];
    for (let i = 0; i < 2; i++) {
        await page.getByRole('button', { name: 'Light or dark' }).click();
        seen.push(await theme());
    }
    assert.deepEqual(seen, ['light', 'dark', 'light']);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
    assert.deepEqual(errors, []);
    await context.close();
});

test('without WebGL the plots still work', async () => {
    const context = await newContext(browser);
    await context.addInitScript(() => {
        const original = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return /webgl/.test(kind) ? null : original.call(this, kind, ...rest);
        };
    });
    const page = await context.newPage();
    await page.goto(server.url + SHORT);
    await page.getByText('WebGL is not available').waitFor();
    await filled(page);
    await page.locator('[data-plot="r_nat"] canvas').waitFor();
    await context.close();
});

test('without WebAssembly the page says what is needed', async () => {
    const context = await newContext(browser);
    await context.addInitScript(() => {
        WebAssembly.validate = () => false;
    });
    const page = await context.newPage();
    await page.goto(server.url);
    await page.getByText('no WebAssembly with SIMD').waitFor();
    await context.close();
});

test('when the core cannot be fetched, the page says so and offers to try again', async () => {
    const context = await newContext(browser);
    const page = await context.newPage();
    await page.route('**/*.wasm', (route) => route.abort());
    await page.goto(server.url);
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await context.close();
});

test('a lost WebGL context comes back', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await page.evaluate(async () => {
        const canvas = document.querySelector('.stage-canvas');
        const comes = (event) => new Promise((done) => canvas.addEventListener(event, done, { once: true }));
        const lose = canvas.getContext('webgl2').getExtension('WEBGL_lose_context');
        const [lost, restored] = [comes('webglcontextlost'), comes('webglcontextrestored')];
        lose.loseContext();
        await lost;
        await new Promise((done) => setTimeout(done)); // the event must be over
        lose.restoreContext();
        await restored;
    });
    await page.evaluate(() => window.kinloop.seek(60));
    await drawn(page);
    await page.waitForFunction(() => window.kinloop.arrows(0)?.vectors.length > 0);
    assert.deepEqual(
        errors.filter((e) => !/CONTEXT_LOST|Context Lost/i.test(e)),
        [],
    );
    await context.close();
});

test('after the first visit it works without a network', async () => {
    const context = await newContext(browser, { serviceWorkers: 'allow' });
    const page = await context.newPage();
    await page.goto(server.url + SHORT);
    await filled(page);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await context.setOffline(true);
    await page.goto('about:blank');
    await page.goto(`${server.url}#v=1&scene=nunchaku&s=admm-ncp-fp&pre=ht&T=0.05&t=0.01`);
    await filled(page);
    assert.equal(await page.evaluate(() => window.kinloop.scene), 'nunchaku');
    await context.close();
});

test('the command gives the same state for the same link', withCommand, async () => {
    const link =
        '#v=1&scene=box_on_plane@1&pre=ht&s=pgs-ccp,admm-ncp-fp&T=0.2&t=0.2&set=bodies.0.mass:2&p=pgs-ccp.tolerance:1e-8';
    const { page, context, errors } = await openPage(browser, server.url + link);
    await filled(page);
    await seek(page, 200);
    const seen = await page.evaluate(() => window.kinloop.lanes.map((l) => `${l.solver} ${l.hash}`));
    const told = execFileSync(command, ['run', link, '--hash', '--progress', 'none'], {
        encoding: 'utf8',
        cwd: root,
    });
    assert.deepEqual(told.trim().split('\n'), seen);
    assert.deepEqual(errors, []);
    await context.close();
});

test('the page gives the golden state hashes of the native build', async () => {
    const golden = JSON.parse(readFileSync(resolve(root, 'tests/golden/hashes.json'), 'utf8')).filter(
        (g) => g.steps <= 400,
    );
    const codes = { 'high-precision': 'hp', 'high-throughput': 'ht' };
    for (const g of golden) {
        const T = g.steps * 1e-3;
        const { page, context, errors } = await openPage(
            browser,
            `${server.url}#v=1&scene=${g.scene}&run=${g.run}&s=${g.solver}&pre=${codes[g.preset]}&T=${T}&t=${T}`,
        );
        await filled(page);
        await seek(page, g.steps);
        const [lane] = await page.evaluate(() => window.kinloop.lanes);
        assert.equal(lane.hash, g.hash, `${g.scene} ${g.run} ${g.solver}`);
        assert.deepEqual(errors, []);
        await context.close();
    }
});
