// PROX: block-wise proximal point iteration in Gauss-Seidel order with an adaptive penalty (paper, eq.
// block-wise-proximal-operator; Studer's and Erleben's SORprox, which the paper names and leaves out):
//
//   lambda_j <- P_K(lambda_j - (rho A_j)^-1 (v_j + s_j)),   A_j = lambda_max(D_jj),  s = Gamma(v)
//
// Joints and limits take their exact block solutions. The merit of a sweep is its largest change in the
// metric of A, rho |Delta lambda_j| sqrt(A_j). When it rises rho grows, else rho shrinks a little, so
// that steps stay as long as the problem allows. (Taking a rising sweep back, as in some versions,
// freezes the iteration near rounding level.)
#include <math.h>
#include <string.h>

#include "solver/splitting.h"

enum { RHO = KL_SPLITTING_PARAM_COUNT, RHO_MIN, RHO_MAX, INCREASE, DECREASE };

static const KlParam params[] = {
    KL_SPLITTING_PARAMS,
    {"rho", "Penalty", "", "rho^0, relative to the largest eigenvalue of each block.", KL_PARAM_REAL, 1.0, 0.51, 1000.0,
     true, NULL},
    {"rho_min", "Smallest penalty", "", "Steps longer than 2 / lambda_max (rho = 0.5) cannot contract.", KL_PARAM_REAL,
     0.6, 0.51, 1000.0, true, NULL},
    {"rho_max", "Largest penalty", "", "Bound on the growth of rho.", KL_PARAM_REAL, 64.0, 0.51, 1e6, true, NULL},
    {"increase", "Increase", "", "Factor on rho after a sweep that raised the merit.", KL_PARAM_REAL, 1.5, 1.01, 10.0,
     false, NULL},
    {"decrease", "Decrease", "", "Divisor of rho after a sweep that lowered the merit.", KL_PARAM_REAL, 1.05, 1.0, 10.0,
     false, NULL},
};

static const KlSplittingKind kind = {.local = kl_local_ccp, .step = kl_local_ccp_step, .de_saxce = true};

typedef struct Prox {
    KlSplitting splitting;  // first: the scheme sees its own state
    double *longest;        // (contact_count) 1 / A_j
    double *previous;       // (dim) lambda before the sweep
    double *metric;         // (dim) sqrt(A_j); sqrt(D_ii) for joints and limits
    double rho, merit;
} Prox;

static void reserve(void *state, const KlCapacity *capacity, const double *param, KlArena *arena) {
    Prox *s = state;
    kl_splitting_reserve(&s->splitting, capacity, param, arena);
    s->longest = KL_ARENA_ARRAY(arena, double, capacity->size.contact_count);
    s->previous = KL_ARENA_ARRAY(arena, double, capacity->dim);
    s->metric = KL_ARENA_ARRAY(arena, double, capacity->dim);
}

static KlStatus begin(KlRun *run) {
    Prox *s = run->state;
    const KlProblem *p = run->problem;
    KL_TRY(kl_splitting_begin(run, &kind, true));
    kl_problem_diagonal(p, s->metric);
    for (int32_t i = 0; i < kl_first_contact_row(p); i++) {
        s->metric[i] = sqrt(s->metric[i]);
    }
    for (int32_t k = 0; k < p->contact_count; k++) {
        s->longest[k] = s->splitting.local[k].step;
        double *metric = s->metric + kl_contact_row(p, k);
        metric[0] = metric[1] = metric[2] = 1.0 / sqrt(s->longest[k]);
    }
    s->rho = kl_param(run, RHO);
    s->merit = INFINITY;
    return KL_OK;
}

static double sweep_merit(const Prox *s, const KlProblem *p, const double *lambda) {
    double merit = 0.0;
    for (int32_t i = 0; i < p->dim; i++) {
        double weight = i < kl_first_contact_row(p) ? 1.0 : s->rho;
        double change = weight * s->metric[i] * fabs(lambda[i] - s->previous[i]);
        merit = change > merit || change != change ? change : merit;
    }
    return merit;
}

static void iterate(KlRun *run) {
    Prox *s = run->state;
    const KlProblem *p = run->problem;
    for (int32_t k = 0; k < p->contact_count; k++) {
        s->splitting.local[k].step = s->longest[k] / s->rho;
    }
    memcpy(s->previous, run->lambda, (size_t)p->dim * sizeof *run->lambda);
    kl_splitting_sweep(run);
    double merit = sweep_merit(s, p, run->lambda), used = s->rho;
    double change = merit > s->merit ? kl_param(run, INCREASE) : 1.0 / kl_param(run, DECREASE);
    double rho = s->rho * change, least = kl_param(run, RHO_MIN), most = kl_param(run, RHO_MAX);
    s->rho = rho < least ? least : rho > most ? most : rho;
    s->merit = merit;
    kl_splitting_residuals(run);
    run->penalty = used;
}

const KlMethod kl_method_prox = {
    .info = {.id = "prox",
             .title = "PROX",
             .text = "Proximal block iteration (SORprox): cone projections with the longest steps that still contract.",
             .source = "Sec. The Proximal Perspective, eq. block-wise-proximal-operator",
             .family = "splitting",
             .de_saxce = true,
             .solves = "ncp",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(Prox),
    .reserve = reserve,
    .begin = begin,
    .iterate = iterate,
};
