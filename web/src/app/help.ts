// The help sheet: keys, what the pictures mean, where the numbers come from.

import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { tables } from '../state/session';
import { KlDialog } from './dialogs';

export const letterKeys = signal(true);

export const KEYS: [string, string][] = [
    ['space', 'run or pause'],
    ['← →', 'step back, step; with shift 50 steps'],
    ['R', 'reset'],
    ['1 – 4', 'focus a view'],
    ['A', 'add a solver'],
    ['C', 'convergence plot'],
    ['F', 'forces on or off'],
    ['S', 'share'],
    ['Ctrl Z, Ctrl Y', 'undo, redo'],
    ['?', 'this sheet'],
];

export class KlHelp extends KlDialog {
    readonly name = 'help';
    readonly heading = 'Help';

    content() {
        return html`
            <h3>Keys</h3>
            <dl class="keys">${KEYS.map(([key, text]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`)}</dl>
            <label class="check"
                ><input type="checkbox" .checked=${letterKeys.value} @change=${() => (letterKeys.value = !letterKeys.value)} /> single-letter keys</label
            >
            <h3>Pictures</h3>
            <ul>
                <li>Contacts lie in their tangent plane: a ring is open, a full disk sticks, a half disk slips, its round side along the friction force.</li>
                <li>Arrows are forces on body B of a contact, in one scale for all views. Drag turns the camera, a click selects.</li>
                <li>Drag a body with shift held to pull it on a spring. The pull is recorded in the run; undo takes it back.</li>
                <li>Click a plot to go there, drag to zoom, double-click for the whole run.</li>
            </ul>
            <h3>Comparing</h3>
            <p>
                In <b>independent</b> runs each solver moves its own copy of the mechanism. In a <b>curated</b> run the first solver moves the
                bodies and all others solve the very same problems: only then are profiles and iteration counts comparable.
            </p>
            <h3>Numbers</h3>
            <p>
                The same source runs natively and here and gives the same bits; the state hash in the last line shows it. Times measured in a
                page are coarse. Files you open stay on this computer. kinloop ${tables.value?.version}.
            </p>
        `;
    }
}

customElements.define('kl-help', KlHelp);
