// Writes a scene as JSON: canonical (fixed order of keys, what equals its default left out, frames
// in the bodies) and lossless (numbers by their shortest text that reads back to the same bits).
// Reading the text and writing it again gives the same text.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "model/model.h"
#include "model/scene.h"

typedef struct Writer {
    char *text;
    size_t size, capacity;
    bool failed;
    int32_t depth;
    bool fresh;  // nothing written yet in the open container
} Writer;

// ---------------------------------------------------------------------------------------- tokens

static void put_bytes(Writer *w, const char *bytes, size_t count) {
    if (w->failed) {
        return;
    }
    if (w->size + count + 1 > w->capacity) {
        size_t wanted = 2 * (w->size + count) + 4096;
        char *bigger = kl_realloc(w->text, wanted);
        if (bigger == NULL) {
            w->failed = true;
            return;
        }
        w->text = bigger;
        w->capacity = wanted;
    }
    memcpy(w->text + w->size, bytes, count);
    w->size += count;
    w->text[w->size] = '\0';
}

static void put(Writer *w, const char *text) { put_bytes(w, text, strlen(text)); }

static void put_number(Writer *w, double x) {
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x) {
            break;
        }
    }
    put(w, x == 0.0 && signbit(x) ? "-0.0" : text);
}

static void put_text(Writer *w, const char *text) {
    put(w, "\"");
    for (const char *c = text; *c != '\0'; c++) {
        char escape[8];
        if (*c == '"' || *c == '\\') {
            escape[0] = '\\';
            escape[1] = *c;
            put_bytes(w, escape, 2);
        } else if ((unsigned char)*c < 0x20) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*c);
            put(w, escape);
        } else {
            put_bytes(w, c, 1);
        }
    }
    put(w, "\"");
}

static void new_line(Writer *w) {
    put(w, "\n");
    for (int32_t i = 0; i < w->depth; i++) {
        put(w, "  ");
    }
}

// Between two members or entries; on a line of their own, or following on.
static void separate(Writer *w, bool own_line) {
    if (!w->fresh) {
        put(w, own_line ? "," : ", ");
    }
    if (own_line) {
        new_line(w);
    }
    w->fresh = false;
}

static void put_key(Writer *w, const char *key, bool own_line) {
    separate(w, own_line);
    put_text(w, key);
    put(w, ": ");
}

static void open_list(Writer *w, const char *bracket) {
    put(w, bracket);
    w->depth++;
    w->fresh = true;
}

static void close_list(Writer *w, const char *bracket, bool own_line) {
    w->depth--;
    if (own_line && !w->fresh) {
        new_line(w);
    }
    put(w, bracket);
    w->fresh = false;
}

// Members that follow on the same line.
static void member_text(Writer *w, const char *key, const char *text) {
    put_key(w, key, false);
    put_text(w, text);
}

static void member_number(Writer *w, const char *key, double x) {
    put_key(w, key, false);
    put_number(w, x);
}

static void member_bool(Writer *w, const char *key, bool on) {
    put_key(w, key, false);
    put(w, on ? "true" : "false");
}

static void put_numbers(Writer *w, const double *x, int32_t count) {
    put(w, "[");
    for (int32_t i = 0; i < count; i++) {
        put(w, i > 0 ? ", " : "");
        if (isfinite(x[i])) {
            put_number(w, x[i]);
        } else {
            put(w, "null");
        }
    }
    put(w, "]");
}

static void member_numbers(Writer *w, const char *key, const double *x, int32_t count) {
    put_key(w, key, false);
    put_numbers(w, x, count);
}

// -0 is not 0: what is written and read again has the same state hash.
static bool same(double x, double y) { return x == y && signbit(x) == signbit(y); }

static bool all_same(const double *x, const double *y, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (!same(x[i], y[i])) {
            return false;
        }
    }
    return true;
}

static bool all_equal(const double *x, double value, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (!same(x[i], value)) {
            return false;
        }
    }
    return true;
}

static void member_unless(Writer *w, const char *key, const double *x, int32_t count, double value) {
    if (!all_equal(x, value, count)) {
        member_numbers(w, key, x, count);
    }
}

