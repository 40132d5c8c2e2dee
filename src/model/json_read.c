// Places in JSON documents, typed reading, includes.
#include "model/json_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json_load.h"
#include "base/json_place.h"
#include "base/memory.h"
#include "model/names.h"

enum { MAX_INCLUDE_DEPTH = 16, MAX_SOURCES = 256, MAX_PATH = 512 };

// ----------------------------------------------------------------------------------------
// documents

static char *copy_bytes(const char *text, size_t size) {
    char *copy = kl_alloc(size + 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
    }
    return copy;
}

KlStatus kl_loader_parse(KlLoader *loader, const char *text, size_t size, const char *name, KlJson *root) {
    if (loader->source_count >= MAX_SOURCES) {
        return kl_fail(KL_ERR_LIMIT, "%.200s: more than %d documents in one scene", name, MAX_SOURCES);
    }
    KlSource *source = kl_alloc(sizeof *source);
    if (source == NULL) {
        return kl_fail(KL_ERR_MEMORY, "%.200s: out of memory", name);
    }
    source->next = loader->sources;
    source->loader = loader;
    loader->sources = source;
    loader->source_count++;
    char *text_copy = copy_bytes(text, size), *name_copy = copy_bytes(name, strlen(name));
    source->text = text_copy;
    source->name = name_copy;
    source->size = size;
    if (text_copy == NULL || name_copy == NULL) {
        return kl_fail(KL_ERR_MEMORY, "%.200s: out of memory", name);
    }
    KL_TRY(kl_json_load(text_copy, size, name_copy, &source->root));
    *root = (KlJson){.source = source, .value = source->root};
    return KL_OK;
}

KlStatus kl_loader_open(KlLoader *loader, const char *path, KlJson *root) {
    if (loader->files == NULL) {
        return kl_fail(KL_ERR_NOT_FOUND, "%.200s: no files can be reached from here", path);
    }
    for (const KlSource *known = loader->sources; known != NULL; known = known->next) {
        if (known->root != NULL && strcmp(known->name, path) == 0) {  // read each file once
            *root = (KlJson){.source = known, .value = known->root};
            return KL_OK;
        }
    }
    char *data;
    size_t size;
    KL_TRY(loader->files->read(loader->files->context, path, &data, &size));
    KlStatus status = kl_loader_parse(loader, data, size, path, root);
    loader->files->release(loader->files->context, data);
    return status;
}

void kl_loader_free(KlLoader *loader) {
    for (KlSource *source = loader->sources; source != NULL;) {
        KlSource *next = source->next;
        json_decref(source->root);
        kl_free((void *)source->text);
        kl_free((void *)source->name);
        kl_free(source);
        source = next;
    }
    *loader = (KlLoader){0};
}

// Takes "x/.." and "./" out of a path, so that one file has one name.
static void normalize_path(char *path) {
    char *parts[MAX_PATH / 2];
    size_t count = 0;
    bool absolute = path[0] == '/';
    char copy[MAX_PATH], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    while (rest != NULL) {
        char *part = rest;
        rest = strchr(rest, '/');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        if (strcmp(part, "..") == 0 && count > 0 && strcmp(parts[count - 1], "..") != 0) {
            count--;
        } else if (part[0] != '\0' && strcmp(part, ".") != 0) {
            parts[count++] = part;
        }
    }
    char *end = path;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 || absolute) {
            *end++ = '/';
        }
        size_t length = strlen(parts[i]);
        memcpy(end, parts[i], length);
        end += length;
    }
    *end = '\0';
}

bool kl_beside(const KlJson *at, const char *file, char *path, size_t size) {
    const char *slash = strrchr(at->source->name, '/');
    int folder = slash != NULL && file[0] != '/' ? (int)(slash - at->source->name) + 1 : 0;
    int length = snprintf(path, size, "%.*s%s", folder, at->source->name, file);
    if (length < 0 || (size_t)length >= size || (size_t)length >= MAX_PATH) {
        return false;
    }
    normalize_path(path);
    return true;
}

