// Models by address whose meshes lie in packages of ROS.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { filled, openPage } from './browser.mjs';
import { browser, server } from './site.mjs';

const model = resolve(import.meta.dirname, '../../../tests/data/models/5bar_linkage');
const urdf = readFileSync(join(model, 'robot.urdf'), 'utf8');
const SHORT = '#v=1&scene=box_on_plane&s=newton-ncp&pre=ht&T=0.1&t=0.05';

let host;
const asked = []; // paths, and whether they were there
before(async () => {
    host = createServer((request, response) => {
        const body = answer(decodeURIComponent(request.url));
        asked.push([request.url, body !== null]);
        response.writeHead(body === null ? 404 : 200, { 'Access-Control-Allow-Origin': '*' });
        response.end(body);
    });
    await new Promise((done) => host.listen(0, '127.0.0.1', done));
});
after(() => host?.close());

const named = (prefix) => urdf.replaceAll('package:///', prefix);
const MODELS = {
    '/ros/five_bar/urdf/robot.urdf': named('package://five_bar/meshes/'), // the package is in the address
    '/plain/robot.urdf': urdf, // a package without a name
    '/deep/models/robot.urdf': named('package://elsewhere/meshes/'), // the folder above is the package
};

function answer(path) {
    if (MODELS[path]) return MODELS[path];
    const mesh = /^(\/ros\/five_bar\/meshes|\/plain|\/deep\/meshes)\/([\w.]+)$/.exec(path)?.[2];
    return mesh && existsSync(join(model, mesh)) ? readFileSync(join(model, mesh)) : null;
}

for (const path of Object.keys(MODELS)) {
    test(`${path} brings its meshes`, async () => {
        const { page, context, errors } = await openPage(browser, server.url + SHORT);
        await filled(page);
        asked.length = 0;
        await page.locator('.experiment').click();
        await page.getByRole('button', { name: 'By address…' }).click();
        const field = page.getByRole('textbox', { name: 'Address' });
        await field.fill(`http://127.0.0.1:${host.address().port}${path}`);
        await field.press('Enter');
        await page.waitForFunction(() => window.kinloop.experiment.scene.url?.endsWith('robot.urdf'));
        const found = asked.filter(([, there]) => there).map(([p]) => p.split('/').pop());
        assert.deepEqual(found.sort(), ['built.stl', 'end_rod.stl', 'rod.stl', 'robot.urdf'].sort());
        assert.equal(await page.getByText('could not be fetched').count(), 0);
        assert.deepEqual(
            errors.filter((e) => !/404/.test(e)),
            [],
        ); // places where a mesh might have been
        await context.close();
    });
}

test('a package cannot lead to another host', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    const hosts = new Set();
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    MODELS['/trap/robot.urdf'] = named('package://x/http://127.0.0.2:9/');
    await page.locator('.experiment').click();
    await page.getByRole('button', { name: 'By address…' }).click();
    const field = page.getByRole('textbox', { name: 'Address' });
    await field.fill(`http://127.0.0.1:${host.address().port}/trap/robot.urdf`);
    await field.press('Enter');
    await page.getByText('could not be fetched').first().waitFor();
    assert.ok(![...hosts].some((h) => h.startsWith('127.0.0.2')), [...hosts].join());
    assert.deepEqual(
        errors.filter((e) => !/404/.test(e)),
        [],
    );
    await context.close();
});
