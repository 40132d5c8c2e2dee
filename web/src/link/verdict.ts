// Whether the experiment behind a link gave the same state as the sender saw.
import { signal } from '@preact/signals-core';

export interface Verdict {
    kind: 'same' | 'differs' | 'waiting';
    text: string;
    step: number; // first step of the block in which the runs part, -1 = not known
}

export const linkVerdict = signal<Verdict | null>(null);
