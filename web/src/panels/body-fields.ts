// What can be changed about the selected body: mass, start pose, sizes and material of its shapes. Loaded when a
// body is selected while the Scene tab is open.
import { html } from 'lit';
import { KlElement } from '../app/element';
import type { BodyInfo, GeomInfo } from '../core/types';
import { applyEdits, type Json, readPath } from '../state/experiment';
import { bodyPath, editPose, fromAngles, toAngles } from '../state/pose-edit';
import { change, documentText, edit, experiment, scene } from '../state/session';
import { gizmo } from '../views3d/options';
import { numberField } from './field';

const SIZES: Record<string, string[]> = {
    sphere: ['radius'],
    box: ['edge x', 'edge y', 'edge z'],
    capsule: ['radius', 'length'],
    cylinder: ['radius', 'length'],
};

const HANDLES = [
    { mode: '', title: 'None' },
    { mode: 'translate', title: 'Move' },
    { mode: 'rotate', title: 'Turn' },
] as const;

export function changed(path: string): boolean {
    return experiment.value.edits.some((e) => e.path === path);
}

/** Takes the edits of these places back. */
export function undoEdits(...paths: string[]): void {
    void change({
        ...experiment.value,
        edits: experiment.value.edits.filter((e) => !paths.includes(e.path)),
    });
}

export class KlBodyFields extends KlElement {
    static override properties = { index: { attribute: false } };
    declare index: number;

    override render() {
        const body = scene.value?.bodies[this.index];
        if (!body) return html``;
        const document = JSON.parse(documentText.value || '{}') as Json;
        const here = readPath(document, `bodies.${this.index}.name`) !== undefined;
        const fits =
            applyEdits(document, [{ path: `bodies.${this.index}.mass`, value: 1 }]).misfits.length === 0;
        if (!here || !fits)
            return html`<h3>Selected: ${body.name}</h3>
                <p class="quiet">It stands in another document and cannot be changed here.</p>`;
        return html`<h3>Selected: ${body.name}</h3>
            ${this.mass(body)} ${this.pose(body)} ${this.shapes(document)}`;
    }

    private mass(body: BodyInfo) {
        const path = bodyPath(this.index, 'mass');
        return numberField({
            label: 'Mass',
            value: body.mass,
            unit: 'kg',
            text: 'Its inertia follows where the scene takes it from the geometry.',
            min: 1e-6,
            max: 1e6,
            log: true,
            int: false,
            changed: changed(path),
            set: (v) => edit(path, v),
            reset: () => undoEdits(path),
        });
    }

    private pose(body: BodyInfo) {
        const at = bodyPath(this.index, 'position');
        const turn = bodyPath(this.index, 'orientation');
        const position = body.pose.slice(0, 3);
        const quaternion = body.pose.slice(3, 7);
        const angles = toAngles(quaternion);
        return html`
            <div class="segmented" role="group" aria-label="Handles in the view">
                ${HANDLES.map(
                    (h) =>
                        html`<button aria-pressed=${gizmo.value === h.mode} @click=${() => (gizmo.value = h.mode)}>${h.title}</button>`,
                )}
            </div>
            <small>handles in the view, at the start of the run</small>
            ${['x', 'y', 'z'].map((axis, i) =>
                numberField({
                    label: `Start ${axis}`,
                    value: position[i],
                    unit: 'm',
                    text: 'Start position of the centre of mass. Joints must still close.',
                    min: null,
                    max: null,
                    log: false,
                    int: false,
                    changed: changed(at),
                    set: (v) => edit(at, position.with(i, v)),
                    reset: () => undoEdits(at),
                }),
            )}
            ${['Roll', 'Pitch', 'Yaw'].map((name, i) =>
                numberField({
                    label: name,
                    value: Number(angles[i].toFixed(4)),
                    unit: '°',
                    text: 'Start orientation: turned about the world’s x, then y, then z axis.',
                    min: null,
                    max: null,
                    log: false,
                    int: false,
                    changed: changed(turn),
                    set: (v) => editPose(this.index, position, fromAngles(angles.with(i, v))),
                    reset: () => undoEdits(turn),
                }),
            )}`;
    }

    private shapes(document: Json) {
        const list = readPath(document, `bodies.${this.index}.geoms`);
        const geoms = scene.value!.geoms.filter((g) => g.body === this.index);
        return (Array.isArray(list) ? list : []).map((_, g) =>
            geoms[g] ? this.shape(geoms[g], `bodies.${this.index}.geoms.${g}`) : null,
        );
    }

    private shape(geom: GeomInfo, path: string) {
        const labels = SIZES[geom.kind] ?? [];
        const sizes = geom.size.slice(0, labels.length);
        return html`<h4>${geom.kind} ${geom.name}</h4>
            ${labels.map((label, i) =>
                numberField({
                    label: `${label[0].toUpperCase()}${label.slice(1)}`,
                    value: sizes[i],
                    unit: 'm',
                    text: 'Where the scene gives a density, the mass follows.',
                    min: 1e-4,
                    max: 100,
                    log: true,
                    int: false,
                    changed: changed(`${path}.size`),
                    set: (v) => edit(`${path}.size`, sizes.with(i, v)),
                    reset: () => undoEdits(`${path}.size`),
                }),
            )}
            ${this.material(geom, path, 'friction')} ${this.material(geom, path, 'restitution')}`;
    }

    private material(geom: GeomInfo, path: string, what: 'friction' | 'restitution') {
        const at = `${path}.${what}`;
        const friction = what === 'friction';
        return numberField({
            label: `${friction ? 'Friction μ' : 'Restitution ε'} of ${geom.name}`,
            value: geom[what],
            unit: '',
            text: friction ? 'A pair takes the geometric mean.' : 'A pair takes the larger of the two.',
            min: 0,
            max: friction ? 2 : 1,
            log: false,
            int: false,
            changed: changed(at),
            set: (v) => edit(at, v),
            reset: () => undoEdits(at),
        });
    }
}

customElements.define('kl-body-fields', KlBodyFields);
