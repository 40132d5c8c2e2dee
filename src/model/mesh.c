// STL and OBJ readers. Both end in the same place: weld equal vertices, drop triangles without
// area.
#include "model/mesh.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"

enum { LARGEST = 2000000, STL_HEADER = 84, STL_RECORD = 50, LONGEST_LINE = 1024 };

void kl_mesh_data_free(KlMeshData *mesh) {
    kl_free(mesh->vertices);
    kl_free(mesh->triangles);
    *mesh = (KlMeshData){0};
}

typedef struct Reader {
    const char *data, *name;
    size_t size, at;
    int32_t line;
    KlMeshData mesh;
    int32_t vertex_capacity, triangle_capacity;
} Reader;

static KlStatus fail_here(const Reader *reader, const char *what) {
    return kl_fail_at(KL_ERR_FORMAT, &(KlPlace){.file = reader->name, .line = reader->line, .column = 1}, "%s", what);
}

// Room for one more element of three entries.
static KlStatus reserve(const Reader *reader, void **array, int32_t count, int32_t *capacity, size_t size) {
    if (count >= LARGEST) {
        return kl_fail(KL_ERR_LIMIT, "%.200s: more than %d vertices or triangles", reader->name, LARGEST);
    }
    if (count < *capacity) {
        return KL_OK;
    }
    int32_t wanted = *capacity > 0 ? 2 * *capacity : 256;
    void *bigger = kl_realloc(*array, (size_t)wanted * 3 * size);
    if (bigger == NULL) {
        return kl_fail(KL_ERR_MEMORY, "%.200s: out of memory", reader->name);
    }
    *array = bigger;
    *capacity = wanted;
    return KL_OK;
}

static KlStatus push_vertex(Reader *reader, const double v[3]) {
    if (!isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[2])) {
        char what[160];
        snprintf(what, sizeof what, "vertex %d must be finite (got %g, %g, %g)", (int)reader->mesh.vertex_count, v[0],
                 v[1], v[2]);
        return fail_here(reader, what);
    }
    void *array = reader->mesh.vertices;
    KL_TRY(reserve(reader, &array, reader->mesh.vertex_count, &reader->vertex_capacity, sizeof(double)));
    reader->mesh.vertices = array;
    kl_copy3(v, reader->mesh.vertices + 3 * (size_t)reader->mesh.vertex_count++);
    return KL_OK;
}

