// What a person does with plots and views: pairs and floors of a profile, axes, the order of the plots, whose forces
// the arrows are.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { drawn, filled, openPage, plotTool, seek, sharedLink, shots, until } from './browser.mjs';
import { browser, server } from './site.mjs';

const SHORT = '#v=1&scene=box_on_plane&s=pgs-ccp,admm-ncp-fp&pre=ht&T=0.1&t=0.05';
const order = (page) =>
    page.evaluate(() => [...document.querySelectorAll('kl-plot')].map((p) => p.dataset.plot));

/** The values along an axis of a plot, as they stand there. */
function axis(page, plot, which) {
    return page.locator(`[data-plot="${plot}"]`).evaluate((element, i) => {
        const { chart } = element;
        return { distribution: chart.scales[i].distr, min: chart.scales[i].min, max: chart.scales[i].max };
    }, which);
}

/** How often each of these lanes is the best by a measure: rho(1) as it is written. */
function shares(page, measure, lanes, least = 0) {
    return page.evaluate(
        ({ measure, lanes, least }) => {
            const judged = measure.startsWith('r_');
            const columns = lanes.map((lane) => {
                const outcome = window.kinloop.column(lane, 'outcome');
                return window.kinloop
                    .column(lane, measure)
                    .map((v, i) =>
                        judged || outcome[i] === 0 ? Math.max(least, v) : Number.POSITIVE_INFINITY,
                    );
            });
            const best = columns[0].map((_, i) => Math.min(...columns.map((c) => c[i])));
            return columns
                .map((c) => c.filter((v, i) => Number.isFinite(v) && v === best[i]).length / best.length)
                .map((share) => `${(100 * share).toFixed(1)} %`)
                .join();
        },
        { measure, lanes, least },
    );
}

test('a profile compares a pair, tells its shares in numbers, and floors residuals as asked', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=fourbar_fixed&mode=curated&s=pgs-ccp,admm-ncp-fp,newton-ncp&pre=ht&T=0.1&t=0.05&plots=profile`,
    );
    await filled(page);
    const shown = (wanted) =>
        page.waitForFunction(
            (text) =>
                [...document.querySelectorAll('kl-profile-tools tbody tr')]
                    .map((row) => row.cells[1].textContent)
                    .join() === text,
            wanted,
        );
    await shown(await shares(page, 'iterations', [0, 1, 2]));
    const solvers = page.getByRole('combobox', { name: 'Solvers in the profile' });
    await solvers.selectOption('admm-ncp-fp,newton-ncp');
    await shown(await shares(page, 'iterations', [1, 2]));
    assert.equal(await page.getByRole('combobox', { name: 'Floor of residuals' }).count(), 0);
    await page.getByRole('combobox', { name: 'Performance profile: quantity' }).selectOption('r_nat_rel');
    const floor = page.getByRole('combobox', { name: 'Floor of residuals' });
    await floor.waitFor();
    assert.equal(await floor.inputValue(), 'rounding', 'residuals are floored unless asked otherwise');
    const [asTheyAre, atTolerance] = [
        await shares(page, 'r_nat_rel', [1, 2]),
        await shares(page, 'r_nat_rel', [1, 2], 1e-6),
    ];
    assert.notEqual(asTheyAre, atTolerance, 'the floor matters here');
    await floor.selectOption('none');
    await shown(asTheyAre);
    await floor.selectOption('tolerance');
    assert.match(await floor.locator('option:checked').textContent(), /1e-6|0\.000001|1e−6/);
    await shown(atTolerance);
    await page.getByText('How to read').click();
    await page.getByText('how often it is the best', { exact: false }).first().waitFor();
    await page.locator('kl-profile-tools').scrollIntoViewIfNeeded();
    await page.screenshot({ path: resolve(shots, 'profile-pair.png') });
    assert.deepEqual(errors, []);
    await context.close();
});

test('axes are logarithmic or linear as asked', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url + SHORT}&plots=r_nat,state,convergence`,
    );
    await filled(page);
    await seek(page, 50);
    const press = async (plot, name) => (await plotTool(page, plot, name)).click();
    const hasAxis = (plot, scale, distribution, where = page) =>
        where.waitForFunction(
            ([plot, scale, d]) =>
                document.querySelector(`[data-plot="${plot}"]`)?.chart?.scales[scale].distr === d,
            [plot, scale, distribution],
        );
    await hasAxis('r_nat', 'y', 3);
    await press('r_nat', 'log y');
    await hasAxis('r_nat', 'y', 1);
    await press('r_nat', 'log y');
    await hasAxis('r_nat', 'y', 3);
    await press('state', 'log y');
    await hasAxis('state', 'y', 3);
    const state = await axis(page, 'state', 'y');
    assert.ok(state.min > 0 && state.max > state.min, JSON.stringify(state));
    await hasAxis('convergence', 'x', 3);
    await press('convergence', 'log x');
    await hasAxis('convergence', 'x', 1);
    const fragment = new URL(await sharedLink(page)).hash;
    assert.match(fragment, /plots=r_nat,state~~ylog,convergence~~xlin&/);
    const other = await openPage(browser, server.url + fragment);
    const shown = (plot, scale, distribution) => hasAxis(plot, scale, distribution, other.page);
    await shown('r_nat', 'y', 3);
    await shown('state', 'y', 3);
    await shown('convergence', 'x', 1);
    assert.deepEqual(other.errors, []);
    await other.context.close();
    assert.deepEqual(errors, []);
    await context.close();
});

