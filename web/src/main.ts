// Starts the page.
import './app/theme.css';
import './app/app';
import './app/api';
import { listenToDrops } from './app/drops';
import { listenToKeys } from './app/keys';
import { embedded, followAddress, openAddress } from './link/share';
import { wasmSupported } from './state/core-module';
import { say } from './state/messages';
import { phase, startCore } from './state/session';

async function begin(): Promise<void> {
    if (!wasmSupported()) {
        phase.value = 'unsupported';
        return;
    }
    try {
        await startCore();
    } catch (error) {
        phase.value = 'broken';
        say(
            'error',
            'The simulation core could not be loaded.',
            error instanceof Error ? error.message : String(error),
        );
        return;
    }
    await openAddress();
    followAddress();
}

if (embedded && parent !== window) void import('./embed/speak').then((m) => m.speakToParent());
listenToKeys();
listenToDrops();
void begin();

if (import.meta.env.PROD && 'serviceWorker' in navigator) {
    addEventListener(
        'load',
        () => void navigator.serviceWorker.register('./service-worker.js').catch(() => {}),
    );
}
