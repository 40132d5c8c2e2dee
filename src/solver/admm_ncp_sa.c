// ADMM-NCP-SA: proximal ADMM whose penalty starts from the spectrum of D and moves by powers of its
// condition number (paper, eq. spectral-penalty-adaptation; Carpentier). L is a power iteration's
// estimate, m = eta, kappa = L / m. The exponent stays in [-1/2, 1/2], which is rho in [m, L]: beyond the
// spectrum rho only worsens the conditioning, and where one residual cannot fall it would run away.
#include "math/power.h"
#include "solver/admm.h"

#include <math.h>

enum { ETA = KL_ADMM_PARAM_COUNT, ALPHA, TAU_0, TAU, PERIOD, SETTLE };

static const KlParam params[] = {
    KL_ADMM_PARAMS,
    KL_ADMM_ETA_PARAM,
    {"alpha", "Residual ratio", "", "rho changes when r_p / r_d leaves [1/alpha, alpha].", KL_PARAM_REAL, 10.0, 1.0,
     1e6, true, NULL},
    {"tau_0", "First exponent", "", "rho^0 = sqrt(L m) kappa^tau_0, times the parameter rho.", KL_PARAM_REAL, 0.2, -0.5,
     0.5, false, NULL},
    {"tau", "Step exponent", "", "rho moves by kappa^tau or kappa^-tau.", KL_PARAM_REAL, 0.05, 0.0, 0.5, false, NULL},
    KL_ADMM_PERIOD_PARAM,
    KL_ADMM_SETTLE_PARAM,
};

typedef struct Spectral {
    KlAdmm admm;         // first: the scheme sees its own state
    double factor;       // kappa^tau
    double least, most;  // of rho
} Spectral;

static double next_penalty(const KlRun *run, double rho) {
    const Spectral *s = run->state;
    switch (kl_admm_balance(run, kl_param(run, ALPHA), kl_param_int(run, PERIOD))) {
        case KL_PRIMAL_LAGS: return rho * s->factor;
        case KL_DUAL_LAGS: return rho / s->factor;
        default: return rho;
    }
}

static double adapt(const KlRun *run, double rho) {
    const Spectral *s = run->state;
    double next = next_penalty(run, rho);
    return next < s->least ? s->least : next > s->most ? s->most : next;
}

static KlStatus begin(KlRun *run) {
    Spectral *s = run->state;
    double eta = kl_param(run, ETA);
    kl_admm_load(run);
    double largest = kl_admm_eigen_max(run);
    double kappa = largest > eta ? largest / eta : 1.0;
    s->factor = kl_pow(kappa, kl_param(run, TAU));
    s->least = kl_param(run, KL_PARAM_RHO) * eta;
    s->most = kappa * s->least;
    KlAdmmOptions options = {.rho =
                                 kl_param(run, KL_PARAM_RHO) * sqrt(kappa) * eta * kl_pow(kappa, kl_param(run, TAU_0)),
                             .eta = eta,
                             .omega = kl_param(run, KL_PARAM_ADMM_OMEGA),
                             .de_saxce = true,
                             .adapt = adapt,
                             .settle = kl_param(run, SETTLE)};
    return kl_admm_begin(run, &options);
}

const KlMethod kl_method_admm_ncp_sa = {
    .info = {.id = "admm-ncp-sa",
             .title = "ADMM-NCP-SA",
             .text = "Proximal ADMM with a penalty set and moved by the condition number of the Delassus matrix.",
             .source = "Sec. Penalty Adaptation, Spectral Adaptation",
             .family = "admm",
             .de_saxce = true,
             .solves = "ncp",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(Spectral),
    .reserve = kl_admm_reserve,
    .begin = begin,
    .iterate = kl_admm_iterate,
};
