// Mutated links and files: whatever comes, the page says something or shows it, throws nothing, and writes no NaN.
// A slice runs always; KINLOOP_MUTATIONS=10000 is the long run, half of them links, without 3D views, which a machine
// without a graphics processor draws slowly. Mutations follow from the number of the case alone, so that what fails is
// repeated by KINLOOP_FIRST=number.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { newContext, openIn, withoutGraphics } from './browser.mjs';
import { browser, server } from './site.mjs';

const COUNT = Number(process.env.KINLOOP_MUTATIONS ?? 60);
const FIRST = Number(process.env.KINLOOP_FIRST ?? 0);
const PATIENCE = 120_000; // until the page answers [ms]
const root = resolve(import.meta.dirname, '../../..');

/** Numbers in [0, 1), the same for the same seed (a linear congruential generator modulo 2^32). */
function randomFrom(seed) {
    let state = (seed * 2654435761 + 12345) >>> 0;
    return () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
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

const corpus = (folder) => {
    const path = resolve(root, 'tests/fuzz/corpus', folder);
    return readdirSync(path).map((name) => readFileSync(resolve(path, name)));
};
const KINDS = [
    ['json', corpus('scene')],
    ['json', corpus('problem')],
    ['json', [readFileSync(resolve(root, 'scenes/box_on_plane.json'))]],
    ['urdf', corpus('urdf')],
    ['xml', corpus('mjcf')],
    ['h5', [readFileSync(resolve(root, 'tests/data/fclib/OneObject-i100000-316.hdf5'))]],
    ['zip', [Buffer.from('PK\u0003\u0004 no more than a head')]],
];
const TRIANGLE =
    'solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid s\n';
const CLOSURES = corpus('loops')[0].toString();

/** Files to be dropped together. */
function mutatedFiles(random) {
    const [ending, seeds] = pick(random, KINDS);
    const seed = pick(random, seeds);
    const text = ['json', 'urdf', 'xml'].includes(ending);
    const files = [
        [
            `given.${ending}`,
            text ? Buffer.from(mutated(seed.toString(), random)) : bytesMutated(seed, random),
        ],
    ];
    if (ending === 'urdf' && random() < 0.5)
        files.push(['robot.yaml', Buffer.from(mutated(CLOSURES, random))]);
    if (ending !== 'h5' && random() < 0.3) files.push(['mesh.stl', Buffer.from(mutated(TRIANGLE, random))]);
    return files;
}

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
    t.diagnostic(`${COUNT / 2} links, ${told} with a message`);
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
                for (const [name, bytes] of given)
                    transfer.items.add(new File([new Uint8Array(bytes)], name));
                dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, cancelable: true }));
            },
            files.map(([name, data]) => [name, [...data]]),
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
    t.diagnostic(`${COUNT / 2} drops, ${told} refused`);
    await opened.context.close();
});
