// What a KlProblem owns behind its public fields.
#ifndef KL_DUAL_STORAGE_H
#define KL_DUAL_STORAGE_H

#include "base/memory.h"
#include "dual/problem.h"

typedef struct KlProblemStorage {
    KlProblem problem;  // first: a KlProblem * is a KlProblemStorage *
    KlArena arena;
    KlProblemSize capacity;
    double *twist;     // (body_count x 6) scratch
    double *velocity;  // (dim) scratch
    double *divided;   // (dim x 12) rows of J M^-1, body form
    double *diagonal;  // (dim) of D
    double *scale;     // (dim) S of r_nat_rel
    bool kept;         // the numbers stay as they are, and what was found stands
    bool prepared, has_divided;
} KlProblemStorage;

static inline KlProblemStorage *kl_problem_storage(const KlProblem *p) { return (KlProblemStorage *)p; }

// The storage with `diagonal` and `scale` of the present numbers, and with `divided` too.
const KlProblemStorage *kl_problem_prepare(const KlProblem *p);
const KlProblemStorage *kl_problem_divide(const KlProblem *p);

#endif
