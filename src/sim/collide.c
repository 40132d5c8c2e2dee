// The stage that finds contacts, and what fields show of them.
#include "math/vec.h"
#include "sim/sim.h"

static void show_contact(KlSim *sim, int32_t k) {
    const KlContact *c = &sim->contacts[k];
    kl_copy3(c->position, sim->contact_position + 3 * k);
    sim->contact_gap[k] = c->gap;
    sim->contact_friction[k] = c->friction;
    sim->contact_bodies[2 * k] = c->body_a;
    sim->contact_bodies[2 * k + 1] = c->body_b;
    sim->contact_geoms[2 * k] = c->geom_a;
    sim->contact_geoms[2 * k + 1] = c->geom_b;
    sim->contact_id[k] = c->id;
}

KlStatus kl_stage_collide(KlSim *sim) {
    int32_t count = 0;
    sim->contact_count = 0;
    KL_TRY(kl_collider_find(sim->collider, sim->eval_pose, sim->contacts, sim->settings.max_contacts, &count));
    sim->contact_count = count;
    for (int32_t k = 0; k < count; k++) {
        show_contact(sim, k);
    }
    return KL_OK;
}