static KlStatus push_triangle(Reader *reader, int32_t a, int32_t b, int32_t c) {
    void *array = reader->mesh.triangles;
    KL_TRY(reserve(reader, &array, reader->mesh.triangle_count, &reader->triangle_capacity, sizeof(int32_t)));
    reader->mesh.triangles = array;
    int32_t *triangle = reader->mesh.triangles + 3 * (size_t)reader->mesh.triangle_count++;
    triangle[0] = a;
    triangle[1] = b;
    triangle[2] = c;
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- text
// lines

// The next line without its end, cut to LONGEST_LINE - 1; false at the end of the data.
static bool next_line(Reader *reader, char line[LONGEST_LINE]) {
    if (reader->at >= reader->size) {
        return false;
    }
    size_t length = 0;
    while (reader->at < reader->size && reader->data[reader->at] != '\n') {
        char c = reader->data[reader->at++];
        if (length < LONGEST_LINE - 1 && c != '\r') {
            line[length++] = c;
        }
    }
    reader->at++;
    reader->line++;
    line[length] = '\0';
    return true;
}

static bool read_vector(const char *text, double v[3]) {
    for (int32_t k = 0; k < 3; k++) {
        char *end;
        v[k] = strtod(text, &end);
        if (end == text) {
            return false;
        }
        text = end;
    }
    return true;
}

static const char *skip_blanks(const char *text) {
    while (isspace((unsigned char)*text)) {
        text++;
    }
    return text;
}

// Does the line start with this word? Then `*rest` is what follows.
static bool starts_with(const char *line, const char *word, const char **rest) {
    size_t length = strlen(word);
    line = skip_blanks(line);
    if (strncmp(line, word, length) != 0 || (line[length] != '\0' && !isspace((unsigned char)line[length]))) {
        return false;
    }
    *rest = line + length;
    return true;
}

// ---------------------------------------------------------------------------------------- STL

static KlStatus read_stl_ascii(Reader *reader) {
    char line[LONGEST_LINE] = "";
    const char *rest;
    int32_t corners = 0;
    while (next_line(reader, line)) {
        if (starts_with(line, "vertex", &rest)) {
            double v[3];
            if (!read_vector(rest, v)) {
                return fail_here(reader, "\"vertex\" needs three numbers");
            }
            KL_TRY(push_vertex(reader, v));
            corners++;
        } else if (starts_with(line, "endloop", &rest)) {
            if (corners != 3) {
                return fail_here(reader, "a facet needs three vertices");
            }
            int32_t last = reader->mesh.vertex_count;
            KL_TRY(push_triangle(reader, last - 3, last - 2, last - 1));
            corners = 0;
        }
    }
    return corners == 0 ? KL_OK : fail_here(reader, "the file ends inside a facet");
}

static uint32_t little_u32(const unsigned char *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double little_f32(const unsigned char *b) {
    uint32_t bits = little_u32(b);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static KlStatus read_stl_binary(Reader *reader, uint32_t count) {
    const unsigned char *record = (const unsigned char *)reader->data + STL_HEADER;
    for (uint32_t t = 0; t < count; t++, record += STL_RECORD) {
        for (int32_t corner = 0; corner < 3; corner++) {
            const unsigned char *at = record + 12 + 12 * corner;  // past the normal
            double v[3] = {little_f32(at), little_f32(at + 4), little_f32(at + 8)};
            KL_TRY(push_vertex(reader, v));
        }
        int32_t last = reader->mesh.vertex_count;
        KL_TRY(push_triangle(reader, last - 3, last - 2, last - 1));
    }
    return KL_OK;
}

// Binary files are told by their exact length: many of them begin with "solid" too.
static KlStatus read_stl(Reader *reader) {
    if (reader->size >= STL_HEADER) {
        uint32_t count = little_u32((const unsigned char *)reader->data + STL_HEADER - 4);
        if (reader->size == STL_HEADER + (size_t)count * STL_RECORD) {
            return read_stl_binary(reader, count);
        }
    }
    if (reader->size >= 5 && memcmp(reader->data, "solid", 5) == 0) {
        return read_stl_ascii(reader);
    }
    char what[200];
    snprintf(what, sizeof what,
             "not an STL file: neither \"solid\" nor a binary header whose triangle count fits its "
             "%zu bytes",
             reader->size);
    return fail_here(reader, what);
}

// ---------------------------------------------------------------------------------------- OBJ

static KlStatus read_obj_face(Reader *reader, const char *text) {
    int32_t corners[3] = {0, 0, 0}, count = 0;
    for (text = skip_blanks(text); *text != '\0'; text = skip_blanks(text)) {
        char *end;
        long index = strtol(text, &end, 10);
        long vertex = index > 0 ? index - 1 : reader->mesh.vertex_count + index;
        if (end == text || index == 0 || vertex < 0 || vertex >= reader->mesh.vertex_count) {
            char what[160];
            snprintf(what, sizeof what, "face names vertex \"%.20s\"; vertices are 1 to %d", text,
                     (int)reader->mesh.vertex_count);
            return fail_here(reader, what);
        }
        corners[count < 2 ? count : 2] = (int32_t)vertex;
        if (++count >= 3) {  // a polygon is a fan about its first corner
            KL_TRY(push_triangle(reader, corners[0], corners[1], corners[2]));
            corners[1] = corners[2];
        }
        text = end;
        while (*text != '\0' && !isspace((unsigned char)*text)) {  // texture and normal indices
            text++;
        }
    }
    return count >= 3 ? KL_OK : fail_here(reader, "a face needs three vertices");
}

static KlStatus read_obj(Reader *reader) {
    char line[LONGEST_LINE] = "";
    const char *rest;
    while (next_line(reader, line)) {
        if (starts_with(line, "v", &rest)) {
            double v[3];
            if (!read_vector(rest, v)) {
                return fail_here(reader, "\"v\" needs three numbers");
            }
            KL_TRY(push_vertex(reader, v));
        } else if (starts_with(line, "f", &rest)) {
            KL_TRY(read_obj_face(reader, rest));
        }
    }
    return KL_OK;
}

// ---------------------------------------------------------------------------------------- clean up

static bool same_place(const double a[3], const double b[3]) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

static uint64_t hash_vertex(const double *v) { return kl_hash_doubles(KL_HASH_START, v, 3); }

// Keeps the first of equal vertices and renumbers the triangles.
static KlStatus weld(Reader *reader) {
    KlMeshData *mesh = &reader->mesh;
    size_t capacity = 64;
    while (capacity < 2 * (size_t)mesh->vertex_count) {
        capacity *= 2;
    }
    int32_t *slots = kl_alloc(capacity * sizeof *slots);  // index + 1 of a kept vertex
    int32_t *renumbered = kl_alloc((size_t)mesh->vertex_count * sizeof *renumbered);
    if (slots == NULL || renumbered == NULL) {
        kl_free(slots);
        kl_free(renumbered);
        return kl_fail(KL_ERR_MEMORY, "%.200s: out of memory", reader->name);
    }
    int32_t kept = 0;
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        double *v = mesh->vertices + 3 * (size_t)i;
        for (int32_t k = 0; k < 3; k++) {
            v[k] += 0.0;  // -0 and 0 are one place
        }
        size_t slot = hash_vertex(v) & (capacity - 1);
        while (slots[slot] != 0 && !same_place(mesh->vertices + 3 * (size_t)(slots[slot] - 1), v)) {
            slot = (slot + 1) & (capacity - 1);
        }
        if (slots[slot] == 0) {
            memmove(mesh->vertices + 3 * (size_t)kept, v, 3 * sizeof(double));
            slots[slot] = ++kept;
        }
        renumbered[i] = slots[slot] - 1;
    }
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        mesh->triangles[i] = renumbered[mesh->triangles[i]];
    }
    mesh->vertex_count = kept;
    kl_free(slots);
    kl_free(renumbered);
    return KL_OK;
}

static bool has_area(const KlMeshData *mesh, const int32_t *triangle) {
    const double *a = mesh->vertices + 3 * (size_t)triangle[0];
    double ab[3], ac[3], normal[3];
    kl_sub3(mesh->vertices + 3 * (size_t)triangle[1], a, ab);
    kl_sub3(mesh->vertices + 3 * (size_t)triangle[2], a, ac);
    kl_cross3(ab, ac, normal);
    return kl_norm3(normal) > 0.0;
}

static void drop_flat_triangles(KlMeshData *mesh) {
    int32_t kept = 0;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const int32_t *triangle = mesh->triangles + 3 * (size_t)t;
        if (has_area(mesh, triangle)) {
            memmove(mesh->triangles + 3 * (size_t)kept++, triangle, 3 * sizeof(int32_t));
        }
    }
    mesh->dropped = mesh->triangle_count - kept;
    mesh->triangle_count = kept;
}

