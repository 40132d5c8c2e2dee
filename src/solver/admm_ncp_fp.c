// ADMM-NCP-FP: proximal ADMM on the NCP with a fixed penalty (paper, Sec. "Alternating Direction
// Method of Multipliers").
#include "solver/admm.h"

enum { ETA = KL_ADMM_PARAM_COUNT };

static const KlParam params[] = {KL_ADMM_PARAMS, KL_ADMM_ETA_PARAM};

static KlStatus begin(KlRun *run) {
    KlAdmmOptions options = {.rho = kl_param(run, KL_PARAM_RHO),
                             .eta = kl_param(run, ETA),
                             .omega = kl_param(run, KL_PARAM_ADMM_OMEGA),
                             .de_saxce = true};
    return kl_admm_begin(run, &options);
}

const KlMethod kl_method_admm_ncp_fp = {
    .info = {.id = "admm-ncp-fp",
             .title = "ADMM-NCP-FP",
             .text = "Proximal ADMM: a linear solve, a cone projection and a multiplier step; fixed penalty.",
             .source = "Sec. Alternating Direction Method of Multipliers, Alg. Proximal ADMM-based Solver",
             .family = "admm",
             .de_saxce = true,
             .solves = "ncp",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(KlAdmm),
    .reserve = kl_admm_reserve,
    .begin = begin,
    .iterate = kl_admm_iterate,
};
