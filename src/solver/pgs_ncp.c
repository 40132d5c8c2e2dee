// PGS-NCP: projective splitting with the decoupled local projector, normal first, then the friction
// disk (paper, Sec. "Projective Splitting Methods"). Needs no De Saxce term: at convergence the normal
// rows are complementary and the tangents oppose the slip, which is Coulomb's law.
#include "solver/splitting.h"

enum { STEP = KL_SPLITTING_PARAM_COUNT };

static const KlParam params[] = {
    KL_SPLITTING_PARAMS,
    {"step", "Tangential step", "",
     "stable: 1/max(D_tt, D_oo). printed: 1/min(D_tt, D_oo), the paper's, which need not converge.", KL_PARAM_CHOICE,
     0.0, 0.0, 1.0, false, "stable|printed"},
};

static const KlSplittingKind kind = {.local = kl_local_ncp, .step = kl_local_ncp_step};

static KlStatus begin(KlRun *run) { return kl_splitting_begin(run, &kind, kl_param_int(run, STEP) == 0); }

const KlMethod kl_method_pgs_ncp = {
    .info = {.id = "pgs-ncp",
             .title = "PGS-NCP",
             .text = "Projected Gauss-Seidel: each contact solves its normal, then projects its friction on a disk.",
             .source = "Sec. Projective Splitting Methods, Alg. NCP-Type Local Projector",
             .family = "splitting",
             .de_saxce = true,
             .solves = "ncp",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(KlSplitting),
    .reserve = kl_splitting_reserve,
    .begin = begin,
    .iterate = kl_splitting_iterate,
};
