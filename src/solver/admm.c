// The ADMM scheme.
//
//   x reaction of the unconstrained step   y reaction in K   z augmented velocity v_hat
//   rho penalty, eta proximal weight [1/kg]   omega over-relaxation   s De Saxce correction
#include "solver/admm.h"

#include <math.h>
#include <string.h>

#include "dual/delassus.h"
#include "dual/desaxce.h"
#include "math/lanes.h"
#include "math/llt.h"
#include "math/power.h"

void kl_admm_reserve(void *state, const KlCapacity *capacity, const double *param, KlArena *arena) {
    (void)param;
    KlAdmm *a = state;
    size_t dim = (size_t)capacity->dim;
    a->delassus = kl_dense_alloc(arena, capacity->dim);
    a->factor = KL_ARENA_ARRAY(arena, double, kl_llt_size(capacity->dim));
    a->x = KL_ARENA_ARRAY(arena, double, dim);
    a->y = KL_ARENA_ARRAY(arena, double, dim);
    a->z = KL_ARENA_ARRAY(arena, double, dim);
    a->x_tilde = KL_ARENA_ARRAY(arena, double, kl_llt_padded(capacity->dim));
    a->y_new = KL_ARENA_ARRAY(arena, double, dim);
}

// ---- D + (eta + rho) 1 -------------------------------------------------------------------------

static void factor(KlRun *run, double rho) {
    KlAdmm *a = run->state;
    int32_t dim = run->problem->dim;
    run->broken = kl_llt_factor(a->delassus, dim, dim, a->options.eta + rho, a->factor) >= 0;
    run->factorizations++;
    a->rho = rho;
}

double kl_admm_eigen_max(KlRun *run) {
    enum { ITERATIONS = 30 };
    KlAdmm *a = run->state;
    int32_t dim = run->problem->dim;
    double *x = a->x_tilde, *product = a->y_new, largest = 0.0;
    for (int32_t i = 0; i < dim; i++) {
        x[i] = 1.0 + 0.5 * (i % 3) - 0.25 * (i % 7);  // no likely eigenvector is orthogonal to it
    }
    for (int32_t k = 0; k < ITERATIONS; k++) {
        double size = sqrt(kl_lanes_dot(x, x, dim));
        for (int32_t i = 0; i < dim; i++) {
            x[i] /= size;
        }
        for (int32_t i = 0; i < dim; i++) {
            product[i] = kl_lanes_dot(a->delassus + (size_t)i * (size_t)dim, x, dim);
        }
        largest = kl_lanes_dot(x, product, dim);
        memcpy(x, product, (size_t)dim * sizeof *x);
    }
    return largest;
}

// ---- begin -------------------------------------------------------------------------------------

// The symmetric part: measured matrices (FCLIB) are symmetric to some digits only, and a Cholesky
// factor of one triangle would solve another problem, or none.
void kl_admm_load(KlRun *run) {
    KlAdmm *a = run->state;
    size_t dim = (size_t)run->problem->dim;
    kl_delassus_dense(run->problem, a->delassus, run->problem->dim);
    for (size_t i = 0; i < dim && !kl_problem_has_bodies(run->problem); i++) {
        for (size_t j = 0; j < i; j++) {
            double mean = 0.5 * (a->delassus[i * dim + j] + a->delassus[j * dim + i]);
            a->delassus[i * dim + j] = a->delassus[j * dim + i] = mean;
        }
    }
}

// x = y = lambda; z = v_hat(lambda). A zero guess is a cold start with z = 0.
static void start_variables(KlRun *run) {
    KlAdmm *a = run->state;
    const KlProblem *p = run->problem;
    size_t bytes = (size_t)p->dim * sizeof(double);
    memcpy(a->x, run->lambda, bytes);
    memcpy(a->y, run->lambda, bytes);
    memset(a->z, 0, bytes);
    if (kl_lanes_dot(run->lambda, run->lambda, p->dim) > 0.0) {
        kl_problem_velocity(p, run->lambda, a->z);
        if (a->options.de_saxce) {
            kl_desaxce_augment(p, a->z);
        }
    }
}

KlStatus kl_admm_begin(KlRun *run, const KlAdmmOptions *options) {
    KlAdmm *a = run->state;
    a->options = *options;
    a->stride = 1.0;
    a->direction = 0;
    kl_admm_load(run);
    start_variables(run);
    factor(run, options->rho);
    return KL_OK;
}

// ---- one iteration -----------------------------------------------------------------------------

