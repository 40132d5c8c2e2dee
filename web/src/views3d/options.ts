// What the 3D views show besides the bodies.
import { signal } from '@preact/signals-core';
import type { ViewOptions } from './lane-scene';

export const FIRST_VIEW: ViewOptions = {
    forces: true,
    split: false,
    cones: false,
    joints: true,
    frames: false,
    jointForces: false,
    masses: false,
    pull: false,
    forceFactor: 1,
};

export const viewOptions = signal(FIRST_VIEW);

/** Solver whose motion lies over the other views, '' = none. */
export const ghost = signal('');

/** Joints and contacts coloured by how far they are violated. */
export const showViolation = signal(false);

/** Handles on the selected body at the start of the run. */
export const gizmo = signal<'' | 'translate' | 'rotate'>('');

/** The views take most of the window: for who shows them to others. */
export const tallViews = signal(false);

export const linkedCameras = signal(true);

/** The cameras go along when the mechanism moves away. */
export const followCamera = signal(true);

/** Position and target of the camera of each view, for links: x y z tx ty tz. */
export const cameraState = signal<number[] | null>(null);

export type Toggled = Exclude<keyof ViewOptions, 'forceFactor'>;

export function toggle(option: Toggled): void {
    viewOptions.value = { ...viewOptions.value, [option]: !viewOptions.value[option] };
}
