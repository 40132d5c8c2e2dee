// Scenes by address and by file, hashes block by block, ghosts, handles, where a method goes wrong, impedance,
// HDF5 written by the page, estimates, the element for other pages.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import {
    download,
    drawn,
    filled,
    newContext,
    openIn,
    openPage,
    says,
    seek,
    sharedLink,
    shots,
    until,
} from './browser.mjs';
import { browser, server } from './site.mjs';

const root = resolve(import.meta.dirname, '../../..');
const command = resolve(root, 'build/native/kinloop');
const withCommand = { skip: !existsSync(command) && 'the command is not built' };
const SHORT = '#v=1&scene=box_on_plane&s=pgs-ccp,admm-ncp-fp&pre=ht&T=0.3&t=0.001';
const SOURCE = readFileSync(resolve(root, 'scenes/fourbar_free.json'), 'utf8');

let elsewhere; // another origin, with files that may be read and files that may not
before(async () => {
    elsewhere = await otherHost();
});
after(() => elsewhere?.server.close());

function otherHost() {
    const files = {
        '/far.json': SOURCE,
        '/changed.json': SOURCE.replace('"title"', ' "title"'),
        '/page.html': '<!doctype html><title>a page</title>',
        '/broken.json': '{"schema": 1, "bodies": [',
        '/large.json': ' '.repeat(9 << 20),
        '/text.json': 'hello',
        '/favicon.ico': '',
        '/arm.urdf': readFileSync(resolve(root, 'tests/data/models/robot_delta/robot.urdf'), 'utf8'),
    };
    const host = createServer((request, response) => {
        const path = request.url.split('?')[0];
        const open = path !== '/closed.json';
        const body = files[path === '/closed.json' ? '/far.json' : path];
        const headers = open ? { 'Access-Control-Allow-Origin': '*' } : {};
        response.writeHead(body === undefined ? 404 : 200, headers);
        response.end(body);
    });
    return new Promise((done) =>
        host.listen(0, '127.0.0.1', () =>
            done({ server: host, url: `http://127.0.0.1:${host.address().port}`, files }),
        ),
    );
}

const sum = (text) => `sha256-${createHash('sha256').update(text).digest('base64url')}`;
const urlLink = (path, more = '') =>
    `${server.url}#v=1&scene=url&u=${encodeURIComponent(elsewhere.url + path)}&s=pgs-ncp&pre=ht&T=0.1${more}`;

test('a link to a scene elsewhere asks, fetches, and is written again by Share', async () => {
    const { page, context, errors } = await openPage(
        browser,
        urlLink('/far.json', `&sum=${sum(SOURCE)}&t=0.05`),
    );
    const ask = page.getByRole('dialog', { name: 'Fetch a scene from another address?' });
    await ask.waitFor();
    assert.equal(await page.evaluate(() => window.kinloop.lanes.length), 0, 'nothing runs before the answer');
    await page.screenshot({ path: resolve(shots, 'obtain.png') });
    await ask.getByRole('button', { name: 'Fetch', exact: true }).click();
    await filled(page);
    assert.equal(await page.evaluate(() => window.kinloop.scene), 'fourbar_free');
    assert.equal(await page.evaluate(() => window.kinloop.step), 50);
    assert.equal(await page.locator('.message-warning').count(), 0);
    await page.locator('body').press('s');
    const box = page.locator('textarea[data-share="Link"]');
    await page.waitForFunction(() =>
        document.querySelector('textarea[data-share="Link"]')?.value.includes('scene=url'),
    );
    assert.match(await box.inputValue(), new RegExp(`u=http.*far\\.json&sum=${sum(SOURCE)}`));
    assert.deepEqual(errors, []);
    await context.close();
});

