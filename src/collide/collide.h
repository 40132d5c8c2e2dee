// Collision detection behind one narrow door: ODE on the other side, for native and wasm alike.
// Contacts come back in an order, and with ids, that depend on geometry alone and not on ODE's moods.
#ifndef KL_COLLIDE_COLLIDE_H
#define KL_COLLIDE_COLLIDE_H

#include "kl.h"

typedef struct KlContact {
    int32_t geom_a, geom_b;
    int32_t body_a, body_b;    // -1 = world, which is always A; the normal points from A to B
    double position[3];        // world, midway between the two surfaces [m]
    double normal[3];          // unit, from A to B
    double gap;                // signed distance, negative when penetrating [m]
    double friction, restitution;
    uint64_t id;               // stable between steps for the same feature of the same pair
} KlContact;

typedef struct KlCollider KlCollider;

KlStatus kl_collider_create(const KlModel *model, KlCollider **collider);
void kl_collider_destroy(KlCollider *collider);

// Finds all contacts with gap <= detection distance for the poses (n_b x 7), culls near duplicates of a
// pair, orders by (geom_a, geom_b, id). `contacts` holds `capacity`; KL_ERR_LIMIT when more are needed,
// with the number in *count. Allocates nothing in the steady state.
KlStatus kl_collider_find(KlCollider *collider, const double *poses, KlContact *contacts,
                          int32_t capacity, int32_t *count);
void kl_collider_reset(KlCollider *collider);  // forgets the previous step's features
// What a checkpoint must carry so that ids go on as they would have.
size_t kl_collider_state_size(const KlCollider *collider);
void kl_collider_save(const KlCollider *collider, void *state);
void kl_collider_load(KlCollider *collider, const void *state);

#endif
