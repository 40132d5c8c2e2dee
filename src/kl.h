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

#define KL_VERSION "0.1.0"  // major.minor.patch; 0.y promises nothing between minor versions

// ------------------------------------------------------------------------------------------------
// Status and errors
// ------------------------------------------------------------------------------------------------

// How a call ended. Results of a call that did not end in KL_OK are not to be read, unless it says so.
typedef enum KlStatus {
    KL_OK = 0,               // done
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
    KlStatus status;    // what the failing call returned
    char message[768];  // what was found and what is allowed, complete with file, line and path
    char file[256];     // the file or document name
    int32_t line;       // 1-based
    int32_t column;     // 1-based
    char path[128];     // the place inside the document, e.g. bodies[3].mass
} KlError;

// Never NULL; status KL_OK before the first failure. A success does not clear it. Loan until the next failing
// call of this thread.
const KlError *kl_last_error(void);
// Stable lower-case word, e.g. "scene"; "unknown" for anything else. Loan for ever.
const char *kl_status_name(KlStatus s);

// ------------------------------------------------------------------------------------------------
// Files: the library reads through this, so that a page can hand over dropped files
// ------------------------------------------------------------------------------------------------

// The caller's; it must outlive what was called with it.
typedef struct KlFiles {
    void *context;  // handed to both functions
    // Reads the whole of `path` into memory that `release` frees. KL_ERR_NOT_FOUND if there is none.
    KlStatus (*read)(void *context, const char *path, char **data, size_t *size);
    void (*release)(void *context, char *data);  // frees what read gave
} KlFiles;

// Files of the machine, by stdio; loan for ever. KL_ERR_NOT_FOUND, KL_ERR_IO, KL_ERR_MEMORY, KL_ERR_LIMIT above
// 256 MiB.
const KlFiles *kl_files_disk(void);

// ------------------------------------------------------------------------------------------------
// Parameters: every option of a solver is a row of its own table
// ------------------------------------------------------------------------------------------------

// Every value travels as a double.
typedef enum KlParamKind {
    KL_PARAM_REAL,    // any number in [min, max]
    KL_PARAM_INT,     // a whole number
    KL_PARAM_BOOL,    // 0 or 1
    KL_PARAM_CHOICE,  // index into `choices`
} KlParamKind;

// One option: what a slider, a help text and a check of its value need. Loan for ever.
typedef struct KlParam {
    const char *id;       // e.g. "omega"
    const char *title;    // e.g. "Relaxation factor"
    const char *unit;     // "" when dimensionless
    const char *text;     // one or two sentences: meaning, source
    KlParamKind kind;     // what values it takes
    double initial, min, max;  // default, and the ends of the allowed range, in `unit`
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

// How much a problem holds; n_d = joint_rows + limit_count + 3 contact_count.
typedef struct KlProblemSize {
    int32_t joint_rows, joint_count, limit_count, contact_count;  // n_jd, n_j, n_l, n_c, each >= 0
    int32_t body_count;  // 0: explicit form
    int32_t nonzeros;    // explicit form: entries of D
} KlProblemSize;

// Storage for one problem of this size, arrays zeroed, block_start filled for limits and contacts
// (joint entries of block_start are the caller's). KL_ERR_ARGUMENT for negative counts, KL_ERR_LIMIT above
// 10^6 rows, KL_ERR_MEMORY.
KlStatus kl_problem_create(const KlProblemSize *size, KlProblem **problem);
// Frees a problem of any origin that is the caller's; NULL is allowed.
void kl_problem_destroy(KlProblem *problem);
// An explicit problem from a dense (dim x dim) row-major D [1/kg ...], v_f (dim) [m/s, rad/s], mu (contact_count)
// and dt [s]; all joint rows are one block. What is given is copied. KL_ERR_ARGUMENT, KL_ERR_LIMIT, KL_ERR_MEMORY,
// and what kl_problem_check says.
KlStatus kl_problem_from_dense(int32_t joint_rows, int32_t limit_count, int32_t contact_count,
                               const double *delassus, const double *free_velocity,
                               const double *friction, double dt, KlProblem **problem);
// A deep copy that the caller destroys, as of a loan that must last. KL_ERR_MEMORY.
KlStatus kl_problem_clone(const KlProblem *problem, KlProblem **copy);
// Every invariant: finite, mu >= 0, R >= 0, starts ascending, D with positive diagonal ...; KL_ERR_SCENE.
KlStatus kl_problem_check(const KlProblem *problem);
// Our JSON form ({"joint_rows", "limits", "contacts", "mu", "dt", "D", "v_f"[, "J", "M" ...]}; docs/data-format.md), checked.
// `index` picks one of a list, `count` (may be NULL) tells how many there are, `name` is used in messages.
// KL_ERR_FORMAT for syntax, KL_ERR_SCENE for content, KL_ERR_NOT_FOUND for the index, KL_ERR_MEMORY.
KlStatus kl_problem_parse_json(const char *text, size_t size, const char *name, int32_t index,
                               int32_t *count, KlProblem **problem);

// D + diag(R), (dim x dim) row-major. O(dim^2) memory is the caller's.
void kl_problem_delassus(const KlProblem *problem, double *delassus);
// v+ = (D + diag(R)) lambda + v_f, (dim) [m/s, rad/s] from lambda (dim) [N s, N m s]. O(dim) in body form.
void kl_problem_velocity(const KlProblem *problem, const double *lambda, double *velocity);
// The Euclidean projection of x (dim) on K = R^n_jd x R+^n_l x Coulomb's cones, in place.
void kl_problem_project(const KlProblem *problem, double *x);
// The same on the dual cone K* = {0} x R+^n_l x the cones of 1 / mu.
void kl_problem_project_dual(const KlProblem *problem, double *x);

// Residuals of one lambda, L-infinity, in the paper's mixed units [m/s, rad/s, N s, N m s]; natural_relative has
// none. Paper: Sec. on termination and performance metrics, corrected (docs/concepts.md).
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

// All of them for lambda (dim) [N s, N m s], which need not lie in K. Costs one product with D; cannot fail: what
// is not finite shows as such.
void kl_problem_residuals(const KlProblem *problem, const double *lambda, KlResiduals *residuals);

// Where lambda (dim) is wrong: the scale-free natural map of each block, natural_relative (block_count) in the order of
// joints, limits, contacts; their largest is r_nat_rel. Costs one product with D; cannot fail.
void kl_problem_block_residuals(const KlProblem *problem, const double *lambda, double *natural_relative);

// What a mechanic asks of a problem: is it determined, and how well conditioned?
typedef struct KlCondition {
    int32_t rank;            // of D, by symmetric eigenvalues > dim * eps * max
    int32_t jacobian_rank;   // of J (= rank of the hard part of D)
    double eigen_min;        // smallest eigenvalue above the rank tolerance
    double eigen_max;        // largest eigenvalue of D [1/kg ...]
    double condition;        // eigen_max / eigen_min
    double density;          // share of non-zeros in D
} KlCondition;
// Rank and spectrum of D + diag(R), which is symmetrised first. O(dim^3); KL_ERR_LIMIT above 3000 rows, KL_ERR_MEMORY.
KlStatus kl_problem_condition(const KlProblem *problem, KlCondition *condition);
// Its eigenvalues, (dim) ascending. O(dim^3); KL_ERR_LIMIT above 3000 rows, KL_ERR_MEMORY.
KlStatus kl_problem_spectrum(const KlProblem *problem, double *eigenvalues);
// |lambda - lambda_min_norm| / |lambda| (L2), in [0, 1]: the share of lambda (dim) that moves nothing, as when a
// closed loop presses against itself. O(dim^3); KL_ERR_LIMIT above 3000 rows, KL_ERR_MEMORY.
KlStatus kl_problem_internal_share(const KlProblem *problem, const double *lambda, double *share);

// ------------------------------------------------------------------------------------------------
// Solvers
// ------------------------------------------------------------------------------------------------

// How a solve ended; each of these is a result, not an error.
typedef enum KlOutcome {
    KL_OUTCOME_CONVERGED = 0,   // the stopping test holds
    KL_OUTCOME_MAX_ITERATIONS,  // the limit came first, or the caller finished early
    KL_OUTCOME_STAGNATED,       // at rest without the stopping test: nothing moved for 200 iterations
    KL_OUTCOME_DIVERGED,        // not finite, a failed factorization, or a residual grown 10^12 times
} KlOutcome;
// "converged", "max-iterations", "stagnated", "diverged"; "unknown" for anything else. Loan for ever.
const char *kl_outcome_name(KlOutcome o);

// A solver of the list, its texts and its options. Loan for ever.
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
    const KlParam *params;  // (param_count) every option
    int32_t param_count;    // >= 3: max_iterations, tolerance and warm_start are every solver's
} KlSolverInfo;

