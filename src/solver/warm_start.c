// Warm starts by block id: a hash table from id to the remembered block, rebuilt with every solution.
#include "solver/warm_start.h"

#include <string.h>

#include "base/hash.h"
#include "dual/problem.h"

void kl_warm_reserve(KlWarmMemory *memory, int32_t block_count, int32_t dim, KlArena *arena) {
    int32_t slots = 4;
    while (slots <= 2 * block_count) {
        slots *= 2;
    }
    *memory = (KlWarmMemory){.block_capacity = block_count, .dim_capacity = dim, .slot_count = slots};
    memory->id = KL_ARENA_ARRAY(arena, uint64_t, block_count);
    memory->start = KL_ARENA_ARRAY(arena, int32_t, block_count + 1);
    memory->lambda = KL_ARENA_ARRAY(arena, double, dim);
    memory->slot = KL_ARENA_ARRAY(arena, int32_t, slots);
}

// The slot that holds `id`, or the free one where it belongs.
static int32_t *find_slot(const KlWarmMemory *memory, uint64_t id) {
    uint32_t mask = (uint32_t)memory->slot_count - 1;
    uint32_t at = (uint32_t)(kl_hash_word(KL_HASH_START, id) >> 32) & mask;
    while (memory->slot[at] != 0 && memory->id[memory->slot[at] - 1] != id) {
        at = (at + 1) & mask;
    }
    return &memory->slot[at];
}

static void index_blocks(KlWarmMemory *memory) {
    memset(memory->slot, 0, (size_t)memory->slot_count * sizeof *memory->slot);
    for (int32_t b = 0; b < memory->block_count; b++) {
        int32_t *slot = find_slot(memory, memory->id[b]);
        if (*slot == 0) {  // of equal ids the first one counts
            *slot = b + 1;
        }
    }
}

void kl_warm_copy(const KlWarmMemory *from, KlWarmMemory *to) {
    if (from->block_count == 0) {
        return;
    }
    to->block_count = from->block_count;
    size_t blocks = (size_t)from->block_count;
    memcpy(to->id, from->id, blocks * sizeof *to->id);
    memcpy(to->start, from->start, (blocks + 1) * sizeof *to->start);
    memcpy(to->lambda, from->lambda, (size_t)from->start[blocks] * sizeof *to->lambda);
    index_blocks(to);
}

void kl_warm_store(KlWarmMemory *memory, const KlProblem *problem, const double *lambda) {
    size_t blocks = (size_t)problem->block_count;
    memory->block_count = problem->block_count;
    memcpy(memory->id, problem->block_id, blocks * sizeof *memory->id);
    memcpy(memory->start, problem->block_start, (blocks + 1) * sizeof *memory->start);
    memcpy(memory->lambda, lambda, (size_t)problem->dim * sizeof *memory->lambda);
    index_blocks(memory);
}

static void recall_block(const KlWarmMemory *memory, uint64_t id, int32_t rows, double *lambda) {
    int32_t slot = *find_slot(memory, id);
    if (slot == 0) {
        return;
    }
    int32_t first = memory->start[slot - 1];
    if (memory->start[slot] - first == rows) {
        memcpy(lambda, memory->lambda + first, (size_t)rows * sizeof *lambda);
    }
}

// t minimises f(t lambda) = t^2/2 l.(D l) + t l.v_f over t >= 0.
static void rescale(const KlProblem *problem, double *product, double *lambda) {
    kl_problem_multiply(problem, lambda, product);
    double curvature = 0.0, slope = 0.0;
    for (int32_t i = 0; i < problem->dim; i++) {
        curvature += lambda[i] * product[i];
        slope += lambda[i] * problem->free_velocity[i];
    }
    double t = curvature > 0.0 && slope < 0.0 ? -slope / curvature : 0.0;
    for (int32_t i = 0; i < problem->dim; i++) {
        lambda[i] *= t;
    }
}

void kl_warm_start(const KlWarmMemory *memory, KlWarmStart mode, const KlProblem *problem,
                   double *scratch, double *lambda) {
    memset(lambda, 0, (size_t)problem->dim * sizeof *lambda);
    if (mode == KL_WARM_NONE || memory->block_count == 0) {
        return;
    }
    for (int32_t b = 0; b < problem->block_count; b++) {
        recall_block(memory, problem->block_id[b], kl_block_rows(problem, b),
                     lambda + kl_block_first(problem, b));
    }
    kl_problem_project(problem, lambda);
    if (mode == KL_WARM_RESCALED) {
        rescale(problem, scratch, lambda);
    }
}
