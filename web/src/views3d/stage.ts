// One canvas behind all views: each lane's scene is drawn into the rectangle of its cell. Drawn only
// when something has changed.
import { effect } from '@preact/signals-core';
import { html } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { KlElement } from '../app/element';
import type { SceneInfo } from '../core/types';
import { pull } from '../state/grabbed';
import type { Frame } from '../state/history';
import type { Lane } from '../state/lane';
import { partMissing } from '../state/messages';
import {
    cursor,
    dark,
    documentText,
    focusLane,
    hidden,
    lanes,
    restartLane,
    scene,
    selection,
    styles,
    tick,
} from '../state/session';
import { ForceScale } from './force-scale';
import { LaneScene, type Picked } from './lane-scene';
import {
    cameraState,
    followCamera,
    ghost,
    gizmo,
    linkedCameras,
    showViolation,
    viewOptions,
} from './options';
import { DARK, hex, LIGHT } from './palette';

export interface View {
    lane: Lane;
    cell: HTMLElement;
    content: LaneScene;
    camera: THREE.PerspectiveCamera;
    controls: OrbitControls;
    listeners: AbortController;
    overlays: Map<string, Overlay>;
    drawn: Frame | null; // the frame in the last picture
    box: Box; // the cell's place on the canvas
}

/** A rectangle on the canvas [CSS px], from its lower left corner. */
interface Box {
    left: number;
    bottom: number;
    width: number;
    height: number;
}

/** Something drawn into a view besides its frame; such parts are loaded when first asked for. */
export interface Overlay {
    update(frame: Frame, step: number): void;
    dispose(): void;
}

export type MakeOverlay = (view: View) => Overlay | null;

export class KlStage extends KlElement {
    private renderer: THREE.WebGLRenderer | null = null;
    private views: View[] = [];
    private readonly forceScale = new ForceScale();
    private pending = false;
    private readonly followed = new THREE.Vector3(); // how far the cameras have gone along
    private drawnScale = Number.NaN; // length of a newton in the last picture
    private lost = false;
    private noWebGL = false;
    private disposers: (() => void)[] = [];
    private readonly makers = new Map<string, MakeOverlay>();
    private ignoredClick = false;
    private observer: ResizeObserver | null = null;
    private measured = false; // the boxes hold

    override render() {
        const cells = repeat(
            lanes.value,
            (lane) => lane,
            (lane, i) => this.cell(lane, i),
        );
        return html`
            <canvas class="stage-canvas" aria-hidden="true"></canvas>
            ${
                this.noWebGL
                    ? html`<p class="stage-note" role="status">
                      WebGL is not available here, so there is no 3D view. Plots and numbers work as usual.
                  </p>`
                    : null
            }
            <div class="cells cells-${lanes.value.length}">${cells}</div>
            ${this.noWebGL ? null : this.forceLegend()}
            <p class="visually-hidden" aria-live="polite">${this.summary()}</p>
        `;
    }

    private cell(lane: Lane, index: number) {
        const style = styles.value.get(lane.choice.id);
        const state = lane.state.value;
        const error = lane.error.value;
        return html`
            <div
                class="cell ${focusLane.value === index ? 'focused' : ''}"
                data-lane=${lane.choice.id}
                tabindex="0"
                role="group"
                aria-label=${`3D view of ${style?.title ?? lane.choice.id}, ${state}`}
                @pointerdown=${() => {
                    focusLane.value = index;
                }}
                @focus=${() => {
                    focusLane.value = index;
                }}
            >
                <span class="cell-label">
                    <span class="chip" .style=${`--c: ${style?.color}`} aria-hidden="true">${style?.marker}</span>
                    <svg width="22" height="6" aria-hidden="true">
                        <line x2="22" y1="3" y2="3" stroke=${style?.color ?? '#888'} stroke-width="2.4" stroke-dasharray=${(style?.dash ?? []).join(' ')} />
                    </svg>
                    ${style?.title ?? lane.choice.id}
                    ${state === 'finished' || state === 'running' ? null : html`<em class="state state-${state}">${state}</em>`}
                </span>
                ${
                    error
                        ? html`<div class="cell-error" role="alert">
                          <strong>${state === 'diverged' ? `Diverged at step ${lane.stoppedAt + 1}` : 'This lane stopped'}</strong>
                          <span>${error.message.replace(/^step \d+: /, '')}</span>
                          ${
                              state === 'crashed'
                                  ? html`<button @click=${() => void restartLane(lane)}>Restart worker</button>`
                                  : null
                          }
                      </div>`
                        : null
                }
                ${state === 'loading' ? html`<div class="cell-wait">loading…</div>` : null}
            </div>
        `;
    }