test('a scene elsewhere that was changed, cannot be read, or is none is told apart', async () => {
    const { page, context } = await openPage(browser, urlLink('/changed.json', `&sum=${sum(SOURCE)}`));
    await page.getByRole('button', { name: 'Fetch', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'has changed since the link was made' }).waitFor();
    await filled(page);
    const told = {
        '/none.json': /answers 404/,
        '/closed.json': /CORS/,
        '/page.html': /web page, not a file/,
        '/large.json': /larger than 8\.0 MB|at most 8\.0 MB/,
        '/text.json': /neither a scene or problem/,
    };
    for (const [path, text] of Object.entries(told)) {
        await page.evaluate((l) => (location.href = l), urlLink(path));
        await page.getByRole('button', { name: 'Fetch', exact: true }).click();
        await says(page.getByRole('dialog').getByRole('alert'), text);
        await page.keyboard.press('Escape');
    }
    await page.evaluate((l) => (location.href = l), urlLink('/broken.json'));
    await page.getByRole('button', { name: 'Fetch', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'broken.json:1' }).first().waitFor();
    assert.ok(await page.evaluate(() => window.kinloop.lanes.length > 0), 'the page keeps what it had');
    await context.close();
});

test('declining keeps the address and shows the first experiment', async () => {
    const { page, context, errors } = await openPage(browser, urlLink('/far.json'));
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.waitForFunction(() => window.kinloop.scene === 'box_on_plane');
    await page.waitForTimeout(1500);
    assert.match(await page.evaluate(() => location.hash), /scene=url/);
    assert.deepEqual(errors, []);
    await context.close();
});

test('who goes to another link while asked, or just after declining, gets that one', async () => {
    const other = `${server.url}#v=1&scene=nunchaku&s=pgs-ncp&pre=ht&T=0.1`;
    for (const declines of [false, true]) {
        const { page, context, errors } = await openPage(browser, urlLink('/far.json'));
        await page.getByRole('dialog').getByRole('button', { name: 'Fetch', exact: true }).waitFor();
        // Escape closes the dialog at once, but the page hears of it later than of the address.
        await page.evaluate(
            ([link, declines]) => {
                if (declines) document.querySelector('dialog[open]').close();
                location.href = link;
            },
            [other, declines],
        );
        await filled(page);
        assert.equal(await page.evaluate(() => window.kinloop.scene), 'nunchaku');
        assert.equal(await page.locator('dialog[open]').count(), 0);
        assert.deepEqual(await page.locator('.message').allInnerTexts(), [], 'nothing was left out');
        assert.match(await page.evaluate(() => location.hash), /scene=nunchaku/);
        assert.deepEqual(errors, []);
        await context.close();
    }
});

test('models and scenes open by an address that is typed', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    for (const [path, scene] of [
        ['/far.json', 'fourbar_free'],
        ['/arm.urdf', 'onshape'],
    ]) {
        await page.locator('.experiment').click();
        await page.getByRole('button', { name: 'By address…' }).click();
        const field = page.getByRole('textbox', { name: 'Address' });
        await field.fill(elsewhere.url + path);
        await field.press('Enter');
        await page.waitForFunction((s) => window.kinloop.scene.startsWith(s), scene);
        await page.keyboard.press('Escape');
    }
    await page.waitForFunction(() => window.kinloop.experiment.scene.url?.endsWith('/arm.urdf'));
    assert.deepEqual(
        errors.filter((e) => !/404/.test(e)),
        [],
    ); // meshes that are not there
    await context.close();
});

test('a link that needs a file asks for it and refuses another', async () => {
    const link = `#v=1&scene=file&name=mine.json&sum=${sum(SOURCE)}&s=pgs-ncp&pre=ht&T=0.1&t=0.05`;
    const { page, context, errors } = await openPage(browser, server.url + link);
    const choose = async (text) => {
        const [chooser] = await Promise.all([
            page.waitForEvent('filechooser'),
            page.getByRole('button', { name: /Choose mine\.json/ }).click(),
        ]);
        await chooser.setFiles({
            name: 'mine.json',
            mimeType: 'application/json',
            buffer: Buffer.from(text),
        });
    };
    await choose(`${SOURCE}\n`);
    await page.getByRole('alert').filter({ hasText: 'not the sender’s' }).waitFor();
    await choose(SOURCE);
    await filled(page);
    assert.equal(await page.evaluate(() => window.kinloop.scene), 'fourbar_free');
    assert.equal(await page.evaluate(() => window.kinloop.step), 50);
    assert.deepEqual(errors, []);
    await context.close();
});

