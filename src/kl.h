// kl.h - the public interface of kinloop: constrained rigid-body mechanisms with kinematic loops,
// and the dual solvers that make them move.
//
// Conventions, once for the whole library
//   units        SI: m, kg, s, N, rad. World frame unless said. Reaction lambda is an impulse of one
//                step [N s] or [N m s]; the force shown to people is lambda / dt.
//   pose    (7)  position of the centre of mass r (3) [m], unit quaternion q = (w, x, y, z), Hamilton,
//                body to world.
//   twist   (6)  linear velocity of the centre of mass (3) [m/s], angular velocity (3) [rad/s].
//   wrench  (6)  force (3) [N], torque about the centre of mass (3) [N m].
//   matrices     row-major. Indices are int32_t, -1 names the world (or "none").
//   rows         of every dual problem: joints, then limits, then contacts. A contact has the rows
//                (t, o, n): two tangents, then the normal, which points from body A to body B.
//   ownership    who creates, destroys. A returned const pointer is a loan; each says until when.
//   errors       functions that can fail return a KlStatus; kl_last_error() tells where and what.
//                The library never prints and never exits.
//   threads      an object belongs to one thread at a time; the last error is kept per thread.
#ifndef KL_H
#define KL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KL_VERSION "0.1.0"

// ------------------------------------------------------------------------------------------------
// Status and errors
// ------------------------------------------------------------------------------------------------

typedef enum KlStatus {
    KL_OK = 0,
    KL_ERR_ARGUMENT,         // a value outside what the function allows
    KL_ERR_MEMORY,           // out of memory, or a stated memory cap
    KL_ERR_IO,               // a file could not be read or written
    KL_ERR_FORMAT,           // not the format it should be (JSON, XML, HDF5, STL ... syntax)
    KL_ERR_SCENE,            // well-formed input that does not describe a valid model or problem
    KL_ERR_LIMIT,            // a stated limit was exceeded (counts, sizes, contacts of a step)
    KL_ERR_NOT_FOUND,        // no solver, scene, body ... of that name
    KL_ERR_NOT_IMPLEMENTED,  // a known feature that this build does not have
    KL_ERR_DIVERGED,         // a state or reaction is not finite
    KL_ERR_INTERRUPTED,      // stopped on request
} KlStatus;

// The last failure of this thread. Strings are empty and numbers 0 where a part does not apply.
typedef struct KlError {
    KlStatus status;
    char message[768];  // what was found and what is allowed, complete with file, line and path
    char file[256];     // the file or document name
    int32_t line;       // 1-based
    int32_t column;     // 1-based
    char path[128];     // the place inside the document, e.g. bodies[3].mass
} KlError;

const KlError *kl_last_error(void);        // loan until the next failing call of this thread
const char *kl_status_name(KlStatus s);    // stable lower-case word, e.g. "scene"

// ------------------------------------------------------------------------------------------------
// Files: the library reads through this, so that a page can hand over dropped files
// ------------------------------------------------------------------------------------------------

typedef struct KlFiles {
    void *context;
    // Reads the whole of `path` into memory that `release` frees. KL_ERR_NOT_FOUND if there is none.
    KlStatus (*read)(void *context, const char *path, char **data, size_t *size);
    void (*release)(void *context, char *data);
} KlFiles;

const KlFiles *kl_files_disk(void);  // stdio; files above 256 MiB are refused

// ------------------------------------------------------------------------------------------------
// Parameters: every option of a solver is a row of its own table
// ------------------------------------------------------------------------------------------------

typedef enum KlParamKind { KL_PARAM_REAL, KL_PARAM_INT, KL_PARAM_BOOL, KL_PARAM_CHOICE } KlParamKind;

typedef struct KlParam {
    const char *id;       // e.g. "omega"
    const char *title;    // e.g. "Relaxation factor"
    const char *unit;     // "" when dimensionless
    const char *text;     // one or two sentences: meaning, source
    KlParamKind kind;
    double initial, min, max;
    bool log_scale;       // a slider should be logarithmic
    const char *choices;  // KL_PARAM_CHOICE: names separated by '|'; the value is the index
} KlParam;

// ------------------------------------------------------------------------------------------------
// The dual problem (the waist): K* 3 v_hat(lambda)  perp  lambda in K,
//   v+ = D lambda + v_f,  D = J M^-1 J^T + diag(R),  v_hat = v+ + Gamma(v+)
// It comes from a step, from HDF5, from FCLIB or from JSON; every solver and metric takes it.
// ------------------------------------------------------------------------------------------------

