// SHA-256 as links write it.
import { toBase64url } from './deflate';

/** '' where the browser has no cryptography, that is on pages from plain http. */
export async function sha256(data: Uint8Array): Promise<string> {
    if (!globalThis.crypto?.subtle) return '';
    const sum = await crypto.subtle.digest('SHA-256', data as BufferSource);
    return `sha256-${toBase64url(new Uint8Array(sum))}`;
}