// The list of solvers, in a fixed order: how many, one of them (NULL out of range), the index of an id (-1 when
// unknown).
int32_t kl_solver_kind_count(void);
const KlSolverInfo *kl_solver_kind(int32_t index);
int32_t kl_solver_kind_find(const char *id);

// One row per iteration, when asked for.
typedef struct KlTraceRow {
    int32_t iteration;                     // 1 is the first
    double primal, dual, complementarity;  // the solver's own stopping residuals
    double natural_relative;               // r_nat_rel of the iterate; NaN unless kl_solver_trace_natural
    double penalty;                        // rho, or omega for splitting
} KlTraceRow;

// Where a solve writes its rows; a new solve starts at row 0.
typedef struct KlTrace {
    KlTraceRow *rows;  // (capacity) the caller's
    int32_t capacity;  // >= 0
    int32_t count;     // rows written; rows past capacity are counted in `dropped`
    int32_t dropped;   // rows that found no place
} KlTrace;

typedef struct KlSolver KlSolver;  // a method with its parameters, workspace and warm-start memory

// Values of the parameter "warm_start": the first guess of a solve.
typedef enum KlWarmStart {
    KL_WARM_NONE = 0,   // lambda^0 = 0
    KL_WARM_PREVIOUS,   // the last solve's lambda of the same block id, projected on K
    KL_WARM_RESCALED,   // the same, scaled by the best multiple for the new problem
} KlWarmStart;

// A solver of the list by its id, all parameters at their defaults. KL_ERR_NOT_FOUND lists the known ids;
// KL_ERR_MEMORY.
KlStatus kl_solver_create(const char *id, KlSolver **solver);
// Frees it and what its solutions lent; NULL is allowed. A simulation's own solver is the simulation's.
void kl_solver_destroy(KlSolver *solver);
// Its row of the list; loan for ever.
const KlSolverInfo *kl_solver_info(const KlSolver *solver);

// Parameters are rows of the solver's own table; "max_iterations", "tolerance" and "warm_start"
// (none|previous|rescaled) are in each. KL_ERR_NOT_FOUND for an unknown name, KL_ERR_ARGUMENT for a value out of
// range or not whole where it must be. They hold from the next solve on.
KlStatus kl_solver_set(KlSolver *solver, const char *param, double value);
// The same from a word: "1e-6", "true", the name of a choice.
KlStatus kl_solver_set_text(KlSolver *solver, const char *param, const char *value);
// The value now; NaN when there is no such parameter.
double kl_solver_get(const KlSolver *solver, const char *param);
// The paper's presets: "high-precision" (10^4 iterations, the method's own tolerance: 1e-12, or 1e-10 where
// it is relative) or "high-throughput" (10^3, 1e-6). KL_ERR_NOT_FOUND.
KlStatus kl_solver_preset(KlSolver *solver, const char *preset);
// Sizes the workspace, so that later solves up to this size allocate nothing. Ends a solve that has begun.
// KL_ERR_ARGUMENT for negative counts, KL_ERR_LIMIT, KL_ERR_MEMORY.
KlStatus kl_solver_reserve(KlSolver *solver, const KlProblemSize *size);
// Drops the warm-start memory: the next solve starts as a first one.
void kl_solver_forget(KlSolver *solver);

