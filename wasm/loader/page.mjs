// A thin, typed hand on the wasm core, for Node and browsers alike. It knows how to pass text and bytes,
// turns error codes into exceptions and decodes the core's tables; it holds no physics and no layout of
// C structures: addresses come from the tables, views are made anew whenever the memory has grown.

/** @typedef {Record<string, any>} Json */
/** @typedef {{status: string, message: string, file: string, line: number, column: number, path: string}} CoreErrorInfo */
/** @typedef {Float64Array | Int32Array | BigUint64Array | Float32Array} FieldArray */
/** @typedef {{id: string, unit: string, text: string, data: number, rows: number, columns: number, rowCount: number, type: 'f64' | 'i32' | 'u64' | 'f32'}} FieldInfo */
/** @typedef {{id: string, values: FieldArray, rows: number, columns: number}} FieldView */

/** What the core says when it refuses. */
export class CoreError extends Error {
    /** @param {CoreErrorInfo} info */
    constructor(info) {
        super(info.message || info.status);
        this.name = 'CoreError';
        this.info = info;
    }
}

const ARRAYS = { f64: Float64Array, i32: Int32Array, u64: BigUint64Array, f32: Float32Array };

/**
 * Starts the core.
 * @param {(options: Json) => Promise<any>} createModule default export of kinloop.mjs
 * @param {WebAssembly.Module | ArrayBuffer | Uint8Array} wasm compiled module, or the bytes of kinloop.wasm
 */
export async function startCore(createModule, wasm) {
    if (!(wasm instanceof WebAssembly.Module)) {
        return createModule({ wasmBinary: wasm });
    }
    return createModule({
        /** @param {WebAssembly.Imports} imports @param {(instance: WebAssembly.Instance) => void} receive */
        instantiateWasm(imports, receive) {
            void WebAssembly.instantiate(wasm, imports).then(receive);
            return {};
        },
    });
}

/** Text and bytes in and out of a module's memory; `error` is the module's own. */
export class Memory {
    /** @param {any} module */
    constructor(module) {
        this.module = module;
    }

    /** @returns {Error} */
    error() {
        return new Error(`out of memory; ${this.room()}`);
    }

    room() {
        return `the core has ${(this.module.HEAPU8.length / 1e6).toFixed(0)} MB and may have 2147 MB`;
    }

    /** The address of `size` bytes, to be freed. @param {number} size @returns {number} */
    allocate(size) {
        const address = this.module._malloc(size);
        if (address !== 0) return address;
        throw new Error(`out of memory: no room for ${size} bytes; ${this.room()}`);
    }

    /** @param {number} address @param {number} count */
    doubles(address, count) {
        return new Float64Array(this.module.HEAPU8.buffer, address, count);
    }

    /** @param {number} address */
    text(address) {
        if (address === 0) throw this.error();
        const bytes = this.module.HEAPU8;
        let end = address;
        while (bytes[end] !== 0) end++;
        return new TextDecoder().decode(bytes.slice(address, end));
    }

    /**
     * Runs `use` with the bytes in the core's memory, zero-terminated.
     * @template T
     * @param {Uint8Array} bytes
     * @param {(address: number, size: number) => T} use
     */
    withBytes(bytes, use) {
        const address = this.allocate(bytes.length + 1);
        this.module.HEAPU8.set(bytes, address);
        this.module.HEAPU8[address + bytes.length] = 0;
        try {
            return use(address, bytes.length);
        } finally {
            this.module._free(address);
        }
    }

    /** `count` numbers that `fill` writes. @param {number} count @param {(address: number) => void} fill */
    withDoubles(count, fill) {
        const address = this.allocate(8 * count + 8);
        try {
            fill(address);
            return this.doubles(address, count).slice();
        } finally {
            this.module._free(address);
        }
    }

    /**
     * @template T
     * @param {string} text
     * @param {(address: number, size: number) => T} use
     */
    withText(text, use) {
        return this.withBytes(new TextEncoder().encode(text), use);
    }

    /** @param {number} status */
    check(status) {
        if (status !== 0) throw this.error();
    }
}

/** One experiment in this wasm instance. */
export class Page extends Memory {
    /** @param {any} module */
    constructor(module) {
        super(module);
        this.handle = module._kl_page_create();
        if (this.handle === 0) throw super.error();
        /** @type {FieldInfo[]} */
        this.fieldTable = [];
    }

    destroy() {
        this.module._kl_page_destroy(this.handle);
        this.handle = 0;
    }

    /** @returns {Error} */
    error() {
        const address = this.module._kl_page_error(this.handle);
        return address === 0 ? super.error() : new CoreError(JSON.parse(this.text(address)));
    }

    // --- scenes -----------------------------------------------------------------------------------

    /** @returns {Json} */
    tables() {
        return JSON.parse(this.text(this.module._kl_page_tables(this.handle)));
    }

