// Curated runs, profiles, the problem at hand, editing, the benchmark and the heatmap.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import {
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

test('in a curated run all solvers meet the same problems and move alike', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&mode=curated&s=admm-ncp-fp,pgs-ccp,pgs-ncp&pre=ht&T=0.2&t=0.1&plots=profile,convergence`,
    );
    await filled(page);
    await seek(page, 100);
    const lanes = await page.evaluate(() => window.kinloop.lanes);
    assert.equal(new Set(lanes.map((l) => l.hash)).size, 1, 'one motion');
    const iterations = await page.evaluate(() =>
        [0, 1, 2].map((i) => window.kinloop.column(i, 'iterations').reduce((a, b) => a + b, 0)),
    );
    assert.ok(new Set(iterations).size > 1, 'solvers differ in iterations');
    await says(page.locator('[data-plot="profile"] .plot-note'), /\d+ problems/);
    await page.screenshot({ path: resolve(shots, 'curated.png') });
    assert.deepEqual(errors, []);
    await context.close();
});

test('a curated run at rest redraws nothing', async () => {
    const context = await newContext(browser);
    await context.addInitScript(() => {
        window.cleared_ = 0;
        const { prototype } = CanvasRenderingContext2D;
        const { clearRect } = prototype;
        prototype.clearRect = function (...box) {
            window.cleared_++;
            clearRect.apply(this, box);
        };
        document.addEventListener('kl-drawn', () => window.cleared_++);
    });
    const { page, errors } = await openIn(
        context,
        `${server.url}#v=1&scene=fourbar_fixed&mode=curated&s=pgs-ccp,admm-ncp-fp,newton-ncp&pre=ht&T=0.2&t=0.1&plots=profile,convergence,iterations,state`,
    );
    await filled(page);
    await page.waitForFunction(() => document.querySelectorAll('kl-profile-tools tbody tr').length === 3);
    const counts = [];
    // What the last steps and the step shown have brought is drawn by and by; then nothing is.
    await until(
        async () => {
            counts.push(await page.evaluate(() => window.cleared_));
            await page.waitForTimeout(2500);
            return (await page.evaluate(() => window.cleared_)) === counts.at(-1);
        },
        () => `pictures after every 2.5 s: ${counts}`,
    );
    assert.ok(counts[0] > 4, 'redraws are seen here');
    assert.ok(counts.length < 10, `pictures after every 2.5 s: ${counts}`);
    assert.deepEqual(errors, []);
    await context.close();
});

test('independent runs say that profiles are not comparable', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=admm-ncp-fp,pgs-ccp&pre=ht&T=0.1&t=0.05&plots=profile`,
    );
    await filled(page);
    await page.locator('[data-plot="profile"] .plot-note', { hasText: 'Not comparable' }).waitFor();
    assert.deepEqual(errors, []);
    await context.close();
});

test('the gallery opens every kind of run', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=admm-ncp-fp&pre=ht&T=0.1&t=0.05`,
    );
    await filled(page);
    await page.locator('.experiment').click();
    const cards = page.locator('.gallery li');
    await cards.first().waitFor();
    assert.ok((await cards.count()) >= 5);
    assert.ok((await page.locator('.gallery .tag').count()) > 0, 'surrogates are called so');
    const report = page.locator('button[data-scene="nunchaku_report"]');
    assert.equal(await report.count(), 5, "the report's solvers on each run of the scene");
    await report.first().scrollIntoViewIfNeeded();
    await page.screenshot({ path: resolve(shots, 'gallery.png') });
    await page.locator('button[data-scene="nunchaku"]').first().click();
    await page.waitForFunction(
        () => window.kinloop.scene === 'nunchaku' && window.kinloop.lanes.some((l) => l.filled > 5),
    );
    assert.deepEqual(errors, []);
    await context.close();
});

test('a document that names a scene opens by its link, with its own runs and solvers', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=contact_margin&run=margin_1e-6&T=0.02&t=0.01`,
    );
    await filled(page);
    assert.equal(await page.evaluate(() => window.kinloop.scene), 'contact_margin');
    assert.equal(await page.evaluate(() => window.kinloop.lanes.length), 4, 'the page starts with four');
    assert.deepEqual(errors, []);
    await context.close();
});

test('the problem panel shows rank, category and a picture of D', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=admm-ncp-fp&pre=ht&T=0.1&t=0.05`,
    );
    await filled(page);
    await seek(page, 50);
    await page.getByRole('tab', { name: 'Problem' }).click();
    await page.getByText('sparse-contacts').or(page.getByText('dense-contacts')).first().waitFor();
    await page.getByRole('button', { name: /Rank, spectrum/ }).click();
    await page.locator('kl-matrix canvas').waitFor();
    const panel = page.locator('kl-problem-panel');
    await says(panel, /rank\s+of\s+D\s*6/); // four contacts of one body
    await says(panel, /density\s*100\s+%\s*internal share\s*[\d.e−]+/);
    await says(panel.locator('.outcomes th'), 'internal');
    await page.screenshot({ path: resolve(shots, 'problem.png') });
    assert.deepEqual(errors, []);
    await context.close();
});