// What a solve found. The arrays are the solver's.
typedef struct KlSolution {
    KlOutcome outcome;       // how it ended
    int32_t iterations;      // done
    int32_t factorizations;  // of D or of the KKT matrix
    double time;             // [s] wall, of the solve
    const double *lambda;    // (dim) reactions [N s, N m s]; loan until the next solve
    const double *velocity;  // (dim) v+ = D lambda + v_f [m/s, rad/s], to rounding; loan until the next solve
    double penalty;        // last rho (ADMM) or omega (splitting)
} KlSolution;

// Solves to the end. `trace` may be NULL. Not converging is an outcome, not an error; KL_ERR_MEMORY
// when the workspace must grow and cannot, KL_ERR_ARGUMENT when the problem lacks what an option needs (admm-ncp-plus
// with factorization = iterative: bodies, where a problem has D alone). The problem is not changed, and needs to last
// until the solve has ended.
KlStatus kl_solver_solve(KlSolver *solver, const KlProblem *problem, KlTrace *trace, KlSolution *solution);
// The same in slices, for a page that must stay responsive: begin, then advance until *done, then finish. The
// slices change no bit. KL_ERR_ARGUMENT from advance and finish when no solve has begun; finishing early gives the
// iterate so far with the outcome max-iterations. Begin fails as solve does.
KlStatus kl_solver_begin(KlSolver *solver, const KlProblem *problem, KlTrace *trace);
KlStatus kl_solver_advance(KlSolver *solver, int32_t iterations, bool *done);
KlStatus kl_solver_finish(KlSolver *solver, KlSolution *solution);
// Fills KlTraceRow.natural_relative from the next solve on; costs one product with D a row.
void kl_solver_trace_natural(KlSolver *solver, bool on);

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
    KL_JOINT_KIND_COUNT     // how many
} KlJointKind;

// A kind of joint. Frames, rows and coordinates: docs/concepts.md.
typedef struct KlJointInfo {
    const char *id;      // "revolute"
    const char *title;   // "Revolute"
    int32_t dofs;        // d_j; constraint rows m_j = 6 - d_j
    bool angular[6];     // per coordinate: [rad] (true) or [m]
} KlJointInfo;
// Loan for ever; NULL for a value that is no kind.
const KlJointInfo *kl_joint_kind(KlJointKind kind);
// The kind of an id; KL_ERR_NOT_FOUND lists the known ids.
KlStatus kl_joint_kind_find(const char *id, KlJointKind *kind);

// A rigid body; its frame sits at its centre of mass.
typedef struct KlBodyDef {
    const char *name;       // unique, not empty
    double mass;            // [kg] > 0, finite
    double inertia[9];      // (3 x 3) body frame about the centre of mass, SPD, triangle inequality [kg m^2]
    double pose[7];         // start pose
    double twist[6];        // start twist
} KlBodyDef;

// What drives a joint; all its degrees of freedom alike.
typedef enum KlActuation {
    KL_ACTUATION_PASSIVE = 0,  // nothing but damping
    KL_ACTUATION_FORCE,        // effort set by the user
    KL_ACTUATION_PID,          // explicit joint-space PID on a reference
    KL_ACTUATION_PD_IMPLICIT,  // implicit PD: effort solved with the step, bounded by effort_limit
} KlActuation;

// A joint between two bodies, or a body and the world: 6 - d_j constraint rows in the follower's joint frame.
typedef struct KlJointDef {
    const char *name;           // unique, not empty
    KlJointKind kind;           // which degrees of freedom it leaves
    int32_t base, follower;     // body indices; base -1 = world (unary joint)
    double base_frame[7];       // joint frame in the base body's frame (world when base = -1)
    double follower_frame[7];   // joint frame in the follower's frame
    double lower[6], upper[6];  // per degree of freedom, -/+ infinity = none [m], [rad]
    KlActuation actuation;      // what drives it
    double kp[6], ki[6], kd[6]; // gains per degree of freedom [N/m, N m/rad], the same / s, [N s/m, N m s/rad]
    double effort_limit[6];     // [N], [N m]; infinity = none
    double armature[6];         // reflected inertia [kg], [kg m^2], PD_IMPLICIT only
    double damping[6];          // passive viscous [N s/m], [N m s]
    int32_t reference;          // index of a reference trajectory, -1 = hold `target`
    double target[6];           // [m], [rad], held without a reference
} KlJointDef;

// Shapes. Sizes are in [m].
typedef enum KlGeomKind {
    KL_GEOM_SPHERE = 0,  // size[0] radius
    KL_GEOM_BOX,         // size: full edge lengths
    KL_GEOM_CAPSULE,     // size[0] radius, size[1] length of the cylinder part, along z
    KL_GEOM_CYLINDER,    // size[0] radius, size[1] length, along z
    KL_GEOM_PLANE,       // half space z <= 0 of its frame; world only
    KL_GEOM_CONVEX,      // convex hull of a mesh
    KL_GEOM_MESH,        // triangle mesh
    KL_GEOM_KIND_COUNT   // how many
} KlGeomKind;
// "sphere", "box" ...; "unknown" for anything else. Loan for ever.
const char *kl_geom_kind_name(KlGeomKind kind);