    /** @param {string} path @param {Uint8Array} data */
    putFile(path, data) {
        this.withText(path, (name) =>
            this.withBytes(data, (address, size) =>
                this.check(this.module._kl_page_put_file(this.handle, name, address, size)),
            ),
        );
    }

    /** Parses a scene; on failure the old one stays. @param {string} document @param {string} name */
    load(document, name) {
        this.withText(name, (path) =>
            this.withText(document, (address, size) =>
                this.check(this.module._kl_page_load(this.handle, address, size, path)),
            ),
        );
    }

    /** The scene with its meshes as arrays. @returns {Json} */
    scene() {
        const scene = JSON.parse(this.text(this.module._kl_page_scene(this.handle)));
        const buffer = this.module.HEAPU8.buffer;
        for (const mesh of scene.meshes) {
            mesh.vertices = Float32Array.from(new Float64Array(buffer, mesh.vertices, 3 * mesh.vertexCount));
            mesh.triangles = new Uint32Array(new Int32Array(buffer, mesh.triangles, 3 * mesh.triangleCount));
        }
        return scene;
    }

    document() {
        return this.text(this.module._kl_page_scene_document(this.handle));
    }

    /** @param {number} run @param {string} driver */
    start(run, driver) {
        this.withText(driver, (id) => this.check(this.module._kl_page_start(this.handle, run, id)));
        this.fieldTable = JSON.parse(this.text(this.module._kl_page_fields(this.handle)));
    }

    // --- solvers ----------------------------------------------------------------------------------

    /** @param {string} id '' ends observation */
    observe(id) {
        this.withText(id, (address) => this.check(this.module._kl_page_observe(this.handle, address)));
    }

    /** @param {boolean} observer @param {string} preset @param {Record<string, number>} params */
    configure(observer, preset, params) {
        const which = observer ? 1 : 0;
        if (preset) {
            this.withText(preset, (name) => this.check(this.module._kl_page_preset(this.handle, which, name)));
        }
        for (const [id, value] of Object.entries(params)) {
            this.withText(id, (name) => this.check(this.module._kl_page_set_param(this.handle, which, name, value)));
        }
    }

    /** @param {boolean} observer @param {string} id @returns {number} NaN when unknown */
    param(observer, id) {
        return this.withText(id, (name) => this.module._kl_page_param(this.handle, observer ? 1 : 0, name));
    }

    /** @param {boolean} on @param {boolean} natural */
    setTrace(on, natural) {
        this.module._kl_page_set_trace(this.handle, on ? 1 : 0, natural ? 1 : 0);
    }

    /** The record tells each problem's category, an index in `tables().categories`. @param {boolean} on */
    setCategories(on) {
        this.module._kl_page_set_categories(this.handle, on ? 1 : 0);
    }

    // --- stepping ---------------------------------------------------------------------------------

    /**
     * Works for about `seconds` or until `steps` steps are finished; returns how many are.
     * @param {number} steps @param {number} seconds
     */
    work(steps, seconds) {
        this.check(this.module._kl_page_work(this.handle, steps, seconds));
        return this.recordCount();
    }

    recordCount() {
        return /** @type {number} */ (this.module._kl_page_record_count(this.handle));
    }

    /** The finished rows of the last `work`. @param {number} columns */
    record(columns) {
        return this.doubles(this.module._kl_page_record(this.handle), this.recordCount() * columns);
    }

    get busy() {
        return this.module._kl_page_busy(this.handle) !== 0;
    }

    get sim() {
        return this.module._kl_page_sim(this.handle);
    }

    time() {
        return /** @type {number} */ (this.module._kl_sim_time(this.sim));
    }

    step() {
        return Number(this.module._kl_sim_step_index(this.sim));
    }

    hash() {
        return BigInt.asUintN(64, this.module._kl_sim_hash(this.sim)).toString(16).padStart(16, '0');
    }

    /** Views of the fields' valid rows; good until the next call into the core. @param {string[]} ids @returns {FieldView[]} */
    fields(ids) {
        const buffer = this.module.HEAPU8.buffer;
        const views = [];
        for (const id of ids) {
            const field = this.fieldTable.find((f) => f.id === id);
            if (!field) continue;
            const rows = field.rowCount === 0 ? field.rows : new Int32Array(buffer, field.rowCount, 1)[0];
            const values = new ARRAYS[field.type](buffer, field.data, rows * field.columns);
            views.push({ id, values, rows, columns: field.columns });
        }
        return views;
    }

    /** @returns {Uint8Array} everything a continued run needs */
    save() {
        const size = this.module._kl_sim_state_size(this.sim);
        const address = this.allocate(size);
        this.module._kl_sim_save(this.sim, address);
        const state = this.module.HEAPU8.slice(address, address + size);
        this.module._free(address);
        return state;
    }

    /** @param {Uint8Array} state */
    restore(state) {
        this.withBytes(state, (address, size) =>
            this.check(this.module._kl_page_restore(this.handle, address, size)),
        );
    }

