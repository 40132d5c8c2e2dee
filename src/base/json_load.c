// Reading JSON texts with jansson.
#include "base/json_load.h"

#include "base/memory.h"

// When an allocation fails jansson may call the text faulty, or drop a byte of a string and go on: what
// happened is noted here, and then nothing of the result is kept.
static _Thread_local bool out_of_memory;

static void *allocate(size_t size) {
    void *memory = kl_alloc(size);
    out_of_memory = out_of_memory || memory == NULL;
    return memory;
}

KlStatus kl_json_load(const char *text, size_t size, const char *name, json_t **root) {
    json_set_alloc_funcs(allocate, kl_free);
    out_of_memory = false;
    json_error_t error;
    *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (out_of_memory) {
        json_decref(*root);
        *root = NULL;
        return kl_fail_at(KL_ERR_MEMORY, &(KlPlace){.file = name}, "out of memory");
    }
    KlPlace place = {.file = name, .line = error.line, .column = error.column};
    return *root != NULL ? KL_OK : kl_fail_at(KL_ERR_FORMAT, &place, "not valid JSON: %s", error.text);
}