// A shape on a body or in the world, for contacts and for the eye.
typedef struct KlGeomDef {
    const char *name;   // unique, not empty
    int32_t body;       // -1 = world
    KlGeomKind kind;    // its shape
    double pose[7];     // in the body's frame
    double size[3];     // [m], as the kind says
    int32_t mesh;       // index for CONVEX and MESH, else -1
    uint32_t group;     // bits: what I am
    uint32_t mask;      // bits: what I collide with; both sides must agree
    double friction;    // mu >= 0; a pair takes the geometric mean
    double restitution; // in [0, 1]; a pair takes the larger
    bool visual_only;   // drawn, never collided
    float color[4];     // RGBA; alpha 0 = chosen by the viewer
} KlGeomDef;

// A triangle mesh that geoms may share.
typedef struct KlMeshDef {
    const char *name;         // unique, not empty
    const double *vertices;   // (vertex_count x 3) [m]
    int32_t vertex_count;     // >= 3
    const int32_t *triangles; // (triangle_count x 3) counter-clockwise seen from outside
    int32_t triangle_count;   // 0 is enough for a hull
} KlMeshDef;

// A looped or clamped reference for the actuated degrees of freedom of one joint.
typedef struct KlReferenceDef {
    const char *name;      // unique, not empty
    int32_t dofs, samples; // of the joint, and points in time
    const double *times;   // (samples) ascending [s]
    const double *values;  // (samples x dofs) [m], [rad]; cubic Hermite between samples
    bool loop;             // repeats after the last time; otherwise holds the last value
} KlReferenceDef;

// In KlForceEvent.body: whichever body's centre of mass is highest (against gravity; along +z without
// gravity) at the first step of the event. The choice is part of the simulated state.
#define KL_BODY_HIGHEST (-2)

// A force on a body that ramps linearly, as an experiment applies it.
typedef struct KlForceEvent {
    int32_t body;            // index, or KL_BODY_HIGHEST
    double start, end;       // [s]; applied for start <= t < end
    double from[6], to[6];   // wrench at start and at end [N, N m]; torque about the centre of mass
    double point[3];         // where the force acts, in the body's frame (0 = centre of mass)
} KlForceEvent;

typedef struct KlSoftening {  // MuJoCo's seven, per constraint kind (math: softening)
    bool on;            // false: hard
    double d0, dw;      // impedance at 0 and at the width, in [1e-4, 0.9999]
    double width;       // w [m], [rad]
    double midpoint;    // m in [1e-4, 0.9999]
    double power;       // p >= 1
    double time_const;  // T [s] >= 2 dt
    double damp_ratio;  // beta
} KlSoftening;

// Impedance d(|r| / w) at the constraint residual r [m], [rad]: d0 at rest, d_w from the width on, between them a
// sigmoid of power p about the midpoint (MuJoCo's solimp).
double kl_softening_impedance(const KlSoftening *softening, double residual);

// How poses follow from twists over a step.
typedef enum KlIntegrator {
    KL_INTEGRATOR_EULER = 0,  // semi-implicit Euler, rotations by the exponential map
    KL_INTEGRATOR_MOREAU,     // Moreau's midpoint: constraints are met half a step ahead
} KlIntegrator;

// Everything about stepping that a scene or a run may change.
typedef struct KlSettings {
    double dt;                  // [s] > 0
    double gravity[3];          // [m/s^2]
    KlIntegrator integrator;    // Euler unless set
    double baumgarte_joint;     // alpha in [0, 1]
    double baumgarte_limit;     // beta in [0, 1]
    double baumgarte_contact;   // gamma in [0, 1]
    double margin;              // delta: penetration that is tolerated (> 0) or inflation (< 0) [m]
    double detection_distance;  // speculative: contacts are made up to this gap [m] >= 0
    double cull_distance;       // contacts of one pair nearer than this are merged [m]
    int32_t max_contacts;       // a step that needs more fails with KL_ERR_LIMIT; 0 = chosen from the model
    KlSoftening soft_joint, soft_limit, soft_contact;  // of each kind of constraint
} KlSettings;
// The paper's values: hard constraints without stabilisation, dt 1 ms, g -9.81 m/s^2 along z, Euler.
void kl_settings_default(KlSettings *settings);
// KL_ERR_SCENE names the first field that is out of its range, and what it may be.
KlStatus kl_settings_check(const KlSettings *settings);

typedef struct KlModel KlModel;      // what a simulation runs on: frozen, may serve many simulations and threads
typedef struct KlBuilder KlBuilder;  // a model that is being put together

// A body of 1 kg and unit inertia at the origin, at rest; the name is to be set.
void kl_default_body_def(KlBodyDef *def);
// A passive revolute joint from the world without limits; name and follower are to be set.
void kl_default_joint_def(KlJointDef *def);
// A sphere of 0.1 m on the world that meets everything, mu 0.7, restitution 0; the name is to be set.
void kl_default_geom_def(KlGeomDef *def);
// No force on body 0 at its centre of mass, from 0 to 1 s.
void kl_default_force_event(KlForceEvent *def);

// An empty model with default settings; KL_ERR_MEMORY.
KlStatus kl_builder_create(KlBuilder **builder);
// Frees it with what was not finished; NULL is allowed.
void kl_builder_destroy(KlBuilder *builder);

