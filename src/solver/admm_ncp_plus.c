// admm-ncp-plus: the proximal ADMM of the paper (Sec. "ADMM") on the scaled problem, with
// over-relaxation, a residual-balanced penalty, Anderson acceleration with restart (admm_plus.h),
// warm start by block id and a sparse factorization of D + sigma 1. It stops on r_nat_rel. One
// iteration is one solution with the factor.
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/admm_plus.h"
#include "solver/scaled.h"
#include "solver/solver.h"

enum { PARAM_FACTORIZATION = KL_COMMON_PARAM_COUNT, PARAM_RHO, PARAM_OMEGA, PARAM_ETA, PARAM_ADAPT, PARAM_ACCELERATE };

static const KlParam params[] = {
    KL_COMMON_PARAMS_OF(1e-10, "The solve ends when r_nat_rel is at most this."),
    KL_FACTOR_PARAM(KL_FACTOR_ITERATIVE, "auto|dense|sparse|bodies|iterative",
                    ", or iterative: conjugate gradients in body space"),
    {"rho", "First penalty", "", "rho^0, relative to the scaled D with unit diagonal.", KL_PARAM_REAL, 1.0, 1e-6, 1e6,
     true, NULL},
    {"omega", "Over-relaxation", "", "Share of x in x_r; above 1 looks ahead.", KL_PARAM_REAL, 1.6, 0.1, 1.99, false,
     NULL},
    {"eta", "Proximal term", "", "Keeps D + (eta + rho) 1 regular (the paper's eta).", KL_PARAM_REAL, 1e-6, 0.0, 1.0,
     true, NULL},
    {"adapt", "Adapt the penalty", "",
     "Balances |x - y| against |eta dx + rho dy| (He, Yang, Wang 2000); a change factors anew.", KL_PARAM_BOOL, 1.0,
     0.0, 1.0, false, NULL},
    {"accelerate", "Anderson acceleration", "",
     "Extrapolates from the last eight iterates, restarted when the fixed-point residual grows.", KL_PARAM_BOOL, 1.0,
     0.0, 1.0, false, NULL},
};

typedef struct AdmmNcpPlus {
    KlScaled scaled;
    KlAdmmPlus admm;
    KL_BUFFER(double) memory;
    double *velocity, *natural;
    double relative;
} AdmmNcpPlus;

static KlStatus lay_out(AdmmNcpPlus *n) {
    size_t dim = (size_t)n->scaled.dim;
    if (!KL_ROOM(n->memory, 2 * dim)) {
        return KL_ERR_MEMORY;
    }
    n->velocity = n->memory.at;
    n->natural = n->memory.at + dim;
    return kl_admm_plus_reserve(&n->admm, &n->scaled);
}

static void reserve(void *state, const KlCapacity *capacity, const double *param, KlArena *arena) {
    AdmmNcpPlus *n = state;
    if (kl_scaled_reserve(&n->scaled, capacity, (KlFactorization)(int32_t)param[PARAM_FACTORIZATION]) != KL_OK ||
        lay_out(n) != KL_OK) {
        arena->failed = true;
    }
}

static KlStatus begin(KlRun *run) {
    AdmmNcpPlus *n = run->state;
    KL_TRY(kl_scaled_begin(&n->scaled, run->problem, true, (KlFactorization)kl_param_int(run, PARAM_FACTORIZATION)));
    KL_TRY(lay_out(n));
    kl_scaled_from_reaction(&n->scaled, run->lambda, n->natural);
    kl_admm_plus_start(&n->admm, &n->scaled, n->natural, run->param[PARAM_RHO]);
    n->admm.relaxation = run->param[PARAM_OMEGA];
    n->admm.proximal = run->param[PARAM_ETA];
    n->admm.adapt = run->param[PARAM_ADAPT] != 0.0;
    n->admm.accelerate = run->param[PARAM_ACCELERATE] != 0.0;
    return KL_OK;
}

static void iterate(KlRun *run) {
    AdmmNcpPlus *n = run->state;
    run->broken = !kl_admm_plus_step(&n->admm, &n->scaled);
    kl_scaled_velocity(&n->scaled, n->admm.y, n->velocity);
    (void)kl_scaled_natural(&n->scaled, n->admm.y, n->velocity, n->natural);
    n->relative = kl_scaled_natural_relative(&n->scaled, n->admm.y, n->natural);
    kl_scaled_report(&n->scaled, n->admm.y, n->velocity, run);
    run->penalty = n->admm.penalty;
}

static bool converged(const KlRun *run) {
    const AdmmNcpPlus *n = run->state;
    return n->relative <= run->param[KL_PARAM_TOLERANCE];
}

static void release(void *state) {
    AdmmNcpPlus *n = state;
    kl_scaled_release(&n->scaled);
    kl_admm_plus_release(&n->admm);
    kl_free(n->memory.at);
}

const KlMethod kl_method_admm_ncp_plus = {
    .info = {.id = "admm-ncp-plus",
             .title = "ADMM-NCP+",
             .text = "Preconditioned, over-relaxed, adaptive and accelerated proximal ADMM with "
                     "sparse factors.",
             .source = "Boyd et al. 2011; Zhang et al. 2020 (Anderson acceleration with restart); "
                       "this project",
             .family = "admm",
             .solves = "ncp",
             .de_saxce = true,
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(AdmmNcpPlus),
    .reserve = reserve,
    .begin = begin,
    .iterate = iterate,
    .converged = converged,
    .release = release,
};
