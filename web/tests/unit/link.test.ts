import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blocksUpTo, firstDifference } from '../../src/link/blocks';
import { BadLink, decodeLink, encodeLink, type View } from '../../src/link/codec';
import { deflate, fromBase64url, inflate, toBase64url } from '../../src/link/deflate';
import type { Experiment } from '../../src/state/experiment';

const SUM = `sha256-${'a'.repeat(43)}`;
const VIEW: View = { time: 0, camera: null, selection: null, plots: null };

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,20}$/);
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((v) => (v === 0 ? 0 : v));

const experiments: fc.Arbitrary<Experiment> = fc.record({
    scene: fc.record({ kind: fc.constant('gallery' as const), id: name }),
    run: fc.oneof(fc.constant(''), name),
    mode: fc.constantFrom('independent' as const, 'curated' as const),
    driver: fc.oneof(fc.constant(''), name),
    preset: fc.constantFrom('', 'high-precision', 'high-throughput'),
    solvers: fc.uniqueArray(name, { maxLength: 4 }).chain((ids) =>
        fc.tuple(
            ...ids.map((id) =>
                fc.record({
                    id: fc.constant(id),
                    preset: fc.constant(''),
                    params: fc.dictionary(fc.stringMatching(/^[a-z][a-z_]{0,11}$/), finite),
                }),
            ),
        ),
    ),
    edits: fc.uniqueArray(
        fc.record({
            path: fc.stringMatching(/^[a-z]{1,8}(\.[a-z0-9]{1,8}){0,3}$/),
            value: fc.oneof(finite, fc.boolean(), fc.array(finite, { maxLength: 3 }), fc.string()),
        }),
        {
            maxLength: 5,
            selector: (e) => e.path,
        },
    ),
    duration: fc.constantFrom(0, 0.5, 12),
});

