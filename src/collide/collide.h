// Collision detection behind one narrow door: ODE on the other side, for native and wasm alike.
// Contacts come back in an order, and with ids, that depend on geometry alone and not on ODE's moods.
#ifndef KL_COLLIDE_COLLIDE_H
#define KL_COLLIDE_COLLIDE_H

#include "kl.h"

typedef struct KlContact {
    int32_t geom_a, geom_b;
    int32_t body_a, body_b;  // -1 = world, which is always A; the normal points from A to B
    double position[3];      // world, midway between the two surfaces [m]
    double normal[3];        // unit, from A to B
    double gap;              // signed distance, negative when penetrating [m]
    double friction, restitution;
    uint64_t id;  // stable between steps for the same feature of the same pair
} KlContact;

typedef struct KlCollider KlCollider;

KlStatus kl_collider_create(const KlModel *model, KlCollider **collider);  // the model must outlive it
void kl_collider_destroy(KlCollider *collider);

// Finds all contacts with gap <= reach for the poses (n_b x 7), where reach is the larger of the
// settings' detection_distance and -margin, and 1e-9 m at least (bodies placed to touch do). Contacts of
// one pair of geoms that are nearer than cull_distance are merged: those of the last step stay, then the
// deepest leads. Order: (geom_a, geom_b, id). `contacts` holds `capacity`; KL_ERR_LIMIT when more than
// that, or than the model's max_contacts, are needed, with the number in *count. Allocates only when a
// step needs more room than any before.
//
// Planes with anything, and boxes and hulls with each other, spheres and capsules are computed from
// features (corners, faces, edges): gaps are exact and ids name the features. All else comes from ODE, whose contacts get the id of the contact of the
// last step that they are nearest to, moved along with either body. Before touch (gap > 0) contacts are
// seen for all pairs but a mesh with a box, cylinder, hull or mesh, and ODE's single-precision search
// makes gaps of meshes good to about 1e-7 of their size. A cylinder on a hull has one contact.
KlStatus kl_collider_find(KlCollider *collider, const double *poses, KlContact *contacts, int32_t capacity,
                          int32_t *count);
void kl_collider_reset(KlCollider *collider);  // forgets the previous step's features
// What a checkpoint must carry so that ids go on as they would have.
size_t kl_collider_state_size(const KlCollider *collider);
void kl_collider_save(const KlCollider *collider, void *state);
void kl_collider_load(KlCollider *collider, const void *state);

#endif
