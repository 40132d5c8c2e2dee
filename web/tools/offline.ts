// A service worker that keeps the whole page for use without a network. Its cache is named after the
// contents, so that a new build replaces the old one as a whole.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Plugin } from 'vite';

export function offline(): Plugin {
    return {
        name: 'kinloop-offline',
        apply: 'build',
        generateBundle: {
            order: 'post',
            handler(_options, bundle) {
                const names = Object.keys(bundle).sort();
                const copied = readdirSync(resolve(import.meta.dirname, '../public'));
                const sum = createHash('sha256');
                for (const name of names) {
                    const part = bundle[name];
                    sum.update(name).update(part.type === 'asset' ? part.source : part.code);
                }
                const template = readFileSync(resolve(import.meta.dirname, 'service-worker.js'), 'utf8');
                const source = template
                    .replace('__CACHE__', `kinloop-${sum.digest('hex').slice(0, 16)}`)
                    .replace('__FILES__', JSON.stringify(['./', ...names, ...copied]));
                this.emitFile({ type: 'asset', fileName: 'service-worker.js', source });
            },
        },
    };
}
