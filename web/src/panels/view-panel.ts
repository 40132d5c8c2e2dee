// What the 3D views show.
import './panels.css';
import { html } from 'lit';
import { KlElement } from '../app/element';
import { lanes, styles } from '../state/session';
import {
    followCamera,
    ghost,
    linkedCameras,
    showViolation,
    type Toggled,
    toggle,
    viewOptions,
} from '../views3d/options';
import type { KlStage } from '../views3d/stage';
import { numberField } from './field';

const SWITCHES: { id: Toggled; title: string }[] = [
    { id: 'forces', title: 'Contact forces (on body B)' },
    { id: 'split', title: 'Normal and friction apart' },
    { id: 'cones', title: 'Friction cones' },
    { id: 'joints', title: 'Joints' },
    { id: 'frames', title: 'Joint frames' },
    { id: 'jointForces', title: 'Joint forces (on the follower)' },
    { id: 'masses', title: 'Centres of mass' },
    { id: 'pull', title: 'Dragging pulls bodies (or hold shift or ctrl)' },
];

export class KlViewPanel extends KlElement {
    override render() {
        const options = viewOptions.value;
        return html`
            ${SWITCHES.map(
                (s) =>
                    html`<label class="check"><input type="checkbox" .checked=${options[s.id]} @change=${() => toggle(s.id)} /> ${s.title}</label>`,
            )}
            <label class="check"><input type="checkbox" .checked=${linkedCameras.value} @change=${() => (linkedCameras.value = !linkedCameras.value)} /> Cameras linked</label>
            <label class="check"><input type="checkbox" .checked=${followCamera.value} @change=${() => (followCamera.value = !followCamera.value)} /> Cameras follow</label>
            <label class="check"><input type="checkbox" .checked=${showViolation.value} @change=${() => (showViolation.value = !showViolation.value)} /> Violation of joints and contacts</label>
            ${showViolation.value ? html`<p class="heat-legend"><span></span><small>≤ 1e-7</small><small>1e-2 m, rad</small></p>` : null}
            <label class="field ghost-field"
                >Ghost of
                <select aria-label="Ghost of" @change=${(e: Event) => (ghost.value = (e.target as HTMLSelectElement).value)}>
                    <option value="" ?selected=${ghost.value === ''}>nobody</option>
                    ${lanes.value.map((l) => html`<option value=${l.choice.id} ?selected=${l.choice.id === ghost.value}>${styles.value.get(l.choice.id)?.title ?? l.choice.id}</option>`)}
                </select>
                over the other views</label
            >
            ${numberField({
                label: 'Length of arrows',
                value: options.forceFactor,
                unit: '×',
                text: 'All views share one scale.',
                min: 0.1,
                max: 10,
                log: true,
                int: false,
                changed: options.forceFactor !== 1,
                set: (v) => (viewOptions.value = { ...viewOptions.value, forceFactor: v }),
                reset: () => (viewOptions.value = { ...viewOptions.value, forceFactor: 1 }),
            })}
            <p><button @click=${() => document.querySelector<KlStage>('kl-stage')?.resetCamera()}>Whole scene</button></p>
            <h3>Contacts</h3>
            <ul class="keys-contact">
                <li><span class="mode mode-open"></span> ring: open</li>
                <li><span class="mode mode-stick"></span> disk: sticks</li>
                <li><span class="mode mode-slip"></span> half disk: slips</li>
            </ul>
        `;
    }
}

customElements.define('kl-view-panel', KlViewPanel);
