// Many copies of one shape in one draw call: a mesh, and the lines of its edges, with a matrix and a colour for each copy.
import * as THREE from 'three';

export function instancedMesh(
    geometry: THREE.BufferGeometry,
    material: THREE.Material,
    count: number,
): THREE.InstancedMesh {
    const mesh = new THREE.InstancedMesh(geometry, material, count);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.frustumCulled = false; // its bounds change with every frame
    mesh.matrixAutoUpdate = false;
    return mesh;
}

/** Lines that stand wherever the copies of `mesh` stand. The renderer asks no more of an instanced object than this. */
export function instancedLines(
    geometry: THREE.BufferGeometry,
    material: THREE.Material,
    mesh: THREE.InstancedMesh,
): THREE.LineSegments {
    const lines = new THREE.LineSegments(geometry, material);
    lines.frustumCulled = false;
    lines.matrixAutoUpdate = false;
    return Object.assign(lines, {
        isInstancedMesh: true,
        instanceMatrix: mesh.instanceMatrix,
        instanceColor: null,
        morphTexture: null,
        count: mesh.count,
    });
}
