// Models of others in the page: four public mechanisms by folder, by drop and by file dialog; what the page tells and
// where the mechanisms move is what the command tells and finds.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { zipSync } from 'fflate';
import { download, filled, openPage, RUN_PATIENCE, says, seek, shots } from './browser.mjs';
import { browser, server } from './site.mjs';

const SHORT = '#v=1&scene=box_on_plane&s=newton-ncp,admm-ncp-plus&pre=ht&T=0.1&t=0.05';
const root = resolve(import.meta.dirname, '../../..');
const command = process.env.KL_COMMAND ?? resolve(root, 'build/native/kinloop');
const models = resolve(root, 'tests/data/models');
const work = mkdtempSync(join(tmpdir(), 'kinloop-models-'));

/** What the command says and writes. */
function imported(path) {
    const scene = join(work, `${path.replace(/\W/g, '_')}.json`);
    const told = execFileSync(command, ['import', join(models, path), '-o', scene, '-f', '--json'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
    });
    return { scene, report: JSON.parse(told) };
}

function hashes(scene, solvers, steps) {
    const args = [
        'run',
        scene,
        '--solver',
        solvers.join(','),
        '--steps',
        String(steps),
        '--hash',
        '--progress',
        'none',
    ];
    const { stdout } = spawnSync(command, args, { encoding: 'utf8' });
    return stdout
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/).at(-1));
}

async function choose(page, button, files) {
    const [chooser] = await Promise.all([
        page.waitForEvent('filechooser'),
        (async () => {
            await page.locator('.experiment').click();
            await page.getByRole('button', { name: button }).click();
        })(),
    ]);
    await chooser.setFiles(files);
}

const dialog = (page) => page.getByRole('dialog', { name: 'Imported model' });

/** Until the scene runs; then the 3D view holds still, which leaves the processor to the solvers. */
async function opened(page, id) {
    await page.waitForFunction(
        (scene) => window.kinloop.scene === scene && window.kinloop.lanes.some((l) => l.filled > 60),
        id,
        { timeout: RUN_PATIENCE },
    );
    await page.evaluate(() => window.kinloop.pause());
}

/** The state of the page at a step, against the command's from the scene that the command wrote. */
async function compare(page, scene, step) {
    await seek(page, step);
    const lanes = await page.evaluate(() => window.kinloop.lanes);
    assert.deepEqual(
        lanes.map((l) => l.hash),
        hashes(
            scene,
            lanes.map((l) => l.solver),
            step,
        ),
    );
}

for (const name of ['5bar_linkage', 'cassie_like', 'robot_delta', 'disney_robot']) {
    test(`${name}: a folder opens, tells what the command tells, and moves to the same bits`, async () => {
        const { scene, report } = imported(`${name}/robot.urdf`);
        const { page, context, errors } = await openPage(browser, server.url + SHORT);
        await filled(page);
        await choose(page, 'Open a folder', join(models, name));
        await opened(page, report.scene);
        const text = await dialog(page).textContent();
        assert.ok(
            text.includes(
                `${report.bodies} bodies, ${report.joints} joints, ${report.joint_rows} joint rows`,
            ),
        );
        assert.ok(text.includes(`${report.loops} loops, mobility ${report.mobility}`));
        const told = await dialog(page).locator('.notes li').allTextContents();
        assert.deepEqual(
            told.sort(),
            report.notes.map((n) => `${n.file.split('/').pop()}:${n.line} ${n.element}: ${n.text}`).sort(),
        );
        await page.screenshot({ path: join(shots, `import-${name}.png`) });
        await dialog(page).getByRole('button', { name: 'Done' }).click();
        await compare(page, scene, 60);
        await page.getByRole('tab', { name: 'Export' }).click();
        const saved = await download(page, () => page.getByRole('button', { name: 'Scene (JSON)' }).click());
        assert.equal(saved.data.toString(), readFileSync(scene, 'utf8'));
        assert.deepEqual(errors, []);
        await context.close();
    });
}

