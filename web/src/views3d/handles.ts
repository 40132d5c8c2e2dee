// Handles that move or turn the selected body at the start of the run. The body follows while they are dragged;
// letting go makes one edit of the scene. The same numbers stand as fields in the Scene tab, for the keyboard.
import * as THREE from 'three';
import { TransformControls } from 'three/addons/controls/TransformControls.js';
import type { Frame } from '../state/history';
import { editPose } from '../state/pose-edit';
import { pause, seek } from '../state/session';
import { poseMatrix } from './geometry';
import type { KlStage, Overlay, View } from './stage';

export class PoseHandles implements Overlay {
    private readonly controls: TransformControls;
    private readonly proxy = new THREE.Object3D();
    private dragging = false;

    constructor(
        private readonly stage: KlStage,
        private readonly view: View,
        private readonly body: number,
        mode: 'translate' | 'rotate',
    ) {
        pause();
        seek(0);
        this.controls = new TransformControls(view.camera, view.cell);
        this.controls.setMode(mode);
        this.controls.setSize(1.6);
        this.controls.attach(this.proxy);
        this.controls.addEventListener('dragging-changed', ({ value }) => this.drag(value === true));
        this.controls.addEventListener('change', () => stage.draw());
        view.content.scene.add(this.proxy, this.controls.getHelper());
        view.cell.dataset.handles = mode;
    }

    private drag(on: boolean): void {
        this.view.controls.enabled = !on;
        this.dragging = on;
        if (on) return;
        this.stage.ignoreClick();
        const { position: p, quaternion: q } = this.proxy;
        editPose(this.body, p.toArray(), [q.w, q.x, q.y, q.z]);
    }

    update(frame: Frame, step: number): void {
        this.controls.getHelper().visible = step === 0;
        this.controls.enabled = step === 0;
        if (this.dragging) {
            this.proxy.updateMatrix();
            this.view.content.place(this.body, this.proxy.matrix);
            return;
        }
        const poses = frame.fields.get('pose')!.values as Float64Array;
        poseMatrix(poses, 7 * this.body, this.proxy.matrix);
        this.proxy.matrix.decompose(this.proxy.position, this.proxy.quaternion, this.proxy.scale);
    }

    dispose(): void {
        this.view.controls.enabled = true;
        delete this.view.cell.dataset.handles;
        this.view.content.scene.remove(this.proxy, this.controls.getHelper());
        this.controls.dispose();
    }
}
