// The simulation from inside: the state a checkpoint carries, the work of one step, and the stages.
//
// The way of one step: predict (poses of evaluation, inertia, u_free) -> collide -> assemble (the
// KlProblem) -> solve -> react (u+ = u_free + M^-1 J^T lambda) -> integrate -> commit. A step works on `next`;
// `now` changes only when all of it is finite. Metrics are measured when somebody asks, from what the step has left.
#ifndef KL_SIM_SIM_H
#define KL_SIM_SIM_H

#include "base/memory.h"
#include "base/status.h"
#include "collide/collide.h"
#include "dual/problem.h"
#include "kl.h"
#include "model/model.h"
#include "sim/joints.h"
#include "sim/metrics.h"

enum { KL_FIELD_CAPACITY = 40 };

// In the order they run; measuring is no part of a step, but its time is told beside the others'.
typedef enum KlStage {
    KL_STAGE_PREDICT,
    KL_STAGE_COLLIDE,
    KL_STAGE_ASSEMBLE,
    KL_STAGE_SOLVE,
    KL_STAGE_REACT,
    KL_STAGE_INTEGRATE,
    KL_STAGE_COMMIT,
    KL_STAGE_MEASURE,
    KL_STAGE_COUNT
} KlStage;

// Views into one block of doubles, so that saving, restoring and committing are single copies.
typedef struct KlState {
    double *block;
    double *pose;        // (n_b x 7)
    double *twist;       // (n_b x 6)
    double *position;    // (n_dof) joint coordinates, angles counted past pi [m], [rad]
    double *integral;    // (n_dof) of the tracking error, PID [m s], [rad s]
    double *effort;      // (n_dof) set by the user [N], [N m]
    double *target;      // (n_dof) held by PID and PD joints without a reference [m], [rad]
    double *wrench;      // (n_b x 6) of this step, at the centres of mass
    double *event_body;  // (n_event) chosen body of KL_BODY_HIGHEST events, -1 before
    int64_t step;
} KlState;

typedef struct KlFreedom {
    int32_t joint, dof;  // dof within the joint
} KlFreedom;

typedef struct KlLimit {  // an active limit of one degree of freedom
    int32_t joint, dof;   // dof within the joint
    bool upper;
    double gap;  // g_l <= 0 [m], [rad]
} KlLimit;

// A row that solves an implicit spring, damper or armature with the step (actuate.c).
typedef struct KlDrive {
    int32_t joint, dof;  // dof within the joint
    double compliance;   // R = 1 / m
    double bias;         // v* of the row
    double sign;         // factor of the DoF's Jacobian row
    double bound;        // impulse applied beforehand in direction -sign; 0 for a bilateral row
    bool effort;         // counts as effort of the joint (a motor, not armature and damping)
} KlDrive;

// What has been measured of the present state. Behind a pointer: whoever asks holds a const simulation.
typedef struct KlMeasures {
    double value[KL_METRIC_COUNT];
    uint32_t known;         // bit of every KlMetricGroup whose values hold
    double momentum[6];     // linear, angular about the origin, of the state after momentum_step steps
    int64_t momentum_step;  // -1: of none
} KlMeasures;

struct KlSim {
    KlArena arena;  // everything below that is not listed at the end
    const KlModel *model;
    KlSettings settings;
    int32_t body_count, joint_count, dof_count, event_count;
    size_t state_count;        // doubles of a KlState
    KlState start, now, next;  // after a step `next` is the state before it
    bool begun;                // between begin_step and end_step
    bool stepped;              // contacts, problem, reactions and `next` are those of the step that led to `now`

    // bodies
    double *body_inverse_inertia;  // (n_b x 9) body frame, constant
    double *eval_pose;             // (n_b x 7) where forces and constraints are evaluated
    double *free_twist;            // (n_b x 6) u- + dt M^-1 h
    double *impulse;               // (n_b x 6) J^T lambda
    double external[6];  // impulse, angular impulse about the origin from outside, without the world's reactions

    // joints
    int32_t *row_start, *dof_start;  // (n_j + 1) the model's
    KlJointFrame *frame;             // (n_j) at the pose last located: of `now` between steps, eval_pose in one
    double *residual;                // (n_jd) f_J there
    double *joint_row;               // (n_jd x 12) Jacobian rows there
    double *dof_position;            // (n_dof) there
    double *dof_cosine;              // (n_dof) of angles there, times a number > 0
    int32_t *angle_dof;              // (angle_count) degrees of freedom that are angles and unwrap
    int32_t angle_count;
    int32_t *acting;  // (acting_count) joints that are driven or damped
    int32_t acting_count;
    KlFreedom *limited;  // (limited_count) degrees of freedom with a limit
    int32_t limited_count;
    double *dof_velocity;    // (n_dof) of u-
    double *dof_row;         // (n_dof x 12)
    double *dof_effort;      // (n_dof) of this step [N], [N m]
    double *joint_velocity;  // (n_dof) of the state after the step
    double *joint_wrench;    // (n_j x 6) reaction on the follower at p_F, world [N], [N m]
    double *joint_frame;     // (n_j x 7) follower's joint frame, world
    double *joint_residual;  // (n_j) max |f_J| of each joint, after the step