static void member_pose(Writer *w, const double pose[7]) {
    static const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    member_unless(w, "position", pose, 3, 0.0);
    if (!all_same(pose + 3, identity, 4)) {
        member_numbers(w, "orientation", pose + 3, 4);
    }
}

// ---------------------------------------------------------------------------------------- settings

static void put_softening(Writer *w, const char *key, const KlSoftening *soft, const KlSoftening *base) {
    const struct {
        const char *name;
        double value, base;
    } fields[] = {
        {"d0", soft->d0, base->d0},
        {"dw", soft->dw, base->dw},
        {"width", soft->width, base->width},
        {"midpoint", soft->midpoint, base->midpoint},
        {"power", soft->power, base->power},
        {"time_const", soft->time_const, base->time_const},
        {"damp_ratio", soft->damp_ratio, base->damp_ratio},
    };
    bool same = soft->on == base->on;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        same = same && fields[i].value == fields[i].base;
    }
    if (same) {
        return;
    }
    put_key(w, key, false);
    open_list(w, "{");
    member_bool(w, "on", soft->on);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].value != fields[i].base) {
            member_number(w, fields[i].name, fields[i].value);
        }
    }
    close_list(w, "}", false);
}

// An object whose members `put_members` writes; left out when there are none.
typedef void (*PutMembers)(Writer *w, const KlSettings *settings, const KlSettings *base);
static void put_group(Writer *w, const char *key, bool own_line, PutMembers put_members, const KlSettings *settings,
                      const KlSettings *base) {
    size_t before = w->size;
    bool fresh = w->fresh;
    put_key(w, key, own_line);
    open_list(w, "{");
    put_members(w, settings, base);
    bool empty = w->fresh;
    close_list(w, "}", false);
    if (empty && !w->failed) {
        w->size = before;
        w->text[before] = '\0';
        w->fresh = fresh;
    }
}

static void put_stabilization(Writer *w, const KlSettings *s, const KlSettings *base) {
    const struct {
        const char *name;
        double value, base;
    } fields[] = {{"joints", s->baumgarte_joint, base->baumgarte_joint},
                  {"limits", s->baumgarte_limit, base->baumgarte_limit},
                  {"contacts", s->baumgarte_contact, base->baumgarte_contact}};
    for (size_t i = 0; i < 3; i++) {
        if (fields[i].value != fields[i].base) {
            member_number(w, fields[i].name, fields[i].value);
        }
    }
}

static void put_softenings(Writer *w, const KlSettings *s, const KlSettings *base) {
    put_softening(w, "joints", &s->soft_joint, &base->soft_joint);
    put_softening(w, "limits", &s->soft_limit, &base->soft_limit);
    put_softening(w, "contacts", &s->soft_contact, &base->soft_contact);
}

static void put_settings(Writer *w, const KlSettings *s, const KlSettings *base) {
    if (s->dt != base->dt) {
        member_number(w, "dt", s->dt);
    }
    if (!all_same(s->gravity, base->gravity, 3)) {
        member_numbers(w, "gravity", s->gravity, 3);
    }
    if (s->integrator != base->integrator) {
        member_text(w, "integrator", s->integrator == KL_INTEGRATOR_EULER ? "euler" : "moreau");
    }
    put_group(w, "stabilization", false, put_stabilization, s, base);
    put_group(w, "softening", false, put_softenings, s, base);
    const struct {
        const char *name;
        double value, base;
    } fields[] = {{"margin", s->margin, base->margin},
                  {"detection_distance", s->detection_distance, base->detection_distance},
                  {"cull_distance", s->cull_distance, base->cull_distance},
                  {"max_contacts", s->max_contacts, base->max_contacts}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].value != fields[i].base) {
            member_number(w, fields[i].name, fields[i].value);
        }
    }
}

// ---------------------------------------------------------------------------------------- elements

