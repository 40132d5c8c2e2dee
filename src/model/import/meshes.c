// Meshes of a model: found where their authors had them or where they lie now, read once, looked at. What is
// odd about one is told; what would not simulate is mended or left out.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/eigen.h"
#include "math/vec.h"
#include "model/import/mechanism.h"
#include "model/inertia.h"
#include "model/mesh.h"

enum { MAX_PATH = 1024, MAX_LEVELS = 6, LONGEST_NAME = 100 };

static const double LARGE = 100.0;  // [m] a larger link is likely in millimetres
static const double SMALL = 1e-4;   // [m]
static const double FLAT = 1e-6;    // thickness / extent of what has no inside; hulls are refused at 1e-7

// ----------------------------------------------------------------------------------------- finding

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

// The path that a reference means: without scheme and drive, with slashes, %20 and its like decoded.
static bool plain_path(const char *reference, bool decode, char path[MAX_PATH]) {
    const char *scheme = strstr(reference, "://"), *from = scheme != NULL ? scheme + 3 : reference;
    const char *colon = from + strspn(from, "/") + 1;
    from = colon[-1] != '\0' && *colon == ':' ? colon + 1 : from;
    size_t length = 0;
    for (; *from != '\0' && length < MAX_PATH - 1; from++) {
        bool escape = decode && from[0] == '%' && hex_digit(from[1]) >= 0 && hex_digit(from[2]) >= 0;
        char c = escape ? (char)(16 * hex_digit(from[1]) + hex_digit(from[2])) : *from;
        path[length++] = c == '\\' ? '/' : c;
        from += escape ? 2 : 0;
    }
    path[length] = '\0';
    return *from == '\0' && strlen(path) == length;
}

// "a/b/" -> "a/" -> "" -> "../" -> "../../"
static void parent_folder(char folder[MAX_PATH]) {
    size_t length = strlen(folder);
    bool above = length == 0 || (length >= 3 && strcmp(folder + length - 3, "../") == 0);
    if (above && length + 4 < MAX_PATH) {
        memcpy(folder + length, "../", 4);
    } else if (!above && length > 1) {
        folder[length - 1] = '\0';
        char *slash = strrchr(folder, '/');
        folder[slash != NULL ? slash + 1 - folder : 0] = '\0';
    }
}

static bool try_path(const KlMechanism *mechanism, const char *path, char **data, size_t *size) {
    return mechanism->files->read(mechanism->files->context, path, data, size) == KL_OK;
}

// Looks in the model's folder and those above for the path, then for ever shorter ends of it.
static bool find_near(const KlMechanism *mechanism, const char *folder, const char *rest, char path[MAX_PATH],
                      char **data, size_t *size) {
    for (const char *tail = rest; tail != NULL; tail = strchr(tail, '/')) {
        tail += strspn(tail, "/");
        char above[MAX_PATH];
        snprintf(above, sizeof above, "%s", folder);
        for (int32_t level = 0; *tail != '\0' && level < MAX_LEVELS; level++, parent_folder(above)) {
            int length = snprintf(path, MAX_PATH, "%s%s", above, tail);
            if (length < MAX_PATH && try_path(mechanism, path, data, size)) {
                return true;
            }
        }
    }
    return false;
}

static bool find_file(const KlMechanism *mechanism, const char *folder, const char *reference, char path[MAX_PATH],
                      char **data, size_t *size) {
    for (int32_t decode = 0; decode < (strchr(reference, '%') != NULL ? 2 : 1); decode++) {
        char rest[MAX_PATH];
        if (!plain_path(reference, decode != 0, rest)) {
            continue;
        }
        bool absolute =
            rest[0] == '/' && strncmp(reference, "package:", 8) != 0 && strncmp(reference, "model:", 6) != 0;
        if (absolute && try_path(mechanism, rest, data, size)) {
            memcpy(path, rest, sizeof rest);
            return true;
        }
        if (find_near(mechanism, folder, rest, path, data, size)) {
            return true;
        }
    }
    return false;
}

// ----------------------------------------------------------------------------------------- looking

static void bounds_of(const KlMeshDef *mesh, double low[3], double high[3]) {
    kl_copy3(mesh->vertices, low);
    kl_copy3(mesh->vertices, high);
    for (int32_t i = 3; i < 3 * mesh->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], mesh->vertices[i]);
        high[i % 3] = fmax(high[i % 3], mesh->vertices[i]);
    }
}

