// The command that does natively what the page shows.
import { dt, experiment, scene, steps } from '../state/session';

function quote(text: string): string {
    return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function commandLine(): string {
    const current = experiment.value;
    const file = current.scene.kind === 'gallery' ? `scenes/${current.scene.id}.json` : current.scene.name;
    const parts = ['kinloop', 'run', current.edits.length > 0 ? `${scene.value?.id ?? 'scene'}.json` : file];
    if (current.run) parts.push('--run', current.run);
    parts.push('--solver', current.solvers.map((s) => s.id).join(','));
    if (current.preset) parts.push('--preset', current.preset);
    parts.push('--steps', String(steps.value), '--dt', String(dt.value));
    for (const s of current.solvers) {
        for (const [param, value] of Object.entries(s.params))
            parts.push('--set', `${s.id}.${param}=${value}`);
    }
    parts.push('--hash');
    return parts.map(quote).join(' ');
}
