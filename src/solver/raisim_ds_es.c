// RAISIM-DS-ES: RAISIM-DS that stops early, when the objective no longer improves (paper, eq.
// early-stopping-criteria): r_f = |f(lambda) - f(lambda_previous)| / I_total below the tolerance, with
// I_total = tr M. A plateau is not a solution: look at the residuals. A problem without bodies does not
// know M; there I_total is the sum of effective masses 1 / D_ii of its rows.
#include <math.h>
#include <string.h>

#include "solver/raisim.h"

static const KlParam params[] = {
    KL_COMMON_PARAMS_OF(1e-12,
                        "The solve ends when |f - f_previous| / I_total is below this (epsilon). 0 never stops early."),
    KL_SWEEP_PARAMS,
    KL_CORRECTION_PARAM,
};

typedef struct EarlyStop {
    KlSplitting splitting;  // first: the scheme sees its own state
    double inertia;         // I_total
    double improvement;     // r_f of the last iteration
} EarlyStop;

static double total_inertia(const KlProblem *p, double *diagonal) {
    double total = 0.0;
    for (int32_t b = 0; b < p->body_count; b++) {
        const double *inertia = p->inertia + 9 * (size_t)b;
        total += 3.0 * p->mass[b] + inertia[0] + inertia[4] + inertia[8];
    }
    if (!kl_problem_has_bodies(p)) {
        kl_problem_diagonal(p, diagonal);
        for (int32_t i = 0; i < p->dim; i++) {
            total += 1.0 / diagonal[i];
        }
    }
    return total;
}

static KlStatus begin(KlRun *run) {
    EarlyStop *s = run->state;
    KL_TRY(kl_raisim_ds_begin(run));
    s->inertia = total_inertia(run->problem, s->splitting.residual);
    kl_splitting_residuals(run);  // f of the first guess
    return KL_OK;
}

static void iterate(KlRun *run) {
    EarlyStop *s = run->state;
    double before = s->splitting.objective;
    kl_splitting_iterate(run);
    s->improvement = fabs(s->splitting.objective - before) / s->inertia;
}

static bool converged(const KlRun *run) {
    const EarlyStop *s = run->state;
    return s->improvement < run->param[KL_PARAM_TOLERANCE];
}

const KlMethod kl_method_raisim_ds_es = {
    .info = {.id = "raisim-ds-es",
             .title = "RAISIM-DS-ES",
             .text = "RAISIM-DS that stops when the objective no longer improves, scaled by the total inertia.",
             .source = "Sec. Convergence, eq. early-stopping-criteria",
             .family = "splitting",
             .de_saxce = true,
             .solves = "ncp",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(EarlyStop),
    .reserve = kl_splitting_reserve,
    .begin = begin,
    .iterate = iterate,
    .converged = converged,
};
