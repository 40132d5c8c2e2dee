// Short messages to the person: what went wrong, what was dropped, what was done.
import { signal } from '@preact/signals-core';

export interface Message {
    id: number;
    kind: 'info' | 'warning' | 'error';
    text: string;
    details: string;
}

export const messages = signal<Message[]>([]);
let next = 1;

export function say(kind: Message['kind'], text: string, details = ''): void {
    const id = next++;
    const same = messages.value.find((m) => m.text === text && m.details === details);
    if (same) return;
    messages.value = [...messages.value.slice(-4), { id, kind, text, details }];
    if (kind === 'info') setTimeout(() => dismiss(id), 6000);
}

export function dismiss(id: number): void {
    messages.value = messages.value.filter((m) => m.id !== id);
}

/** A part of the page that is fetched when it is first needed has not come. */
export function partMissing(error: unknown): void {
    say(
        'error',
        'A part of the page could not be fetched. Check the connection, then reload.',
        error instanceof Error ? error.message : String(error),
    );
}