// Largest distance from the mean plane of the vertices, over the extent.
static double relative_thickness(const KlMeshDef *mesh, double extent) {
    double mean[3] = {0.0}, spread[9] = {0.0}, values[3], vectors[9], work[6], thickness = 0.0;
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        kl_axpy3(1.0 / mesh->vertex_count, mesh->vertices + 3 * v, mean);
    }
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        double d[3];
        kl_sub3(mesh->vertices + 3 * v, mean, d);
        kl_scale3(1.0 / extent, d, d);
        for (int32_t k = 0; k < 9; k++) {
            spread[k] += d[k / 3] * d[k % 3];
        }
    }
    if (!kl_eigen_symmetric(spread, 3, values, vectors, work)) {
        return 0.0;
    }
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        double d[3];
        kl_sub3(mesh->vertices + 3 * v, mean, d);
        thickness = fmax(thickness, fabs(kl_dot3(d, vectors)) / extent);
    }
    return thickness;
}

static void turn_inside_out(const KlMeshDef *def, int32_t *triangles) {
    for (int32_t t = 0; t < def->triangle_count; t++) {
        int32_t second = triangles[3 * t + 1];
        triangles[3 * t + 1] = triangles[3 * t + 2];
        triangles[3 * t + 2] = second;
    }
}

// Size, thickness, closedness, orientation.
static void inspect(KlMechanism *mechanism, const KlXmlNode *node, KlImportMesh *mesh, int32_t *triangles) {
    const KlMeshDef *def = &mesh->full;
    double low[3], high[3], span[3];
    bounds_of(def, low, high);
    kl_sub3(high, low, span);
    double extent = fmax(span[0], fmax(span[1], span[2]));
    for (int32_t k = 0; k < 3; k++) {
        mesh->middle[k] = 0.5 * (low[k] + high[k]);
        mesh->span[k] = span[k];
    }
    if (extent > LARGE || extent < SMALL) {
        kl_mechanism_note(mechanism, node, false, "mesh \"%.100s\" is %.3g m large: check the units and its scale",
                          mesh->name, extent);
    }
    mesh->flat = !(extent > 0.0) || def->vertex_count < 4 || relative_thickness(def, extent) < FLAT;
    KlGeomDef geom;
    KlMassProperties properties;
    kl_default_geom_def(&geom);
    geom.kind = KL_GEOM_MESH;
    switch (kl_geom_mass_properties(&geom, def, &properties)) {
        case KL_OK: mesh->solid = true; return;
        case KL_ERR_SCENE: break;
        default: return;
    }
    turn_inside_out(def, triangles);
    mesh->solid = kl_geom_mass_properties(&geom, def, &properties) == KL_OK;
    if (mesh->solid) {
        kl_mechanism_note(mechanism, node, false, "mesh \"%.100s\" was inside out: its triangles are turned round",
                          mesh->name);
        return;
    }
    turn_inside_out(def, triangles);
    kl_mechanism_note(mechanism, node, false, "mesh \"%.100s\" is %s", mesh->name,
                      mesh->flat ? "flat: it can be seen, not touched" : "not watertight: it encloses no volume");
}

// ----------------------------------------------------------------------------------------- keeping

static bool same_scale(const double a[3], const double b[3]) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

static int32_t find_mesh(const KlMechanism *mechanism, const char *reference, const double scale[3]) {
    for (int32_t i = 0; i < mechanism->mesh_count; i++) {
        const KlImportMesh *mesh = &mechanism->meshes[i];
        if (strcmp(mesh->reference, reference) == 0 && same_scale(mesh->scale, scale)) {
            return i;
        }
    }
    return -1;
}

// Named after the file, and the scale where there is one; long names lose their beginning.
static void name_mesh(const char *reference, const double scale[3], char *name, size_t size) {
    char path[MAX_PATH], scaled[80] = "";
    if (!plain_path(reference, false, path)) {
        path[MAX_PATH - 1] = '\0';
    }
    const char *rest = path + strspn(path, "/");
    size_t length = strlen(rest);
    rest += length > LONGEST_NAME ? length - LONGEST_NAME : 0;
    while (((unsigned char)*rest & 0xc0u) == 0x80u) {  // not in the middle of a character
        rest++;
    }
    if (scale[0] != 1.0 || scale[1] != 1.0 || scale[2] != 1.0) {
        snprintf(scaled, sizeof scaled, "@%.4g,%.4g,%.4g", scale[0], scale[1], scale[2]);
    }
    snprintf(name, size, "%.100s%.26s", rest, scaled);
}

