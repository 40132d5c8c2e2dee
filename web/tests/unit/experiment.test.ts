import { describe, expect, it } from 'vitest';
import {
    applyEdits,
    canonical,
    FIRST_EXPERIMENT,
    readPath,
    sameExperiment,
    withEdit,
} from '../../src/state/experiment';

describe('edits', () => {
    const document = { bodies: [{ mass: 1 }, { mass: 2 }], settings: { dt: 0.001 } };

    it('change one place and leave the original alone', () => {
        const { document: next, misfits } = applyEdits(document, [{ path: 'bodies.1.mass', value: 5 }]);
        expect(readPath(next, 'bodies.1.mass')).toBe(5);
        expect(document.bodies[1].mass).toBe(2);
        expect(misfits).toEqual([]);
    });

    it('create what is missing in objects', () => {
        const { document: next } = applyEdits(document, [
            { path: 'settings.stabilization.joints', value: 0.1 },
        ]);
        expect(readPath(next, 'settings.stabilization.joints')).toBe(0.1);
    });

    it('say which do not fit', () => {
        const edits = [
            { path: 'bodies.7.mass', value: 1 },
            { path: 'settings.dt.x', value: 1 },
            { path: '__proto__.polluted', value: 1 },
        ];
        expect(applyEdits(document, edits).misfits).toEqual(edits);
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });

    it('of the same place replace each other', () => {
        expect(withEdit([{ path: 'a', value: 1 }], { path: 'a', value: 2 })).toEqual([
            { path: 'a', value: 2 },
        ]);
    });
});

describe('canonical text', () => {
    it('does not depend on the order of keys', () => {
        expect(canonical({ b: 1, a: [2, { d: 1, c: 0 }] })).toBe(canonical({ a: [2, { c: 0, d: 1 }], b: 1 }));
    });

    it('tells experiments apart', () => {
        expect(sameExperiment(FIRST_EXPERIMENT, structuredClone(FIRST_EXPERIMENT))).toBe(true);
        expect(sameExperiment(FIRST_EXPERIMENT, { ...FIRST_EXPERIMENT, mode: 'curated' })).toBe(false);
    });
});
