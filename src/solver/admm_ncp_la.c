// ADMM-NCP-LA: proximal ADMM whose penalty keeps the primal and the dual residual within a factor alpha
// of each other (paper, eq. linear-penalty-adaptation; tau_dec divides).
#include "solver/admm.h"

enum { ETA = KL_ADMM_PARAM_COUNT, ALPHA, TAU_INC, TAU_DEC, PERIOD, SETTLE };

static const KlParam params[] = {
    KL_ADMM_PARAMS,
    KL_ADMM_ETA_PARAM,
    {"alpha", "Residual ratio", "", "rho changes when r_p / r_d leaves [1/alpha, alpha].", KL_PARAM_REAL, 10.0, 1.0,
     1e6, true, NULL},
    {"tau_inc", "Increase", "", "Factor on rho when the primal residual is the larger.", KL_PARAM_REAL, 1.5, 1.0, 100.0,
     false, NULL},
    {"tau_dec", "Decrease", "", "Divisor of rho when the dual residual is the larger.", KL_PARAM_REAL, 1.5, 1.0, 100.0,
     false, NULL},
    KL_ADMM_PERIOD_PARAM,
    KL_ADMM_SETTLE_PARAM,
};

static double adapt(const KlRun *run, double rho) {
    switch (kl_admm_balance(run, kl_param(run, ALPHA), kl_param_int(run, PERIOD))) {
        case KL_PRIMAL_LAGS: return rho * kl_param(run, TAU_INC);
        case KL_DUAL_LAGS: return rho / kl_param(run, TAU_DEC);
        default: return rho;
    }
}

static KlStatus begin(KlRun *run) {
    KlAdmmOptions options = {.rho = kl_param(run, KL_PARAM_RHO),
                             .eta = kl_param(run, ETA),
                             .omega = kl_param(run, KL_PARAM_ADMM_OMEGA),
                             .de_saxce = true,
                             .adapt = adapt,
                             .settle = kl_param(run, SETTLE)};
    return kl_admm_begin(run, &options);
}

const KlMethod kl_method_admm_ncp_la = {
    .info = {.id = "admm-ncp-la",
             .title = "ADMM-NCP-LA",
             .text = "Proximal ADMM with a penalty that follows the ratio of primal and dual residual in fixed steps.",
             .source = "Sec. Penalty Adaptation, Linear Adaptation",
             .family = "admm",
             .de_saxce = true,
             .solves = "ncp",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(KlAdmm),
    .reserve = kl_admm_reserve,
    .begin = begin,
    .iterate = kl_admm_iterate,
};
