// The scene: what it is, its settings, bodies and joints; every number can be changed.
import './panels.css';
import { html } from 'lit';
import { KlElement } from '../app/element';
import { number } from '../app/format';
import type { Json } from '../state/experiment';
import { readPath } from '../state/experiment';
import { say } from '../state/messages';
import {
    change,
    cursor,
    documentText,
    dt,
    edit,
    experiment,
    runIndex,
    scene,
    selection,
} from '../state/session';
import { extent } from '../views3d/geometry';
import { numberField } from './field';

interface Setting {
    label: string;
    path: string; // in a run's or the scene's document
    unit: string;
    text: string;
    min: number;
    max: number;
    log: boolean;
    now: (s: NonNullable<ReturnType<typeof settings>>) => number;
}

const SETTINGS: Setting[] = [
    {
        label: 'Δt',
        path: 'dt',
        unit: 's',
        text: 'Time step',
        min: 1e-5,
        max: 0.1,
        log: true,
        now: (s) => s.dt,
    },
    {
        label: 'Gravity z',
        path: 'gravity.2',
        unit: 'm/s²',
        text: 'Along the world’s z',
        min: -30,
        max: 30,
        log: false,
        now: (s) => s.gravity[2],
    },
    {
        label: 'Stabilise joints α',
        path: 'stabilization.joints',
        unit: '',
        text: 'Share of the joint violation that is removed per step',
        min: 0,
        max: 1,
        log: false,
        now: (s) => s.baumgarteJoint,
    },
    {
        label: 'Stabilise limits β',
        path: 'stabilization.limits',
        unit: '',
        text: 'Share of the limit violation that is removed per step',
        min: 0,
        max: 1,
        log: false,
        now: (s) => s.baumgarteLimit,
    },
    {
        label: 'Stabilise contacts γ',
        path: 'stabilization.contacts',
        unit: '',
        text: 'Share of the penetration that is removed per step',
        min: 0,
        max: 1,
        log: false,
        now: (s) => s.baumgarteContact,
    },
    {
        label: 'Margin δ',
        path: 'margin',
        unit: 'm',
        text: 'Penetration that is tolerated',
        min: -0.01,
        max: 0.01,
        log: false,
        now: (s) => s.margin,
    },
];

const SOFT = [
    { label: 'Soften joints', path: 'softening.joints.on', now: 'softJoint' },
    { label: 'Soften limits', path: 'softening.limits.on', now: 'softLimit' },
    { label: 'Soften contacts', path: 'softening.contacts.on', now: 'softContact' },
] as const;

function settings() {
    return scene.value?.runs[runIndex.value]?.settings;
}

export class KlScenePanel extends KlElement {
    override render() {
        const info = scene.value;
        const now = settings();
        if (!info || !now) return html`<p class="quiet">No scene yet.</p>`;
        const run = info.runs[runIndex.value];
        const changed = new Set(experiment.value.edits.map((e) => e.path));
        return html`
            <h2>${info.title} ${info.surrogate ? html`<span class="tag">surrogate</span>` : null}</h2>
            <p>${run.text || info.text}</p>
            <dl class="facts">
                ${this.facts(info).map(([label, value]) => html`<div><dt>${label}</dt><dd>${value}</dd></div>`)}
            </dl>
            ${numberField({
                label: 'Duration',
                value: experiment.value.duration || run.duration,
                unit: 's',
                text: 'Simulated time',
                min: 0.01,
                max: 60,
                log: true,
                int: false,
                changed: experiment.value.duration > 0,
                set: (v) => void change({ ...experiment.value, duration: v }, 400),
                reset: () => void change({ ...experiment.value, duration: 0 }),
            })}
            <h3>Settings</h3>
            ${SETTINGS.map((s) => this.setting(s, s.now(now), changed))}
            ${SOFT.map(
                (s) => html`<label class="check"
                    ><input type="checkbox" .checked=${now[s.now].on} @change=${(e: Event) => edit(this.place(s.path), (e.target as HTMLInputElement).checked)} />
                    ${s.label}</label
                >`,
            )}
            ${this.selected()}
            <h3>Bodies</h3>
            <p>
                <button @click=${() => this.add('box')}>Add a box</button>
                <button @click=${() => this.add('sphere')}>Add a sphere</button>
            </p>
            <ul class="list">
                ${info.bodies.map(
                    (b, i) => html`<li>
                        <button aria-pressed=${selection.value?.kind === 'body' && selection.value.index === i} @click=${() => (selection.value = { kind: 'body', index: i })}>${b.name}</button>
                        <small>${number(b.mass)} kg</small>
                    </li>`,
                )}
            </ul>
            ${
                info.joints.length > 0
                    ? html`<h3>Joints</h3>
                      <ul class="list">
                          ${info.joints.map(
                              (j, i) => html`<li>
                                  <button aria-pressed=${selection.value?.kind === 'joint' && selection.value.index === i} @click=${() => (selection.value = { kind: 'joint', index: i })}>${j.name}</button>
                                  <small>${j.kind}${j.actuation === 'passive' ? '' : `, ${j.actuation}`}</small>
                              </li>`,
                          )}
                      </ul>`
                    : null
            }
        `;
    }