    /** Whose forces the arrows are: the sign is a convention, and must be told. */
    private forceLegend() {
        const { forces, split, jointForces } = viewOptions.value;
        const palette = dark.value ? DARK : LIGHT;
        const entries: [boolean, number, string][] = [
            [forces, palette.force, split ? 'normal force on B' : 'force on B'],
            [forces && split, palette.tangential, 'friction on B'],
            [jointForces, palette.joint, 'joint force on the follower'],
        ];
        return html`<p class="force-legend">
            ${entries.map(([on, color, text]) => (on ? html`<span><i .style=${`color:${hex(color)}`}>→</i> ${text}</span>` : null))}
        </p>`;
    }

    private summary(): string {
        const lane = lanes.value[focusLane.value];
        const frame = lane?.history.frameAt(cursor.peek());
        if (!lane || !frame) return '';
        const contacts = frame.fields.get('contact_position')?.values.length ?? 0;
        const count = (n: number, what: string, more: string) => `${n} ${n === 1 ? what : more}`;
        const bodies = count(scene.value?.bodies.length ?? 0, 'body', 'bodies');
        return `${scene.value?.title}: ${bodies}, ${count(contacts / 3, 'contact', 'contacts')} in view ${focusLane.value + 1}.`;
    }

    protected override firstUpdated(): void {
        const canvas = this.querySelector('canvas')!;
        try {
            this.renderer = new THREE.WebGLRenderer({
                canvas,
                antialias: true,
                preserveDrawingBuffer: false,
            });
        } catch {
            this.noWebGL = true;
            this.requestUpdate();
            return;
        }
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = THREE.PCFShadowMap;
        this.renderer.setScissorTest(true);
        canvas.addEventListener('webglcontextlost', (event) => {
            event.preventDefault();
            this.lost = true;
        });
        canvas.addEventListener('webglcontextrestored', () => {
            this.lost = false;
            this.dropViews();
            this.requestUpdate();
        });
        this.observer = new ResizeObserver(() => {
            this.measured = false;
            this.draw();
        });
        this.observer.observe(this);
        this.disposers = [
            effect(() => {
                void [selection.value, viewOptions.value, hidden.value, pull.value];
                this.draw();
            }),
            effect(() => {
                void [cursor.value, tick.value];
                if (this.outdated()) this.draw();
            }),
            effect(() => {
                void [dark.value, scene.value];
                this.dropViews();
                this.requestUpdate();
            }),
            effect(() => {
                if (ghost.value || gizmo.value || showViolation.value)
                    void import('./overlays').then((m) => m.watch(this));
            }),
            effect(() => {
                if (cameraState.value && !this.movingCamera) this.placeCameras(cameraState.value);
            }),
        ];
    }

    override disconnectedCallback(): void {
        super.disconnectedCallback();
        for (const dispose of this.disposers) dispose();
        this.dropViews();
        this.observer?.disconnect();
        this.renderer?.dispose();
    }

    protected override updated(): void {
        if (!this.renderer) return;
        const info = scene.value;
        const current = lanes.value;
        this.views = this.views.filter((view) => {
            const stays =
                current.includes(view.lane) &&
                view.cell.isConnected &&
                view.cell.dataset.lane === view.lane.choice.id;
            if (!stays) this.dropView(view);
            return stays;
        });
        if (!info) return;
        const cells = [...this.querySelectorAll<HTMLElement>('.cell')];
        this.measured = false;
        current.forEach((lane, i) => {
            if (!this.views.some((v) => v.lane === lane && v.cell === cells[i])) this.addView(lane, cells[i]);
        });
        this.draw();
    }