test('single files, and a zip, open too; MJCF as well', async () => {
    const { scene, report } = imported('gripper.xml');
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    await choose(page, 'Open files', [join(models, 'gripper.xml')]);
    await opened(page, report.scene);
    await dialog(page).getByRole('button', { name: 'Done' }).click();
    await compare(page, scene, 60);
    const delta = imported('robot_delta/robot.urdf');
    const folder = join(models, 'robot_delta');
    const files = Object.fromEntries(
        readdirSync(folder).map((f) => [`pack/delta/${f}`, new Uint8Array(readFileSync(join(folder, f)))]),
    );
    await choose(page, 'Open files', [
        { name: 'delta.zip', mimeType: 'application/zip', buffer: Buffer.from(zipSync(files)) },
    ]);
    await opened(page, delta.report.scene);
    await dialog(page).getByRole('button', { name: 'Done' }).click();
    await compare(page, delta.scene, 60);
    assert.deepEqual(errors, []);
    await context.close();
});

test('dropped without its meshes: each is told by name and line, and boxes stand in for them on request', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    const folder = join(models, '5bar_linkage');
    const documents = ['robot.urdf', 'robot.yaml'].map((f) => [f, readFileSync(join(folder, f), 'utf8')]);
    await page.evaluate((list) => {
        const transfer = new DataTransfer();
        for (const [name, text] of list) transfer.items.add(new File([text], name));
        document.body.dispatchEvent(
            new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }),
        );
    }, documents);
    await opened(page, 'onshape');
    const lost = dialog(page).locator('.notes').first();
    assert.match(
        await lost.textContent(),
        /robot\.urdf:\d+ mesh: mesh "[^"]+\.stl" is not there: its geometry is left out/,
    );
    await dialog(page).getByLabel('Missing meshes').selectOption('box');
    await dialog(page).getByRole('button', { name: 'Import again' }).click();
    await dialog(page).getByText('a box stands in for it').first().waitFor();
    assert.match(await dialog(page).textContent(), /stand-in: a box of/);
    await dialog(page).getByRole('button', { name: 'Done' }).click();
    await page.screenshot({ path: join(shots, 'import-boxes.png') });
    assert.deepEqual(errors, []);
    await context.close();
});

test('a broken model is refused with file and line; the page keeps what it had', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    const give = (name, text) =>
        choose(page, 'Open files', { name, mimeType: 'text/xml', buffer: Buffer.from(text) });
    await give('bad.urdf', "<robot name='a'>\n<link name='l'/>\n<link name='l'/></robot>");
    await dialog(page).getByRole('alert').waitFor();
    await says(dialog(page), 'bad.urdf:3');
    assert.equal(await page.evaluate(() => window.kinloop.scene), 'box_on_plane');
    await page.keyboard.press('Escape');
    await give('package.xml', '<package><name>x</name></package>');
    await page.getByRole('alert').filter({ hasText: 'none of them is a <robot>' }).waitFor();
    assert.deepEqual(errors, []);
    await context.close();
});

test('dual problems of ours open by drop, with D and without it, and are solved alike', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    const tables = [];
    for (const [name, extra] of [
        ['with.h5', ['--delassus']],
        ['without.h5', []],
    ]) {
        const path = join(work, name);
        const run = [
            'run',
            'walker',
            '--solver',
            'newton-ncp',
            '--steps',
            '3',
            '--record',
            path,
            '--every',
            '1',
        ];
        execFileSync(command, [...run, '-f', ...extra], { cwd: root, stdio: 'ignore' });
        await page.evaluate(
            ({ name, data }) => {
                const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
                const transfer = new DataTransfer();
                transfer.items.add(new File([bytes], name));
                document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true }));
            },
            { name, data: readFileSync(path).toString('base64') },
        );
        await page
            .getByRole('status')
            .filter({ hasText: `${name}: 3 dual problems` })
            .waitFor();
        await page.getByRole('tab', { name: 'Problem' }).click();
        await page.getByRole('button', { name: 'Solve with all chosen solvers' }).click();
        const rows = page.locator('kl-own-problem tbody tr');
        await rows.nth(1).waitFor();
        tables.push(
            (await rows.allTextContents()).map((row) =>
                row.replace(/\s+/g, ' ').trim().split(' ').slice(0, 2),
            ),
        );
    }
    assert.deepEqual(tables[1], tables[0]);
    assert.ok(
        tables[0].every(([, outcome]) => outcome === 'converged'),
        JSON.stringify(tables),
    );
    await page.screenshot({ path: join(shots, 'own-problems.png') });
    assert.deepEqual(errors, []);
    await context.close();
});
