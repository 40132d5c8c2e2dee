// Files that a page hands over. Paths are compared without "./" and "x/..", with slashes either way; a name in
// another case is found when there is none in the right one, as on the systems where such models are made.
#include "file_store.h"

#include <ctype.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static bool same_letter(char a, char b, bool any_case) {
    return a == b || (any_case && tolower((unsigned char)a) == tolower((unsigned char)b));
}

static bool same_path(const char *a, const char *b, bool any_case) {
    while (*a != '\0' && same_letter(*a, *b, any_case)) {
        a++;
        b++;
    }
    return *a == *b;
}

// Takes "./" and "x/.." out, in place; what leads above the top stays.
static void tidy(char *path) {
    size_t from = 0, to = 0, kept[64], depth = 0;
    for (char *c = path; *c != '\0'; c++) {
        *c = *c == '\\' ? '/' : *c;
    }
    while (path[from] != '\0') {
        size_t length = strcspn(path + from, "/"), whole = length + (path[from + length] == '/');
        bool stay = length == 1 && path[from] == '.', up = length == 2 && strncmp(path + from, "..", 2) == 0;
        if (up && depth > 0) {
            to = kept[--depth];
        } else if (!stay && (length > 0 || from == 0)) {
            if (!up && depth < sizeof kept / sizeof kept[0]) {
                kept[depth++] = to;
            }
            memmove(path + to, path + from, whole);
            to += whole;
        }
        from += whole;
    }
    path[to] = '\0';
}

static char *tidy_copy(const char *path) {
    size_t size = strlen(path) + 1;
    char *copy = kl_alloc(size);
    if (copy != NULL) {
        memcpy(copy, path, size);
        tidy(copy);
    }
    return copy;
}

static const KlStoredFile *find(const KlFileStore *store, const char *path) {
    for (int32_t any_case = 0; any_case < 2; any_case++) {
        for (int32_t i = 0; i < store->count; i++) {
            if (same_path(store->files[i].path, path, any_case != 0)) {
                return &store->files[i];
            }
        }
    }
    return NULL;
}

static KlStatus read_file(void *context, const char *path, char **data, size_t *size) {
    char *wanted = tidy_copy(path);
    const KlStoredFile *file = wanted != NULL ? find(context, wanted) : NULL;
    kl_free(wanted);
    if (file == NULL) {
        return kl_fail(KL_ERR_NOT_FOUND, "%s: no such file was handed over", path);
    }
    *data = kl_alloc(file->size + 1);
    if (*data == NULL) {
        return kl_fail(KL_ERR_MEMORY, "%s: out of memory for %zu bytes", path, file->size);
    }
    memcpy(*data, file->data, file->size);
    *size = file->size;
    return KL_OK;
}

static void release_file(void *context, char *data) {
    (void)context;
    kl_free(data);
}

void kl_store_open(KlFileStore *store) { store->access = (KlFiles){store, read_file, release_file}; }

void kl_store_free(KlFileStore *store) {
    for (int32_t i = 0; i < store->count; i++) {
        kl_free(store->files[i].path);
        kl_free(store->files[i].data);
    }
    store->count = 0;
}

KlStatus kl_store_put(KlFileStore *store, const char *path, const void *data, size_t size) {
    char *name = tidy_copy(path), *copy = kl_alloc(size + 1);
    if (name == NULL || copy == NULL) {
        kl_free(name);
        kl_free(copy);
        return kl_fail(KL_ERR_MEMORY, "%s: out of memory for %zu bytes", path, size);
    }
    int32_t at = 0;
    while (at < store->count && strcmp(store->files[at].path, name) != 0) {
        at++;
    }
    if (at == KL_STORE_MAX_FILES) {
        kl_free(name);
        kl_free(copy);
        return kl_fail(KL_ERR_LIMIT, "%s: more than %d files", path, (int)KL_STORE_MAX_FILES);
    }
    memcpy(copy, data, size);
    if (at < store->count) {
        kl_free(store->files[at].path);
        kl_free(store->files[at].data);
    }
    store->count += at == store->count;
    store->files[at] = (KlStoredFile){name, copy, size};
    return KL_OK;
}
