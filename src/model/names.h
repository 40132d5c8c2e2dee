// A set of unique names with their indices: open addressing over FNV-1a. Names are loans.
#ifndef KL_MODEL_NAMES_H
#define KL_MODEL_NAMES_H

#include "kl.h"

typedef struct KlNames {
    const char **names;  // (count) by index
    int32_t *slots;      // (capacity) index + 1, 0 = free
    int32_t count, capacity;
} KlNames;

int32_t kl_names_find(const KlNames *names, const char *name);  // -1 when unknown
KlStatus kl_names_add(KlNames *names, const char *name);        // gets index count; the name must be new
void kl_names_free(KlNames *names);

// The known name nearest to `name` in edit distance, when near enough to be a slip; else NULL.
const char *kl_nearest_name(const char *const *known, int32_t count, const char *name);

#endif
