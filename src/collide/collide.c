// Collision detection of a model: sweep along x, then a narrow phase per pair (planes, polyhedra
// and balls with them by our own exact features, the rest by ODE), then culling, ids and order.
#include "collide/collide.h"

#include <string.h>

#include "base/status.h"
#include "collide/ode.h"
#include "math/vec.h"

// Bodies placed to touch do touch, whatever the rounding of their poses. [m]
#define TOUCH 1e-9

// A contact of the last step: what ids and culling go by.
typedef struct Memory {
    int32_t geom_a, geom_b;
    uint64_t id;
    double on_a[3], on_b[3];  // the contact point in the bodies' frames
} Memory;

typedef struct Pair {
    int32_t a, b;  // shapes; A is the world's, else the lower geom's
} Pair;

struct KlCollider {
    const KlModel *model;
    KlArena arena;
    double reach;  // contacts are made up to this gap [m]
    int32_t shape_count;
    KlShape *shapes;  // of all geoms that may collide, by ascending geom
    int32_t *order;   // shapes but planes by ascending low[0]
    int32_t order_count;
    Pair *pairs;
    int32_t pair_count, pair_capacity;
    KlRawList raw;
    KlOdeBuffer ode;
    KlClipper clipper;
    int32_t memory_capacity, memory_count;
    Memory *memory, *next;
};

// id: geom A (17 bits), geom B (17 bits), feature (30 bits).
enum { GEOM_BITS = 17, FEATURE_BITS = 30 };

KlStatus kl_raw_grow(KlRawList *list) {
    int32_t capacity = list->capacity == 0 ? 256 : 2 * list->capacity;
    KlRawContact *grown = kl_realloc(list->contacts, (size_t)capacity * sizeof *grown);
    if (grown == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for %d raw contacts", (int)capacity);
    }
    list->contacts = grown;
    list->capacity = capacity;
    return KL_OK;
}

// ------------------------------------------------------------------------------------------------
// Creation
// ------------------------------------------------------------------------------------------------

static KlStatus create_shape(KlCollider *collider, int32_t geom, KlShape *shape) {
    const KlModel *model = collider->model;
    const KlGeomDef *def = &model->geoms[geom];
    shape->geom = geom;
    shape->body = def->body;
    shape->kind = def->kind;
    memcpy(shape->size, def->size, sizeof shape->size);
    memcpy(shape->local_pose, def->pose, sizeof shape->local_pose);
    if (def->kind == KL_GEOM_BOX) {
        KL_TRY(kl_polyhedron_box(def->size, &collider->arena, &shape->polyhedron));
    } else if (def->kind == KL_GEOM_CONVEX) {
        const KlMeshDef *mesh = &model->meshes[def->mesh];
        KL_TRY(
            kl_polyhedron_hull(mesh->vertices, mesh->vertex_count, mesh->name, &collider->arena, &shape->polyhedron));
    } else if (def->kind == KL_GEOM_MESH) {
        shape->mesh = &model->meshes[def->mesh];
    }
    const KlPolyhedron *p = &shape->polyhedron;
    shape->world_vertices = KL_ARENA_ARRAY(&collider->arena, double, 3 * (size_t)p->vertex_count);
    shape->world_normals = KL_ARENA_ARRAY(&collider->arena, double, 3 * (size_t)p->face_count);
    KL_TRY(kl_arena_check(&collider->arena));
    return kl_ode_create(shape, &collider->arena);
}

static int32_t longest_face(const KlCollider *collider) {
    int32_t longest = 0;
    for (int32_t i = 0; i < collider->shape_count; i++) {
        const KlPolyhedron *p = &collider->shapes[i].polyhedron;
        for (int32_t face = 0; face < p->face_count; face++) {
            int32_t length = p->face_start[face + 1] - p->face_start[face];
            longest = length > longest ? length : longest;
        }
    }
    return longest;
}