    private addView(lane: Lane, cell: HTMLElement): void {
        const stale = this.views.findIndex((v) => v.lane === lane);
        if (stale >= 0) this.dropView(this.views.splice(stale, 1)[0]);
        const content = new LaneScene(
            scene.value!,
            dark.value ? DARK : LIGHT,
            styles.value.get(lane.choice.id)?.color ?? '#888',
        );
        const camera = new THREE.PerspectiveCamera(38, 1, 0.02 * content.radius, 120 * content.radius);
        camera.up.set(0, 0, 1);
        const controls = new OrbitControls(camera, cell);
        controls.maxPolarAngle = 0.55 * Math.PI;
        controls.minDistance = 0.3 * content.radius;
        controls.maxDistance = 40 * content.radius;
        const other = this.views[0];
        if (cameraState.value) place(camera, controls, cameraState.value, this.followed);
        else if (other) place(camera, controls, cameraOf(other, this.followed), this.followed);
        else this.frameScene(camera, controls, content);
        const listeners = new AbortController();
        const { signal } = listeners;
        const view: View = {
            lane,
            cell,
            content,
            camera,
            controls,
            listeners,
            overlays: new Map(),
            drawn: null,
            box: { left: 0, bottom: 0, width: 0, height: 0 },
        };
        this.observer?.observe(cell);
        controls.addEventListener('change', () => this.cameraMoved(view));
        cell.addEventListener('click', (event) => this.pick(view, event), { signal });
        cell.addEventListener('pointerdown', (event) => this.beginPull(view, event), {
            capture: true,
            signal,
        });
        cell.addEventListener('dblclick', () => this.resetCamera(), { signal });
        this.views.push(view);
        for (const [name, make] of this.makers) this.overlay(view, name, make);
    }

    /** Draws `make`'s overlay into every view from now on; null takes it away. */
    use(name: string, make: MakeOverlay | null): void {
        if (make) this.makers.set(name, make);
        else this.makers.delete(name);
        for (const view of this.views) this.overlay(view, name, make);
        this.draw();
    }

    private overlay(view: View, name: string, make: MakeOverlay | null): void {
        view.overlays.get(name)?.dispose();
        view.overlays.delete(name);
        const made = make?.(view);
        if (made) view.overlays.set(name, made);
    }

    /** The next click belongs to what has just been dragged. */
    ignoreClick(): void {
        this.ignoredClick = true;
    }

    /** Sees all that moves, from the side that the scene suggests. */
    private frameScene(camera: THREE.PerspectiveCamera, controls: OrbitControls, content: LaneScene): void {
        const away = sceneDirection(documentText.value).multiplyScalar(3.6 * content.radius);
        controls.target.copy(content.center).add(this.followed);
        camera.position.copy(controls.target).add(away);
        controls.update();
    }

    /** Moves all cameras along with the focused mechanism, level with the ground. */
    private follow(): void {
        const view = this.views.find((v) => v.lane === lanes.value[focusLane.peek()]) ?? this.views[0];
        const frame = view?.lane.history.frameAt(cursor.peek());
        if (!view || !frame || !followCamera.value) return;
        const now = view.content.drift(frame);
        if (!Number.isFinite(now.lengthSq())) return;
        const by = now.clone().sub(this.followed);
        this.followed.copy(now);
        this.movingCamera = true;
        for (const v of this.views) {
            v.camera.position.add(by);
            v.controls.target.add(by);
            v.controls.update();
        }
        this.movingCamera = false;
    }

    resetCamera(): void {
        cameraState.value = null;
        for (const view of this.views) this.frameScene(view.camera, view.controls, view.content);
        this.draw();
    }

    private movingCamera = false;

    private cameraMoved(view: View): void {
        if (this.movingCamera) return;
        this.movingCamera = true;
        const state = cameraOf(view, this.followed);
        if (linkedCameras.value) {
            for (const other of this.views)
                if (other !== view) place(other.camera, other.controls, state, this.followed);
        }
        cameraState.value = state;
        this.movingCamera = false;
        this.draw();
    }

    private placeCameras(state: number[]): void {
        this.movingCamera = true;
        for (const view of this.views) place(view.camera, view.controls, state, this.followed);
        this.movingCamera = false;
        this.draw();
    }

