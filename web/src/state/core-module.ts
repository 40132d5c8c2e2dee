// The compiled core, fetched once and handed to every worker.
import { signal } from '@preact/signals-core';
import wasmUrl from '#core/kinloop.wasm?url';

/** Share of the core that has arrived, 0..1. */
export const loadProgress = signal(0);

async function bytesWithProgress(response: Response): Promise<ArrayBuffer> {
    const total = Number(response.headers.get('content-length')) || 1.5e6;
    const reader = response.body!.getReader();
    const parts: Uint8Array[] = [];
    let got = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        parts.push(value);
        got += value.length;
        loadProgress.value = Math.min(0.99, got / total);
    }
    return new Blob(parts as BlobPart[]).arrayBuffer();
}

async function load(): Promise<WebAssembly.Module> {
    const response = await fetch(wasmUrl);
    if (!response.ok)
        throw new Error(`The core could not be fetched: ${response.status} ${response.statusText}.`);
    const module = await WebAssembly.compile(await bytesWithProgress(response));
    loadProgress.value = 1;
    return module;
}

let module: Promise<WebAssembly.Module> | null = null;

export function coreModule(): Promise<WebAssembly.Module> {
    module ??= load().catch((error) => {
        module = null;
        throw error;
    });
    return module;
}

// A module with one function that adds two v128 values: SIMD is what the core needs beyond the basics.
const SIMD = new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98,
    11,
]);

export function wasmSupported(): boolean {
    return typeof WebAssembly === 'object' && WebAssembly.validate(SIMD);
}
