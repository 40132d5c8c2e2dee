declare module '#core/kinloop.mjs' {
    const createModule: (options: Record<string, unknown>) => Promise<unknown>;
    export default createModule;
}
declare module '#core/kinloop.wasm?url' {
    const url: string;
    export default url;
}
declare module '#core/kinloop-import.mjs' {
    const createModule: (options: Record<string, unknown>) => Promise<unknown>;
    export default createModule;
}
declare module '#core/kinloop-import.wasm?url' {
    const url: string;
    export default url;
}
