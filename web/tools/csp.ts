// A strict content policy in the built page: own files only, no inline script or style, no eval but wasm. Data may
// come from elsewhere, when the person says so.
import type { Plugin } from 'vite';

const POLICY = [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self' blob:",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "media-src 'self' blob:",
    "connect-src 'self' blob: https: http://localhost:* http://127.0.0.1:*", // scenes by address, after asking
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
].join('; ');

export function contentSecurityPolicy(): Plugin {
    return {
        name: 'kinloop-csp',
        apply: 'build',
        transformIndexHtml: () => [
            {
                tag: 'meta',
                attrs: { 'http-equiv': 'Content-Security-Policy', content: POLICY },
                injectTo: 'head-prepend',
            },
        ],
    };
}