static KlStatus build(KlCollider *collider) {
    const KlModel *model = collider->model;
    const KlSettings *settings = &model->settings;
    KlArena *arena = &collider->arena;
    double inflation = -settings->margin;
    collider->reach = settings->detection_distance > inflation ? settings->detection_distance : inflation;
    collider->reach = collider->reach > TOUCH ? collider->reach : TOUCH;
    if (model->geom_count >= 1 << GEOM_BITS) {
        return kl_fail(KL_ERR_LIMIT, "collision takes fewer than %d geoms (got %d)", 1 << GEOM_BITS,
                       (int)model->geom_count);
    }
    collider->memory_capacity = settings->max_contacts;
    collider->shapes = KL_ARENA_ARRAY(arena, KlShape, model->geom_count);
    collider->order = KL_ARENA_ARRAY(arena, int32_t, model->geom_count);
    collider->memory = KL_ARENA_ARRAY(arena, Memory, collider->memory_capacity);
    collider->next = KL_ARENA_ARRAY(arena, Memory, collider->memory_capacity);
    KL_TRY(kl_arena_check(arena));
    for (int32_t i = 0; i < model->geom_count; i++) {
        if (!model->geoms[i].visual_only) {
            KlShape *shape = &collider->shapes[collider->shape_count++];
            KL_TRY(create_shape(collider, i, shape));
            if (shape->kind != KL_GEOM_PLANE) {
                collider->order[collider->order_count++] = collider->shape_count - 1;
            }
        }
    }
    return kl_clipper_create(2 * longest_face(collider) + 4, arena, &collider->clipper);
}

KlStatus kl_collider_create(const KlModel *model, KlCollider **collider) {
    *collider = NULL;
    KL_TRY(kl_ode_enter());
    KlCollider *created = kl_alloc(sizeof *created);
    if (created == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for a collider");
    }
    created->model = model;
    KlStatus status = build(created);
    if (status != KL_OK) {
        kl_collider_destroy(created);
        return status;
    }
    *collider = created;
    return KL_OK;
}

void kl_collider_destroy(KlCollider *collider) {
    if (collider == NULL) {
        return;
    }
    for (int32_t i = 0; i < collider->shape_count; i++) {
        kl_ode_destroy(&collider->shapes[i]);
    }
    kl_free(collider->pairs);
    kl_free(collider->raw.contacts);
    kl_free(collider->ode.contacts);
    kl_arena_free(&collider->arena);
    kl_free(collider);
}

// ------------------------------------------------------------------------------------------------
// Broad phase
// ------------------------------------------------------------------------------------------------

static const double world_pose[7] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};

static const double *pose_of(const double *poses, int32_t body) { return body < 0 ? world_pose : poses + 7 * body; }

static void place_polyhedron(KlShape *shape) {
    const KlPolyhedron *p = &shape->polyhedron;
    for (int32_t i = 0; i < p->vertex_count; i++) {
        kl_shape_to_world(shape, p->vertices + 3 * i, shape->world_vertices + 3 * i);
    }
    for (int32_t i = 0; i < p->face_count; i++) {
        kl_mat3_mul_vec(shape->rotation, p->normals + 3 * i, shape->world_normals + 3 * i);
    }
}

// Half of the box along an axis of the world, whose shares of the shape's own axes are given.
static double half_extent(const KlShape *shape, const double axis[3]) {
    const double *size = shape->size;
    double x = fabs(axis[0]), y = fabs(axis[1]), z = fabs(axis[2]);
    switch (shape->kind) {
        case KL_GEOM_SPHERE: return size[0];
        case KL_GEOM_CAPSULE: return size[0] + 0.5 * size[1] * z;
        case KL_GEOM_CYLINDER: return size[0] * sqrt(1.0 > z * z ? 1.0 - z * z : 0.0) + 0.5 * size[1] * z;
        default: return 0.5 * (size[0] * x + size[1] * y + size[2] * z);
    }
}

static void enclose_vertices(KlShape *shape) {
    kl_copy3(shape->world_vertices, shape->low);
    kl_copy3(shape->world_vertices, shape->high);
    for (int32_t i = 3; i < 3 * shape->polyhedron.vertex_count; i++) {
        double x = shape->world_vertices[i], *low = &shape->low[i % 3], *high = &shape->high[i % 3];
        *low = x < *low ? x : *low;
        *high = x > *high ? x : *high;
    }
}

