// Workers that stop and memory that ends: the page says so, keeps what it had, and goes on.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filled, newContext, openIn, openPage, says, withoutGraphics } from './browser.mjs';
import { browser, server } from './site.mjs';

const SHORT = '#v=1&scene=box_on_plane&s=pgs-ccp,admm-ncp-fp&pre=ht&T=0.1&t=0.05';

/** The page with its runs done; the helper is the first worker of all. */
async function begin() {
    const opened = await openPage(browser, server.url + SHORT);
    await filled(opened.page);
    return { ...opened, helper: opened.page.workers()[0] };
}

async function drop(page, name, text) {
    await page.evaluate(
        ({ file, content }) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([content], file));
            dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true }));
        },
        { file: name, content: text },
    );
}

/** Another scene of the gallery opens and runs: the page is whole. */
async function goesOn({ page, context, errors }) {
    await page.evaluate(() => (location.hash = '#v=1&scene=nunchaku&s=newton-ncp&T=0.02'));
    await page.waitForFunction(() => window.kinloop.scene === 'nunchaku');
    await filled(page);
    assert.deepEqual(await page.evaluate(() => window.kinloop.lanes.map((l) => l.state)), ['finished']);
    assert.deepEqual(errors, []);
    await context.close();
}

/** Ball joints in a row, from the world on. */
function chain(links, solvers = ['admm-ncp-fp']) {
    const each = (make) => Array.from({ length: links }, (_, i) => make(i));
    return JSON.stringify({
        schema: 1,
        id: 'chain',
        title: 'Chain',
        dt: 0.001,
        settings: { max_contacts: 0 },
        solvers,
        bodies: each((i) => ({
            name: `link${i}`,
            mass: 1,
            inertia: [0.01, 0.01, 0.01],
            position: [i, 0, 1],
        })),
        joints: each((i) => ({
            name: `joint${i}`,
            type: 'spherical',
            base: i > 0 ? `link${i - 1}` : 'world',
            follower: `link${i}`,
            position: [i - 0.5, 0, 1],
        })),
        runs: [{ id: 'hang', title: 'Hang', duration: 0.002 }],
    });
}

test('a helper that stops is replaced, and scenes open as before', async () => {
    const opened = await begin();
    await opened.helper.evaluate(
        () =>
            void setTimeout(() => {
                throw new Error('stopped by the test');
            }),
    );
    await says(opened.page.locator('.message'), /another has taken its place.*stopped by the test/s);
    await goesOn(opened);
});

test('a helper whose core traps is replaced; what it was asked is refused', async () => {
    const opened = await begin();
    await opened.helper.evaluate(() => {
        TextDecoder.prototype.decode = () => {
            throw new WebAssembly.RuntimeError('unreachable, says the test');
        };
    });
    await drop(opened.page, 'chain.json', chain(2));
    await says(opened.page.locator('.message-error'), /cannot be used.*unreachable, says the test/s);
    await says(opened.page.locator('.message'), /another has taken its place/);
    assert.equal(await opened.page.evaluate(() => window.kinloop.scene), 'box_on_plane');
    await goesOn(opened);
});

test('a scene for which the memory ends is refused with what it needs, and changes nothing', async () => {
    const opened = await begin();
    await opened.helper.evaluate(() => {
        self.grow = WebAssembly.Memory.prototype.grow;
        WebAssembly.Memory.prototype.grow = () => {
            throw new RangeError('the browser gives no more');
        };
    });
    const text = JSON.stringify({ ...JSON.parse(chain(2)), description: 'x'.repeat(40e6) });
    await drop(opened.page, 'long.json', text);
    await says(opened.page.locator('.message-error'), /no room for 4\d{7} bytes; the core has \d+ MB/);
    assert.equal(await opened.page.evaluate(() => window.kinloop.scene), 'box_on_plane');
    await opened.page.evaluate(() => (location.hash = '#v=1&scene=walker&s=newton-ncp&T=0.01'));
    await says(opened.page.locator('.message-error'), /cannot run.*(no room for|out of memory)/s);
    assert.equal(await opened.page.evaluate(() => window.kinloop.scene), 'box_on_plane');
    await opened.helper.evaluate(() => {
        WebAssembly.Memory.prototype.grow = self.grow;
    });
    await goesOn(opened);
});

test('a scene that is too large for one solver opens, says what that needs, and runs with another', async () => {
    const context = await newContext(browser);
    await withoutGraphics(context);
    const { page, errors } = await openIn(context, server.url + SHORT);
    await filled(page);
    await drop(page, 'chain.json', chain(5500, ['admm-ncp-fp', 'newton-ncp']));
    await page.waitForFunction(() => window.kinloop.scene === 'chain');
    await filled(page);
    await says(page.locator('.cell-error'), /no room for 16\d{3} rows.*up to 16384 rows/);
    const lanes = await page.evaluate(() => window.kinloop.lanes.map((l) => [l.state, l.filled]));
    assert.deepEqual(lanes, [
        ['failed', 0],
        ['finished', 2],
    ]);
    await goesOn({ page, context, errors: errors.filter((e) => !/creating WebGL/.test(e)) });
});