    // limits and drives: bilateral drives lie after the joints, bounded ones after the limits
    KlLimit *limits;
    int32_t limit_count, limit_capacity;
    KlDrive *drives, *bounded_drives;
    int32_t drive_count, bounded_drive_count, drive_capacity;

    // contacts (max_contacts)
    KlCollider *collider;
    KlContact *contacts;
    int32_t contact_count;
    double *contact_position, *contact_frame, *contact_gap, *contact_force, *contact_friction;
    int32_t *contact_bodies, *contact_geoms, *contact_mode;
    uint64_t *contact_id;

    // the dual problem and its answer
    KlProblem *problem;
    KlProblemSize capacity;
    double *lambda, *velocity;  // (capacity rows)
    int32_t dim;                // rows valid in lambda and velocity
    bool velocity_told;         // by the solver, which nobody has checked; else found from lambda
    KlSolver *solver;
    KlSolution solution;
    KlTrace *trace;

    KlMeasures *measures;
    double *stage_time;  // (stage count) [s]
    bool solve_timed_alone;
    double field_time;
    KlField fields[KL_FIELD_CAPACITY];
    int32_t field_count;
};

// sim/state.c
size_t kl_state_doubles(const KlSim *sim);
void kl_state_bind(const KlSim *sim, double *block, KlState *state);
void kl_state_copy(const KlSim *sim, const KlState *from, KlState *to);
void kl_state_swap(const KlSim *sim, KlState *a, KlState *b);

// sim/step.c: the stages, in the order they run
KlStatus kl_stage_predict(KlSim *sim);
KlStatus kl_stage_collide(KlSim *sim);
KlStatus kl_stage_assemble(KlSim *sim);
KlStatus kl_stage_solve(KlSim *sim);
KlStatus kl_stage_react(KlSim *sim);
KlStatus kl_stage_integrate(KlSim *sim);
KlStatus kl_stage_commit(KlSim *sim);

// sim/integrate.c: pose + h twist with the exponential map; outputs may alias the pose.
void kl_integrate_poses(int32_t count, double h, const double *pose, const double *twist, double *result);

// sim/predict.c, events.c, actuate.c: parts of the prediction
double kl_sim_now(const KlSim *sim);  // [s] of `now`
void kl_add_impulse(KlSim *sim, int32_t body, const double force[3], const double torque[3]);
void kl_apply_events(KlSim *sim);     // force events and the user's wrenches
void kl_apply_actuation(KlSim *sim);  // explicit efforts, damping; fills the drives
// Impulse x along one DoF row: adds to free_twist.
void kl_push_row(KlSim *sim, int32_t joint, const double *row, double impulse);
// Inverse inertia that the two bodies of a joint show along a row: row M^-1 row^T.
double kl_row_mobility(const KlSim *sim, int32_t base, int32_t follower, const double *row);
// Frames, residuals and rows of every joint for these poses; coordinates into `position` (n_dof), angles
// nearest to `previous`.
void kl_locate_joints(KlSim *sim, const double *pose, const double *previous, double *position);
void kl_joint_rates(const KlSim *sim, const double *twist, double *rate);  // (n_dof) where joints were located

// sim/limits.c
void kl_find_limits(KlSim *sim);

// sim/contacts.c: rows t, o, n of the frame, a function of the normal alone.
void kl_contact_axes(const double normal[3], double axes[9]);
void kl_contact_rows(const KlContact *contact, const double axes[9], const double *pose, double *rows);

// sim/stabilise.c: bias velocities v* that are added to v_f
double kl_bias_joint(double alpha, double residual, double dt);
double kl_bias_limit(double beta, double gap, double dt);
double kl_bias_contact(double gamma, double residual, double dt);
double kl_bias_restitution(double restitution, double normal_velocity, double residual, double dt);

// sim/reference.c: value and rate of a reference at time t (dofs of it)
void kl_reference_sample(const KlReferenceDef *reference, double t, double *value, double *rate);

// sim/fields.c
void kl_build_fields(KlSim *sim);
// sim/commit.c
void kl_settle(KlSim *sim);  // after `now` was set from outside: what belongs to a state, without a step

#endif
