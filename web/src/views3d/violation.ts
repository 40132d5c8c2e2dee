// How far each joint and contact is violated in the frame shown, as colour and size: from the smallest that
// matters, 1e-7 m, to 1e-2 m, five decades. The colours are viridis's, readable without hue, too.
import * as THREE from 'three';
import type { SceneInfo } from '../core/types';
import { viridis } from '../panels/viridis';
import type { Frame } from '../state/history';
import type { Overlay, View } from './stage';

export const LOW = 1e-7; // [m], [rad]
export const HIGH = 1e-2;

/** 0 at LOW and below, 1 at HIGH and above. */
export function share(violation: number): number {
    if (!(violation > LOW)) return 0;
    return Math.min(1, Math.log(violation / LOW) / Math.log(HIGH / LOW));
}

const CAPACITY = 2048;

export class Violation implements Overlay {
    private readonly marks: THREE.InstancedMesh;

    constructor(
        private readonly view: View,
        private readonly info: SceneInfo,
    ) {
        this.marks = new THREE.InstancedMesh(
            new THREE.SphereGeometry(1, 16, 12),
            new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.85 }),
            CAPACITY,
        );
        this.marks.frustumCulled = false;
        this.marks.renderOrder = 12;
        view.content.scene.add(this.marks);
        view.cell.dataset.violation = '';
    }

    update(frame: Frame): void {
        const joints = frame.fields.get('joint_residual')?.values as Float64Array | undefined;
        const gaps = frame.fields.get('contact_gap')?.values as Float64Array | undefined;
        const positions = frame.fields.get('contact_position')?.values as Float64Array | undefined;
        let count = 0;
        const matrix = new THREE.Matrix4();
        const color = new THREE.Color();
        const add = (at: THREE.Vector3, violation: number): void => {
            if (count >= CAPACITY) return;
            const part = share(violation);
            const size = (0.02 + 0.06 * part) * this.view.content.radius;
            this.marks.setMatrixAt(count, matrix.makeScale(size, size, size).setPosition(at));
            this.marks.setColorAt(count, color.set(viridis(part)));
            count++;
        };
        for (let i = 0; joints && i < this.info.joints.length; i++)
            add(this.view.content.jointPosition(i), joints[i]);
        for (let k = 0; gaps && positions && k < gaps.length; k++)
            add(new THREE.Vector3().fromArray(positions, 3 * k), -gaps[k]);
        this.marks.count = count;
        this.marks.instanceMatrix.needsUpdate = true;
        if (this.marks.instanceColor) this.marks.instanceColor.needsUpdate = true;
        this.view.cell.dataset.violation = String(count);
    }

    dispose(): void {
        delete this.view.cell.dataset.violation;
        this.view.content.scene.remove(this.marks);
        this.marks.geometry.dispose();
        (this.marks.material as THREE.Material).dispose();
        this.marks.dispose();
    }
}