test('a state that differs is traced to its first block of 64 steps', async () => {
    const first = await openPage(
        browser,
        `${server.url}#v=1&scene=fourbar_free&s=pgs-ncp,admm-ncp-plus&pre=ht&T=0.3&t=0`,
    );
    await filled(first.page);
    await seek(first.page, 300);
    await first.page.locator('body').press('s');
    await first.page.waitForFunction(() =>
        document.querySelector('textarea[data-share="Link"]')?.value.includes('&b='),
    );
    const link = await first.page.locator('textarea[data-share="Link"]').inputValue();
    await first.context.close();
    // A push that begins in step 151 changes nothing before.
    const push = encodeURIComponent(
        JSON.stringify([{ body: 'base', start: 0.15, end: 0.16, force: [0.1, 0, 0] }]),
    );
    const name = JSON.parse(SOURCE).bodies[0].name;
    const other = link.replace('&T=', `&set=runs.0.events:${push.replace('base', name)}&T=`);
    const second = await openPage(browser, other);
    const verdict = second.page.locator('.verdict-differs');
    await verdict.waitFor();
    assert.match(await verdict.textContent(), /at step 300, from step 129 on/);
    const message = await second.page.getByRole('status').filter({ hasText: 'not reproduced' }).textContent();
    assert.match(message, /pgs-ncp: .*first in steps 129 to 192/);
    assert.match(message, /admm-ncp-plus: .*first in steps 129 to 192/);
    await second.page.getByRole('button', { name: 'go there' }).click();
    assert.equal(await second.page.evaluate(() => window.kinloop.step), 129);
    assert.deepEqual([...first.errors, ...second.errors], []);
    await second.context.close();
});

test('the ghost of one solver lies over the views of the others', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=pgs-ccp-nds,admm-ncp-plus&pre=ht&T=3&t=2.9`,
    );
    await filled(page);
    await page.getByRole('tab', { name: 'View' }).click();
    await page.getByRole('combobox', { name: 'Ghost of' }).selectOption('admm-ncp-plus');
    await page.locator('.cell[data-lane="pgs-ccp-nds"][data-ghost="admm-ncp-plus"]').waitFor();
    assert.equal(await page.locator('.cell[data-lane="admm-ncp-plus"][data-ghost]').count(), 0);
    await page.getByRole('checkbox', { name: 'Violation of joints and contacts' }).check();
    await page.waitForFunction(() => Number(document.querySelector('.cell').dataset.violation) >= 4);
    await drawn(page);
    await page.screenshot({ path: resolve(shots, 'ghost.png') });
    await page.getByRole('combobox', { name: 'Ghost of' }).selectOption('');
    await page.waitForFunction(() => !document.querySelector('.cell[data-ghost]'));
    assert.deepEqual(errors, []);
    await context.close();
});

test('handles move and turn a body at the start; so do the fields; undo takes it back', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=admm-ncp-plus&pre=ht&T=0.1&t=0`,
    );
    await filled(page);
    await page.getByRole('tab', { name: 'Scene' }).click();
    await page.locator('kl-scene-panel .list button').first().click();
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    const cell = page.locator('.cell[data-handles="translate"]');
    await cell.waitFor();
    await drawn(page);
    await page.screenshot({ path: resolve(shots, 'handles.png') });
    const before = await page.evaluate(() => window.kinloop.field(0, 'pose'));
    const at = await page.evaluate(() => document.querySelector('kl-stage').screenOf(0, 0));
    await page.mouse.move(at.x, at.y - 60); // along the arrow of z
    await page.mouse.down();
    await page.mouse.move(at.x, at.y - 120, { steps: 6 });
    await page.mouse.up();
    await page.waitForFunction(() => window.kinloop.experiment.edits.length === 2);
    await filled(page);
    await page.waitForFunction((z) => window.kinloop.field(0, 'pose')[2] > z + 0.02, before[2]);
    const pose = await page.evaluate(() => window.kinloop.field(0, 'pose'));
    assert.ok(Math.abs(pose[0] - before[0]) < 1e-9, 'along z only');
    await page.getByRole('button', { name: 'Undo' }).click();
    await filled(page);
    await page.waitForFunction((z) => Math.abs(window.kinloop.field(0, 'pose')[2] - z) < 1e-9, before[2]);
    const yaw = page.getByRole('textbox', { name: 'Yaw' });
    await yaw.fill('90');
    await yaw.press('Enter');
    await page.waitForFunction(() => Math.abs(window.kinloop.field(0, 'pose')[6] - Math.SQRT1_2) < 1e-6);
    const edge = page.getByRole('textbox', { name: 'Edge x' });
    await edge.fill('0.4');
    await edge.press('Enter');
    await page.waitForFunction(() => window.kinloop.experiment.edits.some((e) => e.path.endsWith('size')));
    await filled(page);
    assert.deepEqual(errors, []);
    await context.close();
});

