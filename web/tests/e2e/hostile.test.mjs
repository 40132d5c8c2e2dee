// Whatever is broken gets a message that helps, and the page keeps what it had: malformed links, scenes, models and
// data sets; rapid switching, resizing, undo and redo.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { filled, openPage, says, until } from './browser.mjs';
import { browser, server } from './site.mjs';

const root = resolve(import.meta.dirname, '../../..');
const SHORT = '#v=1&scene=box_on_plane&s=pgs-ccp,admm-ncp-fp&pre=ht&T=0.1&t=0.05';

/** Errors and warnings that are shown, a solver's own over its view; then dismissed. */
async function told(page, pattern) {
    await says(page.locator('.message-error, .message-warning, .cell-error'), pattern);
    await page.evaluate(() => {
        for (const close of document.querySelectorAll('.message button')) close.click();
    });
}

const LINKS = [
    ['#v=2&scene=box_on_plane', /version is "2"/],
    ['#scene=box_on_plane', /version/],
    ['#v=1', /names no scene/],
    ['#v=1&scene=nosuch', /no scene "nosuch"/],
    ['#v=1&scene=x&x=AAAA', /scene cannot be read/],
    [
        '#v=1&scene=x&x=q1YqSy0qzszPU7Iy1FFKy0xRsjI0MNBRKi5JLClWsqqu1VFKyk+pVLKKjq0FAA',
        /cannot run|cannot be read/,
    ],
    ['#v=1&scene=%E0%A4%A', /damaged/],
    ['#v=1&scene=box_on_plane&set=bodies.0.mass:-5&s=pgs-ccp&T=0.1', /mass/],
    ['#v=1&scene=box_on_plane&set=nowhere.3.x:1&s=pgs-ccp&T=0.1', /nowhere: unknown key/],
    ['#v=1&scene=box_on_plane&s=nosolver&T=0.1', /no solver "nosolver"/],
    ['#v=1&scene=box_on_plane&s=pgs-ccp,pgs-ncp&p=pgs-ccp.tolerance:-1&T=0.1', /tolerance must be in/],
    ['#v=1&scene=box_on_plane&s=pgs-ccp,pgs-ncp&p=pgs-ccp.nothing:1&T=0.1', /no parameter 'nothing'/],
    ['#v=1&scene=box_on_plane&run=norun&s=pgs-ccp&T=0.1', /no run "norun"/],
    ['#v=1&scene=url&u=ftp://example.org/a.json', /https only/],
];

test('malformed links are told apart, as the first visit and later', async () => {
    for (const [link, pattern] of LINKS) {
        const { page, context } = await openPage(browser, server.url + link);
        await told(page, pattern);
        await page.waitForFunction(() => window.kinloop.lanes.some((l) => l.filled > 3));
        await context.close();
    }
    const { page, context } = await openPage(browser, server.url + SHORT);
    await filled(page);
    for (const [link, pattern] of LINKS) {
        await page.evaluate((l) => (location.hash = l), link);
        await told(page, pattern);
        assert.ok(await page.evaluate(() => window.kinloop.lanes.length > 0), link);
    }
    await context.close();
});

async function give(page, name, data) {
    await page.evaluate(
        ({ file, bytes }) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([new Uint8Array(bytes)], file));
            dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true }));
        },
        { file: name, bytes: [...Buffer.from(data)] },
    );
}

const box = () => JSON.parse(readFileSync(resolve(root, 'scenes/box_on_plane.json'), 'utf8'));
const changed = (act) => {
    const scene = box();
    act(scene);
    return JSON.stringify(scene, null, 1);
};
const fclib = readFileSync(resolve(root, 'tests/data/fclib/CubeH8.hdf5'));
const problem = (members) => JSON.stringify({ contacts: 1, dt: 1, mu: 0.5, v_f: [0, 0, -1], ...members });
const EYE = [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
];