static void find_box(KlShape *shape) {
    if (shape->kind == KL_GEOM_MESH) {
        kl_ode_box(shape);
        return;
    }
    if (shape->kind == KL_GEOM_CONVEX) {
        enclose_vertices(shape);
        return;
    }
    for (int32_t k = 0; k < 3; k++) {
        double half = half_extent(shape, shape->rotation + 3 * k);
        shape->low[k] = shape->position[k] - half;
        shape->high[k] = shape->position[k] + half;
    }
}

static void place(KlShape *shape, const double *poses, double reach) {
    double pose[7];
    kl_pose_mul(pose_of(poses, shape->body), shape->local_pose, pose);
    kl_copy3(pose, shape->position);
    kl_quat_to_mat3(pose + 3, shape->rotation);
    if (shape->kind == KL_GEOM_PLANE) {
        return;
    }
    shape->placed = false;
    place_polyhedron(shape);
    find_box(shape);
    for (int32_t k = 0; k < 3; k++) {
        shape->low[k] -= 0.5 * reach;
        shape->high[k] += 0.5 * reach;
    }
}

static bool may_collide(const KlCollider *collider, const KlShape *a, const KlShape *b) {
    const KlGeomDef *def_a = &collider->model->geoms[a->geom], *def_b = &collider->model->geoms[b->geom];
    return a->body != b->body && (def_a->group & def_b->mask) != 0 && (def_b->group & def_a->mask) != 0 &&
           !kl_model_excludes(collider->model, a->body, b->body);
}

static KlStatus add_pair(KlCollider *collider, int32_t first, int32_t second) {
    const KlShape *p = &collider->shapes[first], *q = &collider->shapes[second];
    if (!may_collide(collider, p, q)) {
        return KL_OK;
    }
    if (collider->pair_count == collider->pair_capacity) {
        int32_t capacity = collider->pair_capacity == 0 ? 64 : 2 * collider->pair_capacity;
        Pair *grown = kl_realloc(collider->pairs, (size_t)capacity * sizeof *grown);
        if (grown == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory for %d pairs of geoms", (int)capacity);
        }
        collider->pairs = grown;
        collider->pair_capacity = capacity;
    }
    bool in_order = p->body < 0 || (q->body >= 0 && first < second);
    collider->pairs[collider->pair_count++] = in_order ? (Pair){first, second} : (Pair){second, first};
    return KL_OK;
}

static bool boxes_overlap(const KlShape *a, const KlShape *b) {
    for (int32_t k = 1; k < 3; k++) {
        if (a->low[k] > b->high[k] || b->low[k] > a->high[k]) {
            return false;
        }
    }
    return true;
}

// Insertion: from step to step the order hardly changes.
static void sort_order(KlCollider *collider) {
    int32_t *order = collider->order;
    const KlShape *shapes = collider->shapes;
    for (int32_t i = 1; i < collider->order_count; i++) {
        int32_t moving = order[i], k = i;
        while (k > 0 && shapes[order[k - 1]].low[0] > shapes[moving].low[0]) {
            order[k] = order[k - 1];
            k--;
        }
        order[k] = moving;
    }
}

static bool pair_before(const Pair *p, const Pair *q) { return p->a != q->a ? p->a < q->a : p->b < q->b; }

// Shell sort: in place, and with a total order the result does not depend on what came in.
static void sort_pairs(Pair *pairs, int32_t count) {
    for (int32_t step = count / 2; step > 0; step = step / 2) {
        for (int32_t i = step; i < count; i++) {
            Pair moving = pairs[i];
            int32_t k = i;
            while (k >= step && pair_before(&moving, &pairs[k - step])) {
                pairs[k] = pairs[k - step];
                k -= step;
            }
            pairs[k] = moving;
        }
    }
}

