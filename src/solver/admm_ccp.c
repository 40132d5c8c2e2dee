// ADMM-CCP: plain ADMM on the convex relaxation, without De Saxce term and proximal weight (paper, Sec.
// "Alternating Direction Method of Multipliers", last lines of Proximal ADMM).
#include "solver/admm.h"

static const KlParam params[] = {KL_ADMM_PARAMS};

static KlStatus begin(KlRun *run) {
    KlAdmmOptions options = {.rho = kl_param(run, KL_PARAM_RHO), .omega = kl_param(run, KL_PARAM_ADMM_OMEGA)};
    return kl_admm_begin(run, &options);
}

const KlMethod kl_method_admm_ccp = {
    .info = {.id = "admm-ccp",
             .title = "ADMM-CCP",
             .text = "ADMM on the cone complementarity problem: convex, with a normal velocity that grows with slip.",
             .source = "Sec. Alternating Direction Method of Multipliers",
             .family = "admm",
             .de_saxce = false,
             .solves = "ccp",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(KlAdmm),
    .reserve = kl_admm_reserve,
    .begin = begin,
    .iterate = kl_admm_iterate,
};
