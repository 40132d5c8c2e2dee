// What can be changed about the selected joint: limits, gains, damping. Loaded when a joint is selected while the
// Scene tab is open.
import { html } from 'lit';
import { live } from 'lit/directives/live.js';
import { KlElement } from '../app/element';
import type { JointInfo } from '../core/types';
import { type Json, readPath } from '../state/experiment';
import { documentText, edit, scene } from '../state/session';
import { changed, undoEdits } from './body-fields';
import { numberField } from './field';

interface Gain {
    member: string;
    label: string;
    text: string;
    of: string[]; // kinds of actuation that use it
}

const GAINS: Gain[] = [
    {
        member: 'kp',
        label: 'Gain kp',
        text: 'Effort per error of the coordinate',
        of: ['pid', 'pd-implicit'],
    },
    { member: 'ki', label: 'Gain ki', text: 'Effort per integrated error', of: ['pid'] },
    { member: 'kd', label: 'Gain kd', text: 'Effort per error of the rate', of: ['pid', 'pd-implicit'] },
    {
        member: 'effort_limit',
        label: 'Effort limit',
        text: 'Largest effort',
        of: ['force', 'pid', 'pd-implicit'],
    },
    {
        member: 'damping',
        label: 'Damping',
        text: 'Effort against the rate',
        of: ['passive', 'force', 'pid', 'pd-implicit'],
    },
];

const turns = (joint: JointInfo): boolean => joint.kind !== 'prismatic';

export class KlJointFields extends KlElement {
    static override properties = { index: { attribute: false } };
    declare index: number;

    override render() {
        const joint = scene.value?.joints[this.index];
        if (!joint) return html``;
        const document = JSON.parse(documentText.value || '{}') as Json;
        const path = `joints.${this.index}`;
        const head = html`<h3>Selected: ${joint.name}</h3>
            <p class="quiet">${joint.kind}, ${joint.dofs} ${joint.dofs === 1 ? 'degree' : 'degrees'} of freedom, ${joint.actuation}</p>`;
        if (readPath(document, `${path}.name`) === undefined)
            return html`${head}<p class="quiet">It stands in another document and cannot be changed here.</p>`;
        return html`${head} ${joint.dofs === 1 ? this.limits(joint, `${path}.limits`) : null}
            ${GAINS.filter((g) => g.of.includes(joint.actuation) && joint.dofs > 0).map((g) => this.gain(g, document, `${path}.${g.member}`))}`;
    }

    /** An empty field is no limit. */
    private limits(joint: JointInfo, path: string) {
        const now = [joint.lower[0] ?? null, joint.upper[0] ?? null];
        const unit = turns(joint) ? 'rad' : 'm';
        const set = (i: number, text: string) => {
            const value = text.trim() === '' ? null : Number(text);
            if (value !== null && !Number.isFinite(value)) return;
            edit(path, now.with(i, value));
        };
        return html`${['Lower limit', 'Upper limit'].map(
            (label, i) => html`<div class="param ${changed(path) ? 'changed' : ''}" title="Empty: none">
                <label
                    ><span>${label}</span>
                    <input
                        type="text"
                        inputmode="decimal"
                        placeholder="none"
                        .value=${live(now[i] === null ? '' : String(now[i]))}
                        @change=${(e: Event) => set(i, (e.target as HTMLInputElement).value)}
                /></label>
                <small class="unit">${unit}</small>
            </div>`,
        )}
        ${changed(path) ? html`<button @click=${() => undoEdits(path)}>Limits as in the scene</button>` : null}`;
    }

    private gain({ label, text }: Gain, document: Json, path: string) {
        const now = readPath(document, path);
        if (Array.isArray(now))
            return now.map((v, i) => this.one(`${label} ${i + 1}`, text, `${path}.${i}`, Number(v)));
        return this.one(label, text, path, typeof now === 'number' ? now : 0);
    }

    private one(label: string, text: string, path: string, value: number) {
        return numberField({
            label,
            value,
            unit: '',
            text,
            min: 0,
            max: null,
            log: false,
            int: false,
            changed: changed(path),
            set: (v) => edit(path, v),
            reset: () => undoEdits(path),
        });
    }
}

customElements.define('kl-joint-fields', KlJointFields);
