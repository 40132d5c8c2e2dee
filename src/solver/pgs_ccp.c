// PGS-CCP: projective splitting with one projected gradient step a contact, De Saxce term included, so
// that its fixed points satisfy Coulomb's law (paper, Sec. "Projective Splitting Methods"; Tasora).
#include "solver/splitting.h"

enum { STEP = KL_SPLITTING_PARAM_COUNT };

static const KlParam params[] = {KL_SPLITTING_PARAMS, KL_CCP_STEP_PARAM};

static const KlSplittingKind kind = {.local = kl_local_ccp, .step = kl_local_ccp_step, .de_saxce = true};

static KlStatus begin(KlRun *run) { return kl_splitting_begin(run, &kind, kl_param_int(run, STEP) == 1); }

const KlMethod kl_method_pgs_ccp = {
    .info = {.id = "pgs-ccp",
             .title = "PGS-CCP",
             .text = "Projected Gauss-Seidel on the cones: a gradient step and a Euclidean projection a contact, De "
                     "Saxce corrected.",
             .source = "Sec. Projective Splitting Methods, Alg. CCP-Type Local Solver",
             .family = "splitting",
             .de_saxce = true,
             .solves = "ncp",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(KlSplitting),
    .reserve = kl_splitting_reserve,
    .begin = begin,
    .iterate = kl_splitting_iterate,
};
