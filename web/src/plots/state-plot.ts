// Position, velocity or joint coordinate over time.
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

function choices(): Choice[] {
    const name = scene.value?.bodies[body()]?.name ?? '';
    const dofs: Choice[] = [];
    let at = 0;
    for (const joint of scene.value?.joints ?? []) {
        for (let d = 0; d < joint.dofs; d++)
            dofs.push({ id: `q${at++}`, title: `${joint.name} q${joint.dofs > 1 ? d + 1 : ''}` });
    }
    return [...BODY.map((b) => ({ id: b.id, title: `${b.title} of ${name}` })), ...dofs];
}

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
    choices,
    unitOf: (choice) => BODY.find((b) => b.id === choice)?.unit ?? 'm, rad',
    data,
};
