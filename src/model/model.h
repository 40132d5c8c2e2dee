// The frozen model: what the builder has checked and collected. Read-only for everyone else.
#ifndef KL_MODEL_MODEL_H
#define KL_MODEL_MODEL_H

#include "base/memory.h"
#include "kl.h"
#include "model/names.h"

typedef struct KlGeomPair {
    int32_t geom_a, geom_b;  // geom_a < geom_b
    double friction, restitution;
} KlGeomPair;

struct KlModel {
    KlArena arena;  // owns everything below
    int32_t body_count, joint_count, geom_count, mesh_count, reference_count, event_count;
    KlBodyDef *bodies;
    KlJointDef *joints;
    KlGeomDef *geoms;
    KlMeshDef *meshes;
    KlReferenceDef *references;
    KlForceEvent *events;
    int32_t exclude_count;
    int32_t *excludes;  // (exclude_count x 2) body pairs, first < second, sorted; joined bodies are
                        // in it
    int32_t pair_count;
    KlGeomPair *pairs;  // sorted by (geom_a, geom_b)
    bool neighbours_collide;
    KlNames body_names, joint_names, geom_names, mesh_names, reference_names;
    KlSettings settings;       // max_contacts resolved to a number
    bool max_contacts_chosen;  // settings.max_contacts came from the model, not from its author
    KlModelInfo info;
    int32_t *joint_row_start;  // (joint_count + 1) first constraint row of each joint
    int32_t *joint_dof_start;  // (joint_count + 1) first degree of freedom of each joint
};

bool kl_model_excludes(const KlModel *model, int32_t body_a, int32_t body_b);  // -1 allowed
// Friction and restitution of a pair of geoms, overrides included.
void kl_model_material(const KlModel *model, int32_t geom_a, int32_t geom_b, double *friction, double *restitution);

// What a builder holds so far: a loan until the next call on it.
const KlModel *kl_builder_model(const KlBuilder *builder);

// KL_ERR_SCENE naming events[index] and its field.
KlStatus kl_event_check(const KlModel *model, int32_t index, const KlForceEvent *event);

// Orders of the sorted lists, for qsort and bsearch: body pairs, and KlGeomPair by its geoms.
int kl_compare_excludes(const void *a, const void *b);
int kl_compare_geom_pairs(const void *a, const void *b);

#endif
