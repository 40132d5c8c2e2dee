// The help sheet: keys, what the pictures mean, where the numbers come from.

import './help.css';
import { html } from 'lit';
import { tables } from '../state/session';
import { KlDialog } from './dialogs';
import { letterKeys } from './keys';

export const KEYS: [string, string][] = [
    ['space', 'run or pause'],
    ['← →', 'step back, step; with shift 50 steps'],
    ['R, backspace', 'reset'],
    ['1 – 4', 'focus a view'],
    ['A', 'add a solver'],
    ['C', 'convergence plot'],
    ['F', 'forces on or off'],
    ['V', 'violation of joints and contacts'],
    ['G', 'ghost of the next solver over the other views'],
    ['L', 'larger views, smaller plots'],
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
                <li>Drag a body with shift or ctrl held to pull it on a spring. The pull is recorded in the run; undo takes it back.</li>
                <li>Click a plot to go there, drag to zoom, double-click for the whole run.</li>
            </ul>
            <h3>Coming from a simulator or a testbed</h3>
            <ul>
                <li>Space runs, → steps, backspace resets, a click selects, ctrl and drag pulls: as elsewhere. The wheel zooms, the right button shifts.</li>
                <li>Scenes are behind the name at the top left; every number of a scene is in <b>Scene</b>, every parameter of a method in <b>Solver</b>.</li>
                <li>The run is computed ahead, like a video: scrub back at any time.</li>
            </ul>
            <h3>Where does a method go wrong?</h3>
            <ul>
                <li>Pause at a step. The first plot names the worst constraint and the best iteration.</li>
                <li><b>Problem</b> lists the worst constraint of every solver, a click selects it in the views, and draws the error of each constraint over the iterations.</li>
                <li>One contact: its cone, its plane of maximum compression, and where every solver lands, in the same tab.</li>
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
