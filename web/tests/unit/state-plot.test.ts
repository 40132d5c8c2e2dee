// The menu of the state plot: every joint coordinate where they are few, those of the selected joint where they are many.
import { expect, test } from 'vitest';
import { statePlot } from '../../src/plots/state-plot';
import { scene, selection } from '../../src/state/session';

const joints = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `joint${i}`, dofs: 3 }));
const coordinates = () => statePlot.choices!().filter((c) => c.id.startsWith('q'));

test('few coordinates are all in the menu', () => {
    scene.value = { bodies: [{ name: 'link' }], joints: joints(4) } as never;
    expect(coordinates().map((c) => c.id)).toEqual(Array.from({ length: 12 }, (_, i) => `q${i}`));
});

test('of many coordinates those of the selected joint are in the menu', () => {
    scene.value = { bodies: [{ name: 'link' }], joints: joints(5500) } as never;
    expect(coordinates().map((c) => c.id)).toEqual(['q0', 'q1', 'q2']);
    selection.value = { kind: 'joint', index: 5499 };
    expect(coordinates().map((c) => c.title)).toEqual(['joint5499 q1', 'joint5499 q2', 'joint5499 q3']);
    selection.value = null;
});