    /** With shift or control held, or the pull switch on, a body follows the pointer on a spring. */
    private beginPull(view: View, event: PointerEvent): void {
        const pulls = event.shiftKey || event.ctrlKey || viewOptions.value.pull;
        if (!pulls || event.button !== 0) return;
        const hit = view.content.hitBody(this.rayOf(view, event));
        if (!hit) return;
        event.preventDefault();
        event.stopImmediatePropagation();
        view.cell.setPointerCapture(event.pointerId);
        selection.value = { kind: 'body', index: hit.body };
        const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(
            view.camera.getWorldDirection(new THREE.Vector3()),
            hit.at,
        );
        const target = (e: PointerEvent): number[] =>
            (this.rayOf(view, e).ray.intersectPlane(plane, new THREE.Vector3()) ?? hit.at).toArray();
        const motion = () => {
            const fields = view.lane.history.frameAt(cursor.peek())?.fields;
            return fields
                ? {
                      pose: fields.get('pose')!.values as Float64Array,
                      twist: fields.get('twist')!.values as Float64Array,
                  }
                : null;
        };
        pull.value = { body: hit.body, point: hit.local.toArray(), target: target(event) };
        import('../state/pull').then((m) => m.recordPull(motion)).catch(partMissing);
        const move = (e: PointerEvent) => {
            if (pull.value) pull.value = { ...pull.value, target: target(e) };
        };
        const end = () => {
            pull.value = null;
            view.cell.removeEventListener('pointermove', move);
            view.cell.removeEventListener('pointerup', end);
            view.cell.removeEventListener('pointercancel', end);
        };
        view.cell.addEventListener('pointermove', move);
        view.cell.addEventListener('pointerup', end);
        view.cell.addEventListener('pointercancel', end);
    }

    private rayOf(view: View, event: MouseEvent): THREE.Raycaster {
        const box = view.cell.getBoundingClientRect();
        const ray = new THREE.Raycaster();
        ray.setFromCamera(
            new THREE.Vector2(
                ((event.clientX - box.left) / box.width) * 2 - 1,
                1 - ((event.clientY - box.top) / box.height) * 2,
            ),
            view.camera,
        );
        return ray;
    }

    private pick(view: View, event: MouseEvent): void {
        const ignored = this.ignoredClick;
        this.ignoredClick = false;
        if (!ignored && !event.shiftKey && !event.ctrlKey)
            selection.value = view.content.pick(this.rayOf(view, event));
    }

    /**
     * Whether the last picture shows another frame or scale than is due. Steps that fill the buffer while the
     * cursor rests leave it as it is: a picture in software holds the main thread for longer than a frame.
     */
    private outdated(): boolean {
        const step = cursor.peek();
        return (
            this.scaleNow() !== this.drawnScale ||
            this.views.some((v) => v.overlays.size > 0 || v.lane.history.frameAt(step) !== v.drawn)
        );
    }

    /** Asks for a picture in the next frame. */
    draw(): void {
        if (this.pending || !this.renderer) return;
        this.pending = true;
        requestAnimationFrame(() => {
            this.pending = false;
            if (!this.lost && this.isConnected) this.drawNow();
        });
    }

    /** Fits the canvas and takes the places of the cells: asked of the browser only when one may have changed. */
    private measure(): void {
        const renderer = this.renderer!;
        const stage = this.getBoundingClientRect();
        const now = renderer.getSize(new THREE.Vector2());
        const [width, height, ratio] = [
            Math.round(stage.width),
            Math.round(stage.height),
            Math.min(2, devicePixelRatio),
        ];
        // Another size is another buffer, even when it is the same size.
        if (now.x !== width || now.y !== height || renderer.getPixelRatio() !== ratio) {
            renderer.setPixelRatio(ratio);
            renderer.setSize(width, height, false);
        }
        for (const view of this.views) {
            const { left, bottom, width, height } = view.cell.getBoundingClientRect();
            view.box = { left: left - stage.left, bottom: stage.bottom - bottom, width, height };
            view.camera.aspect = width / Math.max(1, height);
            view.camera.updateProjectionMatrix();
        }
        this.measured = true;
    }

    private drawNow(): void {
        const renderer = this.renderer!;
        if (!this.measured || renderer.getPixelRatio() !== Math.min(2, devicePixelRatio)) this.measure();
        const scale = this.scaleNow();
        this.drawnScale = scale;
        this.follow();
        for (const view of this.views) {
            const { left, bottom, width, height } = view.box;
            if (width < 2 || height < 2) continue;
            const frame = view.lane.history.frameAt(cursor.peek());
            view.drawn = frame;
            if (frame) {
                view.content.update(frame, viewOptions.value, scale, selection.peek() as Picked | null);
                view.content.showPull(pull.peek());
                for (const overlay of view.overlays.values()) overlay.update(frame, cursor.peek());
            }
            renderer.setViewport(left, bottom, width, height);
            renderer.setScissor(left, bottom, width, height);
            renderer.render(view.content.scene, view.camera);
        }
        this.dispatchEvent(new CustomEvent('kl-drawn', { bubbles: true }));
    }

    /** A picture of all views as they are now. */
    async picture(): Promise<Blob | null> {
        if (!this.renderer) return null;
        this.drawNow();
        return new Promise((done) => this.renderer!.domElement.toBlob(done));
    }

