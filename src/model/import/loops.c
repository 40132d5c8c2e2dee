// Loop closures beside a URDF, in the yaml of the example-parallel-robots collection:
//   closed_loop: [[frame_a, frame_b], ...]   frames that must coincide (links, joints or frames)
//   type: ['6d' | '5d' | '3d', ...]          rows of each closure
//   name_mot: [...]                          driven joints
//   joint_name, joint_type: [...]            joints whose kind differs from the URDF's
#include <math.h>
#include <string.h>
#include <yaml.h>

#include "math/vec.h"
#include "model/import/mechanism.h"

typedef struct Document {
    KlMechanism *mechanism;
    yaml_document_t yaml;
    const char *path;
} Document;

static KlStatus fail(const Document *document, const yaml_node_t *node, const char *path, const char *what) {
    KlPlace place = {.file = document->path, .path = path};
    if (node != NULL) {
        place.line = (int32_t)node->start_mark.line + 1;
        place.column = (int32_t)node->start_mark.column + 1;
    }
    return kl_fail_at(KL_ERR_SCENE, &place, "%s", what);
}

static const char *text_of(const yaml_node_t *node) {
    return node != NULL && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static yaml_node_t *find_key(Document *document, const char *key) {
    yaml_node_t *root = yaml_document_get_root_node(&document->yaml);
    for (yaml_node_pair_t *pair = root->data.mapping.pairs.start; pair < root->data.mapping.pairs.top; pair++) {
        const char *name = text_of(yaml_document_get_node(&document->yaml, pair->key));
        if (name != NULL && strcmp(name, key) == 0) {
            return yaml_document_get_node(&document->yaml, pair->value);
        }
    }
    return NULL;
}

static int32_t length_of(const yaml_node_t *list) {
    return list != NULL && list->type == YAML_SEQUENCE_NODE
               ? (int32_t)(list->data.sequence.items.top - list->data.sequence.items.start)
               : 0;
}

static yaml_node_t *item_of(Document *document, const yaml_node_t *list, int32_t index) {
    return index < length_of(list) ? yaml_document_get_node(&document->yaml, list->data.sequence.items.start[index])
                                   : NULL;
}

static void note(Document *document, const yaml_node_t *node, bool lost, const char *element, const char *what) {
    KlXmlNode place = {.name = element,
                       .attributes = (const char *[]){NULL},
                       .file = document->path,
                       .line = node != NULL ? (int32_t)node->start_mark.line + 1 : 0};
    kl_mechanism_note(document->mechanism, &place, lost, "%s", what);
}

static KlImportJoint *find_joint(KlMechanism *mechanism, const char *name) {
    for (int32_t i = 0; name != NULL && i < mechanism->joint_count; i++) {
        if (strcmp(mechanism->joints[i].name, name) == 0) {
            return &mechanism->joints[i];
        }
    }
    return NULL;
}

static KlStatus frame_of(Document *document, const yaml_node_t *node, int32_t *frame) {
    const char *name = text_of(node);
    char what[200];
    *frame = name != NULL ? kl_mechanism_find_frame(document->mechanism, name) : -1;
    if (*frame < 0) {
        snprintf(what, sizeof what, "there is no link, joint or frame \"%.120s\"", name != NULL ? name : "?");
        return fail(document, node, "closed_loop", what);
    }
    return KL_OK;
}

static KlStatus closure_kind(Document *document, const yaml_node_t *type, KlJointKind *kind) {
    const char *text = text_of(type);
    *kind = KL_JOINT_FIXED;
    if (text == NULL || strcmp(text, "6d") == 0) {
        return KL_OK;
    }
    if (strcmp(text, "5d") == 0) {  // a pin: the frames' x axes stay free to turn
        *kind = KL_JOINT_REVOLUTE;
        return KL_OK;
    }
    if (strcmp(text, "3d") == 0) {
        *kind = KL_JOINT_SPHERICAL;
        return KL_OK;
    }
    return fail(document, type, "type", "a closure is \"6d\", \"5d\" or \"3d\"");
}

static KlStatus read_closures(Document *document) {
    KlMechanism *mechanism = document->mechanism;
    yaml_node_t *list = find_key(document, "closed_loop"), *types = find_key(document, "type");
    if (length_of(types) > length_of(list)) {
        return fail(document, item_of(document, types, length_of(list)), "type",
                    "there is no closed_loop for this type");
    }
    for (int32_t i = 0; i < length_of(list); i++) {
        yaml_node_t *pair = item_of(document, list, i);
        if (length_of(pair) != 2) {
            return fail(document, pair, "closed_loop", "each loop is a pair of frames");
        }
        int32_t a, b;
        KlJointKind kind;
        KL_TRY(frame_of(document, item_of(document, pair, 0), &a));
        KL_TRY(frame_of(document, item_of(document, pair, 1), &b));
        KL_TRY(closure_kind(document, item_of(document, types, i), &kind));
        char name[32];
        snprintf(name, sizeof name, "loop_%d", (int)(i + 1));
        KlImportJoint *joint = kl_mechanism_add_joint(mechanism);
        char *copy = kl_arena_text(mechanism->arena, name);
        KL_TRY(kl_arena_check(mechanism->arena));
        const KlImportFrame *from = &mechanism->frames[a], *to = &mechanism->frames[b];
        *joint = (KlImportJoint){.name = copy, .kind = kind, .parent = from->link, .child = to->link, .closure = true};
        memcpy(joint->parent_frame, from->pose, sizeof from->pose);
        memcpy(joint->child_frame, to->pose, sizeof to->pose);
        for (int32_t k = 0; k < 6; k++) {
            joint->lower[k] = -INFINITY;
            joint->upper[k] = INFINITY;
            joint->effort_limit[k] = INFINITY;
        }
    }
    return KL_OK;
}

static void read_motors(Document *document) {
    yaml_node_t *list = find_key(document, "name_mot");
    for (int32_t i = 0; i < length_of(list); i++) {
        const yaml_node_t *item = item_of(document, list, i);
        KlImportJoint *joint = find_joint(document->mechanism, text_of(item));
        if (joint == NULL) {
            char what[160];
            snprintf(what, sizeof what, "there is no joint \"%.100s\" to drive",
                     text_of(item) != NULL ? text_of(item) : "?");
            note(document, item, true, "name_mot", what);
        } else {
            joint->actuated = true;
        }
    }
}

static KlStatus read_kinds(Document *document) {
    yaml_node_t *names = find_key(document, "joint_name"), *types = find_key(document, "joint_type");
    if (length_of(types) > length_of(names)) {
        return fail(document, item_of(document, types, length_of(names)), "joint_type",
                    "there is no joint_name for this type");
    }
    for (int32_t i = 0; i < length_of(names); i++) {
        const yaml_node_t *item = item_of(document, names, i), *type = item_of(document, types, i);
        const char *kind = text_of(type);
        KlImportJoint *joint = find_joint(document->mechanism, text_of(item));
        if (kind == NULL || strcmp(kind, "SPHERICAL") != 0) {
            return fail(document, type != NULL ? type : item, "joint_type", "only SPHERICAL is known");
        }
        if (joint == NULL) {
            char what[200];
            const char *name = text_of(item);
            snprintf(what, sizeof what, "there is no joint \"%.100s\": it keeps the kind of the URDF",
                     name != NULL ? name : "?");
            note(document, item, true, "joint_name", what);
        } else {
            joint->kind = KL_JOINT_SPHERICAL;
        }
    }
    return KL_OK;
}

// What is read must be a list; other keys are other programs'.
static KlStatus check_list(const Document *document, const char *key, const yaml_node_t *value) {
    static const char *const lists[] = {"closed_loop", "type", "name_mot", "joint_name", "joint_type"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(key, lists[i]) == 0 && value->type != YAML_SEQUENCE_NODE) {
            return fail(document, value, key, "must be a list");
        }
    }
    return KL_OK;
}