static const KlJson *document_root(const KlJson *at) {
    while (at->parent != NULL) {
        at = at->parent;
    }
    return at;
}

static KlStatus check_cycle(const KlJson *at, const char *path) {
    int32_t depth = 0;
    for (const KlJson *place = at; place != NULL; place = document_root(place)->includer) {
        if (strcmp(place->source->name, path) == 0) {
            return kl_json_fault(at, NULL, KL_ERR_SCENE, "\"%.150s\" includes itself, directly or by way of others",
                                 path);
        }
        if (++depth > MAX_INCLUDE_DEPTH) {
            return kl_json_fault(at, NULL, KL_ERR_LIMIT, "includes nest deeper than %d files", MAX_INCLUDE_DEPTH);
        }
    }
    return KL_OK;
}

// A file that is not there is a fault of the place that names it.
static KlStatus adopt_read_error(const KlJson *at, KlStatus status) {
    if (status != KL_ERR_NOT_FOUND && status != KL_ERR_IO) {
        return status;
    }
    char what[300];
    snprintf(what, sizeof what, "%.299s", kl_last_error()->message);
    return kl_json_fault(at, NULL, status, "cannot read the file: %s", what);
}

KlStatus kl_json_open_beside(const KlJson *at, const char *file, KlJson *root) {
    char path[MAX_PATH];
    if (!kl_beside(at, file, path, sizeof path)) {
        return kl_json_fault(at, NULL, KL_ERR_SCENE, "the file name is too long");
    }
    KL_TRY(check_cycle(at, path));
    KlStatus status = kl_loader_open(at->source->loader, path, root);
    root->includer = at;
    return adopt_read_error(at, status);
}

KlStatus kl_json_read_file(const KlJson *at, const char *file, char **data, size_t *size) {
    const KlFiles *files = at->source->loader->files;
    char path[MAX_PATH];
    if (!kl_beside(at, file, path, sizeof path)) {
        return kl_json_fault(at, NULL, KL_ERR_SCENE, "the file name is too long");
    }
    if (files == NULL) {
        return kl_json_fault(at, NULL, KL_ERR_NOT_FOUND, "\"%.150s\": no files can be reached from here", path);
    }
    return adopt_read_error(at, files->read(files->context, path, data, size));
}

// ---------------------------------------------------------------------------------------- faults

// Writes the path from the document's root, e.g. "bodies[3].geoms[0]".
static size_t write_path(const KlJson *at, char *path, size_t size) {
    size_t used = at->parent != NULL ? write_path(at->parent, path, size) : 0;
    if (at->parent == NULL || used >= size - 1) {
        return used;
    }
    int more = at->key != NULL ? snprintf(path + used, size - used, used > 0 ? ".%s" : "%s", at->key)
                               : snprintf(path + used, size - used, "[%zu]", at->index);
    used += more > 0 ? (size_t)more : 0;
    return used < size ? used : size - 1;
}

static KlStatus fail_at_path(const KlJson *at, const char *field, KlStatus status, const char *what) {
    char path[256] = "";
    size_t used = write_path(at, path, sizeof path);
    if (field != NULL) {
        snprintf(path + used, sizeof path - used, used > 0 && field[0] != '[' ? ".%s" : "%s", field);
    }
    KlPlace place = {.file = at->source->name, .path = path};
    kl_json_locate(at->source->text, at->source->size, path, &place.line, &place.column);
    return kl_fail_at(status, &place, "%s", what);
}

KlStatus kl_json_fault(const KlJson *at, const char *field, KlStatus status, const char *format, ...) {
    char what[400];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return fail_at_path(at, field, status, what);
}

KlStatus kl_json_adopt_error(const KlJson *at) {
    KlError error = *kl_last_error();
    const char *what = error.message;
    size_t length = strlen(error.path);
    if (length > 0 && strncmp(what, error.path, length) == 0 && strncmp(what + length, ": ", 2) == 0) {
        what += length + 2;
    }
    const char *dot = strchr(error.path, '.');
    return kl_json_fault(at, dot != NULL ? dot + 1 : NULL, error.status, "%s", what);
}

