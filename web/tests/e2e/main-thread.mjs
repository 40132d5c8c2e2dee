// What scripts cost the main thread, frame by frame, from a trace of Chromium.

/** In the page: draw calls return at once. What is left is our work and three's, not the rasteriser's. */
export function stopRaster() {
    const { prototype } = WebGL2RenderingContext;
    window.raster_ = {};
    for (const name of [
        'clear',
        'drawArrays',
        'drawElements',
        'drawArraysInstanced',
        'drawElementsInstanced',
    ]) {
        window.raster_[name] = prototype[name];
        prototype[name] = () => {};
    }
}

export function resumeRaster() {
    Object.assign(WebGL2RenderingContext.prototype, window.raster_);
}

// Whatever runs scripts; the outermost of them counts.
const SCRIPTS = new Set([
    'FunctionCall',
    'EvaluateScript',
    'FireAnimationFrame',
    'TimerFire',
    'EventDispatch',
    'RunMicrotasks',
    'v8.callFunction',
    'MajorGC',
    'MinorGC',
]);

/** Runs `act` under trace; the events of the page's main thread, in order of time. */
async function traced(browser, page, act) {
    await browser.startTracing(page, {
        categories: ['devtools.timeline', 'v8', 'blink.user_timing', 'toplevel'],
    });
    await page.evaluate(() => performance.mark('kl-here'));
    await act();
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
    const { pid, tid } = traceEvents.find((e) => e.name === 'kl-here');
    return traceEvents.filter((e) => e.pid === pid && e.tid === tid).sort((a, b) => a.ts - b.ts);
}

/** Script time [ms] in each interval between two drawn pictures, by the clock and by the processor. */
export async function scriptPerFrame(browser, page, act) {
    await page.evaluate(() => {
        document.querySelector('kl-stage').addEventListener('kl-drawn', () => performance.mark('kl-drawn'));
    });
    const events = await traced(browser, page, act);
    const frames = [];
    let wall = 0;
    let busy = 0;
    let end = 0;
    let drawn = false;
    for (const e of events) {
        if (e.name === 'kl-drawn') drawn = true;
        if (e.ph !== 'X' || !SCRIPTS.has(e.name) || e.ts < end) continue;
        if (drawn) {
            frames.push({ wall, busy });
            wall = busy = 0;
            drawn = false;
        }
        wall += e.dur / 1000;
        busy += (e.tdur ?? e.dur) / 1000;
        end = e.ts + e.dur;
    }
    return frames.slice(1);
}

/** The longest that the main thread is busy with one task [ms of processor]: a loaded machine does not lengthen it. */
export async function longestTask(browser, page, act) {
    const events = await traced(browser, page, act);
    const tasks = events.filter((e) => e.ph === 'X' && /RunTask$/.test(e.name) && e.tdur !== undefined);
    return Math.max(...tasks.map((e) => e.tdur / 1000));
}

const busyWith = (tasks) => tasks.reduce((sum, e) => sum + (e.tdur ?? e.dur) / 1000, 0);
const isTask = (e) => e.ph === 'X' && /RunTask$/.test(e.name);

/** Processor time [ms] of the main thread from the beginning of the trace to the mark `name`. */
export async function busyUntil(browser, page, name, act) {
    const events = await traced(browser, page, act);
    const { ts } = events.find((e) => e.name === name);
    return busyWith(events.filter((e) => isTask(e) && e.ts < ts));
}

/** From each input to the picture that follows it: processor time [ms] of the main thread. */
export async function inputToPaint(browser, page, act) {
    const events = await traced(browser, page, act);
    const inputs = events.filter(
        (e) => e.name === 'EventDispatch' && /^(keydown|click)$/.test(e.args?.data?.type),
    );
    return inputs.flatMap(({ ts }) => {
        const paint = events.find((e) => e.ts > ts && /^(Commit|Layerize|Paint)$/.test(e.name));
        if (!paint) return [];
        return busyWith(events.filter((e) => isTask(e) && e.ts + e.dur >= ts && e.ts <= paint.ts));
    });
}

export function quantile(values, q) {
    const sorted = [...values].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];
}
