// The three.js scene of one lane: ground, bodies, joints, contacts and forces of the frame shown.
import * as THREE from 'three';
import type { SceneInfo } from '../core/types';
import type { Frame } from '../state/history';
import { Arrows } from './arrows';
import { Contacts } from './contacts';
import { extent, poseMatrix, shape } from './geometry';
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
    private readonly bodies: THREE.Group[] = [];
    private readonly joints: THREE.Group[] = [];
    private readonly jointFrames: THREE.Matrix4[] = []; // in the follower's frame
    private readonly surfaces: THREE.MeshStandardMaterial[][] = []; // of each body
    private lit = -1; // body with the light of the selection
    private readonly masses: THREE.Mesh[] = [];
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
        this.addBodies();
        this.addJoints(color);
        this.addMasses();
        this.contacts = new Contacts(palette);
        this.jointForces = new Arrows(info.joints.length + 1, palette.joint);
        this.spring = new THREE.Line(
            new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]),
            new THREE.LineBasicMaterial({ color: palette.highlight, depthTest: false, transparent: true }),
        );
        this.spring.renderOrder = 11;
        this.spring.frustumCulled = false;
        this.disposables.push(this.spring.geometry, this.spring.material as THREE.Material);
        this.scene.add(this.contacts.group, this.jointForces.group, this.spring);
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

    private addBodies(): void {
        for (let i = 0; i < this.info.bodies.length; i++) {
            const group = new THREE.Group();
            group.matrixAutoUpdate = false;
            group.userData = { kind: 'body', index: i } satisfies Picked;
            this.bodies.push(group);
            this.surfaces.push([]);
            this.scene.add(group);
        }
        for (const geom of this.info.geoms) {
            const geometry = shape(geom, this.info);
            if (!geometry) continue;
            const [r, g, b, a] = geom.color;
            const own = a > 0 ? new THREE.Color(r, g, b) : null;
            const choice = this.palette.bodies[Math.max(0, geom.body) % this.palette.bodies.length];
            const material = new THREE.MeshStandardMaterial({
                color: own ?? new THREE.Color(choice),
                roughness: 0.75,
                metalness: 0.05,
                transparent: a > 0 && a < 1,
                opacity: a > 0 ? a : 1,
            });
            const mesh = new THREE.Mesh(geometry, material);
            mesh.castShadow = mesh.receiveShadow = true;
            mesh.matrixAutoUpdate = false;
            poseMatrix(geom.pose, 0, mesh.matrix);
            mesh.matrixWorldNeedsUpdate = true;
            const edges = new THREE.EdgesGeometry(geometry, 30);
            const lines = new THREE.LineBasicMaterial({
                color: this.palette.edge,
                transparent: true,
                opacity: 0.35,
            });
            mesh.add(fixed(new THREE.LineSegments(edges, lines)));
            (geom.body < 0 ? this.scene : this.bodies[geom.body]).add(mesh);
            if (geom.body >= 0) this.surfaces[geom.body].push(material);
            this.disposables.push(geometry, material, edges, lines);
        }
    }

    private addJoints(color: string): void {
        const size = 0.035 * this.radius;
        const ball = new THREE.SphereGeometry(size, 16, 12);
        const pin = new THREE.CylinderGeometry(0.7 * size, 0.7 * size, 3.4 * size, 16).rotateZ(Math.PI / 2);
        const cube = new THREE.BoxGeometry(3 * size, 1.4 * size, 1.4 * size);
        const material = new THREE.MeshStandardMaterial({ color, roughness: 0.5 });
        this.disposables.push(ball, pin, cube, material);
        this.info.joints.forEach((joint, index) => {
            const group = new THREE.Group();
            group.matrixAutoUpdate = false;
            const geometry =
                joint.kind === 'revolute' || joint.kind === 'cylindrical'
                    ? pin
                    : joint.dofs === 3
                      ? ball
                      : cube;
            const mesh = fixed(new THREE.Mesh(geometry, material));
            mesh.userData = { kind: 'joint', index } satisfies Picked;
            const axes = fixed(new THREE.AxesHelper(3 * size));
            this.disposables.push(axes);
            group.add(mesh, axes);
            this.joints.push(group);
            this.jointFrames.push(poseMatrix(joint.followerFrame, 0, new THREE.Matrix4()));
            this.scene.add(group);
        });
    }

    private addMasses(): void {
        const geometry = new THREE.SphereGeometry(0.03 * this.radius, 16, 12);
        const material = new THREE.MeshBasicMaterial({ color: this.palette.highlight, depthTest: false });
        this.disposables.push(geometry, material);
        for (const body of this.bodies) {
            const mesh = fixed(new THREE.Mesh(geometry, material));
            mesh.renderOrder = 9;
            body.add(mesh);
            this.masses.push(mesh);
        }
    }

    /** Shows a frame. `forceScale` is the length of one newton [m]. */
    update(frame: Frame, options: ViewOptions, forceScale: number, selected: Picked | null): void {
        const poses = frame.fields.get('pose')!.values as Float64Array;
        this.bodies.forEach((body, i) => {
            poseMatrix(poses, 7 * i, body.matrix);
            body.matrixWorldNeedsUpdate = true;
        });
        this.joints.forEach((joint, i) => {
            joint.visible = options.joints || options.frames;
            joint.children[0].visible = options.joints;
            joint.children[1].visible = options.frames;
            const { follower } = this.info.joints[i];
            joint.matrix.multiplyMatrices(this.bodies[follower].matrix, this.jointFrames[i]);
            joint.matrixWorldNeedsUpdate = true;
        });
        for (const mass of this.masses) mass.visible = options.masses;
        this.contacts.update(frame, {
            selected: selected?.kind === 'contact' ? selected.index : -1,
            forceScale,
            size: 0.075 * this.radius,
            split: options.split,
            cones: options.cones,
            forces: options.forces,
        });
        this.showJointForces(frame, options, forceScale);
        this.highlight(selected);
        this.followLight(poses);
    }

    private showJointForces(frame: Frame, options: ViewOptions, forceScale: number): void {
        this.jointForces.clear();
        const wrenches = frame.fields.get('joint_wrench')?.values as Float64Array | undefined;
        if (options.jointForces && wrenches) {
            this.joints.forEach((joint, i) => {
                at.setFromMatrixPosition(joint.matrix);
                force.fromArray(wrenches, 6 * i).multiplyScalar(forceScale);
                this.jointForces.add(at, force, 0.008 * this.radius);
            });
        }
        this.jointForces.done();
    }

    private highlight(selected: Picked | null): void {
        const body = selected?.kind === 'body' ? selected.index : -1;
        if (body !== this.lit) {
            this.shine(this.lit, false);
            this.shine(body, true);
            this.lit = body;
        }
        if (selected?.kind === 'joint') this.joints[selected.index]?.matrix.scale(at.setScalar(1.8));
    }

    private shine(body: number, on: boolean): void {
        for (const material of this.surfaces[body] ?? []) {
            material.emissive.setHex(on ? this.palette.highlight : 0);
            material.emissiveIntensity = on ? 0.35 : 0;
        }
    }

    private followLight(poses: Float64Array): void {
        const middle = new THREE.Vector3();
        for (let i = 0; i < this.bodies.length; i++) middle.add(at.fromArray(poses, 7 * i));
        middle.divideScalar(Math.max(1, this.bodies.length));
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
        for (const hit of ray.intersectObjects(this.bodies, true)) {
            if (!(hit.object instanceof THREE.Mesh)) continue;
            const body = this.bodies.findIndex((b) => b === hit.object || b.children.includes(hit.object));
            if (body >= 0) {
                const local = hit.point.clone().applyMatrix4(this.bodies[body].matrix.clone().invert());
                return { body, at: hit.point.clone(), local };
            }
        }
        return null;
    }

    /** The spring of a pull, from the grabbed point to the pointer. */
    showPull(pull: { body: number; point: number[]; target: number[] } | null): void {
        this.spring.visible = pull !== null;
        if (!pull) return;
        const from = new THREE.Vector3().fromArray(pull.point).applyMatrix4(this.bodies[pull.body].matrix);
        this.spring.geometry.setFromPoints([from, new THREE.Vector3().fromArray(pull.target)]);
    }

    /** Contact force arrows, from the instance matrices. */
    forceArrows(): number[][] {
        return this.contacts.normal.vectors();
    }

    /** Turns and moves a body by hand until the next frame is shown. */
    place(body: number, pose: THREE.Matrix4): void {
        this.bodies[body].matrix.copy(pose);
        this.bodies[body].matrixWorldNeedsUpdate = true;
    }

    jointPosition(joint: number): THREE.Vector3 {
        return new THREE.Vector3().setFromMatrixPosition(this.joints[joint].matrix);
    }

    /** What lies under a ray; contacts are drawn over everything, and found first. */
    pick(ray: THREE.Raycaster): Picked | null {
        const contact = this.contacts.pick(ray);
        if (contact >= 0) return { kind: 'contact', index: contact };
        for (const hit of ray.intersectObjects(
            [...this.joints.filter((j) => j.visible), ...this.bodies],
            true,
        )) {
            if (!(hit.object instanceof THREE.Mesh)) continue;
            let part: THREE.Object3D | null = hit.object;
            while (part && !part.userData.kind) part = part.parent;
            if (part) return part.userData as Picked;
        }
        return null;
    }

    dispose(): void {
        for (const item of this.disposables) item.dispose();
        this.contacts.dispose();
        this.jointForces.dispose();
        this.light.dispose();
    }
}

/** A part that never moves against its parent: three need not compose its matrix for every picture. */
function fixed<Part extends THREE.Object3D>(part: Part): Part {
    part.matrixAutoUpdate = false;
    return part;
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
