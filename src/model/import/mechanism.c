// The common part of the importers: growing lists, notes, meshes, frames.
#include "model/import/mechanism.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "math/trig.h"
#include "math/vec.h"
#include "model/import/report.h"
#include "model/mesh.h"

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

// ------------------------------------------------------------------------------------------ meshes

enum { MAX_PATH = 1024 };

// Tries `folder``rest`, then with leading folders of `rest` removed: packages are rarely where their
// authors had them.
static KlStatus read_mesh(KlMechanism *mechanism, const char *folder, const char *rest, char *path, char **data,
                          size_t *size) {
    for (const char *tail = rest; tail != NULL; tail = strchr(tail, '/')) {
        tail += strspn(tail, "/");
        if (snprintf(path, MAX_PATH, "%s%s", folder, tail) >= MAX_PATH) {
            return kl_fail(KL_ERR_LIMIT, "path too long");
        }
        KlStatus status = mechanism->files->read(mechanism->files->context, path, data, size);
        if (status != KL_ERR_NOT_FOUND) {
            return status;
        }
    }
    return KL_ERR_NOT_FOUND;
}

static int32_t find_mesh(const KlMechanism *mechanism, const char *name) {
    for (int32_t i = 0; i < mechanism->mesh_count; i++) {
        if (strcmp(mechanism->meshes[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

static KlStatus keep_mesh(KlMechanism *mechanism, const char *name, const KlMeshData *data) {
    KlImportMesh *mesh = kl_mechanism_add_mesh(mechanism);
    double *vertices = KL_ARENA_ARRAY(mechanism->arena, double, 3 * data->vertex_count);
    int32_t *triangles = KL_ARENA_ARRAY(mechanism->arena, int32_t, 3 * data->triangle_count);
    char *copy = kl_arena_text(mechanism->arena, name);
    KL_TRY(kl_arena_check(mechanism->arena));
    memcpy(vertices, data->vertices, 3 * (size_t)data->vertex_count * sizeof *vertices);
    memcpy(triangles, data->triangles, 3 * (size_t)data->triangle_count * sizeof *triangles);
    mesh->name = copy;
    mesh->def = (KlMeshDef){.name = copy,
                            .vertices = vertices,
                            .vertex_count = data->vertex_count,
                            .triangles = triangles,
                            .triangle_count = data->triangle_count};
    return KL_OK;
}

int32_t kl_mechanism_load_mesh(KlMechanism *mechanism, const KlXmlNode *node, const char *reference, const char *folder,
                               const double scale[3]) {
    const char *rest = strstr(reference, "://") != NULL ? strstr(reference, "://") + 3 : reference;
    char name[200];
    bool scaled = scale[0] != 1.0 || scale[1] != 1.0 || scale[2] != 1.0;
    snprintf(name, sizeof name, scaled ? "%.100s@%g,%g,%g" : "%.100s", rest + strspn(rest, "/"), scale[0], scale[1],
             scale[2]);
    int32_t known = find_mesh(mechanism, name);
    if (known >= 0) {
        return known;
    }
    char path[MAX_PATH], *data;
    size_t size;
    KlStatus status = read_mesh(mechanism, folder, rest, path, &data, &size);
    if (status != KL_OK) {
        kl_mechanism_note(mechanism, node, true, "mesh \"%.150s\" cannot be read (%s): its geometry is left out",
                          reference, kl_status_name(status));
        return -1;
    }
    KlMeshData mesh = {0};
    status = kl_mesh_parse(data, size, path, scale, &mesh);
    mechanism->files->release(mechanism->files->context, data);
    if (status == KL_OK) {
        status = keep_mesh(mechanism, name, &mesh);
    }
    kl_mesh_data_free(&mesh);
    if (status != KL_OK) {
        kl_mechanism_note(mechanism, node, true, "%.250s: its geometry is left out", kl_last_error()->message);
        return -1;
    }
    return mechanism->mesh_count - 1;
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