test('an edit runs again, undo and redo bring back the states', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=admm-ncp-fp&pre=ht&T=0.1&t=0.08`,
    );
    await filled(page);
    await seek(page, 80);
    const weight = () =>
        page.evaluate(() =>
            window.kinloop
                .field(0, 'contact_force')
                .filter((_, i) => i % 3 === 2)
                .reduce((a, b) => a + b, 0),
        );
    assert.ok(Math.abs((await weight()) - 9.81) < 0.05);
    await page.getByRole('tab', { name: 'Scene' }).click();
    await page.locator('kl-scene-panel .list button').first().click();
    const mass = page.getByRole('textbox', { name: 'Mass' });
    await mass.fill('3');
    await mass.press('Enter');
    await page.waitForFunction(() => window.kinloop.experiment.edits.length === 1);
    await filled(page);
    await page.waitForFunction(() => window.kinloop.lanes.every((l) => l.shown === 80));
    assert.ok(Math.abs((await weight()) - 29.43) < 0.1, `${await weight()} N after the edit`);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForFunction(() => window.kinloop.experiment.edits.length === 0);
    await filled(page);
    await page.waitForFunction(() => window.kinloop.lanes.every((l) => l.shown === 80));
    assert.ok(Math.abs((await weight()) - 9.81) < 0.05);
    await page.getByRole('button', { name: 'Redo' }).click();
    await page.waitForFunction(() => window.kinloop.experiment.edits.length === 1);
    assert.deepEqual(errors, []);
    await context.close();
});

test('a box can be added and pushed', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=admm-ncp-fp&pre=ht&T=0.1&t=0.02`,
    );
    await filled(page);
    await seek(page, 20);
    await page.getByRole('tab', { name: 'Scene' }).click();
    await page.getByRole('button', { name: 'Add a box' }).click();
    await page.waitForFunction(() => window.kinloop.field(0, 'pose').length === 14);
    await page.locator('kl-scene-panel .list button', { hasText: 'added-box' }).click();
    await page.getByRole('button', { name: 'Push it at' }).click();
    await page.waitForFunction(() => window.kinloop.experiment.edits.length === 2);
    await filled(page);
    await seek(page, 90);
    const speed = await page.evaluate(() => window.kinloop.field(0, 'twist')[7]);
    assert.ok(Math.abs(speed - 3 * 9.81 * 0.07) < 0.05, `${speed} m/s along y after 0.07 s of 3 weights`);
    assert.deepEqual(errors, []);
    await context.close();
});

test('a solver parameter can be set and reset', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=pgs-ccp&pre=ht&T=0.05&t=0.04`,
    );
    await filled(page);
    const limit = page.getByRole('textbox', { name: 'Iteration limit' });
    await limit.fill('3');
    await limit.press('Enter');
    await page.waitForFunction(() => window.kinloop.experiment.solvers[0].params.max_iterations === 3);
    await filled(page);
    assert.equal(await page.evaluate(() => Math.max(...window.kinloop.column(0, 'iterations'))), 3);
    await page.getByRole('button', { name: 'Reset Iteration limit' }).click();
    await page.waitForFunction(() => !('max_iterations' in window.kinloop.experiment.solvers[0].params));
    assert.deepEqual(errors, []);
    await context.close();
});

/** Changes of the run reach the workers late, as on a machine that has other things to do. */
function late() {
    const send = Worker.prototype.postMessage;
    let queue = Promise.resolve();
    Worker.prototype.postMessage = function (message, transfer) {
        queue = queue
            .then(() => message.type === 'amend' && new Promise((done) => setTimeout(done, 600)))
            .then(() => send.call(this, message, transfer));
    };
}

async function pullIsPartOfTheRun(slowly) {
    const context = await newContext(browser);
    if (slowly) await context.addInitScript(late);
    const { page, errors } = await openIn(
        context,
        `${server.url}#v=1&scene=box_on_plane&s=admm-ncp-fp&pre=ht&T=10&t=0.1`,
    );
    await filled(page);
    await drawn(page);
    const cell = await page.locator('.cell').first().boundingBox();
    const [x, y] = [cell.x + cell.width / 2, cell.y + cell.height / 2];
    await page.keyboard.down('Shift');
    await page.mouse.move(x, y);
    await page.mouse.down();
    // Each piece of the pull follows the pointer's next move.
    for (let i = 1; i <= 4; i++) {
        await page.mouse.move(x + 28 * i, y - 8 * i);
        await page.waitForFunction(
            (pieces) => window.kinloop.experiment.edits.some((e) => e.value.length >= pieces),
            i,
        );
    }
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await page.evaluate(() => window.kinloop.pause());
    await page.waitForFunction(() => window.kinloop.experiment.edits.some((e) => e.path.endsWith('events')));
    await page.locator('button[aria-label="Undo"]:enabled').waitFor(); // the pull is one change
    await filled(page);
    // The same experiment from a link, done from the start, gives the same state.
    const link = await sharedLink(page);
    await page.keyboard.press('Escape');
    const again = await openPage(browser, link);
    await filled(again.page);
    await seek(again.page, await page.evaluate(() => window.kinloop.step));
    await seek(page, await page.evaluate(() => window.kinloop.step));
    const [one, two] = await Promise.all(
        [page, again.page].map((p) => p.evaluate(() => window.kinloop.lanes[0].hash)),
    );
    assert.equal(one.length, 16);
    assert.equal(one, two);
    assert.deepEqual([...errors, ...again.errors], []);
    await context.close();
    await again.context.close();
}

