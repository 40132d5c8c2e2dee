// What RAISIM-DS and its early-stopping variant share: parameters and the choice of local solver.
#ifndef KL_SOLVER_RAISIM_H
#define KL_SOLVER_RAISIM_H

#include "solver/splitting.h"

enum { KL_PARAM_CORRECTION = KL_SPLITTING_PARAM_COUNT };

#define KL_CORRECTION_PARAM                                                                         \
    {                                                                                               \
        "correction", "De Saxce correction", "",                                                    \
            "exact: each contact satisfies Coulomb's law in every sweep. sweep: one update of s = " \
            "Gamma(v) a sweep, as printed; it can settle at points that are not Coulomb's.",        \
            KL_PARAM_CHOICE, 0.0, 0.0, 1.0, false, "exact|sweep"                                    \
    }

KlStatus kl_raisim_ds_begin(KlRun *run);

#endif