// Read-only for solvers. All arrays belong to the problem.
// "Body form" (body_count > 0) knows J and M; "explicit form" (body_count = 0) knows D alone.
typedef struct KlProblem {
    int32_t dim;            // n_d: rows
    int32_t joint_rows;     // n_jd: rows [0, joint_rows) are bilateral
    int32_t joint_count;    // n_j
    int32_t limit_count;    // n_l: rows [joint_rows, joint_rows + limit_count)
    int32_t contact_count;  // n_c: three rows each, last
    int32_t block_count;    // joint_count + limit_count + contact_count
    int32_t *block_start;   // (block_count + 1) first row of each constraint; the last entry is dim
    uint64_t *block_id;     // (block_count) stable between steps: warm starts match by it
    double dt;              // [s]
    double *friction;       // (contact_count) mu
    double *free_velocity;  // (dim) v_f, every bias included [m/s], [rad/s]
    double *softening;      // (dim) R >= 0, zeros for hard constraints

    int32_t body_count;       // n_b, 0 in explicit form
    int32_t *block_body;      // (block_count x 2) bodies of the two Jacobian blocks, -1 = none
    double *jacobian;         // (dim x 12) row i: six for block_body[0], six for block_body[1]
    double *mass;             // (body_count) [kg]
    double *inertia;          // (body_count x 9) world frame, about the centre of mass [kg m^2]
    double *inverse_mass;     // (body_count)
    double *inverse_inertia;  // (body_count x 9) world frame

    int32_t *delassus_start;  // explicit form: D in CSR (without R), (dim + 1)
    int32_t *delassus_index;  // (nnz) columns, ascending in each row
    double *delassus_value;   // (nnz) as given: not symmetrised
} KlProblem;

typedef struct KlProblemSize {
    int32_t joint_rows, joint_count, limit_count, contact_count;
    int32_t body_count;  // 0: explicit form
    int32_t nonzeros;    // explicit form: entries of D
} KlProblemSize;

// Storage for one problem of this size, arrays zeroed, block_start filled for limits and contacts
// (joint entries of block_start are the caller's). KL_ERR_LIMIT above 10^6 rows.
KlStatus kl_problem_create(const KlProblemSize *size, KlProblem **problem);
void kl_problem_destroy(KlProblem *problem);
// An explicit problem from a dense (dim x dim) row-major D; joints are one block.
KlStatus kl_problem_from_dense(int32_t joint_rows, int32_t limit_count, int32_t contact_count,
                               const double *delassus, const double *free_velocity,
                               const double *friction, double dt, KlProblem **problem);
KlStatus kl_problem_clone(const KlProblem *problem, KlProblem **copy);
// Every invariant: finite, mu >= 0, R >= 0, starts ascending, D with positive diagonal ...; KL_ERR_SCENE.
KlStatus kl_problem_check(const KlProblem *problem);
// Our JSON form ({"joint_rows", "limits", "contacts", "mu", "dt", "D", "v_f"[, "J", "M" ...]}); `index`
// picks one of a list. `name` is used in messages.
KlStatus kl_problem_parse_json(const char *text, size_t size, const char *name, int32_t index,
                               int32_t *count, KlProblem **problem);

void kl_problem_delassus(const KlProblem *problem, double *delassus);  // (dim x dim) D + diag(R)
void kl_problem_velocity(const KlProblem *problem, const double *lambda, double *velocity);  // v+
void kl_problem_project(const KlProblem *problem, double *x);       // P_K in place
void kl_problem_project_dual(const KlProblem *problem, double *x);  // P_K* in place

// Residuals, L-infinity, defined in the reference (math): all of one lambda.
typedef struct KlResiduals {
    double primal;           // r_p    |lambda - P_K(lambda)|
    double dual;             // r_dual |v_hat - P_K*(v_hat)|
    double complementarity;  // r_ncp  max |lambda_i . v_hat_i| over limits and contacts
    double natural;          // r_nat  |lambda - P_K(lambda - v_hat)|
    double natural_relative; // r_nat_rel: scale-free natural map, S = 1 / max diag per block
    double dual_ccp, complementarity_ccp, natural_ccp;  // the same with v+ in place of v_hat
    double objective;        // f = 1/2 l.D l + l.v_f [J]
    double objective_desaxce;// f_DS = Gamma(v+) . l
    double objective_ncp;    // f_NCP = f + f_DS
} KlResiduals;

void kl_problem_residuals(const KlProblem *problem, const double *lambda, KlResiduals *residuals);

