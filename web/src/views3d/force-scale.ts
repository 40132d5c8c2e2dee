// How long a newton is drawn: the 95th percentile of the contact forces of all lanes takes 15 % of the
// radius of what moves, the same for all views, so that they can be compared.
import type { Lane } from '../state/lane';

const SHARE = 0.15;
const SAMPLES = 200; // frames looked at per lane
const GROWTH = 1.25; // of the frames, until they are looked at again: each look may move all arrows

export class ForceScale {
    private seen = 0; // frames looked at
    private percentile = 0;

    reset(): void {
        this.seen = 0;
    }

    /** Length of one newton [m] for a scene of this radius [m]. */
    length(lanes: readonly Lane[], radius: number): number {
        const count = lanes.reduce((sum, lane) => sum + lane.history.frameCount, 0);
        if (count < this.seen || count > GROWTH * this.seen) {
            this.seen = count;
            this.percentile = percentile95(lanes);
        }
        return this.percentile > 0 ? (SHARE * radius) / this.percentile : 0;
    }
}

function percentile95(lanes: readonly Lane[]): number {
    const sizes: number[] = [];
    for (const lane of lanes) {
        const frames = lane.history.allFrames();
        const stride = Math.max(1, Math.floor(frames.length / SAMPLES));
        for (let i = 0; i < frames.length; i += stride) {
            const force = frames[i].fields.get('contact_force')?.values as Float64Array | undefined;
            if (!force) continue;
            for (let k = 0; k + 2 < force.length; k += 3) {
                const size = Math.hypot(force[k], force[k + 1], force[k + 2]);
                if (size > 0 && Number.isFinite(size)) sizes.push(size);
            }
        }
    }
    sizes.sort((a, b) => a - b);
    return sizes.length > 0 ? sizes[Math.floor(0.95 * (sizes.length - 1))] : 0;
}
