// The link to what is seen now, with the hashes of its state, and the check of such hashes. Loaded when a link is
// made or brings hashes.
import { effect } from '@preact/signals-core';
import type { SceneFile } from '../core/protocol';
import { sceneDocument } from '../state/gallery';
import type { Lane } from '../state/lane';
import { say } from '../state/messages';
import { cursor, documentText, experiment, lanes, scene, tables } from '../state/session';
import { BLOCK, blocksUpTo, firstDifference } from './blocks';
import { type Blocks, type Expected, encodeLink, type FileSum } from './codec';
import { sha256 } from './digest';
import { currentView } from './share';
import { linkVerdict } from './verdict';

/** State hashes of all lanes at the step shown; null where a lane has not got there. */
async function currentHashes(): Promise<Expected | null> {
    const step = cursor.value;
    const hashes: string[] = [];
    for (const lane of lanes.value) {
        const frame = lane.history.frameAt(step);
        if (frame?.step === step) hashes.push(frame.hash.toString(16).padStart(16, '0'));
        else if (lane.alive && lane.filled.value >= step) hashes.push(await hashAt(lane, step));
        else return null;
    }
    return { step, hashes, core: tables.value?.version ?? '', blocks: await currentBlocks(step) };
}

async function hashAt(lane: Lane, step: number): Promise<string> {
    return (await lane.client.request('inspect', { step, natural: false, condition: false })).hash;
}

async function currentBlocks(step: number): Promise<Blocks | null> {
    if (step < BLOCK || lanes.value.some((lane) => !lane.alive)) return null;
    return blocksUpTo(
        step,
        await Promise.all(lanes.value.map((lane) => lane.client.request('blockHashes', null))),
    );
}

/** The link to what is seen; `apart` leaves the scene to a file that travels beside it. */
export async function currentLink(apart = false): Promise<string> {
    const { scene } = experiment.value;
    const { files } = await sceneDocument(scene);
    const beside = scene.kind === 'gallery' || (scene.url && !apart) ? [] : await sums(files);
    const file = apart
        ? { name: sceneFileName(), sum: await sha256(new TextEncoder().encode(documentText.value)) }
        : null;
    return encodeLink(experiment.value, currentView(), await currentHashes(), beside, file);
}

export function sceneFileName(): string {
    return `${(scene.value?.id || 'scene').replace(/[^\w.-]/g, '_').slice(0, 60)}.json`;
}

function sums(files: SceneFile[]): Promise<FileSum[]> {
    return Promise.all(
        files.map(async ({ path, data }) => ({
            name: path.replace(/[^\w./ -]/g, '_').slice(0, 120),
            sum: await sha256(data),
        })),
    );
}

/** Waits until every lane has reached the step, then compares. */
export async function verify(expected: Expected): Promise<void> {
    linkVerdict.value = { kind: 'waiting', text: `checking the state at step ${expected.step}…`, step: -1 };
    const mine = lanes.value;
    await reached(expected.step);
    if (mine !== lanes.value) {
        linkVerdict.value = null;
        return;
    }
    const results = await Promise.all(
        mine.map(async (lane, i) => {
            if (!expected.hashes[i]) return { text: 'no hash', from: -1 };
            if (lane.filled.value < expected.step || !lane.alive)
                return { text: 'does not get there', from: -1 };
            const hash = await hashAt(lane, expected.step);
            if (hash === expected.hashes[i]) return null;
            const block = expected.blocks
                ? firstDifference(
                      expected.blocks,
                      i,
                      await lane.client.request('blockHashes', null),
                      expected.step,
                  )
                : null;
            const where = block ? `, first in steps ${block[0]} to ${block[1]}` : '';
            return { text: `${hash} instead of ${expected.hashes[i]}${where}`, from: block ? block[0] : -1 };
        }),
    );
    const wrong = results.flatMap((r, i) => (r ? [`${mine[i].choice.id}: ${r.text}`] : []));
    const from = results.flatMap((r) => (r && r.from > 0 ? [r.from] : []));
    const first = from.length > 0 ? Math.min(...from) : -1;
    linkVerdict.value =
        wrong.length === 0
            ? { kind: 'same', text: `✓ same state as the sender at step ${expected.step}`, step: -1 }
            : {
                  kind: 'differs',
                  text: `✗ the state differs from the sender’s at step ${expected.step}${first > 0 ? `, from step ${first} on` : ''}`,
                  step: first,
              };
    if (wrong.length > 0) {
        const versions =
            expected.core !== tables.value?.version
                ? `written by kinloop ${expected.core}, this is ${tables.value?.version}\n`
                : '';
        say('warning', 'The linked state is not reproduced.', versions + wrong.join('\n'));
    }
}

function reached(step: number): Promise<void> {
    return new Promise((done) => {
        const dispose = effect(() => {
            const waiting = lanes.value.some(
                (l) => (l.state.value === 'running' || l.state.value === 'loading') && l.filled.value < step,
            );
            if (!waiting)
                queueMicrotask(() => {
                    dispose();
                    done();
                });
        });
    });
}
