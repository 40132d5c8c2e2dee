// The state of a simulation as one block of doubles, its hash, and checkpoints.
//
// A checkpoint holds, in this order: a header, the state block, the collider's memory of features and
// the solver's warm start. It fits the model (and solver) it was taken from, or the same model with other
// force events: those both know keep their state, the others are as at the start. So a run can be given
// another future.
#include "sim/sim.h"

#include <string.h>

#include "base/hash.h"
#include "math/lanes.h"
#include "solver/solver.h"

static size_t count_of(int32_t n) { return (size_t)n; }

size_t kl_state_doubles(const KlSim *sim) {
    size_t bodies = count_of(sim->body_count), dofs = count_of(sim->dof_count);
    return bodies * (7 + 6 + 6) + 4 * dofs + count_of(sim->event_count);
}

void kl_state_bind(const KlSim *sim, double *block, KlState *state) {
    size_t bodies = count_of(sim->body_count), dofs = count_of(sim->dof_count);
    state->block = block;
    state->pose = block;
    state->twist = state->pose + 7 * bodies;
    state->wrench = state->twist + 6 * bodies;
    state->position = state->wrench + 6 * bodies;
    state->integral = state->position + dofs;
    state->effort = state->integral + dofs;
    state->target = state->effort + dofs;
    state->event_body = state->target + dofs;
}

void kl_state_copy(const KlSim *sim, const KlState *from, KlState *to) {
    memcpy(to->block, from->block, sim->state_count * sizeof *to->block);
    to->step = from->step;
}

void kl_state_swap(const KlSim *sim, KlState *a, KlState *b) {
    double *x = a->block, *y = b->block;
    size_t i = 0, count = sim->state_count;
    for (; i + 8 <= count; i += 8) {
        for (size_t k = i; k < i + 8; k += 2) {
            KlPair kept = kl_load(x + k);
            kl_store(x + k, kl_load(y + k));
            kl_store(y + k, kept);
        }
    }
    for (; i < count; i++) {
        double kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
    int64_t step = a->step;
    a->step = b->step;
    b->step = step;
}

uint64_t kl_sim_hash(const KlSim *sim) {
    double time = kl_sim_now(sim);
    uint64_t hash = kl_hash_word(KL_HASH_START, (uint64_t)sim->now.step);
    hash = kl_hash_doubles(hash, &time, 1);
    hash = kl_hash_doubles(hash, sim->now.pose, 7 * count_of(sim->body_count));
    return kl_hash_doubles(hash, sim->now.twist, 6 * count_of(sim->body_count));
}

// ---- checkpoints -------------------------------------------------------------------------------

static const uint64_t checkpoint_magic = 0x3130706d69736c6bu;  // "klsimp01", little endian

typedef struct Header {
    uint64_t magic;
    int64_t step;
    int32_t bodies, dofs, events, solver;
    uint64_t collider_size, solver_size;
} Header;

static Header header_of(const KlSim *sim) {
    return (Header){
        .magic = checkpoint_magic,
        .step = sim->now.step,
        .bodies = sim->body_count,
        .dofs = sim->dof_count,
        .events = sim->event_count,
        .solver = kl_solver_kind_find(kl_solver_info(sim->solver)->id),
        .collider_size = kl_collider_state_size(sim->collider),
        .solver_size = kl_solver_state_size(sim->solver),
    };
}

size_t kl_sim_state_size(const KlSim *sim) {
    Header h = header_of(sim);
    return sizeof h + sim->state_count * sizeof(double) + (size_t)(h.collider_size + h.solver_size);
}

void kl_sim_save(const KlSim *sim, void *state) {
    Header h = header_of(sim);
    char *out = state;
    memcpy(out, &h, sizeof h);
    out += sizeof h;
    memcpy(out, sim->now.block, sim->state_count * sizeof(double));
    out += sim->state_count * sizeof(double);
    kl_collider_save(sim->collider, out);
    kl_solver_save(sim->solver, out + h.collider_size);
}

static KlStatus check_header(const KlSim *sim, const Header *found, size_t size) {
    Header own = header_of(sim);
    if (found->magic != own.magic) {
        return kl_fail(KL_ERR_FORMAT, "kl_sim_load: not a checkpoint of a simulation");
    }
    if (found->bodies != own.bodies || found->dofs != own.dofs || found->events < 0) {
        return kl_fail(KL_ERR_ARGUMENT,
                       "kl_sim_load: the checkpoint has %d bodies and %d degrees of freedom, the "
                       "model %d and %d",
                       (int)found->bodies, (int)found->dofs, (int)own.bodies, (int)own.dofs);
    }
    size_t expected =
        kl_sim_state_size(sim) - count_of(own.events) * sizeof(double) + count_of(found->events) * sizeof(double);
    if (found->solver != own.solver || found->solver_size != own.solver_size ||
        found->collider_size != own.collider_size || size != expected) {
        return kl_fail(KL_ERR_ARGUMENT,
                       "kl_sim_load: the checkpoint (%zu bytes) was taken with another solver or "
                       "contact capacity; this simulation, with '%s', takes %zu bytes",
                       size, kl_solver_info(sim->solver)->id, kl_sim_state_size(sim));
    }
    return KL_OK;
}

KlStatus kl_sim_load(KlSim *sim, const void *state, size_t size) {
    Header h;
    if (size < sizeof h) {
        return kl_fail(KL_ERR_FORMAT, "kl_sim_load: %zu bytes are no checkpoint", size);
    }
    memcpy(&h, state, sizeof h);
    KL_TRY(check_header(sim, &h, size));
    const char *in = (const char *)state + sizeof h;
    size_t without_events = sim->state_count - count_of(sim->event_count);
    int32_t known = h.events < sim->event_count ? h.events : sim->event_count;
    memcpy(sim->now.block, in, (without_events + count_of(known)) * sizeof(double));
    for (int32_t e = known; e < sim->event_count; e++) {
        sim->now.event_body[e] = -1.0;
    }
    sim->now.step = h.step;
    in += (without_events + count_of(h.events)) * sizeof(double);
    kl_collider_load(sim->collider, in);
    kl_solver_load(sim->solver, in + h.collider_size);
    sim->begun = false;
    kl_settle(sim);
    return KL_OK;
}