test('a body follows the pointer, and the pull is part of the run', () => pullIsPartOfTheRun(false));
test('so it is when workers hear of it late', () => pullIsPartOfTheRun(true));

test('the benchmark fills table and profile, and can be cancelled', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=admm-ncp-fp,pgs-ncp&pre=ht&T=0.05&t=0.04`,
    );
    await filled(page);
    await page.getByRole('button', { name: 'Benchmark' }).click();
    await page.locator('[data-bench="scene-box_on_plane"]').waitFor();
    for (const box of await page.locator('[data-bench^="scene-"]').all()) {
        if (await box.isChecked()) await box.uncheck();
    }
    await page.locator('[data-bench="scene-box_on_plane"]').check();
    await page.locator('[data-bench="scene-nunchaku"]').check();
    await page.getByRole('spinbutton', { name: 'steps per run' }).fill('60');
    await page.getByRole('spinbutton', { name: 'steps per run' }).press('Tab');
    await page.locator('.bench-run').click();
    await page.getByRole('status').filter({ hasText: '4 of 4' }).waitFor();
    const rows = page.locator('.bench-table tbody tr');
    await says(rows.nth(0), /100 %/);
    await says(rows.nth(1), /100 %/);
    assert.equal(await rows.count(), 2);
    // 60 steps of the box at rest, 60 of the falling nunchaku.
    const group = page.locator('[data-bench="group"]');
    const note = page.locator('kl-bench kl-plot');
    await note.filter({ hasText: '120 problems' }).waitFor();
    const categories = await group.locator('optgroup').nth(1).locator('option').allTextContents();
    assert.deepEqual(categories, ['dense-contacts', 'independent-joints']);
    await group.selectOption('category:independent-joints');
    await note.filter({ hasText: '60 problems' }).waitFor();
    await page.screenshot({ path: resolve(shots, 'benchmark.png') });
    await page.getByRole('spinbutton', { name: 'steps per run' }).fill('20000');
    await page.getByRole('spinbutton', { name: 'steps per run' }).press('Tab');
    await page.locator('.bench-run').click();
    await page.locator('.bench-cancel').click();
    await page.locator('.bench-run').waitFor();
    assert.deepEqual(errors, []);
    await context.close();
});

test('the heatmap fills, and a cell loads', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=boxes_fixed&run=step_at_rest&s=admm-ncp-plus&pre=ht&T=0.002&t=0.001`,
    );
    await page.waitForFunction(() => window.kinloop?.lanes.length > 0);
    await page.getByRole('button', { name: 'Benchmark' }).click();
    await page.getByRole('button', { name: 'Heatmap' }).click();
    await page.locator('.heat-run').click();
    await page.waitForFunction(
        () =>
            document.querySelector('.heat-cell') &&
            !document.querySelector('.heat-cell[aria-label*="waiting"]') &&
            document.querySelector('.heat-run'),
    );
    await page.screenshot({ path: resolve(shots, 'heatmap.png') });
    await page.locator('.heat-cell').nth(30).click();
    await page.waitForFunction(() => window.kinloop.experiment.edits.length === 2);
    assert.deepEqual(errors, []);
    await context.close();
});
