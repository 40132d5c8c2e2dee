// Which tab of the inspector is open.
import { signal } from '@preact/signals-core';

export const openTab = signal('solver');
