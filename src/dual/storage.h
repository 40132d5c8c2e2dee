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
    double *scale;     // (dim) scratch
} KlProblemStorage;

static inline KlProblemStorage *kl_problem_storage(const KlProblem *p) { return (KlProblemStorage *)p; }

#endif
