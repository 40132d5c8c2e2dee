// The projective splitting scheme (paper, Alg. "Projective Splitting-based Solver"): Gauss-Seidel
// sweeps over joints, limits and contacts with over-relaxation. A splitting solver is this scheme with
// a local solver for its contacts.
#ifndef KL_SOLVER_SPLITTING_H
#define KL_SOLVER_SPLITTING_H

#include "base/rng.h"
#include "solver/local/local.h"
#include "solver/solver.h"

// Rows that follow the common ones in every splitting solver's table.
enum {
    KL_PARAM_OMEGA = KL_COMMON_PARAM_COUNT,
    KL_PARAM_OMEGA_MIN,
    KL_PARAM_GAMMA,
    KL_PARAM_SWEEP,
    KL_PARAM_ORDER,
    KL_PARAM_SEED,
    KL_SPLITTING_PARAM_COUNT
};

typedef enum KlSweep { KL_SWEEP_DELASSUS = 0, KL_SWEEP_BODY_SPACE, KL_SWEEP_AUTO } KlSweep;
typedef enum KlOrder {
    KL_ORDER_FORWARD = 0,
    KL_ORDER_FORWARD_BACKWARD,
    KL_ORDER_RANDOM,
    KL_ORDER_BACKWARD,
    KL_ORDER_JCL,  // sets of joints, limits and contacts by their initials, each from its first to its last
    KL_ORDER_LJC,
    KL_ORDER_LCJ,
    KL_ORDER_CJL,
    KL_ORDER_CLJ,
    KL_ORDER_CONTACTS_SHUFFLED
} KlOrder;

#define KL_SPLITTING_PARAMS KL_COMMON_PARAMS, KL_SWEEP_PARAMS
#define KL_SWEEP_PARAMS                                                                                               \
    {"omega",                                                                                                         \
     "Relaxation factor",                                                                                             \
     "",                                                                                                              \
     "omega^0: each block moves by this share of its local solution. 1 is Gauss-Seidel.",                             \
     KL_PARAM_REAL,                                                                                                   \
     1.0,                                                                                                             \
     0.01,                                                                                                            \
     2.0,                                                                                                             \
     false,                                                                                                           \
     NULL},                                                                                                           \
        {"omega_min",                                                                                                 \
         "Smallest relaxation",                                                                                       \
         "",                                                                                                          \
         "Decay stops here: omega <- max(omega_min, gamma omega) after each iteration.",                              \
         KL_PARAM_REAL,                                                                                               \
         0.1,                                                                                                         \
         0.01,                                                                                                        \
         2.0,                                                                                                         \
         false,                                                                                                       \
         NULL},                                                                                                       \
        {"gamma",                                                                                                     \
         "Relaxation decay",                                                                                          \
         "",                                                                                                          \
         "Factor on omega after each iteration; 1 keeps it.",                                                         \
         KL_PARAM_REAL,                                                                                               \
         1.0,                                                                                                         \
         0.5,                                                                                                         \
         1.0,                                                                                                         \
         false,                                                                                                       \
         NULL},                                                                                                       \
        {"sweep",                                                                                                     \
         "Sweep",                                                                                                     \
         "",                                                                                                          \
         "delassus: rows of the dense D, O(n_d^2) a sweep, as in the paper. body-space: through "                     \
         "u = M^-1 J^T lambda, O(n_d) a sweep; rows of the sparse D when the problem has no bodies. "                 \
         "auto: the cheaper one.",                                                                                    \
         KL_PARAM_CHOICE,                                                                                             \
         KL_SWEEP_DELASSUS,                                                                                           \
         0.0,                                                                                                         \
         2.0,                                                                                                         \
         false,                                                                                                       \
         "delassus|body-space|auto"},                                                                                 \
        {"order",                                                                                                     \
         "Order",                                                                                                     \
         "",                                                                                                          \
         "forward: joints, limits, contacts. forward-backward: every other iteration in reverse. "                    \
         "random: all blocks shuffled anew each iteration. backward: contacts, limits, joints, each "                 \
         "from its last to its first. contacts-shuffled: forward, contacts shuffled once a solve, "                   \
         "from the seed and v_f. The others: the three sets in another order.",                                       \
         KL_PARAM_CHOICE,                                                                                             \
         KL_ORDER_FORWARD,                                                                                            \
         0.0,                                                                                                         \
         9.0,                                                                                                         \
         false,                                                                                                       \
         "forward|forward-backward|random|backward|joints-contacts-limits|limits-joints-contacts|"                    \
         "limits-contacts-joints|contacts-joints-limits|contacts-limits-joints|contacts-shuffled"},                   \
    {                                                                                                                 \
        "seed", "Seed", "", "Start of the random orders; the same seed gives the same bits.", KL_PARAM_INT, 1.0, 0.0, \
            1e9, false, NULL                                                                                          \
    }

// Steps on the cone: `safe_step` of kl_splitting_begin is the second choice.
#define KL_CCP_STEP_PARAM                                                                               \
    {                                                                                                   \
        "step", "Contact step", "",                                                                     \
            "printed: 3 / tr(D_jj), the paper's, which converges only below 2 / lambda_max. safe: 1 / " \
            "lambda_max(D_jj).",                                                                        \
            KL_PARAM_CHOICE, 0.0, 0.0, 1.0, false, "printed|safe"                                       \
    }

// What a solver adds to the scheme.
typedef struct KlSplittingKind {
    KlLocalSolver local;
    double (*step)(const double delassus[9], bool safe);  // fills KlLocalProblem.step; NULL: unused
    bool de_saxce;                                        // s = Gamma(v) in the local problem
    bool ccp_residuals;                                   // stop on v+ (CCP) instead of v_hat (NCP)
} KlSplittingKind;

typedef struct KlSplitting {
    const KlSplittingKind *kind;
    bool dense;              // sweeps rows of the dense D
    double *delassus;        // (dim x dim) when dense
    double *joint_factor;    // LDL^T of the joint blocks, one after the other
    size_t *joint_start;     // (joint_count) where each begins
    double *limit_diagonal;  // (limit_count)
    KlLocalProblem *local;   // (contact_count) D_kk, mu and step filled
    int32_t *order;          // (block_count)
    double *sweep_state;     // (6 body_count)
    double *block_velocity;  // (rows of the largest block)
    double *velocity;        // (dim) v+ of the iterate
    double *residual;        // (dim) scratch
    double omega;            // of the next sweep
    double objective;        // f = l.D l / 2 + l.v_f of the iterate [J]
    KlRng rng;
} KlSplitting;

void kl_splitting_reserve(void *state, const KlCapacity *capacity, const double *param, KlArena *arena);
// `safe_step` chooses the step of kind->step.
KlStatus kl_splitting_begin(KlRun *run, const KlSplittingKind *kind, bool safe_step);
void kl_splitting_iterate(KlRun *run);

// The parts, for solvers that arrange them anew.
void kl_splitting_sweep(KlRun *run);      // one sweep over all blocks in the chosen order
void kl_splitting_residuals(KlRun *run);  // v+ and the three stopping residuals of lambda

#endif
