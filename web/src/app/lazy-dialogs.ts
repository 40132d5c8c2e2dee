// Dialogs that come over the network when they are first opened; their elements wait in the page until then.
import { effect } from '@preact/signals-core';
import { partMissing } from '../state/messages';
import { type DialogName, dialog } from './dialogs';

const PARTS: { [N in DialogName]?: () => Promise<unknown> } = {
    gallery: () => import('./gallery'),
    share: () => import('./share-dialog'),
    help: () => import('./help'),
    bench: () => import('./bench-dialog'),
};

effect(() => {
    PARTS[dialog.value]?.().catch(partMissing);
});
