// deflate-raw and base64url. The browser's own streams where they exist, fflate elsewhere. Inflating stops
// at a cap, so that a small link cannot unpack into a large one.

export const INFLATE_CAP = 1 << 20; // bytes

async function collect(stream: ReadableStream<Uint8Array>, cap: number): Promise<Uint8Array> {
    const reader = stream.getReader();
    const parts: Uint8Array[] = [];
    let size = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        size += value.length;
        if (size > cap) {
            await reader.cancel();
            throw new Error(`it unpacks to more than ${cap} bytes`);
        }
        parts.push(value);
    }
    return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

function through(data: Uint8Array, transform: GenericTransformStream): ReadableStream<Uint8Array> {
    const body = new Blob([data as BlobPart]).stream();
    return body.pipeThrough(transform as ReadableWritablePair<Uint8Array, Uint8Array>);
}

export async function deflate(data: Uint8Array): Promise<Uint8Array> {
    if (typeof CompressionStream === 'function') {
        return collect(through(data, new CompressionStream('deflate-raw')), Number.POSITIVE_INFINITY);
    }
    return (await import('fflate')).deflateSync(data, { level: 9 });
}

export async function inflate(data: Uint8Array, cap = INFLATE_CAP): Promise<Uint8Array> {
    if (typeof DecompressionStream === 'function') {
        return collect(through(data, new DecompressionStream('deflate-raw')), cap);
    }
    const { Inflate } = await import('fflate');
    const parts: Uint8Array[] = [];
    let size = 0;
    const inflater = new Inflate((part) => {
        size += part.length;
        if (size > cap) throw new Error(`it unpacks to more than ${cap} bytes`);
        parts.push(part);
    });
    inflater.push(data, true);
    return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
}

export function toBase64url(data: Uint8Array): string {
    let text = '';
    for (const byte of data) text += String.fromCharCode(byte);
    return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

export function fromBase64url(text: string): Uint8Array {
    if (!/^[A-Za-z0-9_-]*$/.test(text)) throw new Error('it is not base64url');
    const raw = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(raw, (c) => c.charCodeAt(0));
}
