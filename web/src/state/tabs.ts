// Which tab of the inspector is open.
import { signal } from '@preact/signals-core';

export const FIRST_TAB = 'solver';
export const openTab = signal(FIRST_TAB);
