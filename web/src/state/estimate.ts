// How long a run will take, from its first steps. A run that would keep the computer busy for long waits until
// the person says so; any other goes straight on.
import { signal } from '@preact/signals-core';

export interface Estimate {
    seconds: number;
    steps: number; // it was made from
    slowest: string; // solver
    waiting: boolean; // for the person
}

export const estimate = signal<Estimate | null>(null);

let ticket = 0;

/** Changes whenever an estimate under way is no longer wanted. */
export const currentTicket = (): number => ticket;

export function forgetEstimate(): void {
    ticket++;
    estimate.value = null;
}