test('limits and gains of a joint can be changed', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=fourbar_free&s=admm-ncp-plus&pre=ht&T=0.1&t=0`,
    );
    await filled(page);
    await page.getByRole('tab', { name: 'Scene' }).click();
    await page.locator('kl-scene-panel .list').nth(1).getByRole('button').first().click();
    const upper = page.getByRole('textbox', { name: 'Upper limit' });
    await upper.fill('0.25');
    await upper.press('Enter');
    await page.waitForFunction(() => window.kinloop.experiment.edits[0]?.value[1] === 0.25);
    await filled(page);
    await upper.fill('');
    await upper.press('Enter');
    await page.waitForFunction(() => window.kinloop.experiment.edits[0]?.value[1] === null);
    await filled(page);
    assert.deepEqual(errors, []);
    await context.close();
});

test('a method that goes wrong shows at which constraint and iteration', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=walker&run=hard&s=pgs-ncp,admm-ncp-plus&pre=ht&T=0.2&t=0.15&p=pgs-ncp.max_iterations:60`,
    );
    await filled(page);
    await seek(page, 150);
    await page.getByRole('tab', { name: 'Problem' }).click();
    const table = page.getByRole('region', { name: 'Solver outcomes' });
    const worst = table.locator('tr', { hasText: 'worst at' }).getByRole('button').first();
    await worst.waitFor();
    assert.deepEqual(await table.locator('thead th').allTextContents(), ['PGS-NCP', 'ADMM-NCP+']);
    const fits = await table.evaluate((e) => e.scrollWidth <= e.clientWidth);
    assert.ok(fits, 'the outcomes of two solvers are seen without scrolling sideways');
    const note = page.locator('[data-plot="convergence"] .plot-note');
    await note.filter({ hasText: /Worst: .* of PGS-NCP/ }).waitFor();
    await worst.click();
    await page.waitForFunction(() => window.kinloop.selection !== null);
    await page.getByRole('button', { name: 'Error by constraint and iteration' }).click();
    const map = page.locator('kl-error-map figure');
    await map.filter({ hasText: /Worst at the end/ }).waitFor();
    await page.waitForFunction(
        () => !document.querySelector('kl-error-map').textContent.includes('More to come'),
    );
    assert.equal(
        await map.locator('figcaption b').textContent(),
        await worst.textContent(),
        'the map ends where the solve ended',
    );
    assert.ok((await map.locator('g').first().locator('rect').count()) > 10);
    await map.scrollIntoViewIfNeeded();
    await page.screenshot({ path: resolve(shots, 'error-map.png') });
    assert.deepEqual(errors, []);
    await context.close();
});

