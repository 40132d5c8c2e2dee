// The command that does natively what the page shows.
import { experiment, steps } from '../state/session';

function quote(text: string): string {
    return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function sceneFile(): string {
    const { scene } = experiment.value;
    return scene.kind === 'gallery' ? `scenes/${scene.id}.json` : scene.name;
}

/** The words of `kinloop run` on this scene. */
function words(scene: string): string[] {
    const current = experiment.value;
    const parts = ['run', scene];
    if (current.run) parts.push('--run', current.run);
    const ids = current.solvers.map((s) => s.id);
    const driver = current.mode === 'curated' && ids.includes(current.driver) ? current.driver : ids[0];
    parts.push('--solver', [driver, ...ids.filter((id) => id !== driver)].join(','));
    if (current.preset) parts.push('--preset', current.preset);
    parts.push('--steps', String(steps.value));
    for (const s of current.solvers) {
        for (const [param, value] of Object.entries(s.params))
            parts.push('--set', `${s.id}.${param}=${value}`);
    }
    for (const { path, value } of current.edits) parts.push('--edit', `${path}=${JSON.stringify(value)}`);
    if (current.mode === 'curated') parts.push('--curated');
    return parts;
}

/** What does the run again, from any folder for a scene of the gallery. */
export function repeatingWords(): string[] {
    const { scene } = experiment.value;
    return words(scene.kind === 'gallery' ? scene.id : scene.name);
}

export function commandLine(): string {
    return ['kinloop', ...words(sceneFile()), '--hash'].map(quote).join(' ');
}
