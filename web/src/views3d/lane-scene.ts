// The three.js scene of one lane: ground, bodies, joints, contacts and forces of the frame shown.
import * as THREE from 'three';
import type { SceneInfo } from '../core/types';
import type { Frame } from '../state/history';
import { Arrows, showInstances } from './arrows';
import { Bodies } from './bodies';
import { Contacts } from './contacts';
import { extent, poseMatrix } from './geometry';
import { instancedMesh } from './instances';
import { Joints } from './joints';
import { hex, type Palette } from './palette';

const at = new THREE.Vector3(); // work space of a frame
const force = new THREE.Vector3();

export interface ViewOptions {
    forces: boolean;
    split: boolean;
    cones: boolean;
    joints: boolean;
    frames: boolean;
    jointForces: boolean;
    masses: boolean;
    pull: boolean; // drag moves bodies instead of the camera
    forceFactor: number;
}

export interface Picked {
    kind: 'body' | 'joint' | 'contact';
    index: number;
}

export class LaneScene {
    readonly scene = new THREE.Scene();
    readonly radius: number;
    readonly center: THREE.Vector3;
    private readonly bodies: Bodies;
    private readonly joints: Joints;
    private readonly masses: THREE.InstancedMesh;
    private readonly contacts: Contacts;
    private readonly jointForces: Arrows;
    private readonly spring: THREE.Line;
    private readonly disposables: { dispose(): void }[] = [];
    private readonly light: THREE.DirectionalLight;