const FILES = [
    // scenes
    ['a.json', '', /a\.json/],
    ['b.json', '{"schema": 1, "bodies": [', /b\.json:1/],
    ['c.json', changed((s) => (s.bodies[0].mass = 'heavy')), /bodies\[0\]\.mass/],
    ['d.json', changed((s) => (s.bodies[0].wings = 2)), /wings/],
    ['e.json', changed((s) => (s.schema = 99)), /schema/],
    ['f.json', changed((s) => (s.bodies[1] = s.bodies[0])), /f\.json/],
    [
        'g.json',
        changed((s) => (s.joints = [{ name: 'j', type: 'magic', base: 'world', follower: 'box' }])),
        /magic/,
    ],
    ['h.json', changed((s) => (s.bodies[0].geoms = [{ type: 'mesh', mesh: 'none' }])), /h\.json/],
    ['i.json', changed((s) => (s.bodies[0].mass = 'HUGE')).replace('"HUGE"', '1e400'), /i\.json/],
    ['j.json', '[1, 2, 3]', /j\.json/],
    // dual problems
    ['k.json', problem({ D: [[1]] }), /k\.json/],
    ['l.json', problem({ D: EYE, mu: -1 }), /l\.json/],
    ['m.json', problem({ D: EYE, v_f: [0, 0] }), /m\.json/],
    ['n.json', problem({ D: EYE, dt: 0 }), /n\.json/],
    [
        'o.json',
        problem({
            D: [
                [1, 0, 0],
                [0, 1, 0],
                [0, 0, null],
            ],
        }),
        /o\.json/,
    ],
    ['p.json', problem({ D: EYE, joints: [3], joint_rows: 1 }), /p\.json/],
    ['q.h5', 'no HDF5', /q\.h5/],
    ['r.h5', fclib.subarray(0, 700), /r\.h5/],
    ['s.hdf5', Buffer.concat([fclib.subarray(0, 2000), Buffer.alloc(fclib.length - 2000)]), /s\.hdf5/],
    ['t.txt', 'hello', /no scene, model or problem/],
    // models
    ['u.urdf', '', /u\.urdf|none of them/],
    ['v.urdf', '<robot name="v"><link name="a"', /v\.urdf/, 'dialog'],
    ['w.urdf', '<robot name="w"></robot>', /w\.urdf/, 'dialog'],
    [
        'x.xml',
        '<mujoco><worldbody><body><geom type="blob" size="1"/></body></worldbody></mujoco>',
        /x\.xml|at least one body/,
        'dialog',
    ],
    ['y.xml', '<html></html>', /none of them/],
    ['z.zip', 'not a zip', /z\.zip/],
];

test('malformed scenes, problems and models are refused by name, and change nothing', async () => {
    const { page, context } = await openPage(browser, server.url + SHORT);
    await filled(page);
    for (const [name, data, pattern, where] of FILES) {
        await give(page, name, data);
        if (where === 'dialog') {
            const dialog = page.getByRole('dialog', { name: 'Imported model' });
            await dialog.getByRole('alert').first().waitFor();
            await says(dialog.locator('pre'), pattern);
            await page.keyboard.press('Escape');
        } else await told(page, pattern);
        assert.equal(await page.evaluate(() => window.kinloop.scene), 'box_on_plane', name);
    }
    await filled(page);
    await context.close();
});

// An address that answers no one: whoever wants it is noticed.
const MARKUP =
    '<img src="http://127.0.0.2:9/out" onerror="window.markup = true"><script>window.markup = true</script>';

test('names from files stay text wherever they show, and nothing is asked of other hosts', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    const foreign = [];
    context.on('request', (request) => {
        const url = new URL(request.url());
        if (/^http/.test(url.protocol) && url.origin !== new URL(server.url).origin) foreign.push(url.href);
    });
    const wasMarkup = () =>
        page.evaluate(
            () => window.markup ?? document.querySelectorAll('[onerror], [src*="127.0.0.2"]').length > 0,
        );
    const showsNames = async () => {
        await page.waitForFunction(() => document.body.textContent.includes('<img src='));
        assert.equal(await wasMarkup(), false);
    };
    await filled(page);
    const scene = JSON.parse(readFileSync(resolve(root, 'scenes/boxes_fixed.json'), 'utf8'));
    const run = { ...scene.runs[0], title: MARKUP, text: MARKUP, duration: 0.02 };
    const renamed = JSON.stringify({ ...scene, title: MARKUP, text: MARKUP, runs: [run] }).replaceAll(
        `"${scene.bodies[0].name}"`,
        JSON.stringify(MARKUP),
    );
    await give(page, `${MARKUP.replaceAll('/', '-')}.json`, renamed);
    await page.waitForFunction(() => window.kinloop.scene === 'boxes_fixed');
    await filled(page);
    await showsNames();
    for (const tab of await page.getByRole('tab').all()) {
        await tab.click();
        assert.equal(await wasMarkup(), false);
    }
    await page.getByRole('tab', { name: 'Scene' }).click();
    await page.locator('kl-scene-panel').getByRole('button', { name: '<img src=' }).first().click();
    await showsNames();
    await page.locator('body').press('s');
    await page.waitForFunction(() => document.querySelector('dialog[open]'));
    assert.equal(await wasMarkup(), false);
    await page.keyboard.press('Escape');
    await give(page, 'p.json', problem({ name: MARKUP, D: EYE }));
    await page.waitForFunction(() => /1 dual problem/.test(document.body.textContent));
    assert.equal(await wasMarkup(), false);
    const quoted = MARKUP.replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    await give(
        page,
        'r.urdf',
        `<robot name="${quoted}"><link name="${quoted}"/><odd name="${quoted}"/></robot>`,
    );
    await page.getByRole('dialog', { name: 'Imported model' }).waitFor();
    await showsNames();
    assert.deepEqual(foreign, []);
    assert.deepEqual(errors, []);
    await context.close();
});