    private facts(info: NonNullable<typeof scene.value>): [string, string][] {
        const i = info.info;
        return [
            ['bodies', String(i.bodies)],
            ['joints', `${i.joints}, ${i.jointRows} rows`],
            ['loops', String(i.loops)],
            ['driven, passive', `${i.actuatedDofs}, ${i.passiveDofs} DoF`],
            ['mass', `${number(i.totalMass)} kg`],
            ['mass ratio', number(i.massRatio)],
        ];
    }

    /** Where a setting of the present run is written: in the run, on top of the scene's. */
    private place(path: string): string {
        const list = readPath(JSON.parse(documentText.value || '{}') as Json, 'runs');
        const base = Array.isArray(list) && list.length > 0 ? `runs.${runIndex.value}.settings` : 'settings';
        return `${base}.${path}`;
    }

    private setting(s: Setting, value: number, changed: Set<string>) {
        const gravity = s.path.startsWith('gravity');
        const path = this.place(gravity ? 'gravity' : s.path);
        const now = settings()!;
        return numberField({
            label: s.label,
            value,
            unit: s.unit,
            text: s.text,
            min: s.min,
            max: s.max,
            log: s.log,
            int: false,
            changed: changed.has(path),
            set: (v) => edit(path, gravity ? [now.gravity[0], now.gravity[1], v] : v),
            reset: () =>
                void change({
                    ...experiment.value,
                    edits: experiment.value.edits.filter((e) => e.path !== path),
                }),
        });
    }

    private selected() {
        const picked = selection.value;
        if (picked?.kind === 'joint') return html`<kl-joint-fields .index=${picked.index}></kl-joint-fields>`;
        const body = picked?.kind === 'body' ? scene.value?.bodies[picked.index] : undefined;
        if (!picked || !body)
            return html`<p class="quiet">Select a body or a joint, in a view or below, to change it.</p>`;
        return html`<kl-body-fields .index=${picked.index}></kl-body-fields>
            <p><button @click=${() => this.push(body.name, body.mass)}>Push it at ${number(cursor.value * dt.value)} s</button></p>`;
    }

    protected override updated(): void {
        const kind = selection.peek()?.kind;
        if (kind === 'body') void import('./body-fields');
        if (kind === 'joint') void import('./joint-fields');
    }

    /** A sideways push of three weights for a tenth of a second, from the time shown. */
    private push(name: string, mass: number): void {
        const document = JSON.parse(documentText.value) as Json;
        const run = readPath(document, `runs.${runIndex.value}`);
        const path = run === undefined ? 'events' : `runs.${runIndex.value}.events`;
        const events = readPath(document, path) ?? readPath(document, 'events') ?? [];
        const start = Number((cursor.value * dt.value).toPrecision(9));
        const event = {
            body: name,
            start,
            end: Number((start + 0.1).toPrecision(9)),
            force: [0, Number((3 * mass * 9.81).toPrecision(4)), 0],
        };
        edit(path, [...(events as Json[]), event]);
    }

    /** A new body above all others. */
    private add(type: 'box' | 'sphere'): void {
        const document = JSON.parse(documentText.value) as Json;
        const bodies = readPath(document, 'bodies');
        if (!Array.isArray(bodies)) {
            say('warning', 'This document takes its bodies from another; they cannot be added to here.');
            return;
        }
        const { center, radius } = extent(scene.value!);
        const size = Number((0.35 * radius).toPrecision(2));
        const name = `added-${type}-${bodies.length + 1}`;
        const z = Number((center.z + 1.2 * radius + size).toPrecision(3));
        edit(`bodies.${bodies.length}`, {
            name,
            mass: 1,
            position: [Number(center.x.toPrecision(3)), Number(center.y.toPrecision(3)), z],
            geoms: [{ name: `${name}-shape`, type, size: type === 'box' ? [size, size, size] : [size / 2] }],
        });
    }
}

customElements.define('kl-scene-panel', KlScenePanel);
