// Mutated links and files: whatever comes, the page says something or shows it, throws nothing, and writes no NaN.
// A slice runs always; KINLOOP_MUTATIONS=10000 is the long run, half of them links, without 3D views, which a machine
// without a graphics processor draws slowly. Mutations follow from the number of the case alone, so that what fails is
// repeated by KINLOOP_FIRST=number.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { zipSync } from 'fflate';
import { newContext, openIn, withoutGraphics } from './browser.mjs';
import { browser, server } from './site.mjs';

const COUNT = Number(process.env.KINLOOP_MUTATIONS ?? 60);
const FIRST = Number(process.env.KINLOOP_FIRST ?? 0);
const PATIENCE = 120_000; // until the page answers [ms]
const root = resolve(import.meta.dirname, '../../..');

/** Numbers in [0, 1), the same for the same seed: a counter, its bits mixed as in MurmurHash3. */
function randomFrom(seed) {
    let count = Math.imul(seed + 1, 0x9e3779b9);
    return () => {
        let bits = ++count;
        bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
        bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
        return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32;
    };
}
const pick = (random, list) => list[Math.floor(random() * list.length)];

const WORDS = [
    '',
    '0',
    '-1',
    '1e400',
    '-1e308',
    '1e-320',
    'NaN',
    'null',
    'true',
    '[]',
    '{}',
    '"',
    '%',
    '%00',
    '&',
    '=',
    ',',
    '<b>',
    '</script>',
    '../..',
    'constructor',
    '__proto__',
    '\u202e',
    '999999999999999999',
    'world',
    'nosuch',
];

/** A text with a few numbers replaced, or with one to three pieces dropped, doubled, moved, or replaced by a word. */
function mutated(text, random) {
    if (random() < 0.4) {
        const share = 3 / Math.max(3, text.match(/-?\d+(\.\d+)?/g)?.length ?? 0);
        const other = (number) =>
            pick(random, [
                ...WORDS,
                String(Number(number) * 10 ** Math.floor(13 * random() - 6)),
                `-${number}`,
            ]);
        return text.replace(/-?\d+(\.\d+)?/g, (number) => (random() < share ? other(number) : number));
    }
    let result = text;
    for (let n = 1 + Math.floor(3 * random()); n > 0; n--) {
        const at = Math.floor(random() * (result.length + 1));
        const end = Math.min(result.length, at + Math.floor(random() ** 3 * 60));
        const piece = result.slice(at, end);
        const [head, tail] = [result.slice(0, at), result.slice(end)];
        const to = Math.floor(random() * (tail.length + 1));
        result = pick(random, [
            () => head + tail,
            () => head + piece + piece + tail,
            () => head + tail.slice(0, to) + piece + tail.slice(to),
            () => head + pick(random, WORDS) + tail,
            () => text.slice(0, at),
        ])();
    }
    return result;
}

const bytesMutated = (bytes, random) => {
    const copy = Buffer.from(bytes);
    for (let n = 1 + Math.floor(8 * random()); n > 0 && copy.length > 0; n--)
        copy[Math.floor(random() * copy.length)] = Math.floor(256 * random());
    return random() < 0.2 ? copy.subarray(0, Math.floor(random() * copy.length)) : copy;
};

const LINKS = [
    '#v=1&scene=box_on_plane&s=pgs-ccp,admm-ncp-fp&pre=ht&T=0.1&t=0.05',
    '#v=1&scene=box_on_plane&run=softened&s=admm-ncp-plus&T=0.05&set=bodies.0.mass:2.5&p=admm-ncp-plus.tolerance:1e-4',
    '#v=1&scene=boxes_fixed&m=cur&s=newton-ncp,nbgs&T=0.02&t=0.01&h=0123456789abcdef,fedcba9876543210',
    '#v=1&scene=nunchaku&s=raisim-ds&pre=hp&T=0.02&embed=1',
    '#v=1&scene=fourbar_fixed&s=newton-ncp&T=0.01&set=settings.dt:0.002,bodies.1.position:[0,0,1]',
    '#v=1&scene=x&x=q1YqSy0qzszPU7Iy1FFKy0xRsjI0MNBRKi5JLClWsqqu1VFKyk+pVLKKjq0FAA&s=pgs-ccp',
    '#v=1&scene=file&u=a.json&d=0123456789abcdef&s=pgs-ccp',
];