    /** A small picture of a scene at its start, drawn with the same means as the views. */
    thumbnail(info: SceneInfo, document: string): string {
        const renderer = this.renderer;
        if (!renderer || this.lost) return '';
        const [width, height] = [240, 135];
        const content = new LaneScene(info, dark.value ? DARK : LIGHT, '#8a929c');
        const pose = Float64Array.from(info.bodies.flatMap((b) => b.pose));
        const frame = { step: 0, hash: 0n, fields: new Map([['pose', { columns: 7, values: pose }]]) };
        content.update(frame, viewOptions.value, 0, null);
        const camera = new THREE.PerspectiveCamera(
            38,
            width / height,
            0.02 * content.radius,
            120 * content.radius,
        );
        camera.up.set(0, 0, 1);
        camera.position
            .copy(content.center)
            .add(sceneDirection(document).multiplyScalar(3.4 * content.radius));
        camera.lookAt(content.center);
        renderer.setPixelRatio(1);
        renderer.setSize(width, height, false);
        renderer.setViewport(0, 0, width, height);
        renderer.setScissor(0, 0, width, height);
        renderer.render(content.scene, camera);
        const url = renderer.domElement.toDataURL('image/webp', 0.85);
        content.dispose();
        this.measured = false; // the canvas has another size now
        this.drawNow();
        return url;
    }

    /** The canvas, for recording. */
    get canvas(): HTMLCanvasElement | null {
        return this.renderer?.domElement ?? null;
    }

    /** Contact force arrows of a view as drawn: lengths [m] of all arrows and the length of one newton. */
    arrowsOf(index: number): { lengths: number[]; vectors: number[][]; scale: number } | null {
        const view = this.views.find((v) => v.lane === lanes.value[index]);
        if (!view) return null;
        const vectors = view.content.forceArrows();
        return { lengths: vectors.map((v) => Math.hypot(...v)), vectors, scale: this.scaleNow() };
    }

    /** Where the centre of mass of a body is on the screen [CSS px]. */
    screenOf(index: number, body: number): { x: number; y: number } | null {
        const view = this.views.find((v) => v.lane === lanes.value[index]);
        const poses = view?.lane.history.frameAt(cursor.peek())?.fields.get('pose')?.values;
        if (!view || !poses) return null;
        const box = view.cell.getBoundingClientRect();
        const at = new THREE.Vector3().fromArray(poses as Float64Array, 7 * body).project(view.camera);
        return { x: box.left + ((at.x + 1) / 2) * box.width, y: box.top + ((1 - at.y) / 2) * box.height };
    }

    private scaleNow(): number {
        const radius = this.views[0]?.content.radius ?? 1;
        return this.forceScale.length(lanes.value, radius) * viewOptions.value.forceFactor;
    }

    private dropViews(): void {
        for (const view of this.views) this.dropView(view);
        this.views = [];
        this.followed.set(0, 0, 0);
        this.forceScale.reset();
    }

    private dropView(view: View): void {
        for (const overlay of view.overlays.values()) overlay.dispose();
        this.observer?.unobserve(view.cell);
        view.listeners.abort();
        view.controls.dispose();
        view.content.dispose();
    }
}

/** From the target towards the camera that a scene document names, or a default. */
function sceneDirection(document: string): THREE.Vector3 {
    const fallback = new THREE.Vector3(1.0, -2.1, 1.1).normalize();
    try {
        const { camera } = JSON.parse(document) as { camera?: { position: number[]; target?: number[] } };
        if (!camera) return fallback;
        const target = new THREE.Vector3().fromArray(camera.target ?? [0, 0, 0]);
        const direction = new THREE.Vector3().fromArray(camera.position).sub(target);
        return direction.lengthSq() > 0 ? direction.normalize() : fallback;
    } catch {
        return fallback;
    }
}

function cameraOf(view: View, followed: THREE.Vector3): number[] {
    return [
        ...view.camera.position.clone().sub(followed).toArray(),
        ...view.controls.target.clone().sub(followed).toArray(),
    ];
}

function place(
    camera: THREE.PerspectiveCamera,
    controls: OrbitControls,
    state: number[],
    followed: THREE.Vector3,
): void {
    camera.position.fromArray(state, 0).add(followed);
    controls.target.fromArray(state, 3).add(followed);
    controls.update();
}

customElements.define('kl-stage', KlStage);