// Each key once: of two, one would be passed over.
static KlStatus check_keys(Document *document, const yaml_node_t *root) {
    const yaml_node_pair_t *pairs = root->data.mapping.pairs.start;
    for (ptrdiff_t i = 0; i < root->data.mapping.pairs.top - pairs; i++) {
        const yaml_node_t *node = yaml_document_get_node(&document->yaml, pairs[i].key);
        const char *key = text_of(node);
        if (key == NULL) {
            return fail(document, node, "", "keys must be texts");
        }
        for (ptrdiff_t j = 0; j < i; j++) {
            if (strcmp(key, text_of(yaml_document_get_node(&document->yaml, pairs[j].key))) == 0) {
                return fail(document, node, key, "is given twice");
            }
        }
        KL_TRY(check_list(document, key, yaml_document_get_node(&document->yaml, pairs[i].value)));
    }
    return KL_OK;
}

static KlStatus read_document(Document *document) {
    const yaml_node_t *root = yaml_document_get_root_node(&document->yaml);
    if (root == NULL || root->type != YAML_MAPPING_NODE) {
        return fail(document, root, "", "must be a mapping with closed_loop, type and name_mot");
    }
    KL_TRY(check_keys(document, root));
    KL_TRY(read_closures(document));
    KL_TRY(read_kinds(document));
    read_motors(document);
    return KL_OK;
}

static KlStatus parse(KlMechanism *mechanism, const char *path, const char *data, size_t size) {
    Document document = {.mechanism = mechanism, .path = path};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)data, size);
    KlStatus status;
    if (yaml_parser_load(&parser, &document.yaml)) {
        status = read_document(&document);
        yaml_document_delete(&document.yaml);
    } else if (parser.error == YAML_MEMORY_ERROR) {
        status = kl_fail(KL_ERR_MEMORY, "%.200s: out of memory", path);
    } else {
        KlPlace place = {.file = path,
                         .line = (int32_t)parser.problem_mark.line + 1,
                         .column = (int32_t)parser.problem_mark.column + 1};
        status = kl_fail_at(KL_ERR_FORMAT, &place, "not valid yaml: %s", parser.problem != NULL ? parser.problem : "?");
    }
    yaml_parser_delete(&parser);
    return status;
}

KlStatus kl_loops_read(KlMechanism *mechanism, const char *path, bool required) {
    char *data;
    size_t size;
    KlStatus status = mechanism->files->read(mechanism->files->context, path, &data, &size);
    if (status == KL_ERR_NOT_FOUND && !required) {
        return KL_OK;
    }
    KL_TRY(status);
    const char *copy = kl_arena_text(mechanism->arena, path);
    status = copy != NULL ? parse(mechanism, copy, data, size) : kl_fail(KL_ERR_MEMORY, "out of memory");
    mechanism->files->release(mechanism->files->context, data);
    return status;
}
