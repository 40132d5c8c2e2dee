// RAISIM-DS: RAISIM with the De Saxce correction, so that its fixed points satisfy Coulomb's law (paper,
// Sec. "Projective Splitting Methods"; Le Lidec). The printed scheme freezes s of the last sweep in the
// local objective; see local/corrected.c for why the exact local solution is the default.
#include "solver/raisim.h"

static const KlParam params[] = {KL_SPLITTING_PARAMS, KL_CORRECTION_PARAM};

static const KlSplittingKind exact = {.local = kl_local_coulomb};
static const KlSplittingKind printed = {.local = kl_local_bisection, .de_saxce = true};

KlStatus kl_raisim_ds_begin(KlRun *run) {
    bool is_exact = kl_param_int(run, KL_PARAM_CORRECTION) == 0;
    return kl_splitting_begin(run, is_exact ? &exact : &printed, false);
}

const KlMethod kl_method_raisim_ds = {
    .info = {.id = "raisim-ds",
             .title = "RAISIM-DS",
             .text = "RAISIM with De Saxce correction: exact single-contact solutions of Coulomb's law, swept.",
             .source = "Sec. Projective Splitting Methods, Alg. Nonlinear-Block Local Solver with BS and s",
             .family = "splitting",
             .de_saxce = true,
             .solves = "ncp",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(KlSplitting),
    .reserve = kl_splitting_reserve,
    .begin = kl_raisim_ds_begin,
    .iterate = kl_splitting_iterate,
};
