// What one solver has done so far: a table of numbers per step and frames of the motion, in bounded
// memory. When the frames outgrow it, every second one goes.
import type { Chunk, FieldChunk } from '../core/protocol';

export type Values = FieldChunk['values'];

export interface Frame {
    step: number;
    hash: bigint;
    fields: Map<string, { columns: number; values: Values }>;
}

export class History {
    rows = 0; // steps recorded
    version = 0; // changes with every change
    rewritten = 0; // changes with every change that is not just more steps
    private columns: Float64Array[];
    private frames: Frame[] = [];
    private bytes = 0;
    private tallies = new Map<string, { rows: number; counts: Map<number, number> }>();

    constructor(
        readonly names: string[],
        private readonly limit: number, // bytes of frames
    ) {
        this.columns = names.map(() => new Float64Array(1024));
    }

    /** Values of one column over all steps, a view that holds until the next append. */
    column(name: string): Float64Array {
        const index = this.names.indexOf(name);
        return index < 0 ? new Float64Array(0) : this.columns[index].subarray(0, this.rows);
    }

    /** How many rows hold each value of a column; counted on as rows come. */
    tally(name: string): ReadonlyMap<number, number> {
        let tally = this.tallies.get(name);
        if (!tally) this.tallies.set(name, (tally = { rows: 0, counts: new Map() }));
        const column = this.column(name);
        for (; tally.rows < column.length; tally.rows++) {
            const value = column[tally.rows];
            tally.counts.set(value, (tally.counts.get(value) ?? 0) + 1);
        }
        return tally.counts;
    }

    get frameCount(): number {
        return this.frames.length;
    }

    get memory(): number {
        return this.bytes + this.columns.length * this.columns[0].byteLength;
    }

    append(chunk: Chunk): void {
        if (chunk.first < this.rows) this.truncate(chunk.first);
        this.reserve(this.rows + chunk.count);
        const width = this.names.length;
        for (let c = 0; c < width; c++) {
            const column = this.columns[c];
            for (let i = 0; i < chunk.count; i++) column[this.rows + i] = chunk.record[i * width + c];
        }
        this.rows += chunk.count;
        for (let i = 0; i < chunk.frameSteps.length; i++) this.addFrame(chunk, i);
        if (this.bytes > this.limit) this.thin();
        this.version++;
    }

    /** Forgets everything after `step`. */
    truncate(step: number): void {
        this.rows = Math.min(this.rows, step);
        this.tallies.clear();
        this.frames = this.frames.filter((f) => f.step <= step);
        this.bytes = this.frames.reduce((sum, f) => sum + frameBytes(f), 0);
        this.version++;
        this.rewritten++;
    }

    /** The last frame at or before `step`; null before the first arrives. */
    frameAt(step: number): Frame | null {
        let low = 0;
        let high = this.frames.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.frames[middle].step <= step) low = middle + 1;
            else high = middle;
        }
        return low > 0 ? this.frames[low - 1] : null;
    }

    get lastStep(): number {
        return this.rows;
    }

    allFrames(): readonly Frame[] {
        return this.frames;
    }

    /** A frame worked out afterwards, e.g. of a step between two kept ones. */
    insertFrame(frame: Frame): void {
        if (this.frameAt(frame.step)?.step === frame.step) return;
        const at = this.frames.findIndex((f) => f.step > frame.step);
        this.frames.splice(at < 0 ? this.frames.length : at, 0, frame);
        this.bytes += frameBytes(frame);
        this.rewritten++;
    }

    private addFrame(chunk: Chunk, index: number): void {
        const step = chunk.frameSteps[index];
        if (this.frames.length > 0 && this.frames[this.frames.length - 1].step >= step) return;
        const fields = new Map(
            chunk.fields.map((f) => [
                f.id,
                { columns: f.columns, values: f.values.slice(f.offsets[index], f.offsets[index + 1]) },
            ]),
        );
        const frame = { step, hash: chunk.hashes[index], fields };
        this.frames.push(frame);
        this.bytes += frameBytes(frame);
    }

    private thin(): void {
        const last = this.frames.length - 1;
        this.frames = this.frames.filter((_, i) => i % 2 === 0 || i === last);
        this.rewritten++;
        this.bytes = this.frames.reduce((sum, f) => sum + frameBytes(f), 0);
    }

    private reserve(rows: number): void {
        let capacity = this.columns[0].length;
        if (rows <= capacity) return;
        while (capacity < rows) capacity *= 2;
        this.columns = this.columns.map((old) => {
            const grown = new Float64Array(capacity);
            grown.set(old.subarray(0, this.rows));
            return grown;
        });
    }
}

function frameBytes(frame: Frame): number {
    let bytes = 64;
    for (const field of frame.fields.values()) bytes += field.values.byteLength;
    return bytes;
}
