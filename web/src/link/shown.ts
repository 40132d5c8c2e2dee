// What views and plots show besides, as words of a link: those in which it differs from how the page begins.
import { batch, type Signal } from '@preact/signals-core';
import { plotSize, usualPlotSize } from '../plots/deck';
import { experiment, hidden } from '../state/session';
import {
    FIRST_VIEW,
    followCamera,
    ghost,
    showViolation,
    type Toggled,
    tallViews,
    viewOptions,
} from '../views3d/options';

interface Switch {
    word: string;
    first: boolean;
    now: () => boolean;
    set: (on: boolean) => void;
}

// Not those that are the reader's own: light or dark, what dragging does, whether cameras are linked.
const OPTIONS: Toggled[] = ['forces', 'split', 'cones', 'joints', 'frames', 'jointForces', 'masses'];

const ofOption = (word: Toggled): Switch => ({
    word,
    first: FIRST_VIEW[word],
    now: () => viewOptions.value[word],
    set: (on) => (viewOptions.value = { ...viewOptions.value, [word]: on }),
});

const ofSignal = (word: string, signal: Signal<boolean>, first: boolean): Switch => ({
    word,
    first,
    now: () => signal.value,
    set: (on) => (signal.value = on),
});

const SWITCHES: Switch[] = [
    ...OPTIONS.map(ofOption),
    ofSignal('violation', showViolation, false),
    ofSignal('follow', followCamera, true),
    ofSignal('tall', tallViews, false),
    {
        word: 'large',
        first: usualPlotSize === 'large',
        now: () => plotSize.value === 'large',
        set: (on) => (plotSize.value = on ? 'large' : 'small'),
    },
];

export function shownWords(): string[] {
    const words = SWITCHES.filter((s) => s.now() !== s.first).map((s) => (s.now() ? s.word : `-${s.word}`));
    const { forceFactor } = viewOptions.value;
    if (forceFactor !== FIRST_VIEW.forceFactor) words.push(`arrows.${Number(forceFactor.toPrecision(3))}`);
    const ids = experiment.value.solvers.map((s) => s.id);
    if (ids.includes(ghost.value)) words.push(`ghost.${ghost.value}`);
    return [...words, ...ids.filter((id) => hidden.value.has(id)).map((id) => `hidden.${id}`)];
}

/** Shows what the words say, and all else as the page begins; gives the words that mean nothing here. `solvers` are
 * those of the link, none when the scene suggests them. */
export function show(words: string[], solvers: string[]): string[] {
    const misfits: string[] = [];
    batch(() => {
        for (const s of SWITCHES) s.set(s.first);
        viewOptions.value = { ...viewOptions.value, forceFactor: FIRST_VIEW.forceFactor };
        ghost.value = '';
        hidden.value = new Set();
        for (const word of words) if (!showOne(word, solvers)) misfits.push(word);
    });
    return misfits;
}

function showOne(text: string, solvers: string[]): boolean {
    const [, off, word, value] = /^(-?)(\w+)(?:\.(.+))?$/.exec(text) ?? [];
    const found = SWITCHES.find((s) => s.word === word);
    if (found && value === undefined) {
        found.set(!off);
        return true;
    }
    const factor = Number(value);
    if (word === 'arrows' && factor >= 0.1 && factor <= 10) {
        viewOptions.value = { ...viewOptions.value, forceFactor: factor };
        return true;
    }
    if (!value || (solvers.length > 0 && !solvers.includes(value))) return false;
    if (word === 'ghost') ghost.value = value;
    else if (word === 'hidden') hidden.value = new Set([...hidden.value, value]);
    else return false;
    return true;
}