    // --- the problem at hand ----------------------------------------------------------------------

    /** @param {string} document @param {string} name @param {number} index @returns {number} problems in the document */
    loadProblem(document, name, index) {
        const count = this.allocate(4);
        try {
            this.withText(name, (path) =>
                this.withText(document, (address, size) =>
                    this.check(this.module._kl_page_load_problem(this.handle, address, size, path, index, count)),
                ),
            );
            return new Int32Array(this.module.HEAPU8.buffer, count, 1)[0];
        } finally {
            this.module._free(count);
        }
    }

    resolveBegin() {
        this.check(this.module._kl_page_resolve_begin(this.handle));
    }

    /** @param {number} seconds @returns {boolean} done */
    resolve(seconds) {
        const done = this.allocate(4);
        try {
            this.check(this.module._kl_page_resolve(this.handle, seconds, done));
            return new Int32Array(this.module.HEAPU8.buffer, done, 1)[0] !== 0;
        } finally {
            this.module._free(done);
        }
    }

    /** Convergence rows (x 6): iteration, r_p, r_d, r_c, r_nat_rel, penalty. */
    trace() {
        const address = this.module._kl_page_trace(this.handle);
        return this.doubles(address, 6 * this.module._kl_page_trace_count(this.handle)).slice();
    }

    /** @param {boolean} condition rank and spectrum too, O(n^3) @returns {Json} */
    problem(condition) {
        return JSON.parse(this.text(this.module._kl_page_problem(this.handle, condition ? 1 : 0)));
    }

    /** Share of `lambda` (dim) that moves nothing, O(n^3). @param {Float64Array} lambda @returns {number} */
    internalShare(lambda) {
        const bytes = new Uint8Array(lambda.buffer, lambda.byteOffset, lambda.byteLength);
        const share = this.withBytes(bytes, (address) =>
            this.module._kl_page_internal_share(this.handle, address),
        );
        if (Number.isNaN(share)) throw this.error();
        return share;
    }

    /**
     * Scale-free natural map of each joint, limit and contact at `lambda` (dim).
     * @param {Float64Array} lambda @param {number} blocks
     */
    blockResiduals(lambda, blocks) {
        const bytes = new Uint8Array(lambda.buffer, lambda.byteOffset, lambda.byteLength);
        return this.withDoubles(blocks, (out) =>
            this.withBytes(bytes, (address) =>
                this.check(this.module._kl_page_block_residuals(this.handle, address, out)),
            ),
        );
    }

    /**
     * Impedance at `count` residuals from 0 to `reach`; `kind` 0 joints, 1 limits, 2 contacts.
     * @param {number} run @param {number} kind @param {number} reach @param {number} count
     */
    impedance(run, kind, reach, count) {
        return this.withDoubles(count, (out) =>
            this.check(this.module._kl_page_impedance(this.handle, run, kind, reach, count, out)),
        );
    }

    /** @returns {Json} */
    solution() {
        return JSON.parse(this.text(this.module._kl_page_solution(this.handle)));
    }

    /** D, row-major; `hard` leaves the softening R out. @param {number} dim @param {boolean} [hard] */
    delassus(dim, hard = false) {
        const address = this.module._kl_page_delassus(this.handle, hard ? 1 : 0);
        if (address === 0) throw this.error();
        return this.doubles(address, dim * dim).slice();
    }

    /** @param {number} dim */
    freeVelocity(dim) {
        return this.doubles(this.module._kl_page_free_velocity(this.handle), dim).slice();
    }

    /** R, the softening of each row. @param {number} dim */
    softening(dim) {
        return this.doubles(this.module._kl_page_softening(this.handle), dim).slice();
    }

    /** @param {number} contacts */
    friction(contacts) {
        return this.doubles(this.module._kl_page_friction(this.handle), contacts).slice();
    }

    /** @param {number} dim */
    lambda(dim) {
        const address = this.module._kl_page_lambda(this.handle);
        return address === 0 ? new Float64Array(0) : this.doubles(address, dim).slice();
    }

    /**
     * Performance profile of `measure` (problems x solvers, NaN = failed).
     * @param {number} problems @param {number} solvers @param {Float64Array} measure
     * @param {{floor: boolean, points: number, tauMax: number}} options
     */
    profile(problems, solvers, measure, options) {
        const { points } = options;
        const bytes = 8 * (measure.length + points + solvers * points);
        const base = this.allocate(bytes);
        try {
            this.doubles(base, measure.length).set(measure);
            const tau = base + 8 * measure.length;
            const rho = tau + 8 * points;
            this.check(
                this.module._kl_page_profile(
                    problems, solvers, base, options.floor ? 1 : 0, points, options.tauMax, tau, rho,
                ),
            );
            return { tau: this.doubles(tau, points).slice(), rho: this.doubles(rho, solvers * points).slice() };
        } finally {
            this.module._free(base);
        }
    }
}
