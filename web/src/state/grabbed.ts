// The body that the pointer holds, if any. What records the pull is loaded with the first one.
import { signal } from '@preact/signals-core';

export interface Pull {
    body: number;
    point: number[]; // grabbed point in the body's frame [m]
    target: number[]; // where the pointer is [m]
}

export const pull = signal<Pull | null>(null);
