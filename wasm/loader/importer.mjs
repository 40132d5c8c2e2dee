// A thin hand on the import module (kinloop-import.wasm): files and options go in, a scene and a report come out.
import { CoreError, Memory } from './page.mjs';

/** @typedef {{file: string, line: number, element: string, text: string, lost: boolean}} ImportNote */
/**
 * @typedef {{scene: string, bodies: number, joints: number, joint_rows: number, loops: number, actuated_dofs: number,
 *     residual_before: number, residual_after: number, rank: number, mobility: number, open: string | null, notes: ImportNote[]}} ImportReport
 */
/** @typedef {{document: string, report: ImportReport}} Imported */

export class Importer extends Memory {
    /** @param {any} module */
    constructor(module) {
        super(module);
        this.handle = module._kl_importer_create();
        if (this.handle === 0) throw super.error();
    }

    destroy() {
        this.module._kl_importer_destroy(this.handle);
        this.handle = 0;
    }

    /** @returns {Error} */
    error() {
        const address = this.module._kl_importer_error(this.handle);
        return address === 0 ? super.error() : new CoreError(JSON.parse(this.text(address)));
    }

    /** The choices of an import, told like the parameters of a solver. @returns {Record<string, any>[]} */
    params() {
        return JSON.parse(this.text(this.module._kl_importer_params(this.handle)));
    }

    /** @param {string} path @param {Uint8Array} data */
    putFile(path, data) {
        this.withText(path, (name) =>
            this.withBytes(data, (address, size) =>
                this.check(this.module._kl_importer_put_file(this.handle, name, address, size)),
            ),
        );
    }

    /**
     * Reads the model at `path` among the files; `loops` names a yaml that does not lie beside it as robot.yaml.
     * @param {string} path @param {Record<string, number>} options @param {string} loops
     * @returns {Imported}
     */
    run(path, options = {}, loops = '') {
        for (const [id, value] of Object.entries(options)) {
            this.withText(id, (name) => this.check(this.module._kl_importer_set(this.handle, name, value)));
        }
        this.withText(loops, (name) => this.check(this.module._kl_importer_set_loops(this.handle, name)));
        this.withText(path, (name) => this.check(this.module._kl_importer_run(this.handle, name)));
        return {
            document: this.text(this.module._kl_importer_scene(this.handle)),
            report: JSON.parse(this.text(this.module._kl_importer_report(this.handle))),
        };
    }
}