static KlStatus find_pairs(KlCollider *collider) {
    collider->pair_count = 0;
    sort_order(collider);
    for (int32_t i = 0; i < collider->order_count; i++) {
        const KlShape *p = &collider->shapes[collider->order[i]];
        for (int32_t k = i + 1; k < collider->order_count; k++) {
            const KlShape *q = &collider->shapes[collider->order[k]];
            if (q->low[0] > p->high[0]) {
                break;
            }
            if (boxes_overlap(p, q)) {
                KL_TRY(add_pair(collider, collider->order[i], collider->order[k]));
            }
        }
    }
    for (int32_t plane = 0; plane < collider->shape_count; plane++) {
        if (collider->shapes[plane].kind == KL_GEOM_PLANE) {
            for (int32_t i = 0; i < collider->order_count; i++) {
                KL_TRY(add_pair(collider, plane, collider->order[i]));
            }
        }
    }
    sort_pairs(collider->pairs, collider->pair_count);
    return KL_OK;
}

// ------------------------------------------------------------------------------------------------
// One pair: features and culling
// ------------------------------------------------------------------------------------------------

static bool has_core(const KlShape *shape) { return shape->kind == KL_GEOM_SPHERE || shape->kind == KL_GEOM_CAPSULE; }

static KlStatus narrow_phase(KlCollider *collider, KlShape *a, KlShape *b) {
    collider->raw.count = 0;
    if (a->kind == KL_GEOM_PLANE) {
        return kl_plane_contacts(a, b, collider->reach, &collider->raw);
    }
    bool flat_a = a->polyhedron.vertex_count > 0, flat_b = b->polyhedron.vertex_count > 0;
    if (flat_a && flat_b) {
        return kl_polyhedron_contacts(a, b, collider->reach, &collider->clipper, &collider->raw);
    }
    if ((flat_a && has_core(b)) || (flat_b && has_core(a))) {
        return kl_round_contacts(a, b, collider->reach, &collider->raw);
    }
    return kl_ode_contacts(a, b, collider->reach, &collider->ode, &collider->raw);
}

// What one pair has from the last step, and where its bodies are now.
typedef struct PairView {
    const KlShape *a, *b;
    const double *pose_a, *pose_b;
    const Memory *memory;  // (count) by ascending id
    int32_t count;
} PairView;

static int32_t feature_part(uint64_t id) { return (int32_t)(id & ((1u << FEATURE_BITS) - 1)); }

static double distance2(const double x[3], const double y[3]) {
    double d[3];
    kl_sub3(x, y, d);
    return kl_dot3(d, d);
}

static void to_local(const double pose[7], const double world[3], double local[3]) {
    double rotation[9], d[3];
    kl_quat_to_mat3(pose + 3, rotation);
    kl_sub3(world, pose, d);
    kl_mat3_tmul_vec(rotation, d, local);
}

static void to_world(const double pose[7], const double local[3], double world[3]) {
    double rotation[9];
    kl_quat_to_mat3(pose + 3, rotation);
    kl_mat3_mul_vec(rotation, local, world);
    kl_add3(world, pose, world);
}

// A contact without a natural feature is the one of the last step that it is nearest to, moved along
// with either body, within a tenth of the smaller shape.
static void match_features(const PairView *view, KlRawList *raw) {
    double radius = 0.1 * kl_smaller_extent(view->a, view->b);
    for (int32_t m = 0; m < view->count; m++) {
        const Memory *memory = &view->memory[m];
        double with_a[3], with_b[3];
        to_world(view->pose_a, memory->on_a, with_a);
        to_world(view->pose_b, memory->on_b, with_b);
        double nearest = radius * radius;
        int32_t best = -1;
        for (int32_t i = 0; i < raw->count; i++) {
            if (raw->contacts[i].feature >= 0) {
                continue;
            }
            double da = distance2(raw->contacts[i].position, with_a);
            double db = distance2(raw->contacts[i].position, with_b);
            double d = da < db ? da : db;
            if (d < nearest) {
                nearest = d;
                best = i;
            }
        }
        if (best >= 0) {
            raw->contacts[best].feature = feature_part(memory->id);
        }
    }
}

static void rank_contacts(const PairView *view, KlRawList *raw) {
    for (int32_t i = 0; i < raw->count; i++) {
        KlRawContact *contact = &raw->contacts[i];
        contact->rank = 1;
        for (int32_t m = 0; m < view->count; m++) {
            if (feature_part(view->memory[m].id) == contact->feature) {
                contact->rank = 0;
            }
        }
    }
}