static void apply_scale(KlMeshData *mesh, const double scale[3]) {
    for (int32_t i = 0; i < 3 * mesh->vertex_count; i++) {
        mesh->vertices[i] *= scale[i % 3];
    }
    bool mirrors = scale[0] * scale[1] * scale[2] < 0.0;
    for (int32_t t = 0; mirrors && t < mesh->triangle_count; t++) {
        int32_t *triangle = mesh->triangles + 3 * (size_t)t;
        int32_t second = triangle[1];
        triangle[1] = triangle[2];
        triangle[2] = second;
    }
}

static bool ends_with(const char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    if (length < tail) {
        return false;
    }
    for (size_t i = 0; i < tail; i++) {
        if (tolower((unsigned char)name[length - tail + i]) != ending[i]) {
            return false;
        }
    }
    return true;
}

static KlStatus read_any(Reader *reader, const double scale[3]) {
    if (ends_with(reader->name, ".stl")) {
        KL_TRY(read_stl(reader));
    } else if (ends_with(reader->name, ".obj")) {
        KL_TRY(read_obj(reader));
    } else {
        return kl_fail(KL_ERR_FORMAT, "%.200s: mesh files are .stl or .obj", reader->name);
    }
    if (reader->mesh.vertex_count == 0) {
        return kl_fail(KL_ERR_FORMAT, "%.200s: the mesh is empty", reader->name);
    }
    KL_TRY(weld(reader));
    apply_scale(&reader->mesh, scale);
    drop_flat_triangles(&reader->mesh);
    return KL_OK;
}

KlStatus kl_mesh_parse(const char *data, size_t size, const char *name, const double scale[3], KlMeshData *mesh) {
    Reader reader = {.data = data, .name = name, .size = size};
    KlStatus status = read_any(&reader, scale);
    if (status != KL_OK) {
        kl_mesh_data_free(&reader.mesh);
    }
    *mesh = reader.mesh;
    return status;
}
