// Own input by button, drop or paste: scenes (JSON), models (URDF, MJCF), dual problems (JSON, HDF5). Files stay on
// this computer.
import { signal } from '@preact/signals-core';
import type { SceneFile } from '../core/protocol';
import type { ProblemInfo } from '../core/types';
import type { Json } from '../state/experiment';
import { ownFiles } from '../state/gallery';
import { say } from '../state/messages';
import { experiment, open, readScene, toolClient } from '../state/session';
import { openTab } from '../state/tabs';
import { dialog } from './dialogs';
import { fromList, type GivenFile } from './given-files';

export interface OwnProblem {
    name: string;
    text: string;
    index: number;
    count: number;
    problem: ProblemInfo;
}

export const ownProblem = signal<OwnProblem | null>(null);

const MOST = 64 * 1024 * 1024; // bytes of one file

export async function chooseFiles(folder = false): Promise<void> {
    const input = document.createElement('input');
    input.type = 'file';
    input.multiple = true;
    input.webkitdirectory = folder;
    input.accept = '.json,.h5,.hdf5,.urdf,.xml,.yaml,.yml,.zip,.stl,.obj';
    input.onchange = () => void takeFiles(fromList(input.files ?? []));
    input.click();
}

const MODEL = /\.(urdf|xml|mjcf|xacro|zip)$/i;
const KNOWN = /\.(json|h5|hdf5)$/i;

export async function takeFiles(files: GivenFile[]): Promise<void> {
    const large = files.find(({ file }) => file.size > MOST);
    if (large) return say('error', `${large.path} is larger than 64 MB.`);
    const main = files.find((f) => MODEL.test(f.path)) ?? files.find((f) => KNOWN.test(f.path));
    if (!main)
        return say(
            'error',
            'There is no scene, model or problem among these files.',
            'Known: .json (scene or dual problem), .urdf and .xml (models, with their meshes, as files, folder or .zip), .h5 and .hdf5 (dual problems).',
        );
    const asking = dialog.value;
    try {
        if (MODEL.test(main.path)) return await (await import('./import-dialog')).openModels(files);
        if (/\.json$/i.test(main.path)) await takeJson(main, files);
        else await takeHdf5(main.file);
        if (dialog.value === asking) dialog.value = ''; // else another was opened meanwhile
    } catch (error) {
        say(
            'error',
            `${main.path} cannot be used; the page keeps what it had.`,
            error instanceof Error ? error.message : String(error),
        );
    }
}

async function takeJson(main: GivenFile, files: GivenFile[]): Promise<void> {
    const text = await main.file.text();
    if (looksLikeProblem(text)) return takeProblem(main.path, text, 0);
    const beside = await Promise.all(
        files
            .filter((f) => f !== main)
            .map(
                async ({ path, file }): Promise<SceneFile> => ({
                    path,
                    data: new Uint8Array(await file.arrayBuffer()),
                }),
            ),
    );
    await openScene(main.path, text, beside);
    say('info', `${main.path} is open. It stays on this computer.`);
}

/** Opens a scene that is not the gallery's. */
export async function openScene(name: string, text: string, files: SceneFile[]): Promise<void> {
    // The core reads it first: whatever is wrong is said with line and path, and nothing else changes.
    await readScene({ name, text, files }, 0);
    ownFiles.set(name, files);
    await open(
        {
            scene: { kind: 'own', name, text },
            run: '',
            mode: experiment.value.mode,
            driver: '',
            preset: '',
            solvers: [],
            edits: [],
            duration: 0,
        },
        { play: true },
    );
}

function looksLikeProblem(text: string): boolean {
    try {
        const value = JSON.parse(text) as Json;
        const first = Array.isArray(value) ? value[0] : value;
        if (!first || typeof first !== 'object' || Array.isArray(first)) return false;
        return 'v_f' in first || 'problems' in first;
    } catch {
        return false; // the core says where it is broken
    }
}

export async function takeProblem(name: string, text: string, index: number): Promise<void> {
    const { count, problem } = await toolClient().request('problem', { text, name, index });
    ownProblem.value = { name, text, index, count, problem };
    openTab.value = 'problem';
    say('info', `${name}: ${count} dual problem${count === 1 ? '' : 's'}. See the Problem tab.`);
}

async function takeHdf5(main: File): Promise<void> {
    const { problemsFromHdf5 } = await import('./hdf5');
    const problems = await problemsFromHdf5(main.name, new Uint8Array(await main.arrayBuffer()));
    await takeProblem(main.name, JSON.stringify(problems), 0);
}
