// The bodies of a scene. Shapes of one kind are drawn together: thirty bodies are a handful of draw calls, in the picture
// and in its shadows.
import * as THREE from 'three';
import type { GeomInfo, SceneInfo } from '../core/types';
import { type Pose, poseMatrix, shape } from './geometry';
import { instancedLines, instancedMesh } from './instances';
import type { Palette } from './palette';

const GLOW = 0.35; // of the highlight's colour, on top of a selected body's own
const size = new THREE.Vector3();
const matrix = new THREE.Matrix4();
const shade = new THREE.Color();

/** A shape that stands for all of its kind, and what makes it this one. */
function unitShape(geom: GeomInfo): { key: string; unit: GeomInfo; size: [number, number, number] } {
    const [a, b, c] = geom.size;
    switch (geom.kind) {
        case 'box':
            return { key: 'box', unit: { ...geom, size: [1, 1, 1] }, size: [a, b, c] };
        case 'sphere':
            return { key: 'sphere', unit: { ...geom, size: [1, 0, 0] }, size: [a, a, a] };
        case 'cylinder':
            return { key: 'cylinder', unit: { ...geom, size: [1, 1, 0] }, size: [a, a, b] };
        case 'capsule':
            return { key: `capsule ${a} ${b}`, unit: geom, size: [1, 1, 1] };
        default:
            return { key: `mesh ${geom.mesh}`, unit: geom, size: [1, 1, 1] };
    }
}

interface Part {
    body: number; // -1 = the world
    local: THREE.Matrix4; // in the body's frame, with its size
    color: THREE.Color;
    mesh: THREE.InstancedMesh;
    slot: number;
}

export class Bodies {
    readonly group = new THREE.Group();
    readonly matrices: THREE.Matrix4[];
    private readonly parts: Part[] = [];
    private readonly meshes: THREE.InstancedMesh[] = [];
    private readonly disposables: { dispose(): void }[] = [];
    private lit = -1; // body with the light of the selection

    constructor(
        info: SceneInfo,
        private readonly palette: Palette,
    ) {
        this.matrices = info.bodies.map(() => new THREE.Matrix4());
        const kinds = new Map<string, GeomInfo[]>();
        for (const geom of info.geoms) {
            if (geom.kind === 'plane') continue; // drawn as the ground
            const key = `${unitShape(geom).key} ${opacity(geom)}`;
            kinds.set(key, [...(kinds.get(key) ?? []), geom]);
        }
        for (const geoms of kinds.values()) this.addKind(geoms, info);
        this.group.matrixAutoUpdate = false;
    }

    private addKind(geoms: GeomInfo[], info: SceneInfo): void {
        const geometry = shape(unitShape(geoms[0]).unit, info);
        if (!geometry) return;
        const seen = opacity(geoms[0]);
        const material = new THREE.MeshStandardMaterial({
            roughness: 0.75,
            metalness: 0.05,
            transparent: seen < 1,
            opacity: seen,
        });
        const edges = new THREE.EdgesGeometry(geometry, 30);
        const pen = new THREE.LineBasicMaterial({
            color: this.palette.edge,
            transparent: true,
            opacity: 0.35,
        });
        const mesh = instancedMesh(geometry, material, geoms.length);
        mesh.castShadow = mesh.receiveShadow = true;
        geoms.forEach((geom, slot) => {
            const local = poseMatrix(geom.pose, 0, new THREE.Matrix4()).scale(
                size.fromArray(unitShape(geom).size),
            );
            const part = { body: geom.body, local, color: this.colorOf(geom), mesh, slot };
            this.parts.push(part);
            mesh.setColorAt(slot, part.color);
            mesh.setMatrixAt(slot, local);
        });
        this.meshes.push(mesh);
        this.group.add(mesh, instancedLines(edges, pen, mesh));
        this.disposables.push(geometry, material, edges, pen, mesh);
    }

    private colorOf(geom: GeomInfo): THREE.Color {
        const [r, g, b, a] = geom.color;
        const choice = this.palette.bodies[Math.max(0, geom.body) % this.palette.bodies.length];
        return a > 0 ? new THREE.Color(r, g, b) : new THREE.Color(choice);
    }

    /** Puts every body where a frame has it. */
    update(poses: Pose): void {
        this.matrices.forEach((body, i) => void poseMatrix(poses, 7 * i, body));
        for (const part of this.parts) this.move(part);
        for (const mesh of this.meshes) mesh.instanceMatrix.needsUpdate = true;
    }

    /** Puts one body elsewhere until the next frame is shown. */
    place(body: number, pose: THREE.Matrix4): void {
        this.matrices[body].copy(pose);
        for (const part of this.parts) {
            if (part.body !== body) continue;
            this.move(part);
            part.mesh.instanceMatrix.needsUpdate = true;
        }
    }

    private move({ body, local, mesh, slot }: Part): void {
        if (body >= 0) mesh.setMatrixAt(slot, matrix.multiplyMatrices(this.matrices[body], local));
    }

    highlight(body: number): void {
        if (body === this.lit) return;
        for (const part of this.parts) {
            if (part.body < 0 || (part.body !== body && part.body !== this.lit)) continue;
            shade.copy(part.color);
            if (part.body === body) shade.add(new THREE.Color(this.palette.highlight).multiplyScalar(GLOW));
            part.mesh.setColorAt(part.slot, shade);
            part.mesh.instanceColor!.needsUpdate = true;
        }
        this.lit = body;
    }

    /** The nearest body under a ray. */
    hit(ray: THREE.Raycaster): { body: number; at: THREE.Vector3; distance: number } | null {
        for (const mesh of this.meshes) mesh.boundingSphere = null; // of where its copies were once
        for (const { object, instanceId, point, distance } of ray.intersectObjects(this.meshes)) {
            const part = this.parts.find((p) => p.mesh === object && p.slot === instanceId);
            if (part && part.body >= 0) return { body: part.body, at: point.clone(), distance };
        }
        return null;
    }

    dispose(): void {
        for (const item of this.disposables) item.dispose();
    }
}

function opacity(geom: GeomInfo): number {
    const a = geom.color[3];
    return a > 0 ? a : 1;
}