// What a mechanic asks of a problem. Costs O(dim^3); KL_ERR_LIMIT above 3000 rows.
typedef struct KlCondition {
    int32_t rank;            // of D, by symmetric eigenvalues > dim * eps * max
    int32_t jacobian_rank;   // of J (= rank of the hard part of D)
    double eigen_min;        // smallest eigenvalue above the rank tolerance
    double eigen_max;
    double condition;        // eigen_max / eigen_min
    double density;          // share of non-zeros in D
} KlCondition;
KlStatus kl_problem_condition(const KlProblem *problem, KlCondition *condition);
KlStatus kl_problem_spectrum(const KlProblem *problem, double *eigenvalues);  // (dim) ascending
// |lambda - lambda_min_norm| / |lambda| (L2): the share that moves nothing.
KlStatus kl_problem_internal_share(const KlProblem *problem, const double *lambda, double *share);

// ------------------------------------------------------------------------------------------------
// Solvers
// ------------------------------------------------------------------------------------------------

typedef enum KlOutcome {
    KL_OUTCOME_CONVERGED = 0,
    KL_OUTCOME_MAX_ITERATIONS,
    KL_OUTCOME_STAGNATED,
    KL_OUTCOME_DIVERGED,
} KlOutcome;
const char *kl_outcome_name(KlOutcome o);  // "converged", "max-iterations", "stagnated", "diverged"

typedef struct KlSolverInfo {
    const char *id;       // e.g. "pgs-ncp"
    const char *title;    // e.g. "PGS-NCP"
    const char *text;     // method in one or two sentences
    const char *source;   // where it comes from
    const char *family;   // "splitting", "admm", "newton": one hue in plots
    bool de_saxce;        // solves the NCP (true) or the CCP / a relaxation
    const char *solves;   // what a converged solution satisfies, and what it stops on: "ncp" Coulomb's law;
                          // "ccp" the convex relaxation; "local" exact one contact at a time, which is
                          // Coulomb's law only where normal and tangents are uncoupled
    const KlParam *params;
    int32_t param_count;
} KlSolverInfo;

int32_t kl_solver_kind_count(void);
const KlSolverInfo *kl_solver_kind(int32_t index);      // loan for ever
int32_t kl_solver_kind_find(const char *id);            // -1 when unknown

// One row per iteration, when asked for.
typedef struct KlTraceRow {
    int32_t iteration;
    double primal, dual, complementarity;  // the solver's own stopping residuals
    double natural_relative;               // NaN unless KlSolveOptions.trace_natural
    double penalty;                        // rho, or omega for splitting
} KlTraceRow;

typedef struct KlTrace {
    KlTraceRow *rows;  // (capacity) the caller's
    int32_t capacity;
    int32_t count;     // rows written; rows past capacity are counted in `dropped`
    int32_t dropped;
} KlTrace;

typedef struct KlSolver KlSolver;

typedef enum KlWarmStart {
    KL_WARM_NONE = 0,   // lambda^0 = 0
    KL_WARM_PREVIOUS,   // the last solve's lambda of the same block id, projected on K
    KL_WARM_RESCALED,   // the same, scaled by the best multiple for the new problem
} KlWarmStart;

// Parameters common to all solvers are rows of each table: "max_iterations", "tolerance",
// "warm_start" (none|previous|rescaled) and, for presets, kl_solver_preset.
KlStatus kl_solver_create(const char *id, KlSolver **solver);
void kl_solver_destroy(KlSolver *solver);
const KlSolverInfo *kl_solver_info(const KlSolver *solver);
KlStatus kl_solver_set(KlSolver *solver, const char *param, double value);  // KL_ERR_ARGUMENT: range
KlStatus kl_solver_set_text(KlSolver *solver, const char *param, const char *value);  // "1e-6", "true", a choice
double kl_solver_get(const KlSolver *solver, const char *param);            // NaN when unknown
// "high-precision" (10^4 iterations, 1e-12) or "high-throughput" (10^3, 1e-6), the paper's presets.
KlStatus kl_solver_preset(KlSolver *solver, const char *preset);
// Sizes the workspace, so that later solves up to this size allocate nothing.
KlStatus kl_solver_reserve(KlSolver *solver, const KlProblemSize *size);
void kl_solver_forget(KlSolver *solver);  // drops warm-start memory

typedef struct KlSolution {
    KlOutcome outcome;
    int32_t iterations;
    int32_t factorizations;
    double time;           // [s] wall, of the solve
    const double *lambda;  // (dim) loan until the next solve
    const double *velocity;// (dim) v+ = D lambda + v_f
    double penalty;        // last rho (ADMM) or omega (splitting)
} KlSolution;

// Solves to the end. `trace` may be NULL. Not converging is an outcome, not an error.
KlStatus kl_solver_solve(KlSolver *solver, const KlProblem *problem, KlTrace *trace, KlSolution *solution);
// The same in slices, for a page that must stay responsive: begin, then advance until *done.
KlStatus kl_solver_begin(KlSolver *solver, const KlProblem *problem, KlTrace *trace);
KlStatus kl_solver_advance(KlSolver *solver, int32_t iterations, bool *done);
KlStatus kl_solver_finish(KlSolver *solver, KlSolution *solution);
void kl_solver_trace_natural(KlSolver *solver, bool on);  // fill KlTraceRow.natural_relative (costs one D product a row)

