// What opens later, in every width and theme: a question before fetching, a step explained, ghost and violation, handles,
// an estimate, an import, a benchmark, the profile of a pair. Each is looked at by axe and kept as a picture.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { drawn, filled, openPage, seek, shots } from './browser.mjs';
import { browser, server } from './site.mjs';

const root = resolve(import.meta.dirname, '../../..');
const axe = readFileSync(resolve(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8');

/** What is opened, and how it is reached from there. */
const STATES = {
    fetch: {
        link: `scene=url&u=${encodeURIComponent('https://scenes.example/far.json')}&s=pgs-ncp&pre=ht&T=0.1`,
        async reach(page) {
            await page.getByRole('dialog', { name: 'Fetch a scene from another address?' }).waitFor();
        },
    },
    explain: {
        link: 'scene=boxes_fixed&s=pgs-ccp,admm-ncp-fp&pre=ht&T=0.05&t=0.03&set=bodies.1.mass:1000',
        async reach(page) {
            await filled(page);
            await seek(page, 30);
            await page.getByRole('tab', { name: 'Problem' }).click();
            await page.locator('kl-problem-panel tbody tr').nth(1).waitFor();
            await page.getByRole('button', { name: 'Error by constraint and iteration' }).click();
            await page.locator('kl-error-map figure figcaption b').waitFor();
            await page.getByRole('button', { name: /Rank, spectrum/ }).click();
            await page.locator('.contact-figure').first().waitFor();
        },
    },
    ghost: {
        link: 'scene=box_on_plane&s=pgs-ccp-nds,admm-ncp-fp&pre=ht&T=0.3&t=0.2',
        async reach(page) {
            await filled(page);
            await page.getByRole('tab', { name: 'View' }).click();
            await page.getByRole('combobox', { name: 'Ghost of' }).selectOption('admm-ncp-fp');
            await page.locator('.cell[data-ghost]').waitFor();
            await page.getByRole('checkbox', { name: 'Violation of joints and contacts' }).check();
            await page.locator('.cell[data-violation]').first().waitFor();
        },
    },
    handles: {
        link: 'scene=box_on_plane&s=admm-ncp-plus&pre=ht&T=0.1&t=0',
        async reach(page) {
            await filled(page);
            await page.getByRole('tab', { name: 'Scene' }).click();
            await page.locator('kl-scene-panel .list button').first().click();
            await page.getByRole('button', { name: 'Move', exact: true }).click();
            await page.locator('.cell[data-handles="translate"]').waitFor();
        },
    },
    estimate: {
        link: 'scene=walker&run=hard&s=pgs-ccp&pre=hp&T=600&t=0',
        async reach(page) {
            await page.locator('.estimate').waitFor();
        },
    },
    bench: {
        link: 'scene=box_on_plane&s=admm-ncp-fp,pgs-ncp&pre=ht&T=0.05&t=0.04',
        async reach(page) {
            await filled(page);
            await page.getByRole('button', { name: 'Benchmark' }).click();
            await page.locator('[data-bench="scene-box_on_plane"]').waitFor();
            for (const box of await page.locator('[data-bench^="scene-"]').all()) await box.uncheck();
            await page.locator('[data-bench="scene-box_on_plane"]').check();
            await page.getByRole('spinbutton', { name: 'steps per run' }).fill('40');
            await page.locator('.bench-run').click();
            await page.locator('kl-bench .rho tbody tr').nth(1).waitFor();
        },
    },
    pair: {
        link: 'scene=fourbar_fixed&mode=curated&s=pgs-ccp,admm-ncp-fp,newton-ncp&pre=ht&T=0.1&t=0.05&plots=profile,iterations~~ylog,r_nat',
        async reach(page) {
            await filled(page);
            await page
                .getByRole('combobox', { name: 'Solvers in the profile' })
                .selectOption('admm-ncp-fp,newton-ncp');
            await page.waitForFunction(
                () => document.querySelectorAll('kl-profile-tools tbody tr').length === 2,
            );
            await page.waitForFunction(() => document.querySelectorAll('kl-plot .uplot').length === 3);
            await page.locator('[data-plot="iterations"] figure').focus(); // its tools show
        },
    },
    import: {
        link: 'scene=box_on_plane&s=newton-ncp&pre=ht&T=0.1&t=0.05',
        async reach(page) {
            await filled(page);
            await page.locator('.experiment').click();
            const [chooser] = await Promise.all([
                page.waitForEvent('filechooser'),
                page.getByRole('button', { name: 'Open files' }).click(),
            ]);
            await chooser.setFiles(resolve(root, 'tests/data/models/gripper.xml'));
            await page
                .getByRole('dialog', { name: 'Imported model' })
                .getByRole('button', { name: 'Done' })
                .waitFor();
        },
    },
};

/** What axe finds, one line a rule. */
async function faults(page) {
    const { violations } = await page.evaluate(() =>
        window.axe.run(document, { resultTypes: ['violations'] }),
    );
    return violations.map(
        (v) => `${v.id} (${v.impact}): ${v.nodes.map((n) => n.html.slice(0, 140)).join(' | ')}`,
    );
}

for (const width of [390, 1024, 1440]) {
    for (const colorScheme of ['light', 'dark']) {
        test(`dialogs and tools have no accessibility fault at ${width} px, ${colorScheme}`, async () => {
            const found = [];
            for (const [name, { link, reach }] of Object.entries(STATES)) {
                const { page, context, errors } = await openPage(browser, `${server.url}#v=1&${link}`, {
                    viewport: { width, height: 844 },
                    colorScheme,
                    bypassCSP: true,
                });
                await reach(page);
                await drawn(page);
                await page.screenshot({
                    path: resolve(shots, `${name}-${width}-${colorScheme}.png`),
                    fullPage: true,
                });
                await page.evaluate(axe);
                for (const fault of await faults(page)) found.push(`${name}: ${fault}`);
                const wide = await page.evaluate(() => document.documentElement.scrollWidth);
                if (wide > width) found.push(`${name}: ${wide} px wide`);
                found.push(...errors);
                await context.close();
            }
            assert.deepEqual(found, []);
        });
    }
}
