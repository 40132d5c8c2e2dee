// The command that does natively what the page shows.
import { experiment, steps } from '../state/session';

function quote(text: string): string {
    return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

export function commandLine(): string {
    const current = experiment.value;
    const file = current.scene.kind === 'gallery' ? `scenes/${current.scene.id}.json` : current.scene.name;
    const parts = ['kinloop', 'run', file];
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
    parts.push('--hash');
    return parts.map(quote).join(' ');
}