// ------------------------------------------------------------------------------------------------
// Models: bodies, joints, geometry. Built once, then frozen.
// ------------------------------------------------------------------------------------------------

typedef enum KlJointKind {  // degrees of freedom in the order of the joint's coordinates
    KL_JOINT_FIXED = 0,     // 0
    KL_JOINT_REVOLUTE,      // 1: about x
    KL_JOINT_PRISMATIC,     // 1: along x
    KL_JOINT_CYLINDRICAL,   // 2: along x, about x
    KL_JOINT_UNIVERSAL,     // 2: about x, then y
    KL_JOINT_SPHERICAL,     // 3: rotation vector
    KL_JOINT_GIMBAL,        // 3: about x, then y, then z (coordinates are the angles)
    KL_JOINT_CARTESIAN,     // 3: along x, y, z
    KL_JOINT_PLANAR,        // 3: along x, along y, about z
    KL_JOINT_KIND_COUNT
} KlJointKind;

typedef struct KlJointInfo {
    const char *id;      // "revolute"
    const char *title;
    int32_t dofs;        // d_j; constraint rows m_j = 6 - d_j
    bool angular[6];     // per coordinate: [rad] (true) or [m]
} KlJointInfo;
const KlJointInfo *kl_joint_kind(KlJointKind kind);
KlStatus kl_joint_kind_find(const char *id, KlJointKind *kind);

typedef struct KlBodyDef {
    const char *name;       // unique, not empty
    double mass;            // [kg] > 0, finite
    double inertia[9];      // (3 x 3) body frame about the centre of mass, SPD, triangle inequality [kg m^2]
    double pose[7];         // start pose
    double twist[6];        // start twist
} KlBodyDef;

typedef enum KlActuation {
    KL_ACTUATION_PASSIVE = 0,
    KL_ACTUATION_FORCE,        // effort set by the user
    KL_ACTUATION_PID,          // explicit joint-space PID on a reference
    KL_ACTUATION_PD_IMPLICIT,  // implicit PD: effort solved with the step, bounded by effort_limit
} KlActuation;

typedef struct KlJointDef {
    const char *name;           // unique, not empty
    KlJointKind kind;
    int32_t base, follower;     // body indices; base -1 = world (unary joint)
    double base_frame[7];       // joint frame in the base body's frame (world when base = -1)
    double follower_frame[7];   // joint frame in the follower's frame
    double lower[6], upper[6];  // per degree of freedom, -/+ infinity = none [m], [rad]
    KlActuation actuation;
    double kp[6], ki[6], kd[6]; // gains per degree of freedom
    double effort_limit[6];     // [N], [N m]; infinity = none
    double armature[6];         // reflected inertia [kg], [kg m^2], PD_IMPLICIT only
    double damping[6];          // passive viscous [N s/m], [N m s]
    int32_t reference;          // index of a reference trajectory, -1 = hold `target`
    double target[6];
} KlJointDef;

typedef enum KlGeomKind {
    KL_GEOM_SPHERE = 0,  // size[0] radius
    KL_GEOM_BOX,         // size: full edge lengths
    KL_GEOM_CAPSULE,     // size[0] radius, size[1] length of the cylinder part, along z
    KL_GEOM_CYLINDER,    // size[0] radius, size[1] length, along z
    KL_GEOM_PLANE,       // half space z <= 0 of its frame; world only
    KL_GEOM_CONVEX,      // convex hull of a mesh
    KL_GEOM_MESH,        // triangle mesh
    KL_GEOM_KIND_COUNT
} KlGeomKind;
const char *kl_geom_kind_name(KlGeomKind kind);

typedef struct KlGeomDef {
    const char *name;   // unique, not empty
    int32_t body;       // -1 = world
    KlGeomKind kind;
    double pose[7];     // in the body's frame
    double size[3];
    int32_t mesh;       // index for CONVEX and MESH, else -1
    uint32_t group;     // bits: what I am
    uint32_t mask;      // bits: what I collide with; both sides must agree
    double friction;    // mu >= 0; a pair takes the geometric mean
    double restitution; // in [0, 1]; a pair takes the larger
    bool visual_only;   // drawn, never collided
    float color[4];     // RGBA; alpha 0 = chosen by the viewer
} KlGeomDef;

typedef struct KlMeshDef {
    const char *name;
    const double *vertices;   // (vertex_count x 3) [m]
    int32_t vertex_count;
    const int32_t *triangles; // (triangle_count x 3) counter-clockwise seen from outside
    int32_t triangle_count;
} KlMeshDef;

