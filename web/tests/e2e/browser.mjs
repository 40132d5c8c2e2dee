// Starts the built page and a browser for the tests; a console error fails the test that caused it.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach } from 'node:test';
import { chromium } from 'playwright-core';
import { preview } from 'vite';

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

/** A page that collects errors; `errors` must be empty at the end. */
export async function openPage(browser, url, options = {}) {
    const context = await browser.newContext({
        viewport: { width: 1440, height: 900 },
        serviceWorkers: 'block',
        acceptDownloads: true,
        ...options,
    });
    const page = await context.newPage();
    const errors = [];
    page.on('console', (message) => {
        if (message.type() === 'error' && !HARMLESS.test(message.text())) errors.push(message.text());
    });
    page.on('pageerror', (error) => errors.push(String(error)));
    await page.goto(url);
    return { page, context, errors };
}

/** Until every lane's buffer is full, or has stopped; a run that waits because it is long is told to run. */
export async function filled(page, timeout = 60_000) {
    const full = () => {
        if (window.kinloop?.waiting) window.kinloop.compute();
        return (
            window.kinloop?.lanes.length > 0 &&
            window.kinloop.lanes.every(
                (l) => l.state !== 'loading' && l.state !== 'running' && l.state !== 'paused',
            )
        );
    };
    try {
        await page.waitForFunction(full, undefined, { timeout });
    } catch (error) {
        const lanes = await page.evaluate(() => JSON.stringify(window.kinloop?.lanes));
        throw new Error(`the buffers do not fill: ${lanes}; ${await page.locator('body').textContent()}`, {
            cause: error,
        });
    }
}

export async function seek(page, step) {
    await page.evaluate((s) => {
        window.kinloop.pause();
        window.kinloop.seek(s);
    }, step);
    await page.waitForFunction((s) => window.kinloop.lanes.every((l) => l.shown === s), step, {
        timeout: 30_000,
    });
}

export async function download(page, act) {
    const [file] = await Promise.all([page.waitForEvent('download'), act()]);
    const stream = await file.createReadStream();
    const parts = [];
    for await (const part of stream) parts.push(part);
    return { name: file.suggestedFilename(), data: Buffer.concat(parts) };
}
