// The built page and a browser for the tests of one file: whoever imports this has them from the first test to the last.
import { after, before } from 'node:test';
import { browse, serve } from './browser.mjs';

export let server;
export let browser;

before(async () => {
    server = await serve();
    browser = await browse();
});
after(async () => {
    await browser?.close();
    await server?.close();
});
