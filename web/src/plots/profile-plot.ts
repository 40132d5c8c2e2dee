// Dolan–Moré performance profile over the problems of a curated run.
import { html } from 'lit';
import { partMissing } from '../state/messages';
import { comparable, profile, profileMeasure, profileTau } from '../state/profiles';
import { styles, tables } from '../state/session';
import type { PlotDefinition } from './definition';

export const profilePlot: PlotDefinition = {
    id: 'profile',
    title: 'Performance profile',
    text: 'How to read: the height of a curve at τ is the share of problems that the solver did within τ times the best one’s effort. At τ = 1: how often it is the best. At the right: how often it gets there at all.',
    unit: '',
    xTitle: 'τ, ratio to the best',
    xIsTime: false,
    log: false,
    logX: true,
    yRange: [-0.03, 1.03],
    choices: () => [
        { id: 'iterations', title: 'iterations' },
        { id: 't_solve', title: 'time (indicative)' },
        ...(tables.value?.metrics ?? [])
            .filter((m) => m.id.startsWith('r_'))
            .map((m) => ({ id: m.id, title: m.title })),
    ],
    data: (choice) => {
        if (choice && choice !== profileMeasure.peek()) queueMicrotask(() => (profileMeasure.value = choice));
        const now = profile.value;
        if (!comparable.value) {
            return {
                curves: [],
                x: [1, 10],
                note: 'Not comparable: in independent runs each solver meets its own problems. Switch to a curated run.',
            };
        }
        if (!now) return { curves: [], x: [1, 10], note: 'Waiting for problems…' };
        const { tau, rho } = now.result;
        const curves = now.solvers.map((id, s) => {
            const style = styles.value.get(id);
            return {
                label: style?.title ?? id,
                color: style?.color ?? '#888',
                dash: style?.dash ?? [],
                column: { x: tau, y: rho.subarray(s * tau.length, (s + 1) * tau.length) },
                lane: id,
            };
        });
        return {
            curves,
            x: [1, profileTau.value],
            note: `${now.problems} problems${curves.length > 2 ? '. Ranks beyond a pair of solvers can mislead' : ''}`,
        };
    },
    foot: () => {
        import('./profile-tools').catch(partMissing);
        return html`<kl-profile-tools></kl-profile-tools>`;
    },
};
