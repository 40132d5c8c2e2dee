// Arrows as two instanced meshes: shafts that stretch, heads that keep their shape.
import * as THREE from 'three';

const UP = new THREE.Vector3(0, 0, 1);
// Work space: an arrow a contact, four views, sixty times a second.
const turn = new THREE.Quaternion();
const direction = new THREE.Vector3();
const neck = new THREE.Vector3();
const size = new THREE.Vector3();
const matrix = new THREE.Matrix4();

/** Draws the first `count` instances, and sends no others to the graphics card. */
export function showInstances(mesh: THREE.InstancedMesh, count: number): void {
    mesh.count = count;
    mesh.visible = count > 0;
    if (count === 0) return;
    mesh.instanceMatrix.clearUpdateRanges();
    mesh.instanceMatrix.addUpdateRange(0, 16 * count);
    mesh.instanceMatrix.needsUpdate = true;
}

export class Arrows {
    readonly group = new THREE.Group();
    readonly shafts: THREE.InstancedMesh;
    readonly heads: THREE.InstancedMesh;
    private count = 0;

    constructor(
        private readonly capacity: number,
        color: number,
    ) {
        const shaft = new THREE.CylinderGeometry(1, 1, 1, 10).rotateX(Math.PI / 2).translate(0, 0, 0.5);
        const head = new THREE.ConeGeometry(1, 1, 14).rotateX(Math.PI / 2).translate(0, 0, 0.5);
        // Drawn over the bodies: a force that is hidden inside its body tells nothing.
        const material = new THREE.MeshBasicMaterial({
            color,
            depthTest: false,
            transparent: true,
            opacity: 0.92,
        });
        this.shafts = new THREE.InstancedMesh(shaft, material, capacity);
        this.heads = new THREE.InstancedMesh(head, material, capacity);
        for (const mesh of [this.shafts, this.heads]) {
            mesh.frustumCulled = false;
            mesh.renderOrder = 10;
            this.group.add(mesh);
        }
        this.clear();
    }

    setColor(color: number): void {
        (this.shafts.material as THREE.MeshBasicMaterial).color.setHex(color);
    }

    clear(): void {
        this.count = 0;
        this.shafts.count = this.heads.count = 0;
    }

    /** An arrow from `from` along `vector`, `width` thick. */
    add(from: THREE.Vector3, vector: THREE.Vector3, width: number): void {
        const length = vector.length();
        if (this.count >= this.capacity || length < width * 0.05) return;
        turn.setFromUnitVectors(UP, direction.copy(vector).divideScalar(length));
        const headLength = Math.min(5 * width, 0.6 * length);
        const shaftLength = length - headLength;
        matrix.compose(from, turn, size.set(width, width, shaftLength));
        this.shafts.setMatrixAt(this.count, matrix);
        neck.copy(from).addScaledVector(direction, shaftLength);
        matrix.compose(neck, turn, size.set(2.2 * width, 2.2 * width, headLength));
        this.heads.setMatrixAt(this.count, matrix);
        this.count++;
    }

    done(): void {
        showInstances(this.shafts, this.count);
        showInstances(this.heads, this.count);
    }

    /** What is drawn, from foot to tip. */
    vectors(): number[][] {
        const tip = new THREE.Vector3();
        const out: number[][] = [];
        for (let i = 0; i < this.count; i++) {
            this.heads.getMatrixAt(i, matrix);
            tip.set(0, 0, 1).applyMatrix4(matrix);
            this.shafts.getMatrixAt(i, matrix);
            out.push(tip.sub(new THREE.Vector3().setFromMatrixPosition(matrix)).toArray());
        }
        return out;
    }

    dispose(): void {
        for (const mesh of [this.shafts, this.heads]) {
            mesh.geometry.dispose();
            mesh.dispose();
        }
        (this.shafts.material as THREE.Material).dispose();
    }
}
