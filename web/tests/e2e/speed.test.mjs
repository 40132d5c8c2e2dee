// What the page costs: size of the first load, and what a change of scenes leaves behind.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { filled, openPage, until } from './browser.mjs';
import { browser, server } from './site.mjs';

test('the first load stays below 450 kB gzipped, all that the page asks for until it rests', async (t) => {
    const asked = new Set();
    const listen = ({ url }) => asked.add(decodeURIComponent(url.split('?')[0]));
    server.http.on('request', listen);
    const { page, context, errors } = await openPage(browser, server.url);
    await filled(page);
    await page.waitForFunction(() => document.querySelectorAll('kl-plot .uplot').length >= 3);
    server.http.off('request', listen);
    const folder = resolve(import.meta.dirname, '../../dist');
    const sizes = [...asked].map((path) => {
        const file = resolve(folder, path === '/' ? 'index.html' : `.${path}`);
        return [path, gzipSync(readFileSync(file), { level: 9 }).length];
    });
    const total = sizes.reduce((sum, [, size]) => sum + size, 0);
    t.diagnostic(`${total} bytes: ${sizes.map(([f, s]) => `${f} ${s}`).join(', ')}`);
    assert.ok(total < 450_000, `${total} bytes`);
    assert.ok(
        [...asked].some((path) => path.endsWith('.wasm')),
        'the core is among them',
    );
    assert.deepEqual(errors, []);
    await context.close();
});

test('changing scenes leaves no worker and no memory behind', async (t) => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=box_on_plane&s=admm-ncp-fp,pgs-ncp&pre=ht&T=0.05&t=0.01`,
    );
    await filled(page);
    const session = await context.newCDPSession(page);
    const heap = async () => {
        await session.send('HeapProfiler.collectGarbage');
        return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    const scenes = ['nunchaku', 'boxes_fixed', 'fourbar_free', 'box_on_plane'];
    const visit = async (i) => {
        const scene = scenes[i % scenes.length];
        await page.evaluate((s) => {
            location.hash = `#v=1&scene=${s}&s=admm-ncp-fp,pgs-ncp&pre=ht&T=0.02&t=0.01`;
        }, scene);
        await page.waitForFunction(
            (s) => window.kinloop.scene === s && window.kinloop.lanes.every((l) => l.filled > 0),
            scene,
        );
    };
    for (let i = 0; i < 8; i++) await visit(i);
    const early = await heap();
    for (let i = 0; i < 50; i++) await visit(i);
    await until(
        () => page.workers().length === 3,
        () => `${page.workers().length} workers instead of one per solver and the helper`,
    );
    // What has ended is let go of by and by.
    let late = 0;
    await until(
        async () => (late = await heap()) < 1.3 * early + 4e6,
        () => `the heap grew from ${early} to ${late} bytes`,
    );
    t.diagnostic(
        `heap ${(early / 1e6).toFixed(1)} MB after 8 changes, ${(late / 1e6).toFixed(1)} MB after 58`,
    );
    assert.deepEqual(errors, []);
    await context.close();
});
