// PGS-CCP-NDS: PGS-CCP without the De Saxce term: the convex relaxation (paper, Sec. "Projective
// Splitting Methods"; Tasora and Anitescu).
#include "solver/splitting.h"

enum { STEP = KL_SPLITTING_PARAM_COUNT };

static const KlParam params[] = {KL_SPLITTING_PARAMS, KL_CCP_STEP_PARAM};

static const KlSplittingKind kind = {.local = kl_local_ccp, .step = kl_local_ccp_step, .ccp_residuals = true};

static KlStatus begin(KlRun *run) { return kl_splitting_begin(run, &kind, kl_param_int(run, STEP) == 1); }

const KlMethod kl_method_pgs_ccp_nds = {
    .info = {.id = "pgs-ccp-nds",
             .title = "PGS-CCP-NDS",
             .text = "Projected Gauss-Seidel on the cones without De Saxce correction: solves the convex relaxation.",
             .source = "Sec. Projective Splitting Methods, Alg. CCP-Type Local Solver",
             .family = "splitting",
             .de_saxce = false,
             .solves = "ccp",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(KlSplitting),
    .reserve = kl_splitting_reserve,
    .begin = begin,
    .iterate = kl_splitting_iterate,
};