test('a softened run shows its impedance curve and where its contacts lie on it', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&run=softened&s=admm-ncp-plus&pre=ht&T=0.2&t=0.1`,
    );
    await filled(page);
    await seek(page, 100);
    await page.getByRole('tab', { name: 'Problem' }).click();
    const figure = page.locator('kl-impedance figure');
    await until(
        async () => (await figure.locator('circle').count()) === 4,
        async () => `${await figure.locator('circle').count()} circles for four contacts`,
    );
    const d = await figure.locator('circle title').first().textContent();
    const [, r, value] = /^([\d.e−-]+) m: d ([\d.]+)$/.exec(d.replaceAll('−', '-'));
    // The paper's sigmoid with its defaults: d0 0.9, dw 0.95, width 1 mm, midpoint 0.5, power 2.
    const x = Math.min(1, Number(r) / 1e-3);
    const y = x <= 0.5 ? x ** 2 / 0.5 : 1 - (1 - x) ** 2 / 0.5;
    assert.ok(Math.abs(Number(value) - (0.9 + 0.05 * y)) < 2e-3, d);
    await page.getByRole('button', { name: /Rank, spectrum/ }).click();
    await page.locator('.contact-figure .landing').first().waitFor();
    await page.locator('.contact-figure').first().scrollIntoViewIfNeeded();
    await page.screenshot({ path: resolve(shots, 'impedance.png') });
    assert.deepEqual(errors, []);
    await context.close();
});

test('a problem written as HDF5 is solved by the command and opens here again', withCommand, async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=fourbar_free&run=softened&s=admm-ncp-plus&pre=ht&T=0.3&t=0.25`,
    );
    await filled(page);
    await seek(page, 250);
    await page.getByRole('tab', { name: 'Export' }).click();
    const { name, data } = await download(page, () =>
        page.getByRole('button', { name: 'Dual problem of this step (HDF5)' }).click(),
    );
    assert.match(name, /^fourbar_free-step250-problem\.h5$/);
    const file = resolve(mkdtempSync(resolve(tmpdir(), 'kinloop-')), name);
    writeFileSync(file, data);
    const run = (...args) => execFileSync(command, args, { encoding: 'utf8' });
    const told = JSON.parse(run('solve', file, '-s', 'admm-ncp-plus,newton-ncp', '--json'));
    assert.deepEqual(
        told.results.map((r) => r.outcome),
        ['converged', 'converged'],
    );
    run('check', file);
    const json = await download(page, () => page.getByRole('button', { name: 'this step (JSON)' }).click());
    const dim = JSON.parse(json.data).D.length;
    assert.equal(told.results[0].n, dim);
    const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        (async () => {
            await page.locator('.experiment').click();
            await page.getByRole('button', { name: 'Open files' }).click();
        })(),
    ]);
    await chooser.setFiles(file);
    await page.getByText(`${dim} rows:`).waitFor();
    assert.deepEqual(errors, []);
    await context.close();
});

