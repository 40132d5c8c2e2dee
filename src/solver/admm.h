// The (proximal) ADMM scheme (paper, Alg. "Proximal ADMM-based Solver"): a solve with D + (eta + rho) 1,
// a projection on the cone, a multiplier step. A solver is this scheme with a rule for the penalty rho.
#ifndef KL_SOLVER_ADMM_H
#define KL_SOLVER_ADMM_H

#include "solver/solver.h"

// Rows that follow the common ones in every ADMM solver's table.
enum { KL_PARAM_RHO = KL_COMMON_PARAM_COUNT, KL_PARAM_ADMM_OMEGA, KL_ADMM_PARAM_COUNT };

#define KL_ADMM_PARAMS                                                                                               \
    KL_COMMON_PARAMS,                                                                                                \
        {"rho",         "Penalty", "1/kg", "rho^0: weight of the consensus x = y, in units of the Delassus matrix.", \
         KL_PARAM_REAL, 1.0,       1e-12,  1e12,                                                                     \
         true,          NULL},                                                                                       \
    {                                                                                                                \
        "omega", "Over-relaxation", "", "x <- (1 - omega) y + omega x before the projection; 1 is plain ADMM.",      \
            KL_PARAM_REAL, 1.0, 0.01, 1.99, false, NULL                                                              \
    }

#define KL_ADMM_ETA_PARAM                                                                                \
    {                                                                                                    \
        "eta", "Proximal weight", "1/kg",                                                                \
            "eta: weight of |x - x_previous|^2; makes D + eta 1 definite without biasing the solution.", \
            KL_PARAM_REAL, 1e-6, 1e-15, 1.0, true, NULL                                                  \
    }

#define KL_ADMM_PERIOD_PARAM                                                                               \
    {                                                                                                      \
        "period", "Adaptation period", "",                                                                 \
            "Iterations between looks at the ratio of residuals; each change factors D anew. The paper's " \
            "is 1.",                                                                                       \
            KL_PARAM_INT, 1.0, 1.0, 1000.0, true, NULL                                                     \
    }

#define KL_ADMM_SETTLE_PARAM                                                                                \
    {                                                                                                       \
        "settle", "Settling", "",                                                                           \
            "Each time rho turns round, its steps shrink to this power, so that rho comes to rest and the " \
            "iteration converges as with a fixed one. 1 is the paper's rule, which can cycle.",             \
            KL_PARAM_REAL, 0.8, 0.0, 1.0, false, NULL                                                       \
    }

// What a solver adds to the scheme, read from its own parameters at begin.
typedef struct KlAdmmOptions {
    double rho, eta, omega;
    bool de_saxce;                                  // s = Gamma(z): NCP; else CCP
    double (*adapt)(const KlRun *run, double rho);  // rho of the next iteration; NULL keeps it
    double settle;                                  // see KL_ADMM_SETTLE_PARAM
} KlAdmmOptions;

typedef struct KlAdmm {
    KlAdmmOptions options;
    double *delassus;   // (dim x dim)
    double *factor;     // Cholesky factor of D + (eta + rho) 1, as math/llt.h keeps it
    double *x, *y, *z;  // (dim) unconstrained reaction, reaction in K, v_hat
    double *x_tilde;    // (dim) x before over-relaxation
    double *y_new;      // (dim)
    double rho;         // of the next iteration
    double stride;      // exponent on the factors of rho, 1 until rho turns round
    int32_t direction;  // of the last change of rho: 1, -1, or 0 before the first
} KlAdmm;

void kl_admm_reserve(void *state, const KlCapacity *capacity, const double *param, KlArena *arena);
KlStatus kl_admm_begin(KlRun *run, const KlAdmmOptions *options);
void kl_admm_iterate(KlRun *run);

// Which residual is the larger by a factor alpha; balanced between the iterations that `period` skips.
typedef enum KlAdmmBalance { KL_BALANCED = 0, KL_PRIMAL_LAGS, KL_DUAL_LAGS } KlAdmmBalance;
KlAdmmBalance kl_admm_balance(const KlRun *run, double alpha, int32_t period);

// Largest eigenvalue of the state's D by power iteration from a fixed vector; within a few percent
// from below. Uses x_tilde and y_new. Call between kl_admm_load and kl_admm_begin.
double kl_admm_eigen_max(KlRun *run);
void kl_admm_load(KlRun *run);  // fills `delassus`; kl_admm_begin does it too

#endif