static const char *type_name(const json_t *value) {
    switch (json_typeof(value)) {
        case JSON_OBJECT: return "an object";
        case JSON_ARRAY: return "a list";
        case JSON_STRING: return "a text";
        case JSON_INTEGER:
        case JSON_REAL: return "a number";
        case JSON_NULL: return "null";
        default: return "true or false";
    }
}

static KlStatus fail_type(const KlJson *at, const char *wanted) {
    return kl_json_fault(at, NULL, KL_ERR_SCENE, "must be %s (found %s)", wanted, type_name(at->value));
}

// ----------------------------------------------------------------------------------------
// structure

static KlStatus fail_unknown_key(const KlJson *at, const char *const *known, const char *key) {
    char list[300] = "";
    int32_t count = 0;
    for (size_t used = 0; known[count] != NULL; count++) {
        int more = snprintf(list + used, sizeof list - used, "%s%s", count > 0 ? ", " : "", known[count]);
        used = used + (size_t)more < sizeof list ? used + (size_t)more : sizeof list - 1;
    }
    const char *nearest = kl_nearest_name(known, count, key);
    char what[400];
    if (nearest != NULL) {
        snprintf(what, sizeof what, "unknown key; did you mean \"%s\"? Known are: %s", nearest, list);
    } else {
        snprintf(what, sizeof what, "unknown key; known are: %s", list);
    }
    return fail_at_path(at, key, KL_ERR_SCENE, what);
}

KlStatus kl_json_check_keys(const KlJson *at, const char *const *known) {
    if (!json_is_object(at->value)) {
        return fail_type(at, "an object");
    }
    void *iterator = json_object_iter((json_t *)at->value);
    for (; iterator != NULL; iterator = json_object_iter_next((json_t *)at->value, iterator)) {
        const char *key = json_object_iter_key(iterator);
        int32_t k = 0;
        while (known[k] != NULL && strcmp(known[k], key) != 0) {
            k++;
        }
        if (known[k] == NULL) {
            return fail_unknown_key(at, known, key);
        }
    }
    return KL_OK;
}

// Follows {"include": "file"}. The places that lead there must outlive the result: `origin` keeps
// them.
static KlStatus follow_include(KlJson *place, KlJson *origin) {
    const json_t *file = json_is_object(place->value) ? json_object_get(place->value, "include") : NULL;
    if (file == NULL) {
        return KL_OK;
    }
    *origin = *place;
    if (!json_is_string(file) || json_object_size(place->value) != 1) {
        return kl_json_fault(origin, "include", KL_ERR_SCENE, "must be a file name, and the only key of its object");
    }
    return kl_json_open_beside(origin, json_string_value(file), place);
}

KlStatus kl_json_member(const KlJson *at, const char *key, KlJson *member) {
    *member = (KlJson){.source = at->source, .value = json_object_get(at->value, key), .parent = at, .key = key};
    return KL_OK;
}

KlStatus kl_json_required(const KlJson *at, const char *key, KlJson *member) {
    KL_TRY(kl_json_member(at, key, member));
    return member->value != NULL ? KL_OK : kl_json_fault(at, key, KL_ERR_SCENE, "is missing");
}

static KlStatus visit_list(const KlJson *list, KlJsonVisit visit, void *context) {
    for (size_t i = 0; i < json_array_size(list->value); i++) {
        KlJson entry = {.source = list->source, .value = json_array_get(list->value, i), .parent = list, .index = i};
        KlJson origin;
        KL_TRY(follow_include(&entry, &origin));
        if (json_is_array(entry.value) && entry.source != list->source) {
            KL_TRY(visit_list(&entry, visit, context));
        } else {
            KL_TRY(visit(context, &entry));
        }
    }
    return KL_OK;
}