test('a run written as HDF5 is verified by the command', withCommand, async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=fourbar_free&s=admm-ncp-plus,pgs-ncp&pre=ht&T=0.2&set=bodies.0.mass:2`,
    );
    await filled(page);
    await page.getByRole('tab', { name: 'Export' }).click();
    const { name, data } = await download(page, () =>
        page.getByRole('button', { name: 'The whole run' }).click(),
    );
    const file = resolve(mkdtempSync(resolve(tmpdir(), 'kinloop-')), name);
    writeFileSync(file, data);
    const told = execFileSync(command, ['verify', file], { encoding: 'utf8', cwd: root });
    assert.match(told, /admm-ncp-plus/);
    assert.match(told, /pgs-ncp/);
    assert.deepEqual(errors, []);
    await context.close();
});

/** How far the first lane is filled when three seconds have brought nothing more. */
async function atRest(page) {
    for (let before = -1; ; ) {
        const now = await page.evaluate(() => window.kinloop.lanes[0].filled);
        if (now === before) return now;
        before = now;
        await page.waitForTimeout(3000);
    }
}

test('a run that takes long waits for Run, with its estimate', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=walker&run=hard&s=pgs-ccp&pre=hp&T=60&t=0`,
    );
    const note = page.locator('.estimate');
    await note.waitFor();
    assert.match(await note.textContent(), /takes about .*(min|h|hour|s)/);
    // What was done before it was told to wait comes in; then a step at hand that takes long may end.
    const filledNow = await atRest(page);
    await page.waitForTimeout(3000);
    const later = await page.evaluate(() => window.kinloop.lanes[0].filled);
    assert.ok(later <= filledNow + 1, `it does not wait: ${filledNow} steps, then ${later}`);
    await page.screenshot({ path: resolve(shots, 'estimate.png') });
    await page.evaluate(() => window.kinloop.seek(50_000));
    await page.locator('body').press('s');
    await says(page.getByRole('dialog').locator('p'), /no state hash: not every solver has got to this time/);
    await page.keyboard.press('Escape');
    await page.evaluate(() => window.kinloop.seek(0));
    await note.getByRole('button', { name: 'Run' }).click();
    await page.waitForFunction((n) => window.kinloop.lanes[0].filled > n, filledNow);
    await note.waitFor({ state: 'detached' });
    assert.deepEqual(errors, []);
    await context.close();
});