static void put_geom(Writer *w, const KlModel *model, const KlGeomDef *geom) {
    static const int32_t size_counts[KL_GEOM_KIND_COUNT] = {1, 3, 2, 2, 0, 0, 0};
    KlGeomDef base;
    kl_default_geom_def(&base);
    separate(w, true);
    open_list(w, "{");
    member_text(w, "name", geom->name);
    member_text(w, "type", kl_geom_kind_name(geom->kind));
    member_pose(w, geom->pose);
    if (size_counts[geom->kind] > 0) {
        member_numbers(w, "size", geom->size, size_counts[geom->kind]);
    }
    if (geom->mesh >= 0) {
        member_text(w, "mesh", model->meshes[geom->mesh].name);
    }
    if (geom->friction != base.friction) {
        member_number(w, "friction", geom->friction);
    }
    if (geom->restitution != base.restitution) {
        member_number(w, "restitution", geom->restitution);
    }
    if (geom->group != base.group) {
        member_number(w, "group", geom->group);
    }
    if (geom->mask != base.mask) {
        member_number(w, "mask", geom->mask);
    }
    if (geom->visual_only) {
        member_bool(w, "visual_only", true);
    }
    double color[4] = {(double)geom->color[0], (double)geom->color[1], (double)geom->color[2], (double)geom->color[3]};
    member_unless(w, "color", color, 4, 0.0);
    close_list(w, "}", false);
}

// Lists the geoms of each body in order: first (count + 1, the world last) and next (geoms), -1 at
// the end.
static KlStatus list_geoms(const KlModel *model, int32_t **first, int32_t **next) {
    size_t bodies = (size_t)model->body_count + 1, geoms = (size_t)model->geom_count + 1;
    *first = kl_alloc(bodies * sizeof **first);
    *next = kl_alloc(geoms * sizeof **next);
    if (*first == NULL || *next == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for %d geoms", (int)model->geom_count);
    }
    for (size_t b = 0; b < bodies; b++) {
        (*first)[b] = -1;
    }
    for (int32_t g = model->geom_count - 1; g >= 0; g--) {
        int32_t body = model->geoms[g].body;
        int32_t *head = &(*first)[body >= 0 ? body : model->body_count];
        (*next)[g] = *head;
        *head = g;
    }
    return KL_OK;
}

static void put_geoms(Writer *w, const KlModel *model, int32_t head, const int32_t *next) {
    open_list(w, "[");
    for (int32_t g = head; g >= 0; g = next[g]) {
        put_geom(w, model, &model->geoms[g]);
    }
    close_list(w, "]", true);
}

static void put_inertia(Writer *w, const double inertia[9]) {
    put_key(w, "inertia", false);
    const double diagonal[3] = {inertia[0], inertia[4], inertia[8]};
    if (all_equal(inertia + 1, 0.0, 3) && all_equal(inertia + 5, 0.0, 3)) {
        put_numbers(w, diagonal, 3);
        return;
    }
    put(w, "[");
    for (int32_t i = 0; i < 3; i++) {
        put(w, i > 0 ? ", " : "");
        put_numbers(w, inertia + 3 * i, 3);
    }
    put(w, "]");
}

static void put_body(Writer *w, const KlModel *model, int32_t b, const int32_t *first, const int32_t *next) {
    const KlBodyDef *body = &model->bodies[b];
    separate(w, true);
    open_list(w, "{");
    member_text(w, "name", body->name);
    member_number(w, "mass", body->mass);
    put_inertia(w, body->inertia);
    member_pose(w, body->pose);
    member_unless(w, "twist", body->twist, 6, 0.0);
    if (first[b] >= 0) {
        put_key(w, "geoms", true);
        put_geoms(w, model, first[b], next);
    }
    close_list(w, "}", false);
}

static void put_frame(Writer *w, const char *key, const double frame[7]) {
    put_key(w, key, true);
    open_list(w, "{");
    member_pose(w, frame);
    close_list(w, "}", false);
}

static void put_limits(Writer *w, const KlJointDef *joint, int32_t dofs) {
    if (all_equal(joint->lower, -INFINITY, dofs) && all_equal(joint->upper, INFINITY, dofs)) {
        return;
    }
    put_key(w, "limits", false);
    put(w, "[");
    for (int32_t i = 0; i < dofs; i++) {
        double limit[2] = {joint->lower[i], joint->upper[i]};
        put(w, i > 0 ? ", " : "");
        put_numbers(w, limit, 2);
    }
    put(w, "]");
}

