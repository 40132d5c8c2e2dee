// The common part of the importers: growing lists, notes, frames.
#include "model/import/mechanism.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "math/trig.h"
#include "math/vec.h"
#include "model/import/report.h"

// Makes room for one more element in a list that lives in the arena; old copies stay there until the end.
static void *grow(KlArena *arena, void *list, int32_t count, int32_t *capacity, size_t element) {
    if (count < *capacity) {
        return list;
    }
    int32_t larger = *capacity > 0 ? 2 * *capacity : 16;
    void *copy = kl_arena_alloc(arena, (size_t)larger, element);
    if (copy != NULL) {
        if (count > 0) {
            memcpy(copy, list, (size_t)count * element);
        }
        *capacity = larger;
    }
    return copy;
}

#define ADD(name, type, list, count, capacity)                                                                       \
    type *name(KlMechanism *mechanism) {                                                                             \
        type *grown = grow(mechanism->arena, mechanism->list, mechanism->count, &mechanism->capacity, sizeof(type)); \
        if (grown == NULL) {                                                                                         \
            return NULL;                                                                                             \
        }                                                                                                            \
        mechanism->list = grown;                                                                                     \
        return &grown[mechanism->count++];                                                                           \
    }

ADD(kl_mechanism_add_link, KlImportLink, links, link_count, link_capacity)
ADD(kl_mechanism_add_joint, KlImportJoint, joints, joint_count, joint_capacity)
ADD(kl_mechanism_add_geom, KlImportGeom, geoms, geom_count, geom_capacity)
ADD(kl_mechanism_add_mesh, KlImportMesh, meshes, mesh_count, mesh_capacity)
ADD(kl_mechanism_add_exclude, KlImportPair, excludes, exclude_count, exclude_capacity)
ADD(kl_mechanism_add_contact, KlImportContact, contacts, contact_count, contact_capacity)
ADD(kl_mechanism_add_frame, KlImportFrame, frames, frame_count, frame_capacity)

int32_t kl_mechanism_find_link(const KlMechanism *mechanism, const char *name) {
    for (int32_t i = 0; i < mechanism->link_count; i++) {
        if (strcmp(mechanism->links[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int32_t kl_mechanism_find_frame(const KlMechanism *mechanism, const char *name) {
    for (int32_t i = 0; i < mechanism->frame_count; i++) {
        if (strcmp(mechanism->frames[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

void kl_mechanism_note(KlMechanism *mechanism, const KlXmlNode *node, bool lost, const char *format, ...) {
    char text[400], element[120] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (node != NULL) {
        const char *name = kl_xml_get(node, "name");
        snprintf(element, sizeof element, name != NULL ? "%.30s[%.80s]" : "%.30s", node->name, name);
    }
    kl_import_report_add(mechanism->report, node != NULL ? node->file : mechanism->file, node != NULL ? node->line : 0,
                         element, text, lost);
}

bool kl_mechanism_has_size(KlMechanism *mechanism, const KlImportGeom *geom) {
    static const int32_t sizes[KL_GEOM_KIND_COUNT] = {
        [KL_GEOM_SPHERE] = 1, [KL_GEOM_BOX] = 3, [KL_GEOM_CAPSULE] = 2, [KL_GEOM_CYLINDER] = 2};
    for (int32_t i = 0; !geom->stand_in && i < sizes[geom->def.kind]; i++) {
        if (!(geom->def.size[i] > 0.0)) {
            kl_mechanism_note(mechanism, geom->node, true, "a %s with a size of %g is left out",
                              kl_geom_kind_name(geom->def.kind), geom->def.size[i]);
            return false;
        }
    }
    return true;
}

// ------------------------------------------------------------------------------------------ frames

// The shortest rotation that takes unit vector `from` to the direction of `to`.
static void rotation_between(const double from[3], const double to[3], double q[4]) {
    double length = kl_norm3(to), unit[3], axis[3];
    kl_scale3(length > 0.0 ? 1.0 / length : 0.0, to, unit);
    double cosine = kl_dot3(from, unit);
    if (cosine < -1.0 + 1e-12) {  // opposite: any axis across will do
        double across[3] = {from[1], from[2], from[0]};
        kl_cross3(from, across, axis);
        q[0] = 0.0;
        kl_copy3(axis, q + 1);
    } else {
        kl_cross3(from, unit, axis);
        q[0] = 1.0 + cosine;
        kl_copy3(axis, q + 1);
    }
    kl_quat_normalize(q);
}

void kl_frame_with_x(const double axis[3], double quaternion[4]) {
    rotation_between((const double[3]){1.0, 0.0, 0.0}, axis, quaternion);
}

void kl_frame_with_z(const double axis[3], double quaternion[4]) {
    rotation_between((const double[3]){0.0, 0.0, 1.0}, axis, quaternion);
}

// Lower-case letters turn about the moving axes, capitals about the fixed ones.
void kl_quaternion_from_euler(const double angles[3], const char *sequence, double quaternion[4]) {
    double q[4] = {1.0, 0.0, 0.0, 0.0};
    for (int32_t i = 0; i < 3; i++) {
        char letter = sequence[i];
        bool fixed = letter >= 'X' && letter <= 'Z';
        int32_t axis = fixed ? letter - 'X' : letter - 'x';
        double sine, cosine, turn[4] = {0.0}, next[4];
        kl_sincos(0.5 * angles[i], &sine, &cosine);
        turn[0] = cosine;
        turn[1 + axis] = sine;
        if (fixed) {
            kl_quat_mul(turn, q, next);
        } else {
            kl_quat_mul(q, turn, next);
        }
        memcpy(q, next, sizeof q);
    }
    memcpy(quaternion, q, sizeof q);
}