// A looped or clamped reference for the actuated degrees of freedom of one joint.
typedef struct KlReferenceDef {
    const char *name;
    int32_t dofs, samples;
    const double *times;   // (samples) ascending [s]
    const double *values;  // (samples x dofs); cubic Hermite between samples
    bool loop;
} KlReferenceDef;

// In KlForceEvent.body: whichever body's centre of mass is highest (against gravity; along +z without
// gravity) at the first step of the event. The choice is part of the simulated state.
#define KL_BODY_HIGHEST (-2)

// A force on a body that ramps linearly, as an experiment applies it.
typedef struct KlForceEvent {
    int32_t body;            // index, or KL_BODY_HIGHEST
    double start, end;       // [s]; applied for start <= t < end
    double from[6], to[6];   // wrench at start and at end; torque about the centre of mass
    double point[3];         // where the force acts, in the body's frame (0 = centre of mass)
} KlForceEvent;

typedef struct KlSoftening {  // MuJoCo's seven, per constraint kind (math: softening)
    bool on;
    double d0, dw;      // impedance at 0 and at the width, in [1e-4, 0.9999]
    double width;       // w [m], [rad]
    double midpoint;    // m in [1e-4, 0.9999]
    double power;       // p >= 1
    double time_const;  // T [s] >= 2 dt
    double damp_ratio;  // beta
} KlSoftening;

typedef enum KlIntegrator { KL_INTEGRATOR_EULER = 0, KL_INTEGRATOR_MOREAU } KlIntegrator;

// Everything about stepping that a scene or a run may change.
typedef struct KlSettings {
    double dt;                  // [s] > 0
    double gravity[3];          // [m/s^2]
    KlIntegrator integrator;    // semi-implicit Euler with the exponential map; or Moreau's midpoint
    double baumgarte_joint;     // alpha in [0, 1]
    double baumgarte_limit;     // beta
    double baumgarte_contact;   // gamma
    double margin;              // delta: penetration that is tolerated (> 0) or inflation (< 0) [m]
    double detection_distance;  // speculative: contacts are made up to this gap [m] >= 0
    double cull_distance;       // contacts of one pair nearer than this are merged [m]
    int32_t max_contacts;       // a step that needs more fails with KL_ERR_LIMIT; 0 = chosen from the model
    KlSoftening soft_joint, soft_limit, soft_contact;
} KlSettings;
void kl_settings_default(KlSettings *settings);  // the paper's values, hard, dt 1 ms, g -9.81 z
KlStatus kl_settings_check(const KlSettings *settings);  // KL_ERR_SCENE names the field and what it may be

typedef struct KlModel KlModel;      // frozen
typedef struct KlBuilder KlBuilder;

void kl_default_body_def(KlBodyDef *def);
void kl_default_joint_def(KlJointDef *def);
void kl_default_geom_def(KlGeomDef *def);
void kl_default_force_event(KlForceEvent *def);

KlStatus kl_builder_create(KlBuilder **builder);
void kl_builder_destroy(KlBuilder *builder);
// Each copies what it is given. `index` may be NULL. Limits: 10^5 bodies, joints, geoms.
KlStatus kl_builder_add_body(KlBuilder *builder, const KlBodyDef *def, int32_t *index);
KlStatus kl_builder_add_joint(KlBuilder *builder, const KlJointDef *def, int32_t *index);
KlStatus kl_builder_add_geom(KlBuilder *builder, const KlGeomDef *def, int32_t *index);
KlStatus kl_builder_add_mesh(KlBuilder *builder, const KlMeshDef *def, int32_t *index);
KlStatus kl_builder_add_reference(KlBuilder *builder, const KlReferenceDef *def, int32_t *index);
KlStatus kl_builder_add_event(KlBuilder *builder, const KlForceEvent *event);
KlStatus kl_builder_exclude(KlBuilder *builder, int32_t body_a, int32_t body_b);  // no contact between them
// Overrides friction and restitution of one pair of geoms.
KlStatus kl_builder_pair(KlBuilder *builder, int32_t geom_a, int32_t geom_b, double friction, double restitution);
KlStatus kl_builder_set_settings(KlBuilder *builder, const KlSettings *settings);
KlStatus kl_builder_set_neighbours_collide(KlBuilder *builder, bool on);  // default false: joined bodies do not
// Freezes what was added into a model that the caller destroys; the builder is then empty and takes no more.
KlStatus kl_builder_finish(KlBuilder *builder, KlModel **model);
void kl_model_destroy(KlModel *model);

