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
let trying = false;

/** Changes whenever an estimate under way is no longer wanted. */
export const currentTicket = (): number => ticket;

export function forgetEstimate(): void {
    ticket++;
    trying = false;
    estimate.value = null;
}

/** The first steps of a run are tried; gives the ticket of that. */
export function beginEstimate(): number {
    forgetEstimate();
    trying = true;
    return ticket;
}

export function tellEstimate(found: Estimate): void {
    trying = false;
    estimate.value = found;
}

/** The run at hand has not been said to be short, nor has the person said so: what takes its place is tried, too. */
export const undecided = (): boolean => trying || (estimate.value?.waiting ?? false);