static void put_joint(Writer *w, const KlModel *model, const KlJointDef *joint) {
    static const char *const actuations[] = {"passive", "force", "pid", "pd-implicit"};
    const KlJointInfo *kind = kl_joint_kind(joint->kind);
    separate(w, true);
    open_list(w, "{");
    member_text(w, "name", joint->name);
    member_text(w, "type", kind->id);
    member_text(w, "base", joint->base >= 0 ? model->bodies[joint->base].name : "world");
    member_text(w, "follower", model->bodies[joint->follower].name);
    put_frame(w, "base_frame", joint->base_frame);
    put_frame(w, "follower_frame", joint->follower_frame);
    put_limits(w, joint, kind->dofs);
    if (joint->actuation != KL_ACTUATION_PASSIVE) {
        member_text(w, "actuation", actuations[joint->actuation]);
    }
    member_unless(w, "kp", joint->kp, kind->dofs, 0.0);
    member_unless(w, "ki", joint->ki, kind->dofs, 0.0);
    member_unless(w, "kd", joint->kd, kind->dofs, 0.0);
    member_unless(w, "effort_limit", joint->effort_limit, kind->dofs, INFINITY);
    member_unless(w, "armature", joint->armature, kind->dofs, 0.0);
    member_unless(w, "damping", joint->damping, kind->dofs, 0.0);
    member_unless(w, "target", joint->target, kind->dofs, 0.0);
    if (joint->reference >= 0) {
        member_text(w, "reference", model->references[joint->reference].name);
    }
    close_list(w, "}", false);
}

static void put_mesh(Writer *w, const KlMeshDef *mesh) {
    separate(w, true);
    open_list(w, "{");
    member_text(w, "name", mesh->name);
    put_key(w, "vertices", true);
    put(w, "[");
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        put(w, i > 0 ? ", " : "");
        put_numbers(w, mesh->vertices + 3 * (size_t)i, 3);
    }
    put(w, "]");
    put_key(w, "triangles", true);
    put(w, "[");
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        const int32_t *t = mesh->triangles + 3 * (size_t)i;
        double corners[3] = {t[0], t[1], t[2]};
        put(w, i > 0 ? ", " : "");
        put_numbers(w, corners, 3);
    }
    put(w, "]");
    close_list(w, "}", false);
}

static bool is_uniform(const KlReferenceDef *reference) {
    double step = reference->samples > 1 ? reference->times[1] : 0.0;
    for (int32_t i = 0; i < reference->samples; i++) {
        if (reference->times[i] != (double)i * step) {
            return false;
        }
    }
    return reference->samples > 1;
}

static void put_reference(Writer *w, const KlReferenceDef *reference) {
    separate(w, true);
    open_list(w, "{");
    member_text(w, "name", reference->name);
    if (reference->loop) {
        member_bool(w, "loop", true);
    }
    if (is_uniform(reference)) {
        member_number(w, "step", reference->times[1]);
    } else {
        member_numbers(w, "times", reference->times, reference->samples);
    }
    put_key(w, "values", true);
    if (reference->dofs == 1) {
        put_numbers(w, reference->values, reference->samples);
    } else {
        put(w, "[");
        for (int32_t i = 0; i < reference->samples; i++) {
            put(w, i > 0 ? ", " : "");
            put_numbers(w, reference->values + (size_t)i * (size_t)reference->dofs, reference->dofs);
        }
        put(w, "]");
    }
    close_list(w, "}", false);
}

static void put_event(Writer *w, const KlModel *model, const KlForceEvent *event) {
    separate(w, true);
    open_list(w, "{");
    member_text(w, "body", event->body >= 0 ? model->bodies[event->body].name : "highest");
    member_number(w, "start", event->start);
    member_number(w, "end", event->end);
    member_unless(w, "force", event->from, 3, 0.0);
    member_unless(w, "torque", event->from + 3, 3, 0.0);
    if (!all_same(event->to, event->from, 3)) {
        member_numbers(w, "force_to", event->to, 3);
    }
    if (!all_same(event->to + 3, event->from + 3, 3)) {
        member_numbers(w, "torque_to", event->to + 3, 3);
    }
    member_unless(w, "point", event->point, 3, 0.0);
    close_list(w, "}", false);
}

static void put_events(Writer *w, const KlModel *model, const KlForceEvent *events, int32_t count) {
    put_key(w, "events", true);
    open_list(w, "[");
    for (int32_t i = 0; i < count; i++) {
        put_event(w, model, &events[i]);
    }
    close_list(w, "]", true);
}