// A total order for culling: contacts of the last step stay, then the deepest leads.
static bool leads(const KlRawContact *p, const KlRawContact *q) {
    if (p->rank != q->rank) {
        return p->rank < q->rank;
    }
    if (p->gap != q->gap) {
        return p->gap < q->gap;
    }
    if (p->feature != q->feature) {
        return p->feature < q->feature;
    }
    for (int32_t k = 0; k < 3; k++) {
        if (p->position[k] != q->position[k]) {
            return p->position[k] < q->position[k];
        }
    }
    return false;
}

static bool feature_before(const KlRawContact *p, const KlRawContact *q) { return p->feature < q->feature; }

static void sort_contacts(KlRawList *raw, bool (*before)(const KlRawContact *, const KlRawContact *)) {
    for (int32_t step = raw->count / 2; step > 0; step = step / 2) {
        for (int32_t i = step; i < raw->count; i++) {
            KlRawContact moving = raw->contacts[i];
            int32_t k = i;
            while (k >= step && before(&moving, &raw->contacts[k - step])) {
                raw->contacts[k] = raw->contacts[k - step];
                k -= step;
            }
            raw->contacts[k] = moving;
        }
    }
}

// Two contacts with the same normal are compared across it: the same point may be told on the surface of
// either body, which is as far apart as the gap.
static bool near_duplicates(const KlRawContact *p, const KlRawContact *q, double distance) {
    double d[3];
    kl_sub3(p->position, q->position, d);
    double along = kl_dot3(d, p->normal);
    if (kl_dot3(p->normal, q->normal) > 0.99 && fabs(along) <= fabs(p->gap) + fabs(q->gap)) {
        kl_axpy3(-along, p->normal, d);
    }
    return kl_dot3(d, d) < distance * distance;
}

static void cull(KlRawList *raw, double distance) {
    int32_t kept = 0;
    for (int32_t i = 0; i < raw->count; i++) {
        bool near = false;
        for (int32_t k = 0; k < kept && !near; k++) {
            near = near_duplicates(&raw->contacts[i], &raw->contacts[k], distance);
        }
        if (!near) {
            raw->contacts[kept++] = raw->contacts[i];
        }
    }
    raw->count = kept;
}

static bool feature_taken(const PairView *view, const KlRawList *raw, int32_t feature, int32_t except) {
    for (int32_t i = 0; i < raw->count; i++) {
        if (i != except && raw->contacts[i].feature == feature) {
            return true;
        }
    }
    for (int32_t m = 0; m < view->count; m++) {
        if (feature_part(view->memory[m].id) == feature) {
            return true;
        }
    }
    return false;
}

// New contacts get the smallest free numbers; of two with the same feature the second moves up.
static void number_features(const PairView *view, KlRawList *raw) {
    int32_t next = 0;
    for (int32_t i = 0; i < raw->count; i++) {
        if (raw->contacts[i].feature < 0) {
            while (feature_taken(view, raw, next, i)) {
                next++;
            }
            raw->contacts[i].feature = next++;
        }
    }
    sort_contacts(raw, feature_before);
    for (int32_t i = 1; i < raw->count; i++) {
        if (raw->contacts[i].feature <= raw->contacts[i - 1].feature) {
            raw->contacts[i].feature = raw->contacts[i - 1].feature + 1;
        }
    }
}

// The memory of this pair: entries are sorted by (geom_a, geom_b, id) as pairs are.
static PairView view_pair(const KlCollider *collider, const Pair *pair, const double *poses, int32_t *cursor) {
    const KlShape *a = &collider->shapes[pair->a], *b = &collider->shapes[pair->b];
    const Memory *memory = collider->memory;
    while (
        *cursor < collider->memory_count &&
        (memory[*cursor].geom_a < a->geom || (memory[*cursor].geom_a == a->geom && memory[*cursor].geom_b < b->geom))) {
        (*cursor)++;
    }
    int32_t end = *cursor;
    while (end < collider->memory_count && memory[end].geom_a == a->geom && memory[end].geom_b == b->geom) {
        end++;
    }
    return (PairView){.a = a,
                      .b = b,
                      .pose_a = pose_of(poses, a->body),
                      .pose_b = pose_of(poses, b->body),
                      .memory = memory + *cursor,
                      .count = end - *cursor};
}

