// Warm starts: the last solution, found again by the stable ids of its constraints.
#ifndef KL_SOLVER_WARM_START_H
#define KL_SOLVER_WARM_START_H

#include "base/memory.h"
#include "kl.h"

typedef struct KlWarmMemory {
    int32_t block_capacity, dim_capacity, slot_count;  // slot_count: a power of two > 2 blocks
    int32_t block_count;                               // blocks remembered, 0 = nothing
    uint64_t *id;                                      // (block_capacity)
    int32_t *start;                                    // (block_capacity + 1) first entry of each block in lambda
    double *lambda;                                    // (dim_capacity)
    int32_t *slot;                                     // (slot_count) open addressing: block + 1, 0 = free
    bool distinct;                                     // no id remembered twice
} KlWarmMemory;

void kl_warm_reserve(KlWarmMemory *memory, int32_t block_count, int32_t dim, KlArena *arena);
void kl_warm_copy(const KlWarmMemory *from, KlWarmMemory *to);  // `to` has room
void kl_warm_store(KlWarmMemory *memory, const KlProblem *problem, const double *lambda);
// lambda (dim) = the remembered reaction of each block of equal id and rows, else 0, projected on K.
// KL_WARM_RESCALED multiplies by argmin_{t >= 0} f(t lambda) = max(0, -l.v_f / l.D l); scratch (dim).
void kl_warm_start(const KlWarmMemory *memory, KlWarmStart mode, const KlProblem *problem, double *scratch,
                   double *lambda);

// The memory as bytes, for checkpoints. kl_warm_load wants a memory of the capacity that was saved.
size_t kl_warm_size(const KlWarmMemory *memory);
void kl_warm_save(const KlWarmMemory *memory, void *state);
void kl_warm_load(KlWarmMemory *memory, const void *state);

#endif