// ---------------------------------------------------------------------------------------- pairs

// Excluded pairs that do not follow from the joints.
static KlStatus put_excludes(Writer *w, const KlModel *model) {
    int32_t *joined = kl_alloc((size_t)(model->joint_count + 1) * 2 * sizeof *joined);
    if (joined == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for %d joints", (int)model->joint_count);
    }
    int32_t joined_count = model->neighbours_collide ? 0 : model->joint_count;
    for (int32_t j = 0; j < joined_count; j++) {
        int32_t a = model->joints[j].base, b = model->joints[j].follower;
        joined[2 * j] = a < b ? a : b;
        joined[2 * j + 1] = a < b ? b : a;
    }
    qsort(joined, (size_t)joined_count, 2 * sizeof *joined, kl_compare_excludes);
    bool open = false;
    for (int32_t i = 0; i < model->exclude_count; i++) {
        const int32_t *pair = model->excludes + 2 * (size_t)i;
        if (bsearch(pair, joined, (size_t)joined_count, 2 * sizeof *joined, kl_compare_excludes) != NULL) {
            continue;
        }
        if (!open) {
            put_key(w, "exclude", true);
            open_list(w, "[");
            open = true;
        }
        separate(w, true);
        put(w, "[");
        put_text(w, pair[0] >= 0 ? model->bodies[pair[0]].name : "world");
        put(w, ", ");
        put_text(w, model->bodies[pair[1]].name);
        put(w, "]");
    }
    if (open) {
        close_list(w, "]", true);
    }
    kl_free(joined);
    return KL_OK;
}

static void put_pairs(Writer *w, const KlModel *model) {
    if (model->pair_count == 0) {
        return;
    }
    put_key(w, "pairs", true);
    open_list(w, "[");
    for (int32_t i = 0; i < model->pair_count; i++) {
        const KlGeomPair *pair = &model->pairs[i];
        separate(w, true);
        open_list(w, "{");
        put_key(w, "geoms", false);
        put(w, "[");
        put_text(w, model->geoms[pair->geom_a].name);
        put(w, ", ");
        put_text(w, model->geoms[pair->geom_b].name);
        put(w, "]");
        member_number(w, "friction", pair->friction);
        member_number(w, "restitution", pair->restitution);
        close_list(w, "}", false);
    }
    close_list(w, "]", true);
}

// ---------------------------------------------------------------------------------------- runs

static void put_changes(Writer *w, const KlModel *model, const KlSceneRun *run) {
    put_key(w, "bodies", true);
    open_list(w, "{");
    for (int32_t i = 0; i < run->change_count; i++) {
        const KlBodyChange *change = &run->changes[i];
        put_key(w, model->bodies[change->body].name, true);
        open_list(w, "{");
        if (change->has_mass) {
            member_number(w, "mass", change->mass);
        }
        if (change->has_position) {
            member_numbers(w, "position", change->pose, 3);
        }
        if (change->has_orientation) {
            member_numbers(w, "orientation", change->pose + 3, 4);
        }
        if (change->has_twist) {
            member_numbers(w, "twist", change->twist, 6);
        }
        close_list(w, "}", false);
    }
    close_list(w, "}", true);
}

static void put_run(Writer *w, const KlScene *scene, const KlSceneRun *run) {
    const KlRunDef *def = &run->def;
    separate(w, true);
    open_list(w, "{");
    member_text(w, "id", def->id);
    member_text(w, "title", def->title);
    if (def->text[0] != '\0') {
        put_key(w, "text", true);
        put_text(w, def->text);
    }
    put_key(w, "duration", true);
    put_number(w, def->duration);
    if (run->own_preset != NULL) {
        member_text(w, "preset", run->own_preset);
    }
    if (def->max_iterations > 0) {
        member_number(w, "max_iterations", def->max_iterations);
    }
    if (def->tolerance > 0.0) {
        member_number(w, "tolerance", def->tolerance);
    }
    if (run->unactuated) {
        member_bool(w, "actuated", false);
    }
    put_group(w, "settings", true, put_settings, &def->settings, &scene->settings);
    if (run->change_count > 0) {
        put_changes(w, scene->model, run);
    }
    if (run->own_events) {
        put_events(w, scene->model, def->events, def->event_count);
    }
    close_list(w, "}", true);
}

