// Share: the link, an iframe, the command line, a citation, the scene as a file.

import { signal } from '@preact/signals-core';
import { html } from 'lit';
import { MAX_LENGTH, WARN_LENGTH } from '../link/codec';
import { absolute } from '../link/share';
import { currentLink, sceneFileName } from '../link/state-link';
import { documentText, experiment, scene, tables } from '../state/session';
import { commandLine } from './command-line';
import { dialog, KlDialog } from './dialogs';
import { download } from './download';

const link = signal('');
const apart = signal(''); // the link without its scene, when that is too large
const copied = signal('');

export class KlShare extends KlDialog {
    readonly name = 'share';
    readonly heading = 'Share this experiment';

    protected override opening(): void {
        link.value = '';
        apart.value = '';
        copied.value = '';
        void this.write();
    }

    /** A link too long to carry its scene sends it as a file beside. */
    private async write(): Promise<void> {
        const fragment = await currentLink();
        if (fragment.length > MAX_LENGTH) apart.value = absolute(await currentLink(true));
        link.value = absolute(fragment);
    }

    content() {
        const long = link.value.length > MAX_LENGTH;
        const without = link.value !== '' && !link.value.includes('&h=');
        return html`
            <p class="quiet">
                The link carries scene, solvers, parameters, camera, what views and plots show${
                    without
                        ? ' and the time shown. It has no state hash: not every solver has got to this time.'
                        : ', the time shown and the state hash. Whoever opens it sees whether their machine gives the same state.'
                }
            </p>
            ${
                long
                    ? html`<p role="alert">
                              This experiment is too large for a link (${link.value.length} characters). Send its scene as a file, and this link,
                              which asks for the file:
                          </p>
                          <p><button class="primary" @click=${() => this.saveScene()}>Save ${sceneFileName()}</button></p>
                          ${this.row('Link', apart.value)}`
                    : html`${this.row('Link', link.value)} ${this.row('Embed', this.iframe())} ${this.row('Element', this.element())}`
            }
            ${
                !long && link.value.length > WARN_LENGTH
                    ? html`<p class="quiet">${link.value.length} characters: some programs cut links of this length.</p>`
                    : null
            }
            ${this.row('Command line', commandLine())} ${this.row('BibTeX', this.citation())}
            <p>
                <button @click=${() => this.saveScene()}>Scene as a file</button>
                <button @click=${() => (dialog.value = '')}>Done</button>
            </p>
        `;
    }

    private saveScene(): void {
        download(sceneFileName(), new Blob([documentText.value], { type: 'application/json' }));
    }

    private row(label: string, text: string) {
        return html`<label class="share-row"
            ><span>${label}</span>
            <textarea readonly rows=${label === 'BibTeX' ? 5 : 2} data-share=${label} .value=${text}></textarea>
            <button @click=${() => this.copy(label, text)}>${copied.value === label ? 'Copied' : 'Copy'}</button>
        </label>`;
    }

    private async copy(label: string, text: string): Promise<void> {
        await navigator.clipboard.writeText(text).catch(() => {
            this.querySelector<HTMLTextAreaElement>(`[data-share="${label}"]`)?.select();
        });
        copied.value = label;
    }

    private iframe(): string {
        const [path, fragment] = link.value.split('#');
        return `<iframe src="${path}?embed#${fragment ?? ''}" width="960" height="600" title="kinloop"></iframe>`;
    }

    private element(): string {
        const [path, fragment] = link.value.split('#');
        const folder = path.slice(0, path.lastIndexOf('/') + 1);
        return `<script type="module" src="${folder}kinloop-compare.js"></script>\n<kinloop-compare link="#${(fragment ?? '').replaceAll('"', '&quot;')}"></kinloop-compare>`;
    }

    private citation(): string {
        const title = `${scene.value?.title ?? ''}, kinloop ${tables.value?.version}`;
        const { solvers } = experiment.value;
        return `@misc{kinloop,\n  title = {${title}},\n  note = {solvers: ${solvers.map((s) => s.id).join(', ')}},\n  howpublished = {\\url{${link.value}}}\n}`;
    }
}

customElements.define('kl-share', KlShare);
