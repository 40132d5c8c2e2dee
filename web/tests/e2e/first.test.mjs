// The first visit, playing, plots, sharing: what the page is for.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { drawn, filled, openPage, says, seek, serve, sharedLink, shots, shows, until } from './browser.mjs';
import { browser, server } from './site.mjs';

const SHORT = '#v=1&scene=box_on_plane&s=pgs-ccp,admm-ncp-fp&pre=ht&T=0.3&t=0.001';

test('the first visit runs by itself', async () => {
    const { page, context, errors } = await openPage(browser, server.url);
    await page.waitForFunction(() => window.kinloop?.lanes.length > 0 && window.kinloop.step > 0);
    const lanes = await page.evaluate(() => window.kinloop.lanes);
    assert.ok(lanes.length >= 2, 'several solvers');
    assert.equal(await page.evaluate(() => window.kinloop.scene), 'box_on_plane');
    await filled(page);
    await page.screenshot({ path: resolve(shots, 'first-light.png') });
    assert.deepEqual(errors, []);
    await context.close();
});

test('a box at rest carries its weight, in the numbers and in the arrows', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await seek(page, 250);
    await drawn(page);
    for (const lane of [0, 1]) {
        const seen = await page.evaluate(
            (i) => ({ arrows: window.kinloop.arrows(i), force: window.kinloop.field(i, 'contact_force') }),
            lane,
        );
        const weight = seen.force.filter((_, i) => i % 3 === 2).reduce((a, b) => a + b, 0);
        assert.ok(Math.abs(weight - 9.81) < 0.02, `lane ${lane}: ${weight} N`);
        const drawn = seen.arrows.vectors.reduce((sum, v) => sum + v[2], 0) / seen.arrows.scale;
        assert.ok(Math.abs(drawn - 9.81) < 0.05, `lane ${lane} draws ${drawn} N`);
    }
    assert.deepEqual(errors, []);
    await context.close();
});

test('play, pause, step, scrub and reset move through the buffer', async () => {
    // Slow motion, so that it still plays when it is paused.
    const { page, context, errors } = await openPage(browser, server.url + SHORT.replace('T=0.3', 'T=3'));
    await filled(page);
    await page.getByRole('combobox', { name: 'Speed' }).selectOption('0.1');
    await page.getByRole('button', { name: 'Reset' }).first().click();
    assert.equal(await page.evaluate(() => window.kinloop.step), 0);
    await page.getByRole('button', { name: 'Step forward' }).click();
    assert.equal(await page.evaluate(() => window.kinloop.step), 1);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.waitForFunction(() => window.kinloop.step > 20);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('slider', { name: 'Time' }).fill('123');
    assert.equal(await page.evaluate(() => window.kinloop.step), 123);
    await page.waitForFunction(() => window.kinloop.lanes.every((l) => l.shown === 123));
    await says(page.locator('kl-status-bar'), 'step 123');
    assert.deepEqual(errors, []);
    await context.close();
});

test('the views can take most of the window', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    const share = () =>
        page.evaluate(() => document.querySelector('.views').getBoundingClientRect().height / innerHeight);
    const before = await share();
    await page.getByRole('button', { name: 'Larger views' }).click();
    await drawn(page);
    assert.ok((await share()) > 1.5 * before, `${before} ${await share()}`);
    const canvas = await page.evaluate(() => {
        const { height } = document.querySelector('.stage-canvas').getBoundingClientRect();
        return document.querySelector('.stage-canvas').height / height / devicePixelRatio;
    });
    assert.ok(Math.abs(canvas - 1) < 0.01, `the picture is not stretched: ${canvas}`);
    await page.locator('body').press('l');
    assert.ok(Math.abs((await share()) - before) < 0.01);
    assert.deepEqual(errors, []);
    await context.close();
});

test('keys work and are left alone while typing', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await page.locator('body').press('r');
    await page.locator('body').press('ArrowRight');
    await page.locator('body').press('Shift+ArrowRight');
    assert.equal(await page.evaluate(() => window.kinloop.step), 51);
    await page.locator('body').press('?');
    await page.getByRole('heading', { name: 'Help' }).waitFor();
    await page.keyboard.press('Escape');
    const field = page.locator('kl-solver-panel input[type=text]').first();
    await field.focus();
    await field.press('r');
    assert.equal(await page.evaluate(() => window.kinloop.step), 51);
    assert.deepEqual(errors, []);
    await context.close();
});

