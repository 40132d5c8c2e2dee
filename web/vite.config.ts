// Builds the page into web/dist: static files that run from any folder of any host.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { contentSecurityPolicy } from './tools/csp';
import { offline } from './tools/offline';
import { scenes } from './tools/scenes';

const root = import.meta.dirname;
const core = process.env.KINLOOP_WASM_DIR ?? resolve(root, '../build/wasm');
if (!existsSync(resolve(core, 'kinloop.wasm')) && !process.env.VITEST) {
    throw new Error(`${core}/kinloop.wasm is missing: build the wasm core first (make wasm)`);
}

/** Templates are shipped as they are written: without the indentation of their source. */
const unindented = () => ({
    name: 'unindented-templates',
    enforce: 'pre' as const,
    transform: (code: string, id: string) =>
        id.startsWith(resolve(root, 'src')) && id.endsWith('.ts') ? code.replace(/\n[ \t]+/g, '\n') : null,
});

export default defineConfig({
    base: './',
    resolve: { alias: { '#core': core, '#loader': resolve(root, '../wasm/loader') } },
    server: { fs: { allow: [resolve(root, '..'), core] } },
    worker: { format: 'es' },
    build: {
        target: 'es2022',
        chunkSizeWarningLimit: 900,
        modulePreload: { polyfill: false },
        assetsInlineLimit: 0,
        rollupOptions: {
            input: {
                index: resolve(root, 'index.html'),
                'kinloop-compare': resolve(root, 'src/embed/compare.ts'),
            },
            // Other pages name this one file in their script tags.
            output: {
                entryFileNames: (chunk) =>
                    chunk.name === 'kinloop-compare' ? '[name].js' : 'assets/[name]-[hash].js',
            },
        },
    },
    plugins: [unindented(), scenes(resolve(root, '../scenes')), contentSecurityPolicy(), offline()],
    test: { include: ['tests/unit/**/*.test.ts'], testTimeout: 300_000 }, // only ends what hangs
} as Parameters<typeof defineConfig>[0]);