test('taking a solver away does not start a run that waits; space afterwards takes no other away', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=walker&run=hard&s=newton-ncp,pgs-ccp,pgs-ncp&pre=hp&T=60&t=0`,
    );
    const note = page.locator('.estimate');
    await note.waitFor();
    const solvers = () => page.evaluate(() => window.kinloop.lanes.map((l) => l.solver).join());
    await page.getByRole('button', { name: 'Remove Newton-NCP' }).click();
    await page.waitForFunction(() => window.kinloop.settled && window.kinloop.lanes.length === 2);
    assert.equal(await solvers(), 'pgs-ccp,pgs-ncp');
    await note.waitFor();
    await page.waitForFunction(() => window.kinloop.lanes.every((l) => l.state === 'paused'));
    await page.keyboard.press(' ');
    await note.waitFor({ state: 'detached' });
    assert.equal(await solvers(), 'pgs-ccp,pgs-ncp');
    assert.equal(await page.evaluate(() => window.kinloop.playing), true);
    assert.deepEqual(errors, []);
    await context.close();
});

test('a link carries what views and plots show besides, and a reload keeps it', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await seek(page, 100);
    await page.getByRole('tab', { name: 'View' }).click();
    await page.getByRole('checkbox', { name: 'Friction cones' }).check();
    await page.getByRole('checkbox', { name: 'Joints', exact: true }).uncheck();
    await page.getByRole('combobox', { name: 'Ghost of' }).selectOption('admm-ncp-fp');
    await page.getByRole('button', { name: 'Large', exact: true }).click();
    await page.getByRole('button', { name: 'Larger views' }).click();
    await page.getByRole('button', { name: 'PGS-CCP', exact: true }).last().click();
    const fragment = new URL(await sharedLink(page)).hash;
    assert.match(fragment, /&show=cones,-joints,tall,large,ghost.admm-ncp-fp,hidden.pgs-ccp&/);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => location.hash.includes('&show=cones,-joints,tall,large,ghost'));
    await page.reload();
    const other = await openPage(browser, server.url + fragment);
    for (const there of [page, other.page]) {
        await filled(there);
        const on = (role, name) =>
            there
                .getByRole(role, { name, exact: true })
                .last()
                .evaluate((e) => e.checked ?? e.getAttribute('aria-pressed') === 'true');
        assert.equal(await on('checkbox', 'Friction cones'), true);
        assert.equal(await on('checkbox', 'Joints'), false);
        assert.equal(await on('checkbox', 'Contact forces (on body B)'), true);
        assert.equal(await on('button', 'Large'), true);
        assert.equal(await on('button', 'Larger views'), true);
        assert.equal(await on('button', 'PGS-CCP'), false);
        assert.equal(await there.getByRole('combobox', { name: 'Ghost of' }).inputValue(), 'admm-ncp-fp');
        await there.locator('.cell[data-ghost="admm-ncp-fp"]').first().waitFor();
        assert.equal(await there.locator('.message-warning').count(), 0);
    }
    await other.page.screenshot({ path: resolve(shots, 'shown.png') });
    await other.page.goto(`${server.url + SHORT}&show=sparkles,cones`);
    await says(other.page.locator('.message-warning'), /sparkles/);
    assert.deepEqual([...errors, ...other.errors], []);
    await other.context.close();
    await context.close();
});

test('playing goes on from the step shown when pictures are late', async () => {
    const context = await newContext(browser);
    // The time that a picture is told is when it was begun, on a busy machine long before it is drawn.
    await context.addInitScript(() => {
        const draw = window.requestAnimationFrame.bind(window);
        window.requestAnimationFrame = (call) => draw((time) => call(time - 200));
    });
    const { page, errors } = await openIn(context, server.url + SHORT);
    await filled(page);
    const least = await page.evaluate(async () => {
        let lowest = Infinity;
        window.kinloop.seek(5);
        window.kinloop.play();
        while (window.kinloop.step <= 5 && lowest >= 5) {
            await new Promise((done) => setTimeout(done, 5));
            lowest = Math.min(lowest, window.kinloop.step);
        }
        return lowest;
    });
    assert.ok(least >= 5, `it jumps back to ${least}`);
    assert.deepEqual(errors, []);
    await context.close();
});

test('another page shows an experiment with <kinloop-compare> and steers it', async () => {
    const html = `<!doctype html><title>Lecture</title><h1>Lecture</h1>
        <script type="module" src="${server.url}kinloop-compare.js"></script>
        <kinloop-compare scene="box_on_plane" solvers="pgs-ccp, admm-ncp-fp" preset="high-throughput" duration="0.3" time="0.1" height="420"></kinloop-compare>`;
    elsewhere.files['/lecture.html'] = html;
    const { page, context, errors } = await openPage(browser, `${elsewhere.url}/lecture.html`);
    await page.waitForFunction(() => {
        const solvers = document.querySelector('kinloop-compare').state?.solvers ?? [];
        return solvers.length === 2 && solvers.every((s) => s.filled === 300);
    });
    const state = await page.evaluate(() => document.querySelector('kinloop-compare').state);
    assert.deepEqual(
        state.solvers.map((s) => s.id),
        ['pgs-ccp', 'admm-ncp-fp'],
    );
    await page.evaluate(() => document.querySelector('kinloop-compare').seek(0.2));
    await page.waitForFunction(
        () => Math.abs(document.querySelector('kinloop-compare').state.time - 0.2) < 1e-9,
    );
    const alone = await openPage(browser, server.url + SHORT);
    await filled(alone.page);
    await seek(alone.page, 200);
    const hashes = await page.evaluate(() =>
        document.querySelector('kinloop-compare').state.solvers.map((s) => s.hash),
    );
    assert.deepEqual(
        hashes,
        await alone.page.evaluate(() => window.kinloop.lanes.map((l) => l.hash)),
        'the same bits',
    );
    await page.evaluate(() => document.querySelector('kinloop-compare').setAttribute('scene', 'nunchaku'));
    await page.waitForFunction(() => document.querySelector('kinloop-compare').state.scene === 'nunchaku');
    await page.screenshot({ path: resolve(shots, 'compare-element.png') });
    assert.deepEqual([...errors, ...alone.errors], []);
    await alone.context.close();
    await context.close();
});