test('residuals below what an axis can show stand on its floor, and are marked', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=fourbar_free&s=newton-ncp&pre=hp&T=0.2&t=0.1&plots=r_nat_rel`,
    );
    await filled(page);
    const marks = () =>
        page.evaluate(() => {
            const { chart } = document.querySelector('[data-plot="r_nat_rel"]');
            const floor = chart?.data[1]?.filter((v) => v === 1e-17).length ?? 0;
            const column = window.kinloop.column(0, 'r_nat_rel');
            const marked = chart?.series[1].points.filter(chart, 1, false)?.length ?? 0;
            return { below: column.filter((v) => v < 1e-17).length, floor, marked };
        });
    await until(
        async () => (await marks()).marked > 0,
        async () => JSON.stringify(await marks()),
    );
    const { below, floor, marked } = await marks();
    assert.equal(marked, floor);
    assert.ok(below >= marked && marked > 0, JSON.stringify({ below, marked }));
    assert.deepEqual(errors, []);
    await context.close();
});

test('plots that a link puts in another order than the first are all drawn', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=fourbar_fixed&s=admm-ncp-fp&pre=ht&T=0.1&t=0.05&plots=stages,iterations,r_nat`,
    );
    await filled(page);
    await page.waitForFunction(() => document.querySelectorAll('kl-plot .uplot').length === 3);
    assert.deepEqual(errors, []);
    await context.close();
});

test('plots change places by mouse and by keys', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url + SHORT}&plots=r_nat,iterations,state`,
    );
    await filled(page);
    await page.locator('[data-plot="state"] .plot-title').dragTo(page.locator('[data-plot="r_nat"] .chart'));
    await page.waitForFunction(() => document.querySelector('kl-plot').dataset.plot === 'state');
    assert.deepEqual(await order(page), ['state', 'r_nat', 'iterations']);
    assert.equal(await page.locator('body.dropping').count(), 0, 'a plot is no file');
    await page.locator('[data-plot="state"] figure').focus();
    await page.keyboard.press('Alt+ArrowRight');
    await page.waitForFunction(() => document.querySelector('kl-plot').dataset.plot === 'r_nat');
    assert.deepEqual(await order(page), ['r_nat', 'state', 'iterations']);
    assert.equal(
        await page.evaluate(() => document.activeElement.closest('kl-plot')?.dataset.plot),
        'state',
        'the plot keeps the focus',
    );
    await (await plotTool(page, 'iterations', 'Move plot Iterations left')).click();
    await page.waitForFunction(() => document.querySelectorAll('kl-plot')[1].dataset.plot === 'iterations');
    assert.deepEqual(errors, []);
    await context.close();
});

test('the tools of a plot cover neither its title nor its curves', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url + SHORT}&plots=convergence,r_nat`,
    );
    await filled(page);
    for (const plot of ['convergence', 'r_nat']) {
        await plotTool(page, plot, 'table');
        const boxes = await page.locator(`[data-plot="${plot}"]`).evaluate((card) =>
            ['.plot-title', '.plot-tools', '.chart', '.plot-more'].map((part) => {
                const { top, bottom, left, right } = card.querySelector(part).getBoundingClientRect();
                return { part, top, bottom, left, right };
            }),
        );
        for (const [i, a] of boxes.entries())
            for (const b of boxes.slice(i + 1))
                assert.ok(
                    a.bottom <= b.top || b.bottom <= a.top || a.right <= b.left || b.right <= a.left,
                    `${plot}: ${a.part} lies over ${b.part}`,
                );
    }
    assert.deepEqual(errors, []);
    await context.close();
});