typedef struct KlModelInfo {
    int32_t bodies, joints, geoms, meshes;
    int32_t joint_rows;      // n_jd
    int32_t actuated_dofs, passive_dofs;
    int32_t loops;           // independent cycles of the body-joint graph (world a node)
    double mass_ratio;       // largest / smallest body mass
    double total_mass;       // [kg]
    double total_inertia;    // trace of M at start, I_total of the early-stopping rule
    bool fixed_base;         // some joint anchors to the world
} KlModelInfo;
void kl_model_info(const KlModel *model, KlModelInfo *info);
const KlBodyDef *kl_model_body(const KlModel *model, int32_t i);    // loans for the model's life
const KlJointDef *kl_model_joint(const KlModel *model, int32_t i);
const KlGeomDef *kl_model_geom(const KlModel *model, int32_t i);
const KlMeshDef *kl_model_mesh(const KlModel *model, int32_t i);
const KlReferenceDef *kl_model_reference(const KlModel *model, int32_t i);
int32_t kl_model_event_count(const KlModel *model);
const KlForceEvent *kl_model_event(const KlModel *model, int32_t i);
const KlSettings *kl_model_settings(const KlModel *model);
int32_t kl_model_find_body(const KlModel *model, const char *name);   // -1 when unknown
int32_t kl_model_find_joint(const KlModel *model, const char *name);
int32_t kl_model_find_geom(const KlModel *model, const char *name);

// ------------------------------------------------------------------------------------------------
// Scenes and experiments (JSON; the schema is scenes/schema.json)
// ------------------------------------------------------------------------------------------------

// One run of an experiment: a name, and what it changes in the scene.
typedef struct KlRunDef {
    const char *id, *title, *text;
    double duration;        // [s] > 0
    KlSettings settings;    // the scene's, as changed by the run
    const KlForceEvent *events;  // (event_count) in place of the scene's
    int32_t event_count;
    const char *preset;     // solver preset of this run: the scene's unless the run names another
    int32_t max_iterations; // solver iterations, 0 = the preset's
    double tolerance;       // solver tolerance, 0 = the preset's
} KlRunDef;

typedef struct KlScene KlScene;
// A scene document holds a model, its settings, and runs (at least one, "default"). An experiment
// document names or embeds a scene and adds runs, solvers and a preset. `name` is the path: includes and
// meshes resolve beside it through `files`; cycles are errors.
KlStatus kl_scene_load(const char *path, const KlFiles *files, KlScene **scene);
KlStatus kl_scene_parse(const char *text, size_t size, const char *name, const KlFiles *files, KlScene **scene);
// A scene with one run, "default", around a model made by a builder; on success the scene owns the model.
KlStatus kl_scene_from_model(const char *id, const char *title, const char *text, KlModel *model, KlScene **scene);
void kl_scene_destroy(KlScene *scene);
const char *kl_scene_id(const KlScene *scene);
const char *kl_scene_title(const KlScene *scene);
const char *kl_scene_text(const KlScene *scene);
bool kl_scene_surrogate(const KlScene *scene);
int32_t kl_scene_run_count(const KlScene *scene);
const KlRunDef *kl_scene_run(const KlScene *scene, int32_t run);
int32_t kl_scene_find_run(const KlScene *scene, const char *id);     // -1 when unknown
int32_t kl_scene_solver_count(const KlScene *scene);                 // suggested solvers
const char *kl_scene_solver(const KlScene *scene, int32_t i);
const char *kl_scene_preset(const KlScene *scene);                   // "high-precision" by default
const KlModel *kl_scene_model(const KlScene *scene);                 // as in the document
// Where a viewer should stand and look, in metres; false (and untouched) when the scene does not say.
bool kl_scene_camera(const KlScene *scene, double position[3], double target[3]);
// What loading changed without being an error (e.g. zero-area triangles dropped from a mesh).
int32_t kl_scene_note_count(const KlScene *scene);
const char *kl_scene_note(const KlScene *scene, int32_t i);
// A model with a run's settings, events and body changes applied; the caller destroys it.
KlStatus kl_scene_model_for_run(const KlScene *scene, int32_t run, KlModel **model);
// The same with other settings than the run's (another time step, gravity ...).
KlStatus kl_scene_model_with(const KlScene *scene, int32_t run, const KlSettings *settings, KlModel **model);
// Lossless, canonical, pretty JSON of a model as a scene; the caller frees with kl_free.
KlStatus kl_scene_write_json(const KlScene *scene, char **text, size_t *size);
void kl_free(void *memory);

// ------------------------------------------------------------------------------------------------
// Import: URDF (with loop closures from a yaml beside it) and MJCF
// ------------------------------------------------------------------------------------------------

