// Reading whole files from disk through stdio.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "kl.h"

enum { LARGEST_FILE = 256 * 1024 * 1024 };

static KlStatus read_open(FILE *file, const char *path, char **data, size_t *size) {
    size_t used = 0, capacity = 1 << 16;
    char *memory = kl_alloc(capacity);
    while (memory != NULL) {
        used += fread(memory + used, 1, capacity - used, file);
        if (used < capacity) {
            break;
        }
        if (capacity > LARGEST_FILE) {
            kl_free(memory);
            return kl_fail(KL_ERR_LIMIT, "%.200s: larger than 256 MiB", path);
        }
        capacity *= 2;
        char *bigger = kl_realloc(memory, capacity);
        if (bigger == NULL) {
            kl_free(memory);
        }
        memory = bigger;
    }
    if (memory == NULL) {
        return kl_fail(KL_ERR_MEMORY, "%.200s: out of memory", path);
    }
    if (ferror(file)) {
        kl_free(memory);
        return kl_fail(KL_ERR_IO, "%.200s: %s", path, strerror(errno));
    }
    *data = memory;
    *size = used;
    return KL_OK;
}

static KlStatus read_disk(void *context, const char *path, char **data, size_t *size) {
    (void)context;
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return kl_fail(errno == ENOENT ? KL_ERR_NOT_FOUND : KL_ERR_IO, "%.200s: %s", path, strerror(errno));
    }
    KlStatus status = read_open(file, path, data, size);
    fclose(file);
    return status;
}

static void release_disk(void *context, char *data) {
    (void)context;
    kl_free(data);
}

const KlFiles *kl_files_disk(void) {
    static const KlFiles disk = {.context = NULL, .read = read_disk, .release = release_disk};
    return &disk;
}