// Each copies what it is given, checks it and appends it; `index` may be NULL. KL_ERR_SCENE names element and field
// and what is allowed, KL_ERR_LIMIT above 10^5 bodies, joints, geoms, meshes, references or events, KL_ERR_ARGUMENT
// after finish, KL_ERR_MEMORY. Bodies come before what refers to them.
KlStatus kl_builder_add_body(KlBuilder *builder, const KlBodyDef *def, int32_t *index);
KlStatus kl_builder_add_joint(KlBuilder *builder, const KlJointDef *def, int32_t *index);
KlStatus kl_builder_add_geom(KlBuilder *builder, const KlGeomDef *def, int32_t *index);
KlStatus kl_builder_add_mesh(KlBuilder *builder, const KlMeshDef *def, int32_t *index);
KlStatus kl_builder_add_reference(KlBuilder *builder, const KlReferenceDef *def, int32_t *index);
KlStatus kl_builder_add_event(KlBuilder *builder, const KlForceEvent *event);

// No contact between two bodies, of which one may be the world (-1). KL_ERR_SCENE, KL_ERR_LIMIT, KL_ERR_MEMORY.
KlStatus kl_builder_exclude(KlBuilder *builder, int32_t body_a, int32_t body_b);
// Overrides friction (>= 0) and restitution (in [0, 1]) of one pair of geoms. Errors as above.
KlStatus kl_builder_pair(KlBuilder *builder, int32_t geom_a, int32_t geom_b, double friction, double restitution);
// Replaces the settings; errors of kl_settings_check.
KlStatus kl_builder_set_settings(KlBuilder *builder, const KlSettings *settings);
// Whether bodies that share a joint collide; false unless set.
KlStatus kl_builder_set_neighbours_collide(KlBuilder *builder, bool on);
// Freezes what was added into a model that the caller destroys; the builder is then empty and takes no more.
// KL_ERR_SCENE when there is no body, KL_ERR_MEMORY.
KlStatus kl_builder_finish(KlBuilder *builder, KlModel **model);
// Frees a model that is the caller's; NULL is allowed. Its simulations must be gone.
void kl_model_destroy(KlModel *model);

// What a model amounts to.
typedef struct KlModelInfo {
    int32_t bodies, joints, geoms, meshes;  // counts
    int32_t joint_rows;      // n_jd
    int32_t actuated_dofs, passive_dofs;    // of joints with and without a drive
    int32_t loops;           // independent cycles of the body-joint graph (world a node)
    double mass_ratio;       // largest / smallest body mass
    double total_mass;       // [kg]
    double total_inertia;    // trace of M at start, I_total of the early-stopping rule
    bool fixed_base;         // some joint anchors to the world
} KlModelInfo;
// Counts, masses and loops of the frozen model.
void kl_model_info(const KlModel *model, KlModelInfo *info);
// What a model was made of, in the order it was added. Loans for the model's life; NULL out of range.
const KlBodyDef *kl_model_body(const KlModel *model, int32_t i);
const KlJointDef *kl_model_joint(const KlModel *model, int32_t i);
const KlGeomDef *kl_model_geom(const KlModel *model, int32_t i);
const KlMeshDef *kl_model_mesh(const KlModel *model, int32_t i);
const KlReferenceDef *kl_model_reference(const KlModel *model, int32_t i);
int32_t kl_model_event_count(const KlModel *model);
const KlForceEvent *kl_model_event(const KlModel *model, int32_t i);
const KlSettings *kl_model_settings(const KlModel *model);
// Index of a name, -1 when unknown.
int32_t kl_model_find_body(const KlModel *model, const char *name);
int32_t kl_model_find_joint(const KlModel *model, const char *name);
int32_t kl_model_find_geom(const KlModel *model, const char *name);

// ------------------------------------------------------------------------------------------------
// Scenes and experiments (JSON; the schema is scenes/schema.json)
// ------------------------------------------------------------------------------------------------

// One run of an experiment: a name, and what it changes in the scene.
typedef struct KlRunDef {
    const char *id, *title, *text;  // loans for the scene's life
    double duration;        // [s] > 0
    KlSettings settings;    // the scene's, as changed by the run
    const KlForceEvent *events;  // (event_count) in place of the scene's
    int32_t event_count;    // >= 0
    const char *preset;     // solver preset of this run: the scene's unless the run names another
    int32_t max_iterations; // solver iterations, 0 = the preset's
    double tolerance;       // solver tolerance, 0 = the preset's
} KlRunDef;

typedef struct KlScene KlScene;  // a document that was read: model, settings, runs
// A scene document holds a model, its settings, and runs (at least one, "default"). An experiment
// document names or embeds a scene and adds runs, solvers and a preset. `name` is the path: includes and
// meshes resolve beside it through `files`; cycles are errors. The caller destroys the result. KL_ERR_FORMAT for
// JSON's syntax, KL_ERR_SCENE for content (kl_last_error has file, line and path), KL_ERR_NOT_FOUND and KL_ERR_IO for
// files, KL_ERR_LIMIT, KL_ERR_MEMORY.
KlStatus kl_scene_load(const char *path, const KlFiles *files, KlScene **scene);
KlStatus kl_scene_parse(const char *text, size_t size, const char *name, const KlFiles *files, KlScene **scene);
// A scene with one run, "default", around a model made by a builder; on success the scene owns the model.
// KL_ERR_MEMORY.
KlStatus kl_scene_from_model(const char *id, const char *title, const char *text, KlModel *model, KlScene **scene);
// Frees it with its model; NULL is allowed.
void kl_scene_destroy(KlScene *scene);

// What the document says. Strings, runs and the model are loans for the scene's life; NULL out of range.
const char *kl_scene_id(const KlScene *scene);
const char *kl_scene_title(const KlScene *scene);
const char *kl_scene_text(const KlScene *scene);
bool kl_scene_surrogate(const KlScene *scene);  // true: it stands in for a system that is not public
int32_t kl_scene_run_count(const KlScene *scene);
const KlRunDef *kl_scene_run(const KlScene *scene, int32_t run);
int32_t kl_scene_find_run(const KlScene *scene, const char *id);     // -1 when unknown
int32_t kl_scene_solver_count(const KlScene *scene);                 // suggested solvers
const char *kl_scene_solver(const KlScene *scene, int32_t i);
const char *kl_scene_preset(const KlScene *scene);                   // "high-precision" by default
const KlModel *kl_scene_model(const KlScene *scene);                 // as in the document