test('a plot takes any size, by mouse and by keys, and the link carries it', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url + SHORT}&plots=r_nat,iterations,state`,
    );
    await filled(page);
    const card = page.locator('[data-plot="r_nat"]');
    const grip = card.locator('.plot-grip');
    const size = (where = page) =>
        where.evaluate(() => {
            const { chart } = document.querySelector('[data-plot="r_nat"]');
            const { width, height } = document.querySelector('[data-plot="r_nat"]').getBoundingClientRect();
            return { width, height, drawn: [chart.width, chart.height] };
        });
    const settles = (check, where = page) =>
        until(
            async () => check(await size(where)),
            async () => JSON.stringify(await size(where)),
        );
    const before = await size();
    const at = await grip.boundingBox();
    await page.mouse.move(at.x + 12, at.y + 12);
    await page.mouse.down();
    await page.mouse.move(at.x + 12 + before.width / 3, at.y + 12 + 73, { steps: 4 });
    await page.mouse.up();
    await settles((s) => s.width > 1.25 * before.width && Math.abs(s.height - before.height - 70) < 4);
    const after = await size();
    await settles((s) => s.drawn[0] > before.drawn[0] && s.drawn[1] === before.drawn[1] + 70);
    const fragment = new URL(await sharedLink(page)).hash;
    assert.match(fragment, /plots=r_nat~~~4x220,iterations,state&/);
    const other = await openPage(browser, server.url + fragment);
    await filled(other.page);
    await settles((s) => Math.abs(s.width - after.width) < 2 && s.height === after.height, other.page);
    assert.deepEqual(other.errors, []);
    await other.context.close();
    await page.keyboard.press('Escape');
    await grip.focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowUp');
    await settles((s) => Math.abs(s.width - before.width) < 2 && s.height === after.height - 20);
    assert.equal(await page.evaluate(() => window.kinloop.step), 50, 'the arrows did not move the cursor');
    await page.keyboard.press('Home');
    await settles((s) => Math.abs(s.width - before.width) < 2 && s.height === before.height);
    assert.deepEqual(errors, []);
    await context.close();
});

test('the view tells whose forces its arrows are, and how long they are', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await seek(page, 50);
    await drawn(page);
    const legend = page.locator('.force-legend');
    assert.equal((await legend.textContent()).trim(), '→ force on B');
    await page.getByRole('tab', { name: 'View' }).click();
    await page.getByRole('checkbox', { name: 'Normal and friction apart' }).check();
    await page.getByRole('checkbox', { name: 'Joint forces' }).check();
    assert.match(
        await legend.textContent(),
        /normal force on B\s*→ friction on B\s*→ joint force on the follower/,
    );
    await page.getByRole('checkbox', { name: 'Contact forces' }).uncheck();
    await page.getByRole('checkbox', { name: 'Joint forces' }).uncheck();
    assert.equal((await legend.textContent()).trim(), '');
    assert.deepEqual(errors, []);
    await context.close();
});