static void put_header(Writer *w, const KlScene *scene) {
    KlSettings base;
    kl_settings_default(&base);
    put_key(w, "schema", true);
    put(w, "1");
    put_key(w, "id", true);
    put_text(w, scene->id);
    put_key(w, "title", true);
    put_text(w, scene->title);
    if (scene->text[0] != '\0') {
        put_key(w, "text", true);
        put_text(w, scene->text);
    }
    if (scene->surrogate) {
        put_key(w, "surrogate", true);
        put(w, "true");
    }
    put_group(w, "settings", true, put_settings, &scene->settings, &base);
    if (scene->model->neighbours_collide) {
        put_key(w, "neighbours_collide", true);
        put(w, "true");
    }
}

static void put_model_lists(Writer *w, const KlModel *model, const int32_t *first, const int32_t *next) {
    if (model->mesh_count > 0) {
        put_key(w, "meshes", true);
        open_list(w, "[");
        for (int32_t i = 0; i < model->mesh_count; i++) {
            put_mesh(w, &model->meshes[i]);
        }
        close_list(w, "]", true);
    }
    if (model->reference_count > 0) {
        put_key(w, "references", true);
        open_list(w, "[");
        for (int32_t i = 0; i < model->reference_count; i++) {
            put_reference(w, &model->references[i]);
        }
        close_list(w, "]", true);
    }
    put_key(w, "bodies", true);
    open_list(w, "[");
    for (int32_t i = 0; i < model->body_count; i++) {
        put_body(w, model, i, first, next);
    }
    close_list(w, "]", true);
    if (first[model->body_count] >= 0) {
        put_key(w, "geoms", true);
        put_geoms(w, model, first[model->body_count], next);
    }
    if (model->joint_count > 0) {
        put_key(w, "joints", true);
        open_list(w, "[");
        for (int32_t i = 0; i < model->joint_count; i++) {
            put_joint(w, model, &model->joints[i]);
        }
        close_list(w, "]", true);
    }
}

static void put_tail(Writer *w, const KlScene *scene) {
    if (scene->event_count > 0) {
        put_events(w, scene->model, scene->events, scene->event_count);
    }
    put_key(w, "runs", true);
    open_list(w, "[");
    for (int32_t i = 0; i < scene->run_count; i++) {
        put_run(w, scene, &scene->runs[i]);
    }
    close_list(w, "]", true);
    if (scene->solver_count > 0) {
        put_key(w, "solvers", true);
        open_list(w, "[");
        for (int32_t i = 0; i < scene->solver_count; i++) {
            separate(w, false);
            put_text(w, scene->solvers[i]);
        }
        close_list(w, "]", false);
    }
    put_key(w, "preset", true);
    put_text(w, scene->preset);
    if (scene->has_camera) {
        put_key(w, "camera", true);
        open_list(w, "{");
        member_numbers(w, "position", scene->camera_position, 3);
        member_numbers(w, "target", scene->camera_target, 3);
        close_list(w, "}", false);
    }
}

static KlStatus put_scene(Writer *w, const KlScene *scene) {
    int32_t *first = NULL, *next = NULL;
    KlStatus status = list_geoms(scene->model, &first, &next);
    if (status == KL_OK) {
        open_list(w, "{");
        put_header(w, scene);
        put_model_lists(w, scene->model, first, next);
        status = put_excludes(w, scene->model);
        put_pairs(w, scene->model);
        put_tail(w, scene);
        close_list(w, "}", true);
        put(w, "\n");
    }
    kl_free(first);
    kl_free(next);
    return status;
}

KlStatus kl_scene_write_json(const KlScene *scene, char **text, size_t *size) {
    *text = NULL;
    *size = 0;
    Writer w = {0};
    KlStatus status = put_scene(&w, scene);
    if (status == KL_OK && w.failed) {
        status = kl_fail(KL_ERR_MEMORY, "out of memory after %zu bytes of JSON", w.size);
    }
    if (status != KL_OK) {
        kl_free(w.text);
        return status;
    }
    *text = w.text;
    *size = w.size;
    return KL_OK;
}
