// Position, velocity or joint coordinate over time.
import { computed } from '@preact/signals-core';
import { scene, selection } from '../state/session';
import type { Choice, PlotDefinition } from './definition';
import { frameCurves } from './lane-curves';

const BODY: { id: string; title: string; unit: string; field: string; offset: number }[] = [
    ...['x', 'y', 'z'].map((axis, i) => ({
        id: `r${axis}`,
        title: `position ${axis}`,
        unit: 'm',
        field: 'pose',
        offset: i,
    })),
    ...['x', 'y', 'z'].map((axis, i) => ({
        id: `v${axis}`,
        title: `velocity ${axis}`,
        unit: 'm/s',
        field: 'twist',
        offset: i,
    })),
    ...['x', 'y', 'z'].map((axis, i) => ({
        id: `w${axis}`,
        title: `angular velocity ${axis}`,
        unit: 'rad/s',
        field: 'twist',
        offset: 3 + i,
    })),
];

function body(): number {
    const picked = selection.value;
    return picked?.kind === 'body' ? picked.index : 0;
}

/** More coordinates than this are no menu: then only those of the selected joint (the first, if none is) are one. */
const MOST_COORDINATES = 500;

const choices = computed((): Choice[] => {
    const picked = selection.value;
    const chosen = picked?.kind === 'joint' ? picked.index : 0;
    const name = scene.value?.bodies[body()]?.name ?? '';
    const joints = scene.value?.joints ?? [];
    const all = joints.reduce((sum, joint) => sum + joint.dofs, 0) <= MOST_COORDINATES;
    const coordinates: Choice[] = [];
    let at = 0;
    for (const [j, joint] of joints.entries()) {
        for (let d = 0; d < joint.dofs; d++, at++)
            if (all || j === chosen)
                coordinates.push({ id: `q${at}`, title: `${joint.name} q${joint.dofs > 1 ? d + 1 : ''}` });
    }
    return [...BODY.map((b) => ({ id: b.id, title: `${b.title} of ${name}` })), ...coordinates];
});

function data(choice: string) {
    const part = BODY.find((b) => b.id === choice);
    if (part) {
        const columns = part.field === 'pose' ? 7 : 6;
        const at = body() * columns + part.offset;
        return frameCurves((frame) => Number(frame.fields.get(part.field)?.values[at] ?? Number.NaN));
    }
    const at = Number(choice.slice(1));
    return frameCurves((frame) => Number(frame.fields.get('joint_position')?.values[at] ?? Number.NaN));
}

export const statePlot: PlotDefinition = {
    id: 'state',
    title: 'State',
    text: 'Motion of the selected body (the first, if none is selected), or a joint coordinate.',
    unit: 'm',
    xTitle: 'time [s]',
    xIsTime: true,
    log: false,
    choices: () => choices.value,
    unitOf: (choice) => BODY.find((b) => b.id === choice)?.unit ?? 'm, rad',
    data,
};