// Where a viewer should stand and look [m], world frame; false (and untouched) when the scene does not say.
bool kl_scene_camera(const KlScene *scene, double position[3], double target[3]);
// What loading changed without being an error (e.g. zero-area triangles dropped from a mesh); loans.
int32_t kl_scene_note_count(const KlScene *scene);
const char *kl_scene_note(const KlScene *scene, int32_t i);
// A model with a run's settings, events and body changes applied; the caller destroys it. KL_ERR_ARGUMENT when there
// is no such run, KL_ERR_SCENE when the changes make no valid model, KL_ERR_MEMORY.
KlStatus kl_scene_model_for_run(const KlScene *scene, int32_t run, KlModel **model);
// The same with other settings than the run's (another time step, gravity ...).
KlStatus kl_scene_model_with(const KlScene *scene, int32_t run, const KlSettings *settings, KlModel **model);
// Lossless, canonical, pretty JSON of a model as a scene: read again it gives the same bits. KL_ERR_MEMORY.
// `size` is without the closing zero; the caller frees `text` with kl_free.
KlStatus kl_scene_write_json(const KlScene *scene, char **text, size_t *size);
// Frees text that the library gave away; NULL is allowed.
void kl_free(void *memory);

// ------------------------------------------------------------------------------------------------
// Import: URDF (with loop closures from a yaml beside it) and MJCF
// ------------------------------------------------------------------------------------------------

// How the root link stands.
typedef enum KlImportBase {
    KL_BASE_AUTO = 0,  // URDF fixed; MJCF as its free joints say
    KL_BASE_FIXED,     // joined to the world
    KL_BASE_FREE,      // floating
} KlImportBase;
// What the file's motors become.
typedef enum KlImportMotors {
    KL_MOTORS_HOLD = 0,  // implicit PD on the start pose
    KL_MOTORS_FORCE,     // efforts that the user sets
    KL_MOTORS_PASSIVE,   // none
} KlImportMotors;

// What becomes of a geom whose mesh is missing or cannot be read.
typedef enum KlImportMissing {
    KL_MISSING_NONE = 0,  // it is left out
    KL_MISSING_BOX,       // a box with the link's mass and inertia; 0.1 m where the file gives none
} KlImportMissing;

// Choices of an import; start from kl_default_import_options.
typedef struct KlImportOptions {
    const char *loops;       // path of the loop closures; NULL: robot.yaml beside the URDF, if there is one
    KlImportBase base;       // how the root link stands
    KlImportMotors motors;   // what drives the joints that have motors
    KlImportMissing missing_mesh; // what stands in for a mesh that is not there
    bool keep_fixed;         // keep fixed joints as joints instead of merging their links
    bool self_collision;     // default false: the mechanism collides with the world only
    bool mesh_collision;     // collide triangle meshes as they are instead of their convex hulls
    bool ground;             // add a ground plane just below the lowest point of the start pose
    int32_t decimate;        // meshes keep at most this many triangles, by quadric error; 0, the default: all
    int32_t keyframe;        // MJCF: which key the scene starts in, from 1; 0: the file's own pose; default 1
    double placeholder_mass; // [kg] given to moving links without mass that cannot be removed; default 1e-3
    double density;          // [kg/m^3] for inertia from geometry; default 1000
} KlImportOptions;
// No choice made: base AUTO, motors HOLD, fixed joints merged, convex hulls, no ground.
void kl_default_import_options(KlImportOptions *options);
// The same choices but `loops` as a table, for menus and commands: how many, one of them (NULL out of range; its id is
// the member's name), and its value set. KL_ERR_NOT_FOUND for an unknown id, KL_ERR_ARGUMENT outside the range.
int32_t kl_import_param_count(void);
const KlParam *kl_import_param(int32_t index);
KlStatus kl_import_options_set(KlImportOptions *options, const char *id, double value);

// What was changed, assumed or could not be carried over; never silently.
typedef struct KlImportNote {
    const char *file;     // loans for the report's life
    int32_t line;         // 1-based, 0 when unknown
    const char *element;  // e.g. link[hip]
    const char *text;     // what, and the remedy where there is one
    bool lost;            // true: something of the file is not in the scene
} KlImportNote;
typedef struct KlImportReport KlImportReport;  // the notes of one import
// How many, one of them (NULL out of range), and the end of the report with all its notes; NULL is allowed there.
int32_t kl_import_note_count(const KlImportReport *report);
const KlImportNote *kl_import_note(const KlImportReport *report, int32_t index);
void kl_import_report_destroy(KlImportReport *report);

// Reads a .urdf or .xml (MJCF or URDF, told by its root element) and what it refers to through `files`.
// Both results are the caller's; the report is set on success only. Loops are not closed yet: see
// kl_scene_close_loops; what is carried over, docs/import.md. KL_ERR_FORMAT for XML's or YAML's syntax, KL_ERR_SCENE for
// content, KL_ERR_ARGUMENT for options, KL_ERR_NOT_FOUND and KL_ERR_IO for files, KL_ERR_LIMIT, KL_ERR_MEMORY.
KlStatus kl_import(const char *path, const KlFiles *files, const KlImportOptions *options, KlScene **scene,
                   KlImportReport **report);

// ------------------------------------------------------------------------------------------------
// Simulation
// ------------------------------------------------------------------------------------------------

typedef struct KlSim KlSim;  // a model in motion: state, contacts, the dual problem, its solver, measurements

