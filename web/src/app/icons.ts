// Small drawings for buttons, since fonts differ in the symbols they have.
import { html } from 'lit';

const PATHS: Record<string, string> = {
    play: 'M4 2.5 13 8 4 13.5z',
    pause: 'M4 2.5h3v11H4zM9 2.5h3v11H9z',
    back: 'M4 3h1.8v10H4zM12.5 3v10L6 8z',
    forward: 'M10.2 3H12v10h-1.8zM3.5 3 10 8l-6.5 5z',
    reset: 'M8 3a5 5 0 1 1-4.6 3l1.5.6A3.4 3.4 0 1 0 8 4.6V7L4.4 3.8 8 .6z',
    undo: 'M6 2.2v3h3.2a4 4 0 0 1 0 8.2H5v-1.7h4.2a2.3 2.3 0 0 0 0-4.8H6v3L1.6 6z',
    redo: 'M10 2.2v3H6.8a4 4 0 0 0 0 8.2H11v-1.7H6.8a2.3 2.3 0 0 1 0-4.8H10v3L14.4 6z',
    tall: 'M2 2h12v9H2zM3.5 3.5v6h9v-6zM2 12.5h12V14H2z',
    theme: 'M8 1.5a6.5 6.5 0 1 0 0 13zM8 1.5a6.5 6.5 0 0 1 0 13v-1.6a4.9 4.9 0 0 0 0-9.8z',
};

export function icon(name: keyof typeof PATHS & string) {
    return html`<svg class="icon" width="14" height="14" viewBox="0 0 16 16" aria-hidden="true"><path d=${PATHS[name]} fill="currentColor" /></svg>`;
}
