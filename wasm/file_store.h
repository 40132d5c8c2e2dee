// Files that a page hands over: named bytes in memory, read by the core through a KlFiles.
#ifndef KL_WASM_FILE_STORE_H
#define KL_WASM_FILE_STORE_H

#include "kl.h"

enum { KL_STORE_MAX_FILES = 1024 };

typedef struct KlStoredFile {
    char *path, *data;
    size_t size;
} KlStoredFile;

typedef struct KlFileStore {
    KlStoredFile files[KL_STORE_MAX_FILES];
    int32_t count;
    KlFiles access;  // for the core, once kl_store_open was called
} KlFileStore;

void kl_store_open(KlFileStore *store);  // of a zeroed store
void kl_store_free(KlFileStore *store);
// Copies `data`; a file of the same path is replaced. KL_ERR_LIMIT, KL_ERR_MEMORY.
KlStatus kl_store_put(KlFileStore *store, const char *path, const void *data, size_t size);

#endif