// Large meshes are thinned out on request; the inertia stays that of the whole.
static KlStatus thin_out(KlMechanism *mechanism, const KlXmlNode *node, KlImportMesh *mesh) {
    int32_t most = mechanism->options->decimate;
    double error;
    mesh->def = mesh->full;
    if (most == 0 || mesh->full.triangle_count <= most || mesh->flat) {
        return KL_OK;
    }
    KL_TRY(kl_mesh_simplify(&mesh->full, most, mechanism->arena, &mesh->def, &error));
    kl_mechanism_note(mechanism, node, false, "mesh \"%.100s\": %d of %d triangles kept, off by %.2g m", mesh->name,
                      (int)mesh->def.triangle_count, (int)mesh->full.triangle_count, error);
    return KL_OK;
}

static KlStatus keep_mesh(KlMechanism *mechanism, const KlXmlNode *node, const char *reference, const double scale[3],
                          const KlMeshData *data) {
    char name[128];
    name_mesh(reference, scale, name, sizeof name);
    KlImportMesh *mesh = kl_mechanism_add_mesh(mechanism);
    double *vertices = KL_ARENA_ARRAY(mechanism->arena, double, 3 * data->vertex_count);
    int32_t *triangles = KL_ARENA_ARRAY(mechanism->arena, int32_t, 3 * data->triangle_count);
    char *copy = kl_arena_text(mechanism->arena, name), *key = kl_arena_text(mechanism->arena, reference);
    KL_TRY(kl_arena_check(mechanism->arena));
    memcpy(vertices, data->vertices, 3 * (size_t)data->vertex_count * sizeof *vertices);
    memcpy(triangles, data->triangles, 3 * (size_t)data->triangle_count * sizeof *triangles);
    *mesh = (KlImportMesh){.name = copy, .reference = key};
    kl_copy3(scale, mesh->scale);
    mesh->full = (KlMeshDef){.name = copy,
                             .vertices = vertices,
                             .vertex_count = data->vertex_count,
                             .triangles = triangles,
                             .triangle_count = data->triangle_count};
    if (data->dropped > 0) {
        kl_mechanism_note(mechanism, node, false, "mesh \"%.100s\": %d triangles without area dropped", copy,
                          (int)data->dropped);
    }
    inspect(mechanism, node, mesh, triangles);
    return thin_out(mechanism, node, mesh);
}

static const char *instead(const KlMechanism *mechanism) {
    return mechanism->options->missing_mesh == KL_MISSING_BOX ? "a box stands in for it" : "its geometry is left out";
}

int32_t kl_mechanism_load_mesh(KlMechanism *mechanism, const KlXmlNode *node, const char *reference, const char *folder,
                               const double scale[3]) {
    int32_t known = find_mesh(mechanism, reference, scale);
    if (known >= 0) {
        return known;
    }
    char path[MAX_PATH], *data = NULL;
    size_t size;
    if (scale[0] == 0.0 || scale[1] == 0.0 || scale[2] == 0.0) {
        kl_mechanism_note(mechanism, node, true, "mesh \"%.150s\" has a scale of 0: %s", reference, instead(mechanism));
        return -1;
    }
    if (!find_file(mechanism, folder, reference, path, &data, &size)) {
        kl_mechanism_note(mechanism, node, true, "mesh \"%.150s\" is not there: %s", reference, instead(mechanism));
        return -1;
    }
    KlMeshData mesh = {0};
    KlStatus status = kl_mesh_parse(data, size, path, scale, &mesh);
    mechanism->files->release(mechanism->files->context, data);
    bool empty = status == KL_OK && mesh.triangle_count == 0;
    status = empty ? kl_fail(KL_ERR_FORMAT, "%.200s: no triangle has an area", path) : status;
    if (status == KL_OK) {
        status = keep_mesh(mechanism, node, reference, scale, &mesh);
    }
    kl_mesh_data_free(&mesh);
    if (status != KL_OK) {
        kl_mechanism_note(mechanism, node, true, "%.250s: %s", kl_last_error()->message, instead(mechanism));
        return -1;
    }
    return mechanism->mesh_count - 1;
}

bool kl_mechanism_use_mesh(const KlMechanism *mechanism, int32_t mesh, KlImportGeom *geom) {
    geom->def.mesh = mesh;
    geom->def.kind = mechanism->options->mesh_collision ? KL_GEOM_MESH : KL_GEOM_CONVEX;
    if (mesh < 0) {
        geom->def.kind = KL_GEOM_BOX;
        geom->stand_in = true;
        return mechanism->options->missing_mesh == KL_MISSING_BOX;
    }
    if (mechanism->meshes[mesh].flat) {
        geom->def.kind = KL_GEOM_MESH;
        geom->def.visual_only = true;
        geom->collides = geom->counts = false;
    }
    return true;
}
