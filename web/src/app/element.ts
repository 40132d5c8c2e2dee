// Base of all elements: Lit in light DOM, re-rendered when a signal that render() has read changes.
import { effect } from '@preact/signals-core';
import { LitElement } from 'lit';

export abstract class KlElement extends LitElement {
    private stopTracking: (() => void) | null = null;

    protected override createRenderRoot(): HTMLElement {
        return this;
    }

    protected override performUpdate(): void {
        if (!this.isUpdatePending) return;
        this.stopTracking?.();
        let first = true;
        this.stopTracking = effect(() => {
            if (first) super.performUpdate();
            else this.requestUpdate();
            first = false;
        });
    }

    override connectedCallback(): void {
        super.connectedCallback();
        this.requestUpdate();
    }

    override disconnectedCallback(): void {
        super.disconnectedCallback();
        this.stopTracking?.();
        this.stopTracking = null;
    }
}