const read = (path) => readFileSync(resolve(root, path));
const corpus = (folder, pattern = /./) =>
    readdirSync(resolve(root, 'tests/fuzz/corpus', folder))
        .filter((name) => pattern.test(name))
        .map((name) => read(`tests/fuzz/corpus/${folder}/${name}`));
const CLOSURES = corpus('loops');
// The first byte of the fuzzer's seeds chooses the format.
const [SOLID, SURFACE] = [/stl/, /obj/].map((kind) => corpus('mesh', kind).map((seed) => seed.subarray(1)));
// Names of meshes in the seeds of models and scenes; in a package they lie beside the model, or below a folder of it.
const MESHES = ['a.stl', 'c.obj', 'tet.obj', 'm/t.obj', 't.obj', 'rod.stl', 'built.stl', 'end_rod.stl'];

/** A seed, four times of five changed. */
const changed = (seeds, random) => {
    const seed = pick(random, seeds);
    if (random() < 0.2) return seed;
    const text = !seed.includes(0);
    return text ? Buffer.from(mutated(seed.toString(), random)) : bytesMutated(seed, random);
};

const meshes = (random) =>
    MESHES.filter(() => random() < 0.4).map((name) => [
        name,
        changed(name.endsWith('obj') ? SURFACE : SOLID, random),
    ]);

/** A model with closures and meshes beside it. */
const model = (ending, seeds) => (random) => [
    [`robot.${ending}`, changed(seeds, random)],
    ...(random() < 0.5 ? [['robot.yaml', changed(CLOSURES, random)]] : []),
    ...meshes(random),
];
const urdf = model('urdf', corpus('urdf'));
const mjcf = model('xml', corpus('mjcf'));

/** The same as a package, whole two times of three. */
function packed(random) {
    const files = Object.fromEntries(
        pick(random, [urdf, mjcf])(random).map(([name, data]) => [`pack/${name}`, data]),
    );
    const zip = Buffer.from(zipSync(files, { level: random() < 0.5 ? 0 : 6, mtime: '2000-01-01' }));
    return [['pack.zip', random() < 0.67 ? zip : bytesMutated(zip, random)]];
}

const alone = (name, seeds) => (random) => [[name, changed(seeds, random)]];
const SCENES = [...corpus('scene'), read('scenes/box_on_plane.json')];
const KINDS = [
    (random) => [['given.json', changed(SCENES, random)], ...meshes(random)],
    alone('given.json', corpus('problem')),
    alone('given.h5', corpus('hdf5_bytes', /^(plain|bodies)/)), // our layout: with D, and with the bodies that make it
    alone('given.h5', [
        ...corpus('hdf5_bytes', /^(local|global)/),
        read('tests/data/fclib/OneObject-i100000-316.hdf5'),
    ]),
    urdf,
    mjcf,
    packed,
];

/** Files to be dropped together. */
const mutatedFiles = (random) => pick(random, KINDS)(random);

/** Until the page has answered, at most a patience; what it shows, less what it quotes from the input. */
async function shown(page, answered, what) {
    await page.waitForFunction(answered, undefined, { timeout: PATIENCE }).catch((error) => {
        throw new Error(`${what}: no answer`, { cause: error });
    });
    return page.evaluate(() => {
        const quotes = '.message, .cell-error, dialog, textarea, pre, code, select, kl-inspector';
        const copy = document.body.cloneNode(true);
        for (const element of copy.querySelectorAll(quotes)) element.remove();
        return copy.textContent;
    });
}

