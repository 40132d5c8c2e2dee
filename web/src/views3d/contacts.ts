// Contact points in their tangent plane. The mode shows by shape and colour: an open contact is a ring,
// a sticking one a full disk, a slipping one a half disk that points along the friction force.
import * as THREE from 'three';
import type { Frame } from '../state/history';
import { Arrows, showInstances } from './arrows';
import type { Palette } from './palette';

const CAPACITY = 2048;
const MODES = ['open', 'stick', 'slip'] as const;

// Work space of one contact.
const at = new THREE.Vector3();
const normal = new THREE.Vector3();
const f = new THREE.Vector3(); // force [N]
const along = new THREE.Vector3(); // its tangential part
const t = new THREE.Vector3();
const o = new THREE.Vector3();
const arrow = new THREE.Vector3();
const basis = new THREE.Matrix4();
const sized = new THREE.Matrix4();
const scale = new THREE.Vector3();

export interface ContactOptions {
    selected: number; // drawn larger, -1 = none
    forceScale: number; // [m/N]
    size: number; // radius of a disk [m]
    split: boolean; // normal and tangential part apart
    cones: boolean;
    forces: boolean;
}

export class Contacts {
    readonly group = new THREE.Group();
    private readonly disks: THREE.InstancedMesh[];
    private readonly cones: THREE.InstancedMesh;
    private centers: Float64Array = new Float64Array(0); // of the frame shown (x 3)
    private radius = 0;
    readonly normal: Arrows;
    readonly tangential: Arrows;

    constructor(palette: Palette) {
        const shapes = [
            new THREE.RingGeometry(0.62, 1, 28),
            new THREE.CircleGeometry(1, 28),
            new THREE.CircleGeometry(1, 20, -Math.PI / 2, Math.PI),
        ];
        this.disks = MODES.map((mode, i) => {
            const material = new THREE.MeshBasicMaterial({
                color: palette[mode],
                side: THREE.DoubleSide,
                depthTest: false,
                transparent: true,
                opacity: 0.9,
            });
            return this.instanced(shapes[i], material, 8);
        });
        const cone = new THREE.ConeGeometry(1, 1, 32, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5);
        this.cones = this.instanced(
            cone,
            new THREE.MeshBasicMaterial({
                color: palette.force,
                transparent: true,
                opacity: 0.16,
                side: THREE.DoubleSide,
                depthWrite: false,
            }),
            7,
        );
        this.normal = new Arrows(CAPACITY, palette.force);
        this.tangential = new Arrows(CAPACITY, palette.tangential);
        this.group.add(this.normal.group, this.tangential.group);
    }

    private instanced(
        geometry: THREE.BufferGeometry,
        material: THREE.Material,
        order: number,
    ): THREE.InstancedMesh {
        const mesh = new THREE.InstancedMesh(geometry, material, CAPACITY);
        mesh.frustumCulled = false;
        mesh.renderOrder = order;
        mesh.count = 0;
        this.group.add(mesh);
        return mesh;
    }

    update(frame: Frame, options: ContactOptions): void {
        const position = frame.fields.get('contact_position')?.values as Float64Array | undefined;
        const axes = frame.fields.get('contact_frame')?.values as Float64Array | undefined;
        const mode = frame.fields.get('contact_mode')?.values;
        const force = frame.fields.get('contact_force')?.values as Float64Array | undefined;
        const friction = frame.fields.get('contact_friction')?.values as Float64Array | undefined;
        const counts = [0, 0, 0];
        let coneCount = 0;
        this.normal.clear();
        this.tangential.clear();
        const total = position && axes ? Math.min(position.length / 3, CAPACITY) : 0;
        this.centers = position ?? this.centers.subarray(0, 0);
        this.radius = options.size;
        for (let k = 0; k < total; k++) {
            at.fromArray(position!, 3 * k);
            normal.fromArray(axes!, 9 * k + 6);
            if (force) f.fromArray(force, 3 * k);
            else f.set(0, 0, 0);
            along.copy(f).addScaledVector(normal, -f.dot(normal));
            if (along.lengthSq() > 1e-18) t.copy(along).normalize();
            else t.fromArray(axes!, 9 * k);
            o.crossVectors(normal, t);
            const m = mode ? Math.min(2, Number(mode[k])) : 0;
            basis.makeBasis(t, o, normal).setPosition(at);
            const size = (k === options.selected ? 1.7 : 1) * options.size;
            this.disks[m].setMatrixAt(counts[m]++, sized.copy(basis).scale(scale.setScalar(size)));
            const mu = friction ? friction[k] : 0;
            if (options.cones && mu > 0) {
                const height = Math.max(f.dot(normal) * options.forceScale, 2 * options.size);
                sized.copy(basis).scale(scale.set(mu * height, mu * height, height));
                this.cones.setMatrixAt(coneCount++, sized);
            }
            if (options.forces) this.addForces(options);
        }
        for (const [i, disk] of this.disks.entries()) showInstances(disk, counts[i]);
        showInstances(this.cones, coneCount);
        this.normal.done();
        this.tangential.done();
    }

    /** The contact whose disk the ray meets, nearest first; -1 = none. */
    pick(ray: THREE.Raycaster): number {
        let found = -1;
        let nearest = Number.POSITIVE_INFINITY;
        for (let k = 0; 3 * k < this.centers.length; k++) {
            at.fromArray(this.centers, 3 * k);
            if (ray.ray.distanceToPoint(at) > this.radius) continue;
            const distance = at.distanceTo(ray.ray.origin);
            if (distance < nearest) [found, nearest] = [k, distance];
        }
        return found;
    }

    private addForces({ size, split, forceScale }: ContactOptions): void {
        const width = 0.2 * size;
        if (!split) {
            this.normal.add(at, arrow.copy(f).multiplyScalar(forceScale), width);
            return;
        }
        this.normal.add(at, arrow.copy(f).sub(along).multiplyScalar(forceScale), width);
        this.tangential.add(at, arrow.copy(along).multiplyScalar(forceScale), width);
    }

    dispose(): void {
        for (const mesh of [...this.disks, this.cones]) {
            mesh.geometry.dispose();
            (mesh.material as THREE.Material).dispose();
            mesh.dispose();
        }
        this.normal.dispose();
        this.tangential.dispose();
    }
}
