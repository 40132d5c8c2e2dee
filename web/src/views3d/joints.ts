// The joints of a scene: a pin, a ball or a cube in the colour of the solver, and the axes of their frames.
import * as THREE from 'three';
import type { JointInfo, SceneInfo } from '../core/types';
import { poseMatrix } from './geometry';
import { instancedLines, instancedMesh } from './instances';

const SELECTED = new THREE.Vector3().setScalar(1.8); // larger than the others

function kindOf(joint: JointInfo): 'pin' | 'ball' | 'cube' {
    if (joint.kind === 'revolute' || joint.kind === 'cylindrical') return 'pin';
    return joint.dofs === 3 ? 'ball' : 'cube';
}

export class Joints {
    readonly group = new THREE.Group();
    readonly matrices: THREE.Matrix4[]; // in the world
    private readonly local: THREE.Matrix4[]; // in the follower's frame
    private readonly followers: number[];
    private readonly kinds: { mesh: THREE.InstancedMesh; joints: number[] }[] = [];
    private readonly axes: THREE.Object3D[] = [];
    private readonly disposables: { dispose(): void }[] = [];

    constructor({ joints }: SceneInfo, radius: number, color: string) {
        const size = 0.035 * radius;
        this.matrices = joints.map(() => new THREE.Matrix4());
        this.local = joints.map((j) => poseMatrix(j.followerFrame, 0, new THREE.Matrix4()));
        this.followers = joints.map((j) => j.follower);
        const shapes = {
            pin: new THREE.CylinderGeometry(0.7 * size, 0.7 * size, 3.4 * size, 16).rotateZ(Math.PI / 2),
            ball: new THREE.SphereGeometry(size, 16, 12),
            cube: new THREE.BoxGeometry(3 * size, 1.4 * size, 1.4 * size),
        };
        const material = new THREE.MeshStandardMaterial({ color, roughness: 0.5 });
        const helper = new THREE.AxesHelper(3 * size);
        this.disposables.push(material, helper, ...Object.values(shapes));
        for (const kind of ['pin', 'ball', 'cube'] as const) {
            const members = joints.flatMap((j, i) => (kindOf(j) === kind ? [i] : []));
            if (members.length === 0) continue;
            const mesh = instancedMesh(shapes[kind], material, members.length);
            const axes = instancedLines(helper.geometry, helper.material as THREE.Material, mesh);
            this.kinds.push({ mesh, joints: members });
            this.axes.push(axes);
            this.group.add(mesh, axes);
            this.disposables.push(mesh);
        }
        this.group.matrixAutoUpdate = false;
    }

    update(
        bodies: readonly THREE.Matrix4[],
        shown: { joints: boolean; frames: boolean },
        selected: number,
    ): void {
        this.matrices.forEach((joint, i) => {
            joint.multiplyMatrices(bodies[this.followers[i]], this.local[i]);
            if (i === selected) joint.scale(SELECTED);
        });
        for (const { mesh, joints } of this.kinds) {
            mesh.visible = shown.joints;
            for (const [slot, joint] of joints.entries()) mesh.setMatrixAt(slot, this.matrices[joint]);
            mesh.instanceMatrix.needsUpdate = true;
        }
        for (const axes of this.axes) axes.visible = shown.frames;
    }

    /** The nearest joint under a ray, of those that are drawn. */
    hit(ray: THREE.Raycaster): { joint: number; distance: number } | null {
        let nearest: { joint: number; distance: number } | null = null;
        for (const { mesh, joints } of this.kinds) {
            mesh.boundingSphere = null; // of where its copies were once
            const hit = mesh.visible ? ray.intersectObject(mesh)[0] : undefined;
            if (hit && hit.distance < (nearest?.distance ?? Number.POSITIVE_INFINITY))
                nearest = { joint: joints[hit.instanceId!], distance: hit.distance };
        }
        return nearest;
    }

    dispose(): void {
        for (const item of this.disposables) item.dispose();
    }
}