typedef enum KlImportBase { KL_BASE_AUTO = 0, KL_BASE_FIXED, KL_BASE_FREE } KlImportBase;
typedef enum KlImportMotors { KL_MOTORS_HOLD = 0, KL_MOTORS_FORCE, KL_MOTORS_PASSIVE } KlImportMotors;

typedef struct KlImportOptions {
    const char *loops;       // path of the loop closures; NULL: robot.yaml beside the URDF, if there is one
    KlImportBase base;       // AUTO: URDF fixed; MJCF as its free joints say
    KlImportMotors motors;   // HOLD: implicit PD on the start pose; FORCE: efforts; PASSIVE: none
    bool keep_fixed;         // keep fixed joints as joints instead of merging their links
    bool self_collision;     // default false: the mechanism collides with the world only
    bool mesh_collision;     // collide triangle meshes as they are instead of their convex hulls
    bool ground;             // add a ground plane just below the lowest point of the start pose
    double placeholder_mass; // [kg] given to moving links without mass that cannot be removed; default 1e-3
    double density;          // [kg/m^3] for inertia from geometry; default 1000
} KlImportOptions;
void kl_default_import_options(KlImportOptions *options);

// What was changed, assumed or could not be carried over; never silently.
typedef struct KlImportNote {
    const char *file;     // loans for the report's life
    int32_t line;         // 1-based, 0 when unknown
    const char *element;  // e.g. link[hip]
    const char *text;     // what, and the remedy where there is one
    bool lost;            // true: something of the file is not in the scene
} KlImportNote;
typedef struct KlImportReport KlImportReport;
int32_t kl_import_note_count(const KlImportReport *report);
const KlImportNote *kl_import_note(const KlImportReport *report, int32_t index);
void kl_import_report_destroy(KlImportReport *report);

// Reads a .urdf or .xml (MJCF or URDF, told by its root element) and what it refers to through `files`.
// Both results are the caller's; the report is set on success only. Loops are not closed yet: see
// kl_scene_close_loops.
KlStatus kl_import(const char *path, const KlFiles *files, const KlImportOptions *options, KlScene **scene,
                   KlImportReport **report);

// ------------------------------------------------------------------------------------------------
// Simulation
// ------------------------------------------------------------------------------------------------

typedef struct KlSim KlSim;

typedef enum KlContactMode { KL_MODE_OPEN = 0, KL_MODE_STICK = 1, KL_MODE_SLIP = 2 } KlContactMode;

// The metrics of one step, in the order of kl_metric_kind; see METRIC in sim/metrics.h.
typedef struct KlMetricInfo {
    const char *id, *title, *unit, *text;
    bool log_scale;
} KlMetricInfo;
int32_t kl_metric_count(void);
const KlMetricInfo *kl_metric_kind(int32_t index);
int32_t kl_metric_find(const char *id);  // -1 when unknown

// Stages of a step in the order they run; names for timing tables.
int32_t kl_stage_count(void);
const char *kl_stage_name(int32_t stage);

KlStatus kl_sim_create(const KlModel *model, KlSim **sim);  // the model must outlive the simulation
void kl_sim_destroy(KlSim *sim);
void kl_sim_reset(KlSim *sim);
// The sim's driving solver: created with it ("admm-ncp-fp" unless set), owned by the sim.
KlStatus kl_sim_set_solver(KlSim *sim, const char *id);
KlSolver *kl_sim_solver(KlSim *sim);
void kl_sim_set_trace(KlSim *sim, KlTrace *trace);  // filled by each solve, the caller's; NULL = off

// One whole step: predict, collide, assemble, solve, react, integrate, measure.
// KL_ERR_DIVERGED (the solver's outcome, or a motion that is not finite) leaves the state before the step;
// KL_ERR_LIMIT tells the contacts needed. Any other outcome of the solver is stepped with.
KlStatus kl_sim_step(KlSim *sim);
// The same in two halves around the dual problem: begin builds kl_sim_problem, the caller solves it
// any way it likes, end applies lambda (dim) and integrates.
KlStatus kl_sim_begin_step(KlSim *sim);
const KlProblem *kl_sim_problem(const KlSim *sim);  // loan until the next begin
KlStatus kl_sim_end_step(KlSim *sim, const double *lambda);
const KlSolution *kl_sim_solution(const KlSim *sim);  // of the last kl_sim_step

double kl_sim_time(const KlSim *sim);
int64_t kl_sim_step_index(const KlSim *sim);
uint64_t kl_sim_hash(const KlSim *sim);  // of step, time, poses and twists, bit for bit
const KlModel *kl_sim_model(const KlSim *sim);