test('plots draw their curves', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await seek(page, 200);
    for (const id of ['convergence', 'r_nat', 'iterations', 'state']) {
        const canvas = page.locator(`[data-plot="${id}"] canvas`);
        const ink = (canvas) => {
            const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
            let colourful = 0;
            for (let i = 0; i < data.length; i += 4) {
                if (
                    data[i + 3] > 120 &&
                    Math.max(data[i], data[i + 1], data[i + 2]) -
                        Math.min(data[i], data[i + 1], data[i + 2]) >
                        60
                )
                    colourful++;
            }
            return colourful;
        };
        await until(
            async () => (await canvas.evaluate(ink)) > 50,
            async () => `${id} shows ${await canvas.evaluate(ink)} coloured points`,
        );
    }
    assert.deepEqual(errors, []);
    await context.close();
});

test('a shared link opens the same state, and says so', async () => {
    const first = await openPage(browser, server.url + SHORT);
    await filled(first.page);
    await seek(first.page, 150);
    await first.page.getByRole('tab', { name: 'View' }).click();
    const link = await sharedLink(first.page);
    const hashes = await first.page.evaluate(() => window.kinloop.lanes.map((l) => l.hash));
    assert.ok(link.includes(`h=150:${hashes.join(',')}`), link);
    await first.context.close();

    const second = await openPage(browser, link);
    await second.page.locator('.verdict-same').waitFor();
    assert.equal(
        await second.page
            .getByRole('tab', { selected: true })
            .textContent()
            .then((t) => t.trim()),
        'View',
    );
    assert.equal(await second.page.evaluate(() => window.kinloop.step), 150);
    await shows(second.page, 150);
    assert.deepEqual(await second.page.evaluate(() => window.kinloop.lanes.map((l) => l.hash)), hashes);
    await second.context.close();

    const forged = await openPage(browser, link.replace(/h=150:..../, 'h=150:ffff'));
    await forged.page.locator('.verdict-differs').waitFor();
    await forged.context.close();
    assert.deepEqual([...first.errors, ...second.errors, ...forged.errors], []);
});

test('the address follows: another experiment is a step back, another view is not', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await page.waitForFunction(() => location.hash.includes('plots='));
    const length = await page.evaluate(() => history.length);
    await page.getByRole('button', { name: 'Step forward' }).click();
    await page.locator('.cell').nth(1).focus();
    await page.locator('[data-plot="r_nat"] .plot-more').click();
    await page.getByRole('button', { name: 'Close plot NCP natural map' }).click();
    await page.waitForFunction(() => !location.hash.includes('r_nat,'));
    assert.equal(await page.evaluate(() => history.length), length);
    await page.getByRole('button', { name: 'Remove PGS-CCP' }).click();
    await page.waitForFunction(() => !location.hash.includes('pgs-ccp'));
    assert.equal(await page.evaluate(() => history.length), length + 1);
    await page.goBack();
    await page.waitForFunction(() => window.kinloop.lanes.length === 2);
    assert.deepEqual(errors, []);
    await context.close();
});

test('a damaged link gives a message and the default experiment', async () => {
    const { page, context, errors } = await openPage(browser, `${server.url}#v=7&scene=box_on_plane`);
    await page.getByRole('alert').filter({ hasText: 'cannot be opened' }).waitFor();
    await page.waitForFunction(() => window.kinloop.scene === 'box_on_plane');
    assert.deepEqual(errors, []);
    await context.close();
});

test('the page works below a path', async () => {
    const below = await serve('/some/folder/');
    const { page, context, errors } = await openPage(browser, below.url + SHORT);
    await filled(page);
    await page.screenshot({ path: resolve(shots, 'below-a-path.png') });
    assert.deepEqual(errors, []);
    await context.close();
    await below.close();
});

test('light and dark both show', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=fourbar_free&s=pgs-ccp,admm-ncp-la&pre=ht&T=0.4&t=0.3`,
        { colorScheme: 'dark' },
    );
    await filled(page);
    await drawn(page);
    const back = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assert.equal(back, 'rgb(20, 23, 27)');
    await page.screenshot({ path: resolve(shots, 'fourbar-dark.png') });
    assert.deepEqual(errors, []);
    await context.close();
});

test('a run is paused, stepped, given a solver and shared by the keyboard alone', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=pgs-ccp&pre=ht&T=0.1&t=0.05`,
    );
    await filled(page);
    /** Goes on until what is focused has this name. */
    const reach = async (name, key = 'Tab') => {
        for (let i = 0; i < 80; i++) {
            await page.keyboard.press(key);
            const focused = await page.evaluate(() => {
                const { ariaLabel, textContent } = document.activeElement;
                return (ariaLabel ?? textContent).trim();
            });
            if (focused === name) return;
        }
        throw new Error(`${key} does not lead to ${name}`);
    };
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => window.kinloop.step === 51);
    await reach('Add a solver');
    await page.keyboard.press('n'); // the native menu goes to the first name with it
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => window.kinloop.lanes.length === 2);
    await filled(page);
    await reach('Share', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() =>
        document.querySelector('textarea[data-share="Link"]')?.value.includes('&h=51:'),
    );
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog[open]'));
    assert.deepEqual(errors, []);
    await context.close();
});
