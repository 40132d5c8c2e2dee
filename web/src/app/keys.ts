// Keyboard shortcuts, never while typing.

import { signal } from '@preact/signals-core';
import { showPlot } from '../plots/deck';
import { cursor, focusLane, lanes, pause, play, playing, redo, reset, seek, undo } from '../state/session';
import { ghost, showViolation, tallViews, toggle } from '../views3d/options';
import { dialog } from './dialogs';

/** Single-letter keys may be turned off. */
export const letterKeys = signal(true);

const LETTERS: Record<string, () => void> = {
    r: reset,
    a: () => document.querySelector<HTMLElement>('.solver-add')?.focus(),
    c: () => {
        showPlot('convergence');
        document.querySelector('[data-plot="convergence"]')?.scrollIntoView({ block: 'nearest' });
    },
    f: () => toggle('forces'),
    v: () => (showViolation.value = !showViolation.value),
    g: nextGhost,
    l: () => (tallViews.value = !tallViews.value),
    s: () => (dialog.value = 'share'),
    '?': () => (dialog.value = 'help'),
};

/** Nobody, then each solver in turn. */
function nextGhost(): void {
    const ids = ['', ...lanes.value.map((lane) => lane.choice.id)];
    ghost.value = ids[(ids.indexOf(ghost.value) + 1) % ids.length];
}

function typing(target: EventTarget | null): boolean {
    return (
        target instanceof HTMLElement &&
        (target.matches('input, select, textarea') || target.isContentEditable)
    );
}

export function listenToKeys(): void {
    addEventListener('keydown', (event) => {
        if (typing(event.target) || dialog.value || event.defaultPrevented) return;
        if (event.ctrlKey || event.metaKey) return command(event);
        const button = event.target instanceof HTMLElement && event.target.matches('button, summary, a');
        if (event.key === ' ' && !button) {
            if (playing.value) pause();
            else play();
        } else if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
            pause();
            seek(cursor.value + (event.key === 'ArrowRight' ? 1 : -1) * (event.shiftKey ? 50 : 1));
        } else if (event.key === 'Backspace') reset();
        else if (!letterKeys.value) return;
        else if (/^[1-4]$/.test(event.key) && Number(event.key) <= lanes.value.length) {
            focusLane.value = Number(event.key) - 1;
            document.querySelectorAll<HTMLElement>('.cell')[focusLane.value]?.focus();
        } else if (LETTERS[event.key.toLowerCase()] && !event.altKey) LETTERS[event.key.toLowerCase()]();
        else return;
        event.preventDefault();
    });
}

function command(event: KeyboardEvent): void {
    const key = event.key.toLowerCase();
    if (key === 'z' && !event.shiftKey) undo();
    else if (key === 'y' || (key === 'z' && event.shiftKey)) redo();
    else return;
    event.preventDefault();
}