// What a contact does after a step, told by its reaction and velocity.
typedef enum KlContactMode {
    KL_MODE_OPEN = 0,   // no reaction
    KL_MODE_STICK = 1,  // inside the cone
    KL_MODE_SLIP = 2,   // on its surface, and moving
} KlContactMode;

// A metric of one step (kl_sim_metrics), in the order of kl_metric_kind; see METRIC in sim/metrics.h. Loan for ever.
typedef struct KlMetricInfo {
    const char *id, *title, *unit, *text;  // e.g. "r_dual", its title, "m/s, rad/s", what it is
    bool log_scale;                        // a plot should be logarithmic
} KlMetricInfo;
// How many metrics, one of them (NULL out of range), the index of an id (-1 when unknown).
int32_t kl_metric_count(void);
const KlMetricInfo *kl_metric_kind(int32_t index);
int32_t kl_metric_find(const char *id);

// Stages of a step in the order they run; names for timing tables, "" out of range. Loans for ever. The last one,
// "measure", is none of the step: its time is what metrics asked for since have cost, 0 while nobody has asked.
int32_t kl_stage_count(void);
const char *kl_stage_name(int32_t stage);
// Whether a step reads the clock after every stage, as it does at first, or times its solve alone: stage_time of the
// other stages and the metric t_step are NaN then. A reading takes about a 400th of the shortest steps.
void kl_sim_time_stages(KlSim *sim, bool on);

// A simulation at step 0 of the model, which must outlive it. All memory of a step is taken here. KL_ERR_SCENE for an
// inertia that cannot be inverted, KL_ERR_MEMORY.
KlStatus kl_sim_create(const KlModel *model, KlSim **sim);
// Frees it with its solver; NULL is allowed.
void kl_sim_destroy(KlSim *sim);
// Back to step 0, bit for bit: start state, no input, no warm start. The solver and its parameters stay.
void kl_sim_reset(KlSim *sim);
// The solver that drives: "admm-ncp-fp" unless set ("newton-ncp" where joints and max_contacts ask for more than 8192
// rows); a new one has its default parameters. On KL_ERR_NOT_FOUND or KL_ERR_MEMORY the old one stays.
KlStatus kl_sim_set_solver(KlSim *sim, const char *id);
// That solver, to set its parameters; owned by the simulation, a loan until the next kl_sim_set_solver.
KlSolver *kl_sim_solver(KlSim *sim);
// A trace that each solve fills anew, the caller's; NULL = off.
void kl_sim_set_trace(KlSim *sim, KlTrace *trace);

// One whole step: predict, collide, assemble, solve, react, integrate, commit.
// KL_ERR_DIVERGED (the solver's outcome, or a motion that is not finite) leaves the state before the step;
// KL_ERR_LIMIT tells the contacts needed. Any other outcome of the solver is stepped with.
KlStatus kl_sim_step(KlSim *sim);
// The same in two halves around the dual problem: begin builds kl_sim_problem, the caller solves it
// any way it likes, end applies lambda (dim) [N s, N m s] and integrates. Errors as above; KL_ERR_ARGUMENT from an end
// without a begin.
KlStatus kl_sim_begin_step(KlSim *sim);
KlStatus kl_sim_end_step(KlSim *sim, const double *lambda);
// The problem of the step that has begun, or of the last one; loan until the next begin or step.
const KlProblem *kl_sim_problem(const KlSim *sim);
// How the last kl_sim_step was solved, zeros after kl_sim_end_step; loan until the next step.
const KlSolution *kl_sim_solution(const KlSim *sim);

// Steps done times dt [s].
double kl_sim_time(const KlSim *sim);
// Steps done.
int64_t kl_sim_step_index(const KlSim *sim);
// Of step, time, poses and twists, bit for bit: equal on every deterministic build, WebAssembly included.
uint64_t kl_sim_hash(const KlSim *sim);
// The model it runs on; loan for the simulation's life.
const KlModel *kl_sim_model(const KlSim *sim);

// External input, part of the reproducible state: wrenches (at the centre of mass) add up and last one
// step; efforts [N], [N m] and targets [m], [rad] stay until set anew. KL_ERR_ARGUMENT for an index out
// of range, a value that is not finite, or a joint without that actuation; a joint that follows a
// reference takes no target.
KlStatus kl_sim_apply_wrench(KlSim *sim, int32_t body, const double wrench[6]);  // [N, N m], world frame
KlStatus kl_sim_set_effort(KlSim *sim, int32_t joint, const double *effort);   // (dofs), KL_ACTUATION_FORCE
KlStatus kl_sim_set_target(KlSim *sim, int32_t joint, const double *target);   // (dofs), PID and PD
// The state itself: a pose [m], whose quaternion is normalised and must not be zero; a twist [m/s, rad/s]. Errors as
// above.
KlStatus kl_sim_set_pose(KlSim *sim, int32_t body, const double pose[7]);
KlStatus kl_sim_set_twist(KlSim *sim, int32_t body, const double twist[6]);

// Checkpoints: everything a continued run needs to give the same bits, with the solver's warm start. Not while a
// step is half done.
size_t kl_sim_state_size(const KlSim *sim);
void kl_sim_save(const KlSim *sim, void *state);              // (state_size bytes)
// Fits a simulation of the model it was taken from, or of the same model with other force events (matched by
// index), with the same solver set. KL_ERR_FORMAT when it is no checkpoint, KL_ERR_ARGUMENT when it is another's.
KlStatus kl_sim_load(KlSim *sim, const void *state, size_t size);