// x_tilde = -(D + (eta + rho) 1)^-1 (v_f + s - eta x - rho y - z),  s = Gamma(z)
static void unconstrained_step(const KlAdmm *a, const KlProblem *p) {
    double eta = a->options.eta, rho = a->rho;
    for (int32_t i = 0; i < p->dim; i++) {
        a->x_tilde[i] = eta * a->x[i] + rho * a->y[i] + a->z[i] - p->free_velocity[i];
    }
    for (int32_t k = 0; k < p->contact_count && a->options.de_saxce; k++) {
        int32_t row = kl_contact_row(p, k);
        a->x_tilde[row + 2] -= kl_desaxce_normal(p->friction[k], a->z + row);
    }
    kl_llt_solve(a->factor, p->dim, a->x_tilde);
}

// y_new = P_K(x_relaxed - z / rho),  x_relaxed = (1 - omega) y + omega x_tilde
static void projection_step(const KlAdmm *a, const KlProblem *p, double *x_relaxed) {
    double omega = a->options.omega;
    for (int32_t i = 0; i < p->dim; i++) {
        x_relaxed[i] = (1.0 - omega) * a->y[i] + omega * a->x_tilde[i];
        a->y_new[i] = x_relaxed[i] - a->z[i] / a->rho;
    }
    kl_problem_project(p, a->y_new);
}

// z <- z - rho (x - y), and the residuals
//   r_p = x - y,   r_d = eta (x_tilde - x-) + rho (y - y-) + rho (1 - omega)(x_tilde - y-)
static void multiplier_step(KlRun *run, const double *x_relaxed) {
    KlAdmm *a = run->state;
    double eta = a->options.eta, rho = a->rho, omega = a->options.omega, primal = 0.0, dual = 0.0;
    for (int32_t i = 0; i < run->problem->dim; i++) {
        double gap = x_relaxed[i] - a->y_new[i];
        double drift = eta * (a->x_tilde[i] - a->x[i]) + rho * (a->y_new[i] - a->y[i]) +
                       rho * (1.0 - omega) * (a->x_tilde[i] - a->y[i]);
        a->z[i] -= rho * gap;
        a->x[i] = x_relaxed[i];
        a->y[i] = a->y_new[i];
        primal = fabs(gap) > primal || gap != gap ? fabs(gap) : primal;
        dual = fabs(drift) > dual || drift != drift ? fabs(drift) : dual;
    }
    run->primal = primal;
    run->dual = dual;
}

static double complementarity(const KlAdmm *a, const KlProblem *p) {
    double largest = 0.0;
    for (int32_t b = p->joint_count; b < p->block_count; b++) {
        int32_t first = kl_block_first(p, b);
        double power = fabs(kl_lanes_dot(a->x + first, a->z + first, kl_block_rows(p, b)));
        largest = power > largest || power != power ? power : largest;
    }
    return largest;
}

KlAdmmBalance kl_admm_balance(const KlRun *run, double alpha, int32_t period) {
    if (run->iteration % period != 0) {
        return KL_BALANCED;
    }
    return run->primal >= alpha * run->dual   ? KL_PRIMAL_LAGS
           : run->dual >= alpha * run->primal ? KL_DUAL_LAGS
                                              : KL_BALANCED;
}

// A penalty that goes up and down for ever keeps the iteration from converging: shorter steps after
// every turn leave it a limit.
static double settled(KlAdmm *a, double rho) {
    if (rho == a->rho) {
        return rho;
    }
    int32_t direction = rho > a->rho ? 1 : -1;
    a->stride *= direction == -a->direction ? a->options.settle : 1.0;
    a->direction = direction;
    return a->stride == 1.0 ? rho : a->rho * kl_pow(rho / a->rho, a->stride);
}

static void adapt_penalty(KlRun *run) {
    KlAdmm *a = run->state;
    if (a->options.adapt == NULL) {
        return;
    }
    double used = a->rho, rho = settled(a, a->options.adapt(run, used));
    if (rho != used) {
        factor(run, rho);
    }
    if (run->broken) {  // D + (eta + rho) 1 is no longer definite in floating point: rho is too small
        factor(run, used);
    }
}

void kl_admm_iterate(KlRun *run) {
    KlAdmm *a = run->state;
    const KlProblem *p = run->problem;
    double *x_relaxed = run->lambda;  // lambda is free until the end of the iteration
    unconstrained_step(a, p);
    projection_step(a, p, x_relaxed);
    multiplier_step(run, x_relaxed);
    memcpy(run->lambda, a->y, (size_t)p->dim * sizeof *run->lambda);
    run->complementarity = complementarity(a, p);
    run->penalty = a->rho;
    adapt_penalty(run);
}
