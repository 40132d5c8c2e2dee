// Reading JSON texts with jansson.
#include "base/json_load.h"

#include "base/memory.h"

KlStatus kl_json_load(const char *text, size_t size, const char *name, json_t **root) {
    json_set_alloc_funcs(kl_alloc, kl_free);
    json_error_t error;
    *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (*root != NULL) {
        return KL_OK;
    }
    KlPlace place = {.file = name, .line = error.line, .column = error.column};
    return json_error_code(&error) == json_error_out_of_memory
               ? kl_fail_at(KL_ERR_MEMORY, &place, "out of memory")
               : kl_fail_at(KL_ERR_FORMAT, &place, "not valid JSON: %s", error.text);
}
