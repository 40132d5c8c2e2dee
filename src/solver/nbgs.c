// NBGS: nonlinear block Gauss-Seidel, each contact solved exactly by the maximum dissipation principle
// on its conic, all roots of the quartic (paper, Sec. "Projective Splitting Methods"; Preclik). Where
// normal and tangents couple (D_nT != 0) its fixed points are not Coulomb's: the drift is the model's.
#include "solver/splitting.h"

static const KlParam params[] = {KL_SPLITTING_PARAMS};

static const KlSplittingKind kind = {.local = kl_local_quartic};

static KlStatus begin(KlRun *run) { return kl_splitting_begin(run, &kind, false); }

const KlMethod kl_method_nbgs = {
    .info = {.id = "nbgs",
             .title = "NBGS",
             .text = "Gauss-Seidel with exact single-contact solutions: open, stick, or the most dissipative slip from "
                     "a quartic.",
             .source = "Sec. Projective Splitting Methods, Alg. Nonlinear-Block Local Solver with MDP",
             .family = "splitting",
             .de_saxce = false,
             .solves = "local",
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(KlSplitting),
    .reserve = kl_splitting_reserve,
    .begin = begin,
    .iterate = kl_splitting_iterate,
};
