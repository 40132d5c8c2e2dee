// Messages on the page's edge; errors stay until dismissed.
import { html } from 'lit';
import { dismiss, messages } from '../state/messages';
import { KlElement } from './element';

export class KlMessages extends KlElement {
    override render() {
        return html`<div class="messages" aria-live="polite">
            ${messages.value.map(
                (
                    m,
                ) => html`<div class="message message-${m.kind}" role=${m.kind === 'error' ? 'alert' : 'status'}>
                    <div>
                        <strong>${m.text}</strong>
                        ${m.details ? html`<pre>${m.details}</pre>` : null}
                    </div>
                    <button class="icon" aria-label="Dismiss" @click=${() => dismiss(m.id)}>×</button>
                </div>`,
            )}
        </div>`;
    }
}

customElements.define('kl-messages', KlMessages);