// External input, part of the reproducible state: wrenches (at the centre of mass) add up and last one
// step; efforts [N], [N m] and targets [m], [rad] stay until set anew. KL_ERR_ARGUMENT for an index out
// of range, a value that is not finite, or a joint without that actuation; a joint that follows a
// reference takes no target.
KlStatus kl_sim_apply_wrench(KlSim *sim, int32_t body, const double wrench[6]);
KlStatus kl_sim_set_effort(KlSim *sim, int32_t joint, const double *effort);   // (dofs), KL_ACTUATION_FORCE
KlStatus kl_sim_set_target(KlSim *sim, int32_t joint, const double *target);   // (dofs), PID and PD
KlStatus kl_sim_set_pose(KlSim *sim, int32_t body, const double pose[7]);
KlStatus kl_sim_set_twist(KlSim *sim, int32_t body, const double twist[6]);

// Checkpoints: everything a continued run needs to give the same bits, with the solver's warm start.
// They load into a simulation of the same model with the same solver set; KL_ERR_FORMAT, KL_ERR_ARGUMENT.
size_t kl_sim_state_size(const KlSim *sim);
void kl_sim_save(const KlSim *sim, void *state);              // (state_size bytes)
// Fits the model it was taken from, or the same model with other force events (matched by index).
KlStatus kl_sim_load(KlSim *sim, const void *state, size_t size);

typedef enum KlFieldType { KL_FIELD_F64 = 0, KL_FIELD_I32, KL_FIELD_U64, KL_FIELD_F32 } KlFieldType;
// Everything worth showing: name, unit, pointer, shape. Pointers hold until the sim is destroyed; `rows`
// is the capacity and *row_count the rows that are valid now (NULL: all).
typedef struct KlField {
    const char *id, *unit, *text;
    const void *data;
    int32_t rows, columns;
    const int32_t *row_count;
    KlFieldType type;
} KlField;
// pose (n_b x 7), twist (n_b x 6), joint_position, joint_velocity, joint_effort, contact_position (n_c x 3),
// contact_frame (n_c x 9, rows t o n), contact_gap, contact_bodies (x 2), contact_mode, contact_force (x 3,
// on body B, world) [N], contact_friction, contact_id, joint_wrench (n_j x 6, on the follower, world),
// lambda, velocity, metrics (1 x kl_metric_count), stage_time (1 x stages) [s] ...
int32_t kl_sim_field_count(const KlSim *sim);
const KlField *kl_sim_field(const KlSim *sim, int32_t index);
const KlField *kl_sim_find_field(const KlSim *sim, const char *id);  // NULL when unknown
double kl_sim_metric(const KlSim *sim, const char *id);              // NaN when unknown

// Moves the bodies so that all loops close (Gauss-Newton on the joint residuals, minimum-norm steps).
// KL_ERR_SCENE, and no body moved, when |f_J| stays above `tolerance` [m, rad]; `report` may be NULL.
typedef struct KlAssembly {
    double residual_before, residual_after;  // |f_J| L-infinity
    int32_t iterations;
    int32_t rank;     // of J_J at the result
    int32_t mobility; // 6 n_b - rank
} KlAssembly;
KlStatus kl_sim_assemble(KlSim *sim, double tolerance, KlAssembly *report);
// The same for a scene's start poses, as after an import. The scene must have no simulation on its model.
KlStatus kl_scene_close_loops(KlScene *scene, double tolerance, KlAssembly *report);

// ------------------------------------------------------------------------------------------------
// Benchmarks: categories and performance profiles (pure functions, no I/O)
// ------------------------------------------------------------------------------------------------

typedef enum KlCategory {
    KL_CATEGORY_UNCONSTRAINED = 0, KL_CATEGORY_INDEPENDENT_JOINTS, KL_CATEGORY_REDUNDANT_JOINTS,
    KL_CATEGORY_DENSE_JOINTS, KL_CATEGORY_SINGLE_CONTACT, KL_CATEGORY_SPARSE_CONTACTS,
    KL_CATEGORY_DENSE_CONTACTS, KL_CATEGORY_DENSE_CONSTRAINTS, KL_CATEGORY_COUNT
} KlCategory;
const char *kl_category_name(KlCategory c);  // e.g. "redundant-joints"
KlStatus kl_problem_category(const KlProblem *problem, KlCategory *category);

typedef struct KlProfileDef {
    int32_t problems, solvers;
    const double *measure;   // (problems x solvers) >= 0; NaN = failed
    bool floor;              // Dingle-Higham floor for residuals
    int32_t points;          // samples of tau in the result
    double tau_max;          // largest ratio
} KlProfileDef;
// rho (solvers x points): share of problems within ratio tau[k] of the best; tau is log-spaced from 1.
KlStatus kl_profile_compute(const KlProfileDef *def, double *tau, double *rho);

#ifdef __cplusplus
}
#endif
#endif