KlStatus kl_json_each(const KlJson *at, const char *key, KlJsonVisit visit, void *context) {
    KlJson list, origin;
    KL_TRY(kl_json_member(at, key, &list));
    if (list.value == NULL) {
        return KL_OK;
    }
    KL_TRY(follow_include(&list, &origin));
    if (!json_is_array(list.value)) {
        return fail_type(&list, "a list");
    }
    return visit_list(&list, visit, context);
}

// ---------------------------------------------------------------------------------------- values

KlStatus kl_json_as_real(const KlJson *at, double *value) {
    if (!json_is_number(at->value)) {
        return fail_type(at, "a number");
    }
    *value = json_number_value(at->value);
    return KL_OK;
}

KlStatus kl_json_as_text(const KlJson *at, const char **value) {
    if (!json_is_string(at->value)) {
        return fail_type(at, "a text");
    }
    *value = json_string_value(at->value);
    return KL_OK;
}

KlStatus kl_json_as_reals(const KlJson *at, double *values, int32_t count) {
    if (!json_is_array(at->value) || json_array_size(at->value) != (size_t)count) {
        char found[60];
        snprintf(found, sizeof found, json_is_array(at->value) ? "a list of %zu" : "no list",
                 json_array_size(at->value));
        return kl_json_fault(at, NULL, KL_ERR_SCENE, "must be a list of %d numbers (found %s)", (int)count, found);
    }
    for (int32_t i = 0; i < count; i++) {
        KlJson entry = {
            .source = at->source, .value = json_array_get(at->value, (size_t)i), .parent = at, .index = (size_t)i};
        KL_TRY(kl_json_as_real(&entry, &values[i]));
    }
    return KL_OK;
}

#define MEMBER_OR_RETURN(member)              \
    KlJson member;                            \
    KL_TRY(kl_json_member(at, key, &member)); \
    if (member.value == NULL) {               \
        return KL_OK;                         \
    }

KlStatus kl_json_real(const KlJson *at, const char *key, double *value) {
    MEMBER_OR_RETURN(member)
    return kl_json_as_real(&member, value);
}

KlStatus kl_json_reals(const KlJson *at, const char *key, double *values, int32_t count) {
    MEMBER_OR_RETURN(member)
    return kl_json_as_reals(&member, values, count);
}

KlStatus kl_json_text(const KlJson *at, const char *key, const char **value) {
    MEMBER_OR_RETURN(member)
    return kl_json_as_text(&member, value);
}

KlStatus kl_json_int(const KlJson *at, const char *key, int64_t low, int64_t high, int64_t *value) {
    MEMBER_OR_RETURN(member)
    int64_t found = json_integer_value(member.value);
    if (!json_is_integer(member.value) || found < low || found > high) {
        return kl_json_fault(&member, NULL, KL_ERR_SCENE, "must be a whole number from %lld to %lld", (long long)low,
                             (long long)high);
    }
    *value = found;
    return KL_OK;
}

KlStatus kl_json_bool(const KlJson *at, const char *key, bool *value) {
    MEMBER_OR_RETURN(member)
    if (!json_is_boolean(member.value)) {
        return fail_type(&member, "true or false");
    }
    *value = json_is_true(member.value);
    return KL_OK;
}

KlStatus kl_json_choice(const KlJson *at, const char *key, const char *const *choices, int32_t *index) {
    MEMBER_OR_RETURN(member)
    const char *text = "";
    KL_TRY(kl_json_as_text(&member, &text));
    int32_t count = 0;
    char list[300] = "";
    for (size_t used = 0; choices[count] != NULL; count++) {
        if (strcmp(choices[count], text) == 0) {
            *index = count;
            return KL_OK;
        }
        int more = snprintf(list + used, sizeof list - used, "%s%s", count > 0 ? ", " : "", choices[count]);
        used = used + (size_t)more < sizeof list ? used + (size_t)more : sizeof list - 1;
    }
    const char *nearest = kl_nearest_name(choices, count, text);
    return kl_json_fault(&member, NULL, KL_ERR_SCENE, "\"%.60s\" is not known%s%s%s; allowed are: %s", text,
                         nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                         nearest != NULL ? "\"?" : "", list);
}
