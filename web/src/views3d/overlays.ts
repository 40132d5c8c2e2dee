// Overlays of the 3D views, made when they are asked for: another solver's motion as a ghost, handles on the
// selected body, violation as colour. Nothing here costs a frame while it is off.
import { effect } from '@preact/signals-core';
import { dark, focused, lanes, scene, selection } from '../state/session';
import { Ghost } from './ghost';
import { PoseHandles } from './handles';
import { ghost, gizmo, showViolation } from './options';
import type { KlStage } from './stage';
import { Violation } from './violation';

let watched: KlStage | null = null;

/** Keeps the overlays of `stage` as the switches say. */
export function watch(stage: KlStage): void {
    if (watched === stage) return;
    watched = stage;
    effect(() => {
        const lane = lanes.value.find((l) => l.choice.id === ghost.value);
        const info = scene.value;
        void dark.value;
        stage.use(
            'ghost',
            lane && info ? (view) => (view.lane === lane ? null : new Ghost(view, lane, info)) : null,
        );
    });
    effect(() => {
        const mode = gizmo.value;
        const lane = focused.value;
        const body = selection.value?.kind === 'body' ? selection.value.index : -1;
        const shows = mode !== '' && body >= 0 && lane !== null;
        stage.use(
            'handles',
            shows ? (view) => (view.lane === lane ? new PoseHandles(stage, view, body, mode) : null) : null,
        );
    });
    effect(() => {
        const info = scene.value;
        stage.use('violation', showViolation.value && info ? (view) => new Violation(view, info) : null);
    });
}
