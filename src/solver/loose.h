// Contacts and limits of an explicit D that couple loosely: in every row the diagonal outweighs all else. Then
// D is regular, so lambda is the only reaction of its velocity, and Gauss-Seidel sweeps (Jourdan, Alart, Jean 1998)
// with every contact solved exactly contract: a few of them on the problem as given take less time than to scale
// and to factor it.
#ifndef KL_SOLVER_LOOSE_H
#define KL_SOLVER_LOOSE_H

#include "base/buffer.h"
#include "solver/solver.h"

typedef struct KlLoose {
    const KlProblem *problem;
    double coupling;            // largest sum of a row outside its own block, over the diagonal
    KL_BUFFER(double) inverse;  // (contacts x 9) of each contact's own block
} KlLoose;

// What the sweeps must reach: r_nat_rel, and the same natural map over |S v_f| alone.
typedef struct KlLooseGoal {
    double relative, strict;
} KlLooseGoal;

// Room for the contacts of the capacity. KL_ERR_MEMORY.
KlStatus kl_loose_reserve(KlLoose *l, const KlCapacity *capacity);
void kl_loose_release(KlLoose *l);

// Takes the problem in where its contacts couple loosely. False where not, or without memory.
bool kl_loose_begin(KlLoose *l, const KlProblem *problem);
// Sweeps over lambda (dim), a point of K, until it meets the goal; false when the sweeps get slow. Then lambda is where
// they have come to. `velocity` (dim) is v+ of it and `relative` its r_nat_rel, where true.
bool kl_loose_solve(const KlLoose *l, const KlLooseGoal *goal, double *lambda, double *velocity, double *relative);

#endif
