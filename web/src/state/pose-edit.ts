// The start pose of a body as an edit of the scene: position of the centre of mass and unit quaternion (w, x, y, z).
import { type Json, readPath, withEdit } from './experiment';
import { change, documentText, experiment, runIndex } from './session';

const rounded = (values: number[]): number[] => values.map((v) => Number(v.toPrecision(7)));

/** Where the present run takes `member` of a body from: the run's own change of it, or the body. */
export function bodyPath(body: number, member: string): string {
    const document = JSON.parse(documentText.value || '{}') as Json;
    const name = readPath(document, `bodies.${body}.name`);
    const own = `runs.${runIndex.value}.bodies.${name}.${member}`;
    const plain = typeof name === 'string' && !name.includes('.');
    return plain && readPath(document, own) !== undefined ? own : `bodies.${body}.${member}`;
}

export function editPose(body: number, position: number[], quaternion: number[]): void {
    const place = { path: bodyPath(body, 'position'), value: rounded(position) };
    const turn = { path: bodyPath(body, 'orientation'), value: rounded(quaternion) };
    void change({ ...experiment.value, edits: withEdit(withEdit(experiment.value.edits, place), turn) }, 100);
}

/** Roll, pitch, yaw [deg] about the fixed axes x, y, z. */
export function toAngles([w, x, y, z]: number[]): number[] {
    const degrees = 180 / Math.PI;
    const pitch = Math.asin(Math.max(-1, Math.min(1, 2 * (w * y - z * x))));
    return [
        Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) * degrees,
        pitch * degrees,
        Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) * degrees,
    ];
}

export function fromAngles([roll, pitch, yaw]: number[]): number[] {
    const half = Math.PI / 360;
    const [cr, cp, cy] = [roll, pitch, yaw].map((a) => Math.cos(a * half));
    const [sr, sp, sy] = [roll, pitch, yaw].map((a) => Math.sin(a * half));
    return [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ];
}
