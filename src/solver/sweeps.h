// Nonlinear block Gauss-Seidel on the scaled problem (Jourdan, Alart, Jean 1998): every contact in
// turn solved exactly (kl_local_coulomb), the others held. For contacts that couple loosely, where a
// few sweeps cost less than one factorization and bring the guess near a solution, or to it.
#ifndef KL_SOLVER_SWEEPS_H
#define KL_SOLVER_SWEEPS_H

#include "solver/scaled.h"

// Whether sweeps are worth a try: contacts and limits alone (a joint couples too strongly), D in blocks.
bool kl_sweeps_apply(const KlScaled *s);
double kl_sweep_flops(const KlScaled *s);  // multiply-adds of one sweep, about
// One sweep over x (dim), in place. Returns the largest change of it.
double kl_sweep_once(const KlScaled *s, double *x);

#endif