    constructor(
        private readonly info: SceneInfo,
        private readonly palette: Palette,
        color: string,
    ) {
        const { center, radius } = extent(info);
        this.center = center;
        this.radius = radius;
        this.scene.background = new THREE.Color(palette.background);
        this.light = this.addLights();
        this.addGround();
        this.bodies = new Bodies(info, palette);
        this.joints = new Joints(info, radius, color);
        this.masses = this.addMasses();
        this.contacts = new Contacts(palette);
        this.jointForces = new Arrows(info.joints.length + 1, palette.joint);
        this.spring = new THREE.Line(
            new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]),
            new THREE.LineBasicMaterial({ color: palette.highlight, depthTest: false, transparent: true }),
        );
        this.spring.renderOrder = 11;
        this.spring.frustumCulled = false;
        this.disposables.push(this.spring.geometry, this.spring.material as THREE.Material);
        this.scene.add(
            this.bodies.group,
            this.joints.group,
            this.contacts.group,
            this.jointForces.group,
            this.spring,
        );
    }

    private addLights(): THREE.DirectionalLight {
        this.scene.add(new THREE.HemisphereLight(0xffffff, this.palette.ground, 1.5));
        const light = new THREE.DirectionalLight(0xffffff, 1.7);
        const reach = 4 * this.radius;
        light.castShadow = true;
        light.shadow.mapSize.set(1024, 1024);
        light.shadow.bias = -5e-4;
        light.shadow.normalBias = 0.01 * this.radius;
        Object.assign(light.shadow.camera, {
            left: -reach,
            right: reach,
            top: reach,
            bottom: -reach,
            near: 0.1 * reach,
            far: 6 * reach,
        });
        light.shadow.camera.updateProjectionMatrix();
        this.scene.add(light, light.target);
        return light;
    }

    private addGround(): void {
        for (const geom of this.info.geoms) {
            if (geom.kind !== 'plane') continue;
            const size = 60 * this.radius;
            const texture = gridTexture(this.palette);
            const cell = 10 ** Math.round(Math.log10(this.radius));
            texture.repeat.set(size / cell, size / cell);
            const geometry = new THREE.PlaneGeometry(size, size);
            const material = new THREE.MeshLambertMaterial({ map: texture });
            const mesh = new THREE.Mesh(geometry, material);
            mesh.matrixAutoUpdate = false;
            poseMatrix(geom.pose, 0, mesh.matrix);
            mesh.matrixWorldNeedsUpdate = true;
            mesh.receiveShadow = true;
            this.scene.add(mesh);
            this.disposables.push(geometry, material, texture);
        }
        this.scene.fog = new THREE.Fog(this.palette.background, 14 * this.radius, 34 * this.radius);
    }

    private addMasses(): THREE.InstancedMesh {
        const geometry = new THREE.SphereGeometry(0.03 * this.radius, 16, 12);
        const material = new THREE.MeshBasicMaterial({ color: this.palette.highlight, depthTest: false });
        const masses = instancedMesh(geometry, material, this.info.bodies.length);
        masses.renderOrder = 9;
        this.scene.add(masses);
        this.disposables.push(geometry, material, masses);
        return masses;
    }

    /** Shows a frame. `forceScale` is the length of one newton [m]. */
    update(frame: Frame, options: ViewOptions, forceScale: number, selected: Picked | null): void {
        const poses = frame.fields.get('pose')!.values as Float64Array;
        const { matrices } = this.bodies;
        this.bodies.update(poses);
        this.bodies.highlight(selected?.kind === 'body' ? selected.index : -1);
        this.joints.update(matrices, options, selected?.kind === 'joint' ? selected.index : -1);
        matrices.forEach((body, i) => void this.masses.setMatrixAt(i, body));
        showInstances(this.masses, options.masses ? matrices.length : 0);
        this.contacts.update(frame, {
            selected: selected?.kind === 'contact' ? selected.index : -1,
            forceScale,
            size: 0.075 * this.radius,
            split: options.split,
            cones: options.cones,
            forces: options.forces,
        });
        this.showJointForces(frame, options, forceScale);
        this.followLight(poses);
    }

    private showJointForces(frame: Frame, options: ViewOptions, forceScale: number): void {
        this.jointForces.clear();
        const wrenches = frame.fields.get('joint_wrench')?.values as Float64Array | undefined;
        if (options.jointForces && wrenches) {
            this.joints.matrices.forEach((joint, i) => {
                at.setFromMatrixPosition(joint);
                force.fromArray(wrenches, 6 * i).multiplyScalar(forceScale);
                this.jointForces.add(at, force, 0.008 * this.radius);
            });
        }
        this.jointForces.done();
    }

    private followLight(poses: Float64Array): void {
        const middle = new THREE.Vector3();
        const count = this.info.bodies.length;
        for (let i = 0; i < count; i++) middle.add(at.fromArray(poses, 7 * i));
        middle.divideScalar(Math.max(1, count));
        if (!Number.isFinite(middle.lengthSq())) return;
        this.light.target.position.copy(middle);
        this.light.position.copy(middle).add(at.set(2.2, -3.2, 6).multiplyScalar(1.6 * this.radius));
    }

    /** How far the mechanism has gone from its start, along the ground. */
    drift(frame: Frame): THREE.Vector3 {
        const poses = frame.fields.get('pose')!.values as Float64Array;
        const sum = new THREE.Vector3();
        this.info.bodies.forEach((body, i) => {
            sum.x += poses[7 * i] - body.pose[0];
            sum.y += poses[7 * i + 1] - body.pose[1];
        });
        return sum.divideScalar(Math.max(1, this.info.bodies.length));
    }

    /** The body under a ray: where, in the world and in the body's frame. */
    hitBody(ray: THREE.Raycaster): { body: number; at: THREE.Vector3; local: THREE.Vector3 } | null {
        const hit = this.bodies.hit(ray);
        if (!hit) return null;
        const local = hit.at.clone().applyMatrix4(this.bodies.matrices[hit.body].clone().invert());
        return { body: hit.body, at: hit.at, local };
    }

    /** The spring of a pull, from the grabbed point to the pointer. */
    showPull(pull: { body: number; point: number[]; target: number[] } | null): void {
        this.spring.visible = pull !== null;
        if (!pull) return;
        const from = new THREE.Vector3().fromArray(pull.point).applyMatrix4(this.bodies.matrices[pull.body]);
        this.spring.geometry.setFromPoints([from, new THREE.Vector3().fromArray(pull.target)]);
    }

    /** Contact force arrows, from the instance matrices. */
    forceArrows(): number[][] {
        return this.contacts.normal.vectors();
    }

    /** Turns and moves a body by hand until the next frame is shown. */
    place(body: number, pose: THREE.Matrix4): void {
        this.bodies.place(body, pose);
    }

    jointPosition(joint: number): THREE.Vector3 {
        return new THREE.Vector3().setFromMatrixPosition(this.joints.matrices[joint]);
    }

    /** What lies under a ray; contacts are drawn over everything, and found first. */
    pick(ray: THREE.Raycaster): Picked | null {
        const contact = this.contacts.pick(ray);
        if (contact >= 0) return { kind: 'contact', index: contact };
        const body = this.bodies.hit(ray);
        const joint = this.joints.hit(ray);
        if (joint && joint.distance < (body?.distance ?? Number.POSITIVE_INFINITY))
            return { kind: 'joint', index: joint.joint };
        return body && { kind: 'body', index: body.body };
    }

    dispose(): void {
        for (const item of this.disposables) item.dispose();
        this.bodies.dispose();
        this.joints.dispose();
        this.contacts.dispose();
        this.jointForces.dispose();
        this.light.dispose();
    }
}

function gridTexture(palette: Palette): THREE.CanvasTexture {
    const canvas = document.createElement('canvas');
    canvas.width = canvas.height = 128;
    const context = canvas.getContext('2d')!;
    context.fillStyle = hex(palette.ground);
    context.fillRect(0, 0, 128, 128);
    context.strokeStyle = palette.grid;
    context.lineWidth = 2;
    context.strokeRect(0, 0, 128, 128);
    const texture = new THREE.CanvasTexture(canvas);
    texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
    texture.anisotropy = 4;
    texture.colorSpace = THREE.SRGBColorSpace;
    return texture;
}