test('the content security policy lets no inline script run and no text become one', async () => {
    const { page, context } = await openPage(browser, server.url + SHORT);
    await filled(page);
    const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
    assert.doesNotMatch(policy, /'unsafe-inline'|'unsafe-eval'/);
    const found = await page.evaluate(async () => {
        const violated = [];
        document.addEventListener('securitypolicyviolation', (e) => violated.push(e.effectiveDirective));
        const script = document.createElement('script');
        script.textContent = 'window.inline = true';
        document.head.append(script);
        const link = document.createElement('p');
        link.innerHTML = '<b onclick="window.inline = true">x</b>';
        document.body.append(link);
        link.firstChild.click();
        // Later: what the debugger calls may evaluate.
        const evaluated = await new Promise((done) => {
            setTimeout(() => {
                try {
                    done(new Function('return true')());
                } catch {
                    done(false);
                }
            });
        });
        await new Promise((done) => setTimeout(done));
        return { violated: [...new Set(violated)].sort(), inline: window.inline ?? false, evaluated };
    });
    assert.deepEqual(found, {
        violated: ['script-src', 'script-src-attr', 'script-src-elem'],
        inline: false,
        evaluated: false,
    });
    await context.close();
});

test('rapid switching, resizing, undo and redo leave one consistent state', async () => {
    const { page, context, errors } = await openPage(browser, server.url + SHORT);
    await filled(page);
    const scenes = ['nunchaku', 'fourbar_free', 'boxes_fixed', 'walker', 'box_on_plane', 'nunchaku'];
    for (const scene of scenes) {
        await page.evaluate(
            (s) => (location.hash = `#v=1&scene=${s}&s=pgs-ncp,admm-ncp-plus&pre=ht&T=0.1`),
            scene,
        );
        await page.waitForTimeout(40);
    }
    for (let i = 0; i < 6; i++) {
        await page.setViewportSize({ width: [360, 1440, 800][i % 3], height: [700, 900, 400][i % 3] });
        await page.waitForTimeout(60);
    }
    await page.waitForFunction(() => window.kinloop.scene === 'nunchaku');
    await filled(page);
    assert.equal(await page.evaluate(() => window.kinloop.experiment.scene.id), 'nunchaku');
    for (let i = 0; i < 12; i++) await page.keyboard.press(i % 3 === 2 ? 'Control+y' : 'Control+z');
    await filled(page);
    const now = await page.evaluate(() => ({
        shown: window.kinloop.scene,
        wanted: window.kinloop.experiment.scene.id,
    }));
    assert.equal(now.shown, now.wanted);
    const workers = 1 + (await page.evaluate(() => window.kinloop.lanes.length));
    await until(
        () => page.workers().length === workers,
        () => `${page.workers().length} workers instead of ${workers}`,
    );
    assert.deepEqual(errors, []);
    await context.close();
});

test('an edit that cannot run is told and taken back', async () => {
    const { page, context, errors } = await openPage(
        browser,
        `${server.url}#v=1&scene=fourbar_free&s=pgs-ncp&pre=ht&T=0.1&t=0.05`,
    );
    await filled(page);
    await page.getByRole('tab', { name: 'Scene' }).click();
    await page.locator('kl-scene-panel .list').nth(1).getByRole('button').first().click();
    const limit = page.getByRole('textbox', { name: 'Upper limit' });
    await limit.fill('-50');
    await limit.press('Enter');
    await told(page, /cannot run/);
    assert.deepEqual(await page.evaluate(() => window.kinloop.experiment.edits), []);
    assert.ok(await page.getByRole('button', { name: 'Undo' }).isDisabled());
    assert.notEqual(await limit.inputValue(), '-50', 'the field shows what runs');
    await filled(page);
    assert.deepEqual(errors, []);
    await context.close();
});
