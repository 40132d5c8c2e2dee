// Under a performance profile: which solvers and which floor, and the shares in numbers. Loaded with the plot.
import './profile-tools.css';
import { html } from 'lit';
import { KlElement } from '../app/element';
import { number } from '../app/format';
import type { Profile } from '../core/protocol';
import {
    comparable,
    type Floor,
    profile,
    profileFloor,
    profileMeasure,
    profilePair,
    profileTolerance,
} from '../state/profiles';
import { lanes, styles } from '../state/session';
import { profilePlot } from './profile-plot';

const title = (id: string): string => styles.value.get(id)?.title ?? id;

/** rho(1) and rho at the largest tau, a row a solver. */
export function rhoTable(solvers: readonly string[], { tau, rho }: Profile) {
    const points = tau.length;
    const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
    return html`<table class="numbers rho">
        <thead>
            <tr>
                <th scope="col">share of problems</th>
                <th scope="col" title="How often it is the best">ρ(1)</th>
                <th scope="col" title="How often it gets there within this ratio">ρ(${number(tau[points - 1])})</th>
            </tr>
        </thead>
        <tbody>
            ${solvers.map(
                (id, s) => html`<tr>
                    <th scope="row">${title(id)}</th>
                    <td>${percent(rho[s * points])}</td>
                    <td>${percent(rho[(s + 1) * points - 1])}</td>
                </tr>`,
            )}
        </tbody>
    </table>`;
}

/** Every two of them. */
function pairs(ids: readonly string[]): [string, string][] {
    return ids.flatMap((a, i) => ids.slice(i + 1).map((b): [string, string] => [a, b]));
}

export class KlProfileTools extends KlElement {
    override render() {
        const now = profile.value;
        if (!comparable.value || !now) return null;
        return html`<div class="profile-tools">
            <div>${this.compare()} ${profileMeasure.value.startsWith('r_') ? this.floor() : null}</div>
            ${rhoTable(now.solvers, now.result)}
            <details>
                <summary>How to read</summary>
                ${profilePlot.text.replace(/^How to read: /, '')} A run that fails counts for nothing.
            </details>
        </div>`;
    }

    private compare() {
        const chosen = profilePair.value.join();
        const options = pairs(lanes.value.map((l) => l.choice.id));
        if (options.length < 2) return null;
        return html`<label class="field"
            >compare
            <select
                aria-label="Solvers in the profile"
                @change=${(e: Event) => {
                    const { value } = e.target as HTMLSelectElement;
                    profilePair.value = value ? value.split(',') : [];
                }}
            >
                <option value="" ?selected=${chosen === ''}>all that are shown</option>
                ${options.map((pair) => html`<option value=${pair.join()} ?selected=${chosen === pair.join()}>${pair.map(title).join(' and ')}</option>`)}
            </select></label
        >`;
    }

    private floor() {
        const choices: Record<Floor, string> = {
            rounding: 'floor at rounding (Dingle–Higham)',
            tolerance: `floor at tolerance ${number(profileTolerance.value)}`,
            none: 'no floor',
        };
        return html`<label class="field"
            >small residuals
            <select aria-label="Floor of residuals" @change=${(e: Event) => (profileFloor.value = (e.target as HTMLSelectElement).value as Floor)}>
                ${Object.entries(choices).map(([id, text]) => html`<option value=${id} ?selected=${id === profileFloor.value}>${text}</option>`)}
            </select></label
        >`;
    }
}

customElements.define('kl-profile-tools', KlProfileTools);
