// RAISIM: as NBGS, with the slipping angle found by bisection (paper, Sec. "Projective Splitting Methods"
// and appendix "The Bisection-Search Method"; Hwangbo). The same drift where D_nT != 0.
#include "solver/splitting.h"

static const KlParam params[] = {KL_SPLITTING_PARAMS};

static const KlSplittingKind kind = {.local = kl_local_bisection};

static KlStatus begin(KlRun *run) { return kl_splitting_begin(run, &kind, false); }

const KlMethod kl_method_raisim = {
    .info = {.id = "raisim",
             .title = "RAISIM",
             .text =
                 "Gauss-Seidel with exact single-contact solutions; the slipping angle comes from a bisection search.",
             .source = "Sec. Projective Splitting Methods, Alg. Nonlinear-Block Local Solver with BS",
             .family = "splitting",
             .de_saxce = false,
             .solves = "local",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(KlSplitting),
    .reserve = kl_splitting_reserve,
    .begin = begin,
    .iterate = kl_splitting_iterate,
};
