// h5.h over a table in memory, for fuzz_hdf5_objects: the readers above it, which are ours, run thirty times as fast
// as on files, where HDF5 takes the time. The contract is h5.h's; fuzz_hdf5 holds the same inputs to HDF5 itself.
#include "h5.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "input.h"

typedef enum Kind { GROUP, INTS, REALS, TEXT } Kind;
enum { MOST_NODES = 64, MOST_VALUES = 64 };

typedef struct Node {
    char path[128];  // of an attribute: "object@name"
    Kind kind;
    int64_t count;
    int64_t ints[MOST_VALUES];
    double reals[MOST_VALUES];  // of INTS too
    char text[64];
} Node;

static Node nodes[MOST_NODES];  // one file
static int node_count;

static Node *find(const char *path) {
    for (int i = 0; i < node_count; i++) {
        if (strcmp(nodes[i].path, path) == 0) {
            return &nodes[i];
        }
    }
    return NULL;
}

static Node *find_attribute(const char *object, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s@%s", object, name);
    return find(path);
}

static Node *add(const char *path, Kind kind) {
    CLAIM(find(path) == NULL && node_count < MOST_NODES && strlen(path) < sizeof nodes[0].path);
    Node *node = &nodes[node_count++];
    memset(node, 0, sizeof *node);
    memcpy(node->path, path, strlen(path));
    node->kind = kind;
    return node;
}

static Node *add_attribute(const char *object, const char *name, Kind kind) {
    char path[256];
    snprintf(path, sizeof path, "%s@%s", object, name);
    return add(path, kind);
}

// ---- opening ---------------------------------------------------------------------------------

bool h5_is_file(const char *path) {
    (void)path;
    return true;
}

KlStatus h5_open(const char *path, H5File *file) {
    *file = (H5File){.id = 1};
    snprintf(file->path, sizeof file->path, "%s", path);
    return KL_OK;
}

void h5_close(H5File *file) { file->id = -1; }

bool h5_has(const H5File *file, const char *object) {
    (void)file;
    return strcmp(object, "/") == 0 || find(object) != NULL;
}

bool h5_is_group(const H5File *file, const char *object) {
    (void)file;
    const Node *node = find(object);
    return strcmp(object, "/") == 0 || (node != NULL && node->kind == GROUP);
}

bool h5_has_attribute(const H5File *file, const char *object, const char *name) {
    (void)file;
    return find_attribute(object, name) != NULL;
}

// ---- reading -----------------------------------------------------------------------------------

static KlStatus find_set(const H5File *file, const char *object, bool reals, const Node **node) {
    *node = find(object);
    if (*node == NULL) {
        return h5_fail(file, KL_ERR_FORMAT, object, "is missing");
    }
    if ((*node)->kind == GROUP) {
        return h5_fail(file, KL_ERR_FORMAT, object, "must be a dataset");
    }
    if ((*node)->kind == INTS || (reals && (*node)->kind == REALS)) {
        return KL_OK;
    }
    return h5_fail(file, KL_ERR_FORMAT, object, "must hold %s", reals ? "numbers" : "integers");
}

KlStatus h5_read_reals(const H5File *file, const char *object, double **values, int64_t *count) {
    const Node *node;
    *values = NULL;
    *count = 0;
    KL_TRY(find_set(file, object, true, &node));
    for (int64_t i = 0; i < node->count; i++) {
        if (!isfinite(node->reals[i])) {
            return h5_fail(file, KL_ERR_SCENE, object, "value %lld is not finite (%g)", (long long)i, node->reals[i]);
        }
    }
    *count = node->count;
    *values = kl_alloc((size_t)(node->count > 0 ? node->count : 1) * sizeof **values);  // exact: a sanitizer sees
    CLAIM(*values != NULL);
    memcpy(*values, node->reals, (size_t)node->count * sizeof **values);
    return KL_OK;
}

KlStatus h5_read_ints(const H5File *file, const char *object, int32_t **values, int64_t *count) {
    const Node *node;
    *values = NULL;
    *count = 0;
    KL_TRY(find_set(file, object, false, &node));
    *count = node->count;
    *values = kl_alloc((size_t)(node->count > 0 ? node->count : 1) * sizeof **values);
    CLAIM(*values != NULL);
    for (int64_t i = 0; i < node->count; i++) {
        (*values)[i] = (int32_t)node->ints[i];  // h5_write_ints takes 32 bits
    }
    return KL_OK;
}

KlStatus h5_read_ids_into(const H5File *file, const char *object, uint64_t *values, int64_t count) {
    const Node *node;
    KL_TRY(find_set(file, object, false, &node));
    KL_TRY(h5_check_count(file, object, node->count, count));
    for (int64_t i = 0; i < count; i++) {
        values[i] = (uint64_t)node->ints[i];
    }
    return KL_OK;
}

KlStatus h5_read_text(const H5File *file, const char *object, char *text, size_t size) {
    const Node *node = find(object);
    bool is_text = node != NULL && node->kind == TEXT;
    snprintf(text, size, "%s", is_text ? node->text : "");
    return is_text ? KL_OK : h5_fail(file, KL_ERR_FORMAT, object, "must be a dataset of one text");
}