// What `data` of a field points to.
typedef enum KlFieldType {
    KL_FIELD_F64 = 0,  // double
    KL_FIELD_I32,      // int32_t
    KL_FIELD_U64,      // uint64_t
    KL_FIELD_F32,      // float
} KlFieldType;
// Everything worth showing: name, unit, pointer, shape. Pointers hold until the sim is destroyed; `rows`
// is the capacity and *row_count the rows that are valid now (NULL: all).
typedef struct KlField {
    const char *id, *unit, *text;  // e.g. "pose", "m, -", what it is
    const void *data;              // (rows x columns) row-major
    int32_t rows, columns;         // capacity
    const int32_t *row_count;      // valid rows; NULL: all
    KlFieldType type;              // of the numbers
} KlField;
// pose (n_b x 7), twist (n_b x 6), joint_position, joint_velocity, joint_effort, contact_position (n_c x 3),
// contact_frame (n_c x 9, rows t o n), contact_gap, contact_bodies (x 2), contact_mode, contact_force (x 3,
// on body B, world) [N], contact_friction, contact_id, joint_wrench (n_j x 6, on the follower, world),
// lambda, velocity (as the solver has it, to rounding), stage_time (1 x stages) [s] ...
int32_t kl_sim_field_count(const KlSim *sim);
const KlField *kl_sim_field(const KlSim *sim, int32_t index);
const KlField *kl_sim_find_field(const KlSim *sim, const char *id);  // NULL when unknown
// Metrics of the last step in their own units (kl_metric_count), in the order of kl_metric_kind; a loan until the next
// step or change of the state. A step measures nothing: what is asked for first is measured then, asked again it is the
// same. So they can be had at any time until the next kl_sim_step or kl_sim_begin_step begins; from there on, also
// when that step fails, what has been asked for stays, else violations of joints and limits and energies are still
// those of the present state and the others NaN. After reset, load, set_pose and set_twist, which no step led to, these
// alone are known. "internal_share" is NaN here. Allocates nothing; O(rows + bodies).
const double *kl_sim_metrics(const KlSim *sim);
// One of them by its id, measured with those of its group alone; NaN for an unknown id. "internal_share" is computed
// in every call, O(dim^3), and allocates.
double kl_sim_metric(const KlSim *sim, const char *id);

// What closing the loops did.
typedef struct KlAssembly {
    double residual_before, residual_after;  // |f_J| L-infinity [m, rad]
    int32_t iterations;  // Gauss-Newton steps
    int32_t rank;     // of J_J at the result
    int32_t mobility; // 6 n_b - rank
} KlAssembly;
// Moves the bodies so that all loops close (Gauss-Newton on the joint residuals, minimum-norm steps).
// KL_ERR_SCENE, and no body moved, when |f_J| stays above `tolerance` [m, rad]; KL_ERR_ARGUMENT unless that is > 0;
// KL_ERR_MEMORY. `report` may be NULL.
KlStatus kl_sim_assemble(KlSim *sim, double tolerance, KlAssembly *report);
// The same for a scene's start poses, as after an import. The scene must have no simulation on its model.
KlStatus kl_scene_close_loops(KlScene *scene, double tolerance, KlAssembly *report);
// What an import and the closing of its loops did, as one JSON object: scene, bodies, joints, joint_rows, loops,
// actuated_dofs, residual_before, residual_after, rank, mobility, open, notes [{file, line, element, text, lost}].
// `open` says why loops stay open; NULL when they are closed. The caller frees `text` with kl_free; KL_ERR_MEMORY.
KlStatus kl_import_report_write_json(const KlScene *scene, const KlImportReport *report, const KlAssembly *assembly,
                                     const char *open, char **text);

// ------------------------------------------------------------------------------------------------
// Benchmarks: categories and performance profiles (pure functions, no I/O)
// ------------------------------------------------------------------------------------------------

// Kinds of problems by what constrains them, with n_c contacts, n_b bodies, d_j = n_jd / 6 n_b (paper: Sec. on the
// benchmark's samples).
typedef enum KlCategory {
    KL_CATEGORY_UNCONSTRAINED = 0,   // no rows
    KL_CATEGORY_INDEPENDENT_JOINTS,  // no contact, J of full rank
    KL_CATEGORY_REDUNDANT_JOINTS,    // no contact, rank of J < n_jd, d_j < 1
    KL_CATEGORY_DENSE_JOINTS,        // the same with d_j >= 1
    KL_CATEGORY_SINGLE_CONTACT,      // one contact
    KL_CATEGORY_SPARSE_CONTACTS,     // 2 to 2 n_b contacts
    KL_CATEGORY_DENSE_CONTACTS,      // more
    KL_CATEGORY_DENSE_CONSTRAINTS,   // contacts and joints, n_d > 6 n_b; wins where others hold too
    KL_CATEGORY_COUNT,               // how many
} KlCategory;
// E.g. "redundant-joints"; "unknown" for anything else. Loan for ever.
const char *kl_category_name(KlCategory c);
// KL_ERR_ARGUMENT for problems without bodies (body_count = 0) or with limits alone; KL_ERR_MEMORY.
KlStatus kl_problem_category(const KlProblem *problem, KlCategory *category);

// What a performance profile is made of (Dolan and More 2002).
typedef struct KlProfileDef {
    int32_t problems, solvers;  // >= 1 each
    const double *measure;   // (problems x solvers) >= 0; NaN = failed
    bool floor;              // Dingle-Higham floor for residuals
    int32_t points;          // samples of tau in the result, >= 2
    double tau_max;          // largest ratio, > 1
} KlProfileDef;
// rho (solvers x points): share of problems within ratio tau[k] of the best; tau (points) is log-spaced from 1. Failed
// runs are never within. KL_ERR_ARGUMENT names the number that is out of range.
KlStatus kl_profile_compute(const KlProfileDef *def, double *tau, double *rho);

#ifdef __cplusplus
}
#endif
#endif
