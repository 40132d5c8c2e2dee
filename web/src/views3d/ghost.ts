// The motion of one lane laid over the view of another: its bodies see-through in its colour, and the paths of
// both, drawn up to the time shown.
import * as THREE from 'three';
import type { SceneInfo } from '../core/types';
import type { Frame } from '../state/history';
import type { Lane } from '../state/lane';
import { cursor, selection, styles } from '../state/session';
import { poseMatrix, shape } from './geometry';
import type { Overlay, View } from './stage';

const MOST_POINTS = 2000; // of one path
const MOST_PATHS = 8; // bodies, when none is selected

function color(lane: Lane): THREE.Color {
    return new THREE.Color(styles.peek().get(lane.choice.id)?.color ?? '#888');
}

/** Where bodies have been, as lines that end at the step shown. */
class Paths {
    readonly group = new THREE.Group();
    private steps: number[] = [];
    private lines: THREE.Line[] = [];
    private key = '';

    constructor(
        private readonly lane: Lane,
        private readonly bodyCount: number,
        opacity: number,
    ) {
        this.material = new THREE.LineBasicMaterial({
            color: color(lane),
            transparent: true,
            opacity,
            depthTest: false,
        });
    }

    private readonly material: THREE.LineBasicMaterial;

    private bodies(): number[] {
        const picked = selection.peek();
        if (picked?.kind === 'body') return [picked.index];
        return Array.from({ length: Math.min(this.bodyCount, MOST_PATHS) }, (_, i) => i);
    }

    /** The points are laid out again only when frames or the selection have changed. */
    private rebuild(): void {
        const bodies = this.bodies();
        const { history } = this.lane;
        const key = `${history.version} ${history.frameCount} ${bodies.join()}`;
        if (key === this.key) return;
        this.key = key;
        this.clear();
        const frames = history.allFrames();
        const stride = Math.max(1, Math.ceil(frames.length / MOST_POINTS));
        const taken = frames.filter((_, i) => i % stride === 0);
        this.steps = taken.map((f) => f.step);
        for (const body of bodies) {
            const points = new Float32Array(3 * taken.length);
            taken.forEach((frame, i) => {
                const pose = frame.fields.get('pose')!.values as Float64Array;
                for (let c = 0; c < 3; c++) points[3 * i + c] = pose[7 * body + c];
            });
            const geometry = new THREE.BufferGeometry();
            geometry.setAttribute('position', new THREE.BufferAttribute(points, 3));
            const line = new THREE.Line(geometry, this.material);
            line.frustumCulled = false;
            line.renderOrder = 6;
            this.lines.push(line);
            this.group.add(line);
        }
    }

    show(step: number): void {
        this.rebuild();
        let count = this.steps.length;
        while (count > 0 && this.steps[count - 1] > step) count--;
        for (const line of this.lines) line.geometry.setDrawRange(0, count);
    }

    private clear(): void {
        for (const line of this.lines) {
            this.group.remove(line);
            line.geometry.dispose();
        }
        this.lines = [];
    }

    dispose(): void {
        this.clear();
        this.material.dispose();
    }
}

export class Ghost implements Overlay {
    private readonly group = new THREE.Group();
    private readonly bodies: THREE.Group[] = [];
    private readonly disposables: { dispose(): void }[] = [];
    private readonly paths: Paths[];

    constructor(
        private readonly view: View,
        private readonly lane: Lane,
        info: SceneInfo,
    ) {
        const material = new THREE.MeshLambertMaterial({
            color: color(lane),
            transparent: true,
            opacity: 0.35,
            depthWrite: false,
            polygonOffset: true, // a ghost in the very place of its body must not flicker with it
            polygonOffsetFactor: -2,
            polygonOffsetUnits: -2,
        });
        const outline = new THREE.LineBasicMaterial({ color: color(lane), transparent: true, opacity: 0.8 });
        this.disposables.push(material, outline);
        for (let i = 0; i < info.bodies.length; i++) {
            const body = new THREE.Group();
            body.matrixAutoUpdate = false;
            this.bodies.push(body);
            this.group.add(body);
        }
        for (const geom of info.geoms) {
            const geometry = geom.body < 0 ? null : shape(geom, info);
            if (!geometry) continue;
            const edges = new THREE.EdgesGeometry(geometry, 30);
            const mesh = new THREE.Mesh(geometry, material);
            mesh.matrixAutoUpdate = false;
            poseMatrix(geom.pose, 0, mesh.matrix);
            mesh.add(new THREE.LineSegments(edges, outline));
            this.bodies[geom.body].add(mesh);
            this.disposables.push(geometry, edges);
        }
        this.paths = [new Paths(view.lane, info.bodies.length, 0.55), new Paths(lane, info.bodies.length, 1)];
        this.group.add(...this.paths.map((p) => p.group));
        view.content.scene.add(this.group);
        view.cell.dataset.ghost = lane.choice.id;
    }

    update(): void {
        const frame: Frame | null = this.lane.history.frameAt(cursor.peek());
        this.group.visible = frame !== null;
        if (!frame) return;
        const poses = frame.fields.get('pose')!.values as Float64Array;
        this.bodies.forEach((body, i) => {
            poseMatrix(poses, 7 * i, body.matrix);
            body.matrixWorldNeedsUpdate = true;
        });
        for (const path of this.paths) path.show(cursor.peek());
    }

    dispose(): void {
        delete this.view.cell.dataset.ghost;
        this.view.content.scene.remove(this.group);
        for (const item of [...this.disposables, ...this.paths]) item.dispose();
    }
}