static KlContact finish_contact(const KlCollider *collider, const PairView *view, const KlRawContact *raw) {
    uint64_t geoms = (uint64_t)view->a->geom << GEOM_BITS | (uint64_t)view->b->geom;
    KlContact contact = {.geom_a = view->a->geom,
                         .geom_b = view->b->geom,
                         .body_a = view->a->body,
                         .body_b = view->b->body,
                         .gap = raw->gap,
                         .id = geoms << FEATURE_BITS | (uint64_t)raw->feature};
    kl_copy3(raw->position, contact.position);
    kl_copy3(raw->normal, contact.normal);
    kl_model_material(collider->model, contact.geom_a, contact.geom_b, &contact.friction, &contact.restitution);
    return contact;
}

static void remember(const PairView *view, const KlContact *contact, Memory *memory) {
    memory->geom_a = contact->geom_a;
    memory->geom_b = contact->geom_b;
    memory->id = contact->id;
    to_local(view->pose_a, contact->position, memory->on_a);
    to_local(view->pose_b, contact->position, memory->on_b);
}

// ------------------------------------------------------------------------------------------------
// The whole
// ------------------------------------------------------------------------------------------------

KlStatus kl_collider_find(KlCollider *collider, const double *poses, KlContact *contacts, int32_t capacity,
                          int32_t *count) {
    *count = 0;
    KL_TRY(kl_ode_enter());
    for (int32_t i = 0; i < collider->shape_count; i++) {
        place(&collider->shapes[i], poses, collider->reach);
    }
    KL_TRY(find_pairs(collider));

    int32_t limit = capacity < collider->memory_capacity ? capacity : collider->memory_capacity;
    int32_t cursor = 0;
    for (int32_t i = 0; i < collider->pair_count; i++) {
        Pair pair = collider->pairs[i];
        PairView view = view_pair(collider, &pair, poses, &cursor);
        KL_TRY(narrow_phase(collider, &collider->shapes[pair.a], &collider->shapes[pair.b]));
        match_features(&view, &collider->raw);
        rank_contacts(&view, &collider->raw);
        sort_contacts(&collider->raw, leads);
        cull(&collider->raw, collider->model->settings.cull_distance);
        number_features(&view, &collider->raw);
        for (int32_t k = 0; k < collider->raw.count; k++, (*count)++) {
            if (*count < limit) {
                contacts[*count] = finish_contact(collider, &view, &collider->raw.contacts[k]);
                remember(&view, &contacts[*count], &collider->next[*count]);
            }
        }
    }
    if (*count > limit) {
        return kl_fail(KL_ERR_LIMIT,
                       "a step needs %d contacts, %d are allowed: raise max_contacts or "
                       "cull_distance",
                       (int)*count, (int)limit);
    }
    Memory *swap = collider->memory;
    collider->memory = collider->next;
    collider->next = swap;
    collider->memory_count = *count;
    return KL_OK;
}

void kl_collider_reset(KlCollider *collider) { collider->memory_count = 0; }

// A checkpoint: the number of remembered contacts, then all of them, unused ones zeroed.
size_t kl_collider_state_size(const KlCollider *collider) {
    return sizeof(int64_t) + (size_t)collider->memory_capacity * sizeof(Memory);
}

void kl_collider_save(const KlCollider *collider, void *state) {
    int64_t count = collider->memory_count;
    char *bytes = state;
    memset(bytes, 0, kl_collider_state_size(collider));
    memcpy(bytes, &count, sizeof count);
    memcpy(bytes + sizeof count, collider->memory, (size_t)count * sizeof(Memory));
}

void kl_collider_load(KlCollider *collider, const void *state) {
    int64_t count;
    const char *bytes = state;
    memcpy(&count, bytes, sizeof count);
    bool valid = count >= 0 && count <= collider->memory_capacity;
    collider->memory_count = valid ? (int32_t)count : 0;
    memcpy(collider->memory, bytes + sizeof count, (size_t)collider->memory_count * sizeof(Memory));
}
