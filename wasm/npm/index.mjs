// The npm package's door: finds kinloop.wasm and the scenes beside itself, in Node and in browsers, and
// hands out pages (wasm/loader/page.mjs). The wasm is compiled once, each page has its own memory.
import createModule from './kinloop.mjs';
import { Page, startCore } from './page.mjs';

export { CoreError } from './page.mjs';

/** @param {URL} url */
async function read(url) {
    if (url.protocol === 'file:') {
        const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ 'node:fs/promises');
        return readFile(url);
    }
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
    return new Uint8Array(await response.arrayBuffer());
}

let compiled;
async function compile() {
    compiled ??= read(new URL('./kinloop.wasm', import.meta.url)).then((bytes) => WebAssembly.compile(bytes));
    try {
        return await compiled;
    } catch (error) {
        compiled = undefined; // a network failure need not be for ever
        throw error;
    }
}

export async function createPage(options = {}) {
    return new Page(await startCore(createModule, options.wasm ?? (await compile())));
}

export async function readScene(id) {
    if (!/^[a-z0-9_]+$/.test(id)) throw new Error(`a scene's id has the letters a-z, 0-9 and _ (got ${id})`);
    return new TextDecoder().decode(await read(new URL(`./scenes/${id}.json`, import.meta.url)));
}