/** Opens a small page with the experiment that all begin with; `violations` of the content security policy are errors. */
async function begin() {
    const context = await newContext(browser, { viewport: { width: 480, height: 360 } });
    if (COUNT > 100) await withoutGraphics(context);
    const opened = await openIn(context, `${server.url}${LINKS[0]}`);
    await opened.page.evaluate(() => {
        window.violations = [];
        document.addEventListener('securitypolicyviolation', (e) =>
            window.violations.push(e.violatedDirective),
        );
        window.addEventListener('unhandledrejection', (e) => window.violations.push(String(e.reason)));
    });
    return opened;
}

async function check({ page, errors }, text, what) {
    const wrong = [
        ...errors.filter((e) => !/creating WebGL/.test(e)),
        ...(await page.evaluate(() => window.violations)),
    ];
    assert.deepEqual(wrong, [], what);
    const odd = /\bNaN\b|\bundefined\b|\[object |\bInfinity\b/.exec(text);
    assert.equal(odd && text.slice(Math.max(0, odd.index - 60), odd.index + 60), null, what);
}

/** Away with messages and dialogs, until these have said that they are closed. */
const clear = () => {
    for (const close of document.querySelectorAll('.message button')) close.click();
    const closing = [...document.querySelectorAll('dialog[open]')].map((dialog) => {
        const closed = new Promise((done) => dialog.addEventListener('close', done, { once: true }));
        dialog.close();
        return closed;
    });
    return Promise.all(closing).then(() => {});
};

test('mutated links are opened or told, and break nothing', async (t) => {
    const opened = await begin();
    let told = 0;
    for (let i = FIRST; i < FIRST + COUNT / 2; i++) {
        const random = randomFrom(i);
        const link = `#${mutated(pick(random, LINKS).slice(1), random)}`;
        const what = `link ${i}: ${link}`;
        await opened.page.evaluate(clear);
        await opened.page.evaluate((l) => (location.hash = l), link);
        const answered = () => window.kinloop?.settled || document.querySelector('.message, dialog[open]');
        const text = await shown(opened.page, answered, what);
        await check(opened, text, what);
        if ((i + 1) % 500 === 0) console.log(`${i + 1} links`);
        told += await opened.page.evaluate(() => Number(document.querySelector('.message') !== null));
    }
    t.diagnostic(`${COUNT / 2} links from ${FIRST} on, ${told} with a message`);
    await opened.page.evaluate(clear);
    await opened.page.evaluate((l) => (location.hash = l), `${LINKS[0]}&note=end`);
    await opened.page.waitForFunction(
        () => window.kinloop.scene === 'box_on_plane' && window.kinloop.lanes[0]?.filled > 3,
    );
    await opened.context.close();
});

test('mutated files are opened or told, and break nothing', async (t) => {
    const opened = await begin();
    const { page } = opened;
    let told = 0;
    await page.waitForFunction(() => window.kinloop?.lanes[0]?.filled > 3);
    for (let i = FIRST; i < FIRST + COUNT / 2; i++) {
        const files = mutatedFiles(randomFrom(1_000_000 + i));
        const what = `files ${i}: ${files.map(([name]) => name)}`;
        await page.evaluate(clear);
        await page.evaluate(
            (given) => {
                const transfer = new DataTransfer();
                for (const [name, base64] of given)
                    transfer.items.add(
                        new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name),
                    );
                dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true }));
            },
            files.map(([name, data]) => [name, data.toString('base64')]),
        );
        const answered = () => {
            const dialog = document.querySelector('dialog[open]');
            const busy = [...(dialog?.querySelectorAll('[role=status]') ?? [])].some((e) =>
                /Reading/.test(e.textContent),
            );
            return document.querySelector('.message') || (dialog && !busy);
        };
        const text = await shown(page, answered, what);
        await check(opened, text, what);
        if ((i + 1) % 500 === 0) console.log(`${i + 1} drops`);
        told += await page.evaluate(() =>
            Number(document.querySelector('.message-error, dialog[open] [role=alert]') !== null),
        );
    }
    t.diagnostic(`${COUNT / 2} drops from ${FIRST} on, ${told} refused`);
    await opened.context.close();
});
