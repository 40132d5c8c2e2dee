// Warm starts by block id: a hash table from id to the remembered block, rebuilt with every solution.
#include "solver/warm_start.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "dual/problem.h"
#include "math/lanes.h"

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
    memory->distinct = true;
    memset(memory->slot, 0, (size_t)memory->slot_count * sizeof *memory->slot);
    for (int32_t b = 0; b < memory->block_count; b++) {
        int32_t *slot = find_slot(memory, memory->id[b]);
        if (*slot == 0) {  // of equal ids the first one counts
            *slot = b + 1;
        } else {
            memory->distinct = false;
        }
    }
}

// The same blocks in the same order, as in most steps without contacts.
static bool same_ids(const KlWarmMemory *memory, const KlProblem *problem) {
    size_t blocks = (size_t)problem->block_count;
    return memory->block_count == problem->block_count &&
           memcmp(memory->id, problem->block_id, blocks * sizeof *memory->id) == 0;
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
    bool known = memory->block_count > 0 && same_ids(memory, problem);
    memory->block_count = problem->block_count;
    memcpy(memory->id, problem->block_id, blocks * sizeof *memory->id);
    memcpy(memory->start, problem->block_start, (blocks + 1) * sizeof *memory->start);
    memcpy(memory->lambda, lambda, (size_t)problem->dim * sizeof *memory->lambda);
    if (!known) {
        index_blocks(memory);
    }
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

static void recall(const KlWarmMemory *memory, const KlProblem *problem, double *lambda) {
    size_t blocks = (size_t)problem->block_count, rows = (size_t)problem->dim;
    if (memory->distinct && same_ids(memory, problem) &&
        memcmp(memory->start, problem->block_start, (blocks + 1) * sizeof *memory->start) == 0) {
        memcpy(lambda, memory->lambda, rows * sizeof *lambda);
        return;
    }
    memset(lambda, 0, rows * sizeof *lambda);
    for (int32_t b = 0; b < problem->block_count; b++) {
        recall_block(memory, problem->block_id[b], kl_block_rows(problem, b), lambda + kl_block_first(problem, b));
    }
}

void kl_warm_start(const KlWarmMemory *memory, KlWarmStart mode, const KlProblem *problem, double *scratch,
                   double *lambda) {
    if (mode == KL_WARM_NONE || memory->block_count == 0) {
        memset(lambda, 0, (size_t)problem->dim * sizeof *lambda);
        return;
    }
    recall(memory, problem, lambda);
    kl_problem_project(problem, lambda);
    if (mode == KL_WARM_RESCALED) {
        rescale(problem, scratch, lambda);
    }
    if (!isfinite(kl_lanes_largest(lambda, problem->dim))) {  // squares of reactions beyond 1e154 overflow
        memset(lambda, 0, (size_t)problem->dim * sizeof *lambda);
    }
}

// ---- as bytes: the block count, then ids, starts and reactions, each with room for the capacity ---

typedef struct Part {
    void *data;
    size_t size;
} Part;

enum { PART_COUNT = 3 };

static void parts_of(const KlWarmMemory *memory, Part parts[PART_COUNT]) {
    size_t blocks = (size_t)memory->block_capacity;
    parts[0] = (Part){memory->id, blocks * sizeof *memory->id};
    parts[1] = (Part){memory->start, (blocks + 1) * sizeof *memory->start};
    parts[2] = (Part){memory->lambda, (size_t)memory->dim_capacity * sizeof *memory->lambda};
}

size_t kl_warm_size(const KlWarmMemory *memory) {
    if (memory->slot_count == 0) {
        return 0;
    }
    Part parts[PART_COUNT];
    parts_of(memory, parts);
    return sizeof memory->block_count + parts[0].size + parts[1].size + parts[2].size;
}

void kl_warm_save(const KlWarmMemory *memory, void *state) {
    if (memory->slot_count == 0) {
        return;
    }
    Part parts[PART_COUNT];
    parts_of(memory, parts);
    char *out = state;
    memcpy(out, &memory->block_count, sizeof memory->block_count);
    out += sizeof memory->block_count;
    for (int32_t i = 0; i < PART_COUNT; i++) {
        memcpy(out, parts[i].data, parts[i].size);
        out += parts[i].size;
    }
}

void kl_warm_load(KlWarmMemory *memory, const void *state) {
    if (memory->slot_count == 0) {
        return;
    }
    Part parts[PART_COUNT];
    parts_of(memory, parts);
    const char *in = state;
    memcpy(&memory->block_count, in, sizeof memory->block_count);
    in += sizeof memory->block_count;
    for (int32_t i = 0; i < PART_COUNT; i++) {
        memcpy(parts[i].data, in, parts[i].size);
        in += parts[i].size;
    }
    index_blocks(memory);
}
