// The core's tables as they arrive from C: what may be chosen, shown and set. Nothing here lists a
// solver, a metric or a parameter by name.

export type ParamKind = 'real' | 'int' | 'bool' | 'choice';

export interface ParamInfo {
    id: string;
    title: string;
    unit: string;
    text: string;
    kind: ParamKind;
    initial: number;
    min: number | null;
    max: number | null;
    log: boolean;
    choices: string; // names separated by '|'
}

export interface SolverInfo {
    id: string;
    title: string;
    text: string;
    source: string;
    family: string;
    deSaxce: boolean;
    solves: string; // 'ncp', 'ccp' or 'local': what a converged solution satisfies
    params: ParamInfo[];
}

export interface MetricInfo {
    id: string;
    title: string;
    unit: string;
    text: string;
    log: boolean;
}

export interface Tables {
    version: string;
    solvers: SolverInfo[];
    metrics: MetricInfo[];
    stages: string[];
    categories: string[];
    outcomes: string[];
    record: string[]; // columns of a step's row
}

export interface SofteningInfo {
    on: boolean;
    d0: number; // impedance at rest
    dw: number; // from the width on
    width: number; // [m], [rad]
    midpoint: number;
    power: number;
    timeConst: number; // [s]
    dampRatio: number;
}

export interface SettingsInfo {
    dt: number;
    gravity: [number, number, number];
    integrator: string;
    baumgarteJoint: number;
    baumgarteLimit: number;
    baumgarteContact: number;
    margin: number;
    detectionDistance: number;
    cullDistance: number;
    maxContacts: number;
    softJoint: SofteningInfo;
    softLimit: SofteningInfo;
    softContact: SofteningInfo;
}

export interface EventInfo {
    body: number;
    start: number;
    end: number;
    from: number[];
    to: number[];
    point: number[];
}

export interface RunInfo {
    id: string;
    title: string;
    text: string;
    duration: number;
    settings: SettingsInfo;
    events: EventInfo[];
    preset: string;
    maxIterations: number; // 0 = the preset's
    tolerance: number; // 0 = the preset's
}

export interface BodyInfo {
    name: string;
    mass: number;
    inertia: number[];
    pose: number[];
    twist: number[];
}

export interface JointInfo {
    name: string;
    kind: string;
    dofs: number;
    base: number;
    follower: number;
    baseFrame: number[];
    followerFrame: number[];
    lower: (number | null)[];
    upper: (number | null)[];
    actuation: string;
}

export interface GeomInfo {
    name: string;
    body: number;
    kind: string;
    pose: number[];
    size: number[];
    mesh: number;
    friction: number;
    restitution: number;
    visualOnly: boolean;
    color: number[];
}

export interface MeshInfo {
    name: string;
    vertices: Float32Array;
    triangles: Uint32Array;
}

export interface SceneInfo {
    id: string;
    title: string;
    text: string;
    surrogate: boolean;
    preset: string;
    solvers: string[];
    runs: RunInfo[];
    info: {
        bodies: number;
        joints: number;
        geoms: number;
        jointRows: number;
        actuatedDofs: number;
        passiveDofs: number;
        loops: number;
        massRatio: number;
        totalMass: number;
        fixedBase: boolean;
    };
    bodies: BodyInfo[];
    joints: JointInfo[];
    geoms: GeomInfo[];
    meshes: MeshInfo[];
}

export interface FieldInfo {
    id: string;
    unit: string;
    text: string;
    rows: number;
    columns: number;
    type: string;
}

export interface ConditionInfo {
    rank: number;
    jacobianRank: number;
    eigenMin: number | null;
    eigenMax: number | null;
    condition: number | null;
    density: number | null;
    spectrum: number[] | null; // ascending
}

export interface ProblemInfo {
    dim: number;
    jointRows: number;
    jointCount: number;
    jointStarts: number[]; // first row of each
    limitCount: number;
    contactCount: number;
    bodyCount: number;
    category: string | null;
    dt: number;
    condition?: ConditionInfo | { error: string };
}

export interface SolutionInfo {
    outcome: string;
    iterations: number;
    factorizations: number;
    time: number | null;
    penalty: number | null;
    residuals: Record<string, number | null>;
    dropped: number;
}

export interface ErrorInfo {
    status: string;
    message: string;
    file: string;
    line: number;
    column: number;
    path: string;
}

export interface ImportNote {
    file: string;
    line: number;
    element: string;
    text: string;
    lost: boolean; // something of the file is not in the scene
}

export interface ImportReport {
    scene: string;
    bodies: number;
    joints: number;
    joint_rows: number;
    loops: number;
    actuated_dofs: number;
    residual_before: number | null;
    residual_after: number | null;
    rank: number;
    mobility: number;
    open: string | null; // why loops stay open
    notes: ImportNote[];
}
