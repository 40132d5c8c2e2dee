// Which dialog is open, and the frame around all of them.
import { effect, signal } from '@preact/signals-core';
import { html, type TemplateResult } from 'lit';
import { KlElement } from './element';

export type DialogName = '' | 'gallery' | 'share' | 'help' | 'bench' | 'open' | 'import' | 'obtain';
export const dialog = signal<DialogName>('');

/** A native modal dialog that shows while its name is the open one, with the messages, which it would cover. */
export abstract class KlDialog extends KlElement {
    abstract readonly name: DialogName;
    abstract readonly heading: string;
    abstract content(): TemplateResult;
    private dispose: (() => void) | null = null;

    override render() {
        const open = dialog.value === this.name;
        return html`<dialog aria-labelledby=${`${this.name}-title`} @close=${this.closed} @click=${this.outside}>
            ${
                open
                    ? html`<header>
                          <h2 id=${`${this.name}-title`}>${this.heading}</h2>
                          <button class="icon" aria-label="Close" @click=${() => (dialog.value = '')}>×</button>
                      </header>
                      <div class="dialog-body">${this.content()}</div>
                      <kl-messages></kl-messages>`
                    : null
            }
        </dialog>`;
    }

    protected override firstUpdated(): void {
        const element = this.querySelector('dialog')!;
        this.dispose = effect(() => {
            const open = dialog.value === this.name;
            if (open && !element.open) {
                this.opening();
                element.showModal();
            } else if (!open && element.open) element.close();
        });
    }

    override disconnectedCallback(): void {
        super.disconnectedCallback();
        this.dispose?.();
    }

    protected opening(): void {}
    protected closing(): void {}

    private closed = (event: Event): void => {
        if ((event.target as HTMLDialogElement).open) return; // opened again before the event came
        if (dialog.value === this.name) dialog.value = '';
        this.closing();
    };

    private outside = (event: MouseEvent): void => {
        if (event.target === event.currentTarget) dialog.value = '';
    };
}
