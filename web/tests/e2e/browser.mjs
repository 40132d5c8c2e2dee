// Starts the built page and a browser for the tests; a console error fails the test that caused it.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach } from 'node:test';
import { chromium } from 'playwright-core';
import { preview } from 'vite';

// A wait ends when the thing is there, however long it takes on a machine that is shared and draws in software; these
// only bound it. No test measures time by them. [ms]
const PATIENCE = 240_000;
export const RUN_PATIENCE = 600_000; // until a run has got somewhere

const root = resolve(import.meta.dirname, '../..');
export const shots = resolve(root, '../build/screenshots');
mkdirSync(shots, { recursive: true });

/** The page as built, on a free port; `base` puts it below a path. */
export async function serve(base = '/') {
    const server = await preview({
        root,
        base,
        logLevel: 'error',
        preview: { port: 0, host: '127.0.0.1' },
        configFile: resolve(root, 'vite.config.ts'),
    });
    const { port } = server.httpServer.address();
    return { url: `http://127.0.0.1:${port}${base}`, http: server.httpServer, close: () => server.close() };
}

let browser;

export async function browse() {
    browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        args: ['--no-sandbox'],
    });
    return browser;
}

// The pages of a test that failed would go on computing beside the next tests.
afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
});

// Chromium's own remarks about software WebGL are not ours.
const HARMLESS = /GPU stall due to ReadPixels|GL Driver Message|Automatic fallback to software WebGL/;

export async function newContext(browser, options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1440, height: 900 },
        serviceWorkers: 'block',
        acceptDownloads: true,
        reducedMotion: 'reduce', // what fades in has no colours yet
        ...options,
    });
    context.setDefaultTimeout(PATIENCE);
    return context;
}

/** Views say that there is no WebGL, and nothing is drawn in software, which takes most of the time of large scenes. */
export function withoutGraphics(context) {
    return context.addInitScript(() => {
        const original = HTMLCanvasElement.prototype.getContext;
        HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
            return /webgl/.test(kind) ? null : original.call(this, kind, ...rest);
        };
    });
}

/** A page that collects errors; `errors` must be empty at the end. */
export async function openPage(browser, url, options = {}) {
    return openIn(await newContext(browser, options), url);
}

export async function openIn(context, url) {
    const page = await context.newPage();
    const errors = [];
    page.on('console', (message) => {
        if (message.type() === 'error' && !HARMLESS.test(message.text())) errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(url);
    return { page, context, errors };
}

/** Until `check` holds; `told` says what is there instead. */
export async function until(check, told) {
    const end = Date.now() + PATIENCE;
    while (!(await check())) {
        if (Date.now() > end) throw new Error(await told());
        await new Promise((done) => setTimeout(done, 50));
    }
}

/** Until one of the elements shows what matches. */
export async function says(locator, pattern) {
    await locator
        .filter({ hasText: pattern })
        .first()
        .waitFor()
        .catch(async (error) => {
            const texts = await locator.allTextContents();
            throw new Error(`${pattern} is nowhere in ${JSON.stringify(texts)}`, { cause: error });
        });
}

/** Until all that was changed is set up and every lane's buffer is full, or has stopped; a run that waits because it
 * is long is told to run. */
export async function filled(page) {
    const full = () => {
        const { kinloop } = window;
        if (kinloop?.waiting) kinloop.compute();
        const busy = ['loading', 'running', 'paused'];
        return (
            kinloop?.settled &&
            kinloop.lanes.length > 0 &&
            kinloop.lanes.every((l) => !busy.includes(l.state))
        );
    };
    try {
        await page.waitForFunction(full, undefined, { timeout: RUN_PATIENCE });
    } catch (error) {
        const lanes = await page.evaluate(() => JSON.stringify(window.kinloop?.lanes));
        throw new Error(`the buffers do not fill: ${lanes}; ${await page.locator('body').textContent()}`, {
            cause: error,
        });
    }
}

/** Until the views show what is there now. */
export function drawn(page) {
    return page.evaluate(() =>
        new Promise((done) => {
            const stage = document.querySelector('kl-stage');
            stage.addEventListener('kl-drawn', done, { once: true });
            stage.draw();
        }).then(() => {}),
    );
}

/** Until the views show this step: most frames are not kept, and are computed again when they are looked at. */
export function shows(page, step) {
    return page.waitForFunction((s) => window.kinloop.lanes.every((l) => l.shown === s), step, {
        timeout: RUN_PATIENCE,
    });
}

export async function seek(page, step) {
    await page.evaluate((s) => {
        window.kinloop.pause();
        window.kinloop.seek(s);
    }, step);
    await shows(page, step);
}

/** The link that Share makes, with the hashes of the state shown. */
export async function sharedLink(page) {
    await page.locator('body').press('s');
    await page.waitForFunction(() =>
        document.querySelector('textarea[data-share="Link"]')?.value.includes('&h='),
    );
    return page.locator('textarea[data-share="Link"]').inputValue();
}

/** A tool of a plot; on a narrow plot they wait behind its ⋯. */
export async function plotTool(page, plot, name) {
    const card = page.locator(`[data-plot="${plot}"]`);
    const more = card.locator('.plot-more');
    if ((await more.isVisible()) && (await more.getAttribute('aria-expanded')) === 'false')
        await more.click();
    return card.getByRole('button', { name, exact: true });
}

export async function download(page, act) {
    const [file] = await Promise.all([page.waitForEvent('download'), act()]);
    const stream = await file.createReadStream();
    const parts = [];
    for await (const part of stream) parts.push(part);
    return { name: file.suggestedFilename(), data: Buffer.concat(parts) };
}
