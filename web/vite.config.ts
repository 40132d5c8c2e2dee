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

/** A shader in a string literal without spaces that mean nothing; lines of the preprocessor keep theirs. */
const tightShader = (text: string) =>
    text
        .split('\\n')
        .map((line) => line.replace(/^(\\t| )+/, ''))
        .map((line) => (/^"?#/.test(line) ? line : line.replace(/ *([(){},;=*/<>]) */g, '$1')))
        .join('\\n');

/** What the renderer asks of its WebXR part, answered by one that never presents: the page shows no headset. */
const noXR = `class WebXRManager extends EventDispatcher {
    enabled = false;
    isPresenting = false;
    getEnvironmentBlendMode() {}
    setAnimationLoop() {}
    dispose() {}
}
`;

function slimThree(code: string): string {
    const slim = code.replace(/\nclass WebXRManager extends EventDispatcher \{.*?\n\}\n/s, `\n${noXR}`);
    if (slim === code) throw new Error('three.module.js has no WebXRManager any more: look at slimThree');
    return slim.replace(/"[^"\n]*\\n[^"\n]*"/g, tightShader);
}

/** Templates go out without the indentation of their source, the shaders of three without their spaces. */
const unindented = () => ({
    name: 'unindented-templates',
    enforce: 'pre' as const,
    transform(code: string, id: string) {
        if (id.startsWith(resolve(root, 'src')) && id.endsWith('.ts')) return code.replace(/\n[ \t]+/g, '\n');
        if (id.endsWith('three.module.js')) return slimThree(code);
        return null;
    },
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
