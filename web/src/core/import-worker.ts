// Reads models in a worker of its own, with the import module; lives for one import.
import createModule from '#core/kinloop-import.mjs';
import wasmUrl from '#core/kinloop-import.wasm?url';
import { Importer } from '#loader/importer.mjs';
import { startCore } from '#loader/page.mjs';
import { errorInfo } from './runner';
import type { ErrorInfo, ImportReport, ParamInfo } from './types';

export interface ImportRequest {
    files: { path: string; data: Uint8Array }[];
    model: string;
    loops: string; // '' = robot.yaml beside the model, if there is one
    options: Record<string, number>;
}

export interface ImportAnswer {
    params: ParamInfo[];
    document: string;
    report: ImportReport | null;
    error: ErrorInfo | null;
}

async function answer({ files, model, loops, options }: ImportRequest): Promise<ImportAnswer> {
    const response = await fetch(wasmUrl);
    if (!response.ok) throw new Error(`The importer could not be fetched: ${response.status}.`);
    const importer = new Importer(await startCore(createModule, await response.arrayBuffer()));
    const params = importer.params() as ParamInfo[];
    try {
        for (const { path, data } of files) importer.putFile(path, data);
        return { params, ...importer.run(model, options, loops), error: null };
    } catch (error) {
        return { params, document: '', report: null, error: errorInfo(error) };
    }
}

self.onmessage = ({ data }: MessageEvent<ImportRequest>) =>
    void answer(data)
        .catch((error): ImportAnswer => ({ params: [], document: '', report: null, error: errorInfo(error) }))
        .then((result) => self.postMessage(result));
