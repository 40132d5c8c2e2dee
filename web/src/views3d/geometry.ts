// Shapes of the scene as three.js geometry, made once and shared by all views.
import * as THREE from 'three';
import type { GeomInfo, SceneInfo } from '../core/types';

export type Pose = ArrayLike<number>;

/** Pose (r, q = w x y z) as a matrix. */
export function poseMatrix(pose: Pose, offset: number, out: THREE.Matrix4): THREE.Matrix4 {
    r.set(pose[offset], pose[offset + 1], pose[offset + 2]);
    q.set(pose[offset + 4], pose[offset + 5], pose[offset + 6], pose[offset + 3]);
    return out.compose(r, q, ONE);
}
const r = new THREE.Vector3();
const q = new THREE.Quaternion();
const ONE = new THREE.Vector3(1, 1, 1);

function alongZ(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
    return geometry.rotateX(Math.PI / 2); // three's cylinders lie along y
}

export function shape(geom: GeomInfo, scene: SceneInfo): THREE.BufferGeometry | null {
    const [a, b, c] = geom.size;
    switch (geom.kind) {
        case 'sphere':
            return new THREE.SphereGeometry(a, 32, 20);
        case 'box':
            return new THREE.BoxGeometry(a, b, c);
        case 'capsule':
            return alongZ(new THREE.CapsuleGeometry(a, b, 8, 24));
        case 'cylinder':
            return alongZ(new THREE.CylinderGeometry(a, a, b, 32));
        case 'plane':
            return null; // drawn as the ground
        default:
            return meshShape(geom, scene);
    }
}

function meshShape(geom: GeomInfo, scene: SceneInfo): THREE.BufferGeometry | null {
    const mesh = scene.meshes[geom.mesh];
    if (!mesh) return null;
    const indexed = new THREE.BufferGeometry();
    indexed.setAttribute('position', new THREE.BufferAttribute(mesh.vertices, 3));
    indexed.setIndex(new THREE.BufferAttribute(mesh.triangles, 1));
    const flat = indexed.toNonIndexed(); // flat faces: what the collision sees
    flat.computeVertexNormals();
    indexed.dispose();
    return flat;
}

/** Centre and radius of what moves, at the start poses. */
export function extent(scene: SceneInfo): { center: THREE.Vector3; radius: number } {
    const box = new THREE.Box3();
    const world = new THREE.Matrix4();
    const local = new THREE.Matrix4();
    for (const geom of scene.geoms) {
        if (geom.body < 0) continue;
        const geometry = shape(geom, scene);
        if (!geometry) continue;
        geometry.computeBoundingBox();
        poseMatrix(scene.bodies[geom.body].pose, 0, world).multiply(poseMatrix(geom.pose, 0, local));
        box.union(geometry.boundingBox!.clone().applyMatrix4(world));
        geometry.dispose();
    }
    for (const body of scene.bodies)
        box.expandByPoint(new THREE.Vector3(body.pose[0], body.pose[1], body.pose[2]));
    // What stands above the ground will fall on it.
    const height = box.max.z - box.min.z;
    const grounded =
        scene.geoms.some((g) => g.kind === 'plane') && box.min.z > 0 && box.min.z < 3 * Math.max(height, 0.2);
    if (grounded) box.min.z = 0;
    if (box.isEmpty()) box.expandByPoint(new THREE.Vector3(0, 0, 0));
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    return { center: sphere.center, radius: Math.max(sphere.radius, 1e-3) };
}