static KlStatus read_attribute(const H5File *file, const char *object, const char *name, Kind kind, const Node **node) {
    char path[256];
    snprintf(path, sizeof path, "%s@%s", object, name);
    *node = find(path);
    if (*node == NULL) {
        return h5_fail(file, KL_ERR_FORMAT, path, "attribute is missing");
    }
    bool fits = (*node)->kind == kind || (kind == REALS && (*node)->kind == INTS);
    return fits ? KL_OK : h5_fail(file, KL_ERR_FORMAT, path, "must be of another type");
}

KlStatus h5_attribute_int(const H5File *file, const char *object, const char *name, int64_t *value) {
    const Node *node;
    KL_TRY(read_attribute(file, object, name, INTS, &node));
    *value = node->ints[0];
    return KL_OK;
}

KlStatus h5_attribute_real(const H5File *file, const char *object, const char *name, double *value) {
    const Node *node;
    KL_TRY(read_attribute(file, object, name, REALS, &node));
    *value = node->reals[0];
    return KL_OK;
}

KlStatus h5_attribute_text(const H5File *file, const char *object, const char *name, char *text, size_t size) {
    const Node *node;
    text[0] = '\0';
    KL_TRY(read_attribute(file, object, name, TEXT, &node));
    snprintf(text, size, "%s", node->text);
    return KL_OK;
}

// The name of a child right below `group`, NULL for others.
static const char *child_of(const Node *node, const char *group) {
    size_t length = strcmp(group, "/") == 0 ? 0 : strlen(group);
    bool below = strncmp(node->path, group, length) == 0 && node->path[length] == '/';
    const char *name = node->path + length + 1;
    return below && *name != '\0' && strpbrk(name, "/@") == NULL ? name : NULL;
}

KlStatus h5_each(const H5File *file, const char *group, H5Visit visit, void *context) {
    if (!h5_is_group(file, group)) {
        return h5_fail(file, KL_ERR_FORMAT, group, "must be a group");
    }
    const char *last = "";
    for (;;) {  // the next name in ascending order
        const char *next = NULL;
        for (int i = 0; i < node_count; i++) {
            const char *name = child_of(&nodes[i], group);
            if (name != NULL && strcmp(name, last) > 0 && (next == NULL || strcmp(name, next) < 0)) {
                next = name;
            }
        }
        if (next == NULL) {
            return KL_OK;
        }
        KL_TRY(visit(context, next));
        last = next;
    }
}

// ---- writing -----------------------------------------------------------------------------------

KlStatus h5_create(const char *path, H5File *file) {
    node_count = 0;
    return h5_open(path, file);
}

KlStatus h5_finish(H5File *file) {
    h5_close(file);
    return KL_OK;
}

KlStatus h5_make_group(const H5File *file, const char *group) {
    (void)file;
    char prefix[128];
    for (const char *at = group; at != NULL;) {
        at = strchr(at + 1, '/');
        snprintf(prefix, sizeof prefix, "%.*s", at != NULL ? (int)(at - group) : (int)strlen(group), group);
        if (find(prefix) == NULL) {
            add(prefix, GROUP);
        }
    }
    return KL_OK;
}

KlStatus h5_write_ints(const H5File *file, const char *object, const int32_t *values, int64_t rows, int64_t columns) {
    (void)file;
    Node *node = add(object, INTS);
    node->count = rows * (columns > 0 ? columns : 1);
    CLAIM(node->count <= MOST_VALUES);
    for (int64_t i = 0; i < node->count; i++) {
        node->ints[i] = values[i];
        node->reals[i] = (double)values[i];
    }
    return KL_OK;
}

KlStatus h5_write_reals(const H5File *file, const char *object, const double *values, int64_t rows, int64_t columns) {
    (void)file;
    Node *node = add(object, REALS);
    node->count = rows * (columns > 0 ? columns : 1);
    CLAIM(node->count <= MOST_VALUES);
    memcpy(node->reals, values, (size_t)node->count * sizeof *values);
    return KL_OK;
}

KlStatus h5_write_ids(const H5File *file, const char *object, const uint64_t *values, int64_t count) {
    (void)file;
    Node *node = add(object, INTS);
    CLAIM(count <= MOST_VALUES);
    node->count = count;
    for (int64_t i = 0; i < count; i++) {
        node->ints[i] = (int64_t)values[i];
    }
    return KL_OK;
}

KlStatus h5_write_text(const H5File *file, const char *object, const char *text) {
    (void)file;
    Node *node = add(object, TEXT);
    snprintf(node->text, sizeof node->text, "%s", text);
    return KL_OK;
}

KlStatus h5_set_int(const H5File *file, const char *object, const char *name, int64_t value) {
    (void)file;
    Node *node = add_attribute(object, name, INTS);
    node->ints[0] = value;
    node->reals[0] = (double)value;
    return KL_OK;
}

KlStatus h5_set_real(const H5File *file, const char *object, const char *name, double value) {
    (void)file;
    add_attribute(object, name, REALS)->reals[0] = value;
    return KL_OK;
}

KlStatus h5_set_text(const H5File *file, const char *object, const char *name, const char *text) {
    (void)file;
    Node *node = add_attribute(object, name, TEXT);
    snprintf(node->text, sizeof node->text, "%s", text);
    return KL_OK;
}

KlStatus h5_copy(const H5File *from, const H5File *to, const char *group) {
    (void)to;
    return h5_fail(from, KL_ERR_NOT_IMPLEMENTED, group, "is not copied here");
}