describe('links', () => {
    it('give back the experiment that went in', async () => {
        await fc.assert(
            fc.asyncProperty(experiments, async (experiment) => {
                const linked = await decodeLink(await encodeLink(experiment, VIEW, null));
                expect(linked.dropped).toEqual([]);
                expect(JSON.parse(JSON.stringify(linked.experiment))).toEqual(
                    JSON.parse(JSON.stringify(experiment)),
                );
            }),
            { numRuns: 60 },
        );
    });

    it('carry view and state', async () => {
        const experiment: Experiment = {
            scene: { kind: 'gallery', id: 'box_on_plane' },
            run: '',
            mode: 'independent',
            driver: '',
            preset: 'high-throughput',
            solvers: [{ id: 'pgs-ccp', preset: '', params: { tolerance: 1e-9 } }],
            edits: [],
            duration: 2,
        };
        const view: View = {
            time: 0.25,
            camera: [1, 2, 3, 0, 0, 0.5],
            selection: { kind: 'joint', index: 2 },
            plots: [
                { id: 'state', choice: 'rz' },
                { id: 'r_nat', choice: '' },
                { id: 'convergence', choice: 'p', axes: { x: false, y: true } },
                { id: 'iterations', choice: '', axes: { y: true } },
                { id: 'r_pen', choice: '', size: { thirds: 4, height: 220 } },
            ],
            tab: 'problem',
            show: ['cones', '-joints', 'arrows.2.5', 'ghost.pgs-ccp'],
        };
        const expected = {
            step: 250,
            hashes: ['0123456789abcdef'],
            core: '0.1.0',
            blocks: { stride: 64, digests: ['AbCdE_'] },
        };
        const link = await encodeLink(experiment, view, expected);
        expect(link).toContain('scene=box_on_plane@1');
        expect(link).toContain('p=pgs-ccp.tolerance:1e-9');
        expect(link).toContain('&tab=problem&show=cones,-joints,arrows.2.5,ghost.pgs-ccp&');
        expect(link).toContain('plots=state~rz,r_nat,convergence~p~xlin.ylog,iterations~~ylog,r_pen~~~4x220');
        const linked = await decodeLink(link);
        expect(linked.view).toEqual(view);
        expect(linked.expected).toEqual(expected);
    });

    it('carry an own scene', async () => {
        const text = JSON.stringify({ schema: 1, id: 'mine', bodies: [{ name: 'ä', mass: 2 }] }, null, 2);
        const experiment: Experiment = {
            scene: { kind: 'own', name: 'mine.json', text },
            run: '',
            mode: 'independent',
            driver: '',
            preset: '',
            solvers: [],
            edits: [],
            duration: 0,
        };
        const linked = await decodeLink(await encodeLink(experiment, VIEW, null));
        expect(linked.experiment.scene).toEqual({ kind: 'own', name: 'mine.json', text });
    });

    it('name a scene at an address, and only a safe one', async () => {
        const own = { name: 'far.json', text: '{}', url: 'https://example.org/a%20b/far.json?x=1&y=2' };
        const experiment: Experiment = {
            scene: { kind: 'own', ...own, sum: SUM },
            run: '',
            mode: 'independent',
            driver: '',
            preset: '',
            solvers: [],
            edits: [],
            duration: 0,
        };
        const link = await encodeLink(experiment, VIEW, null);
        expect(link).toContain('scene=url');
        const linked = await decodeLink(link);
        expect(linked.wanted).toEqual({ kind: 'url', url: own.url, sum: SUM });
        for (const bad of [
            'http://example.org/a',
            'javascript:alert(1)',
            'file:///etc/passwd',
            'data:,x',
            'a.json',
        ])
            await expect(decodeLink(`#v=1&scene=url&u=${encodeURIComponent(bad)}`), bad).rejects.toThrow(
                BadLink,
            );
        await expect(decodeLink('#v=1&scene=url&u=https://u:p@example.org/')).rejects.toThrow(/password/);
        await expect(decodeLink('#v=1&scene=url&u=https://example.org/&sum=md5-1')).rejects.toThrow(/sha256/);
    });

    it('ask for a file, and for files beside an own scene', async () => {
        const experiment: Experiment = {
            scene: { kind: 'own', name: 'mine.json', text: '{"a": 1}' },
            run: '',
            mode: 'independent',
            driver: '',
            preset: '',
            solvers: [],
            edits: [{ path: 'a', value: 2 }],
            duration: 0,
        };
        const files = [{ name: 'meshes/leg.stl', sum: SUM }];
        const inline = await decodeLink(await encodeLink(experiment, VIEW, null, files));
        expect(inline.wanted).toBeNull();
        expect(inline.files).toEqual(files);
        expect(inline.experiment.edits).toEqual(experiment.edits);
        const file = { name: 'big.json', sum: SUM };
        const apart = await decodeLink(await encodeLink(experiment, VIEW, null, files, file));
        expect(apart.wanted).toEqual({ kind: 'file', ...file });
        expect(apart.experiment.edits, 'they are in the file').toEqual([]);
    });

    it('tell the first block that differs', () => {
        const hashes = BigUint64Array.from({ length: 10 }, (_, i) => BigInt(1000 * (i + 1)));
        const sent = blocksUpTo(640, [hashes]);
        expect(sent.stride).toBe(64);
        expect(sent.digests[0]).toHaveLength(20);
        expect(firstDifference(sent, 0, hashes, 640)).toBeNull();
        const other = hashes.slice();
        for (let i = 3; i < 10; i++) other[i] += 7n;
        expect(firstDifference(sent, 0, other, 640)).toEqual([193, 256]);
        expect(firstDifference(blocksUpTo(650, [hashes]), 0, hashes, 650), 'after the last block').toEqual([
            641, 650,
        ]);
        const long = BigUint64Array.from({ length: 1000 }, (_, i) => BigInt(i));
        expect(blocksUpTo(64000, [long]).stride).toBe(512);
        expect(blocksUpTo(64000, [long]).digests[0]).toHaveLength(250);
    });

    it('read every link that was ever written', async () => {
        const { links } = (await import('./old-links.json')).default;
        for (const { link, scene, solvers } of links) {
            const linked = await decodeLink(link);
            expect(linked.dropped, link).toEqual([]);
            expect(linked.experiment.scene).toMatchObject(scene);
            expect(linked.experiment.solvers.map((s) => s.id)).toEqual(solvers);
        }
    });

    it('refuse what they cannot read, and say why', async () => {
        await expect(decodeLink('#v=9&scene=box_on_plane')).rejects.toThrow(BadLink);
        await expect(decodeLink('#')).rejects.toThrow(/version/);
        await expect(decodeLink('#v=1')).rejects.toThrow(/no scene/);
        await expect(decodeLink('#v=1&scene=<script>')).rejects.toThrow(BadLink);
        await expect(decodeLink('#v=1&scene=x&x=!!!')).rejects.toThrow(/base64url/);
        await expect(decodeLink(`#v=1&scene=${'a'.repeat(40000)}`)).rejects.toThrow(/longer/);
    });

    it('load the rest when a part is bad', async () => {
        const linked = await decodeLink(
            '#v=1&scene=nunchaku&T=-4&s=pgs-ccp,bad*id&p=nobody.x:1&set=oops&cam=1,2&h=zz&pre=xx&sel=cat.1',
        );
        expect(linked.experiment.solvers.map((s) => s.id)).toEqual(['pgs-ccp']);
        expect(linked.dropped.map((d) => d.split(':')[0]).sort()).toEqual([
            'T',
            'cam',
            'h',
            'p',
            'pre',
            's',
            'sel',
            'set',
        ]);
    });

    it('never throw anything but BadLink', async () => {
        await fc.assert(
            fc.asyncProperty(fc.string({ maxLength: 200 }), async (text) => {
                await decodeLink(`#v=1&scene=a&${text}`).catch((error) =>
                    expect(error).toBeInstanceOf(BadLink),
                );
            }),
        );
    });
});

describe('packing', () => {
    it('survives the way there and back', async () => {
        await fc.assert(
            fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (data) => {
                expect(await inflate(fromBase64url(toBase64url(await deflate(data))))).toEqual(data);
            }),
            { numRuns: 50 },
        );
    });

    it('stops at a bomb', async () => {
        const bomb = await deflate(new Uint8Array(8 << 20));
        expect(bomb.length).toBeLessThan(20000);
        await expect(inflate(bomb)).rejects.toThrow(/more than/);
    });

    it('refuses truncated data', async () => {
        const packed = await deflate(new TextEncoder().encode('x'.repeat(500) + Math.E));
        await expect(inflate(packed.subarray(0, packed.length - 6))).rejects.toThrow();
    });
});
