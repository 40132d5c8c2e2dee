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

/** Parts of shaders for materials and effects that the page never asks for; within other shaders they are behind #ifdef. */
const UNUSED_SHADERS =
    /^(?:alphahash|batching|bumpmap|clearcoat|clipping|cube_uv|displacementmap|envmap|gradientmap|iridescence|lightprobes|logdepth|morph|normalmap|skin|tonemapping_pars|transmission)\w*$|^(?:backgroundCube|background|cube|distance|equirect|linedashed|meshmatcap|meshnormal|meshphong|meshtoon|points|shadow|sprite)_(?:vert|frag)$|^lights_(?:phong|toon)\w*$/;

function withoutUnusedShaders(code: string): string {
    const list = /const ShaderChunk = \{(.*?)\n\};/s.exec(code)?.[1] ?? '';
    const unused = [...list.matchAll(/^\s*(\w+): ([\w$]+)/gm)].filter(([, name]) =>
        UNUSED_SHADERS.test(name),
    );
    if (unused.length < 60) throw new Error('three.module.js has other shaders now: look at slimThree');
    const constants = new Set(unused.map(([, , constant]) => constant));
    return code.replace(/^((?:var|const) ([\w$]+) = )"(?:[^"\\\n]|\\.)*";/gm, (line, head, name) =>
        constants.has(name) ? `${head}"";` : line,
    );
}

function slimThree(code: string): string {
    const slim = code.replace(/\nclass WebXRManager extends EventDispatcher \{.*?\n\}\n/s, `\n${noXR}`);
    if (slim === code) throw new Error('three.module.js has no WebXRManager any more: look at slimThree');
    return withoutUnusedShaders(slim).replace(/"[^"\n]*\\n[^"\n]*"/g, tightShader);
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
