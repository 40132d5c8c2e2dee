// The frozen model: look-ups and what it says about itself.
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

void kl_model_destroy(KlModel *model) {
    if (model == NULL) {
        return;
    }
    kl_names_free(&model->body_names);
    kl_names_free(&model->joint_names);
    kl_names_free(&model->geom_names);
    kl_names_free(&model->mesh_names);
    kl_names_free(&model->reference_names);
    KlArena arena = model->arena;
    kl_free(model);
    kl_arena_free(&arena);
}

void kl_model_info(const KlModel *model, KlModelInfo *info) { *info = model->info; }

#define ELEMENT(field, count) (i >= 0 && i < model->count ? &model->field[i] : NULL)
const KlBodyDef *kl_model_body(const KlModel *model, int32_t i) { return ELEMENT(bodies, body_count); }
const KlJointDef *kl_model_joint(const KlModel *model, int32_t i) { return ELEMENT(joints, joint_count); }
const KlGeomDef *kl_model_geom(const KlModel *model, int32_t i) { return ELEMENT(geoms, geom_count); }
const KlMeshDef *kl_model_mesh(const KlModel *model, int32_t i) { return ELEMENT(meshes, mesh_count); }
const KlReferenceDef *kl_model_reference(const KlModel *model, int32_t i) {
    return ELEMENT(references, reference_count);
}
const KlForceEvent *kl_model_event(const KlModel *model, int32_t i) { return ELEMENT(events, event_count); }
#undef ELEMENT

int32_t kl_model_event_count(const KlModel *model) { return model->event_count; }
const KlSettings *kl_model_settings(const KlModel *model) { return &model->settings; }
int32_t kl_model_find_body(const KlModel *model, const char *name) { return kl_names_find(&model->body_names, name); }
int32_t kl_model_find_joint(const KlModel *model, const char *name) { return kl_names_find(&model->joint_names, name); }
int32_t kl_model_find_geom(const KlModel *model, const char *name) { return kl_names_find(&model->geom_names, name); }

int kl_compare_excludes(const void *a, const void *b) {
    const int32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

bool kl_model_excludes(const KlModel *model, int32_t body_a, int32_t body_b) {
    int32_t key[2] = {body_a < body_b ? body_a : body_b, body_a < body_b ? body_b : body_a};
    return model->exclude_count > 0 && bsearch(key, model->excludes, (size_t)model->exclude_count, 2 * sizeof(int32_t),
                                               kl_compare_excludes) != NULL;
}

int kl_compare_geom_pairs(const void *a, const void *b) {
    const KlGeomPair *x = a, *y = b;
    return x->geom_a != y->geom_a ? (x->geom_a > y->geom_a) - (x->geom_a < y->geom_a)
                                  : (x->geom_b > y->geom_b) - (x->geom_b < y->geom_b);
}

void kl_model_material(const KlModel *model, int32_t geom_a, int32_t geom_b, double *friction, double *restitution) {
    KlGeomPair key = {.geom_a = geom_a < geom_b ? geom_a : geom_b, .geom_b = geom_a < geom_b ? geom_b : geom_a};
    const KlGeomPair *pair = model->pair_count == 0 ? NULL
                                                    : bsearch(&key, model->pairs, (size_t)model->pair_count, sizeof key,
                                                              kl_compare_geom_pairs);
    const KlGeomDef *a = &model->geoms[geom_a], *b = &model->geoms[geom_b];
    double larger = a->restitution > b->restitution ? a->restitution : b->restitution;
    *friction = pair != NULL ? pair->friction : sqrt(a->friction * b->friction);
    *restitution = pair != NULL ? pair->restitution : larger;
}
