// Reaction forces over time: of all contacts together, or of the selected joint.
import type { Frame } from '../state/history';
import { scene, selection } from '../state/session';
import type { PlotDefinition } from './definition';
import { frameCurves } from './lane-curves';

type Values = Float64Array | undefined;

function sumOverContacts(frame: Frame, part: (normal: number, tangential: number) => number): number {
    const force = frame.fields.get('contact_force')?.values as Values;
    const axes = frame.fields.get('contact_frame')?.values as Values;
    if (!force || !axes) return 0;
    let sum = 0;
    for (let k = 0; 3 * k < force.length; k++) {
        let normal = 0;
        let square = 0;
        for (let c = 0; c < 3; c++) {
            normal += force[3 * k + c] * axes[9 * k + 6 + c];
            square += force[3 * k + c] ** 2;
        }
        sum += part(normal, Math.sqrt(Math.max(0, square - normal * normal)));
    }
    return sum;
}

function joint(): number {
    const picked = selection.value;
    return picked?.kind === 'joint' ? picked.index : 0;
}

function jointNorm(frame: Frame, offset: number): number {
    const wrench = frame.fields.get('joint_wrench')?.values as Values;
    if (!wrench) return Number.NaN;
    const at = 6 * joint() + offset;
    return Math.hypot(wrench[at], wrench[at + 1], wrench[at + 2]);
}

const PARTS: Record<string, (frame: Frame) => number> = {
    normal: (frame) => sumOverContacts(frame, (n) => n),
    tangential: (frame) => sumOverContacts(frame, (_, t) => t),
    force: (frame) => jointNorm(frame, 0),
    torque: (frame) => jointNorm(frame, 3),
    count: (frame) => (frame.fields.get('contact_position')?.values.length ?? 0) / 3,
};

export const reactionPlot: PlotDefinition = {
    id: 'reactions',
    title: 'Reactions',
    text: 'Forces of the contacts, summed, or of the selected joint (the first, if none is selected).',
    unit: 'N',
    xTitle: 'time [s]',
    xIsTime: true,
    log: false,
    choices: () => {
        const name = scene.value?.joints[joint()]?.name;
        return [
            { id: 'normal', title: 'contacts, normal sum' },
            { id: 'tangential', title: 'contacts, friction sum' },
            { id: 'count', title: 'number of contacts' },
            ...(name
                ? [
                      { id: 'force', title: `force of ${name}` },
                      { id: 'torque', title: `torque of ${name}` },
                  ]
                : []),
        ];
    },
    unitOf: (choice) => (choice === 'torque' ? 'N m' : choice === 'count' ? '' : 'N'),
    data: (choice) => frameCurves(PARTS[choice] ?? PARTS.normal),
};
