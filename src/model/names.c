// Unique names with their indices, and the nearest known name for a message.
#include "model/names.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"

static uint32_t hash_text(const char *text) {
    uint64_t hash = KL_HASH_START;
    for (const char *c = text; *c != '\0'; c++) {
        hash = (hash ^ (uint64_t)(unsigned char)*c) * 0x100000001b3u;
    }
    return (uint32_t)(hash ^ (hash >> 32));
}

// The slot that holds `name`, or the free one where it belongs.
static int32_t find_slot(const KlNames *names, const char *name) {
    uint32_t mask = (uint32_t)names->capacity - 1;
    uint32_t slot = hash_text(name) & mask;
    while (names->slots[slot] != 0 && strcmp(names->names[names->slots[slot] - 1], name) != 0) {
        slot = (slot + 1) & mask;
    }
    return (int32_t)slot;
}

int32_t kl_names_find(const KlNames *names, const char *name) {
    return names->count == 0 || name == NULL ? -1 : names->slots[find_slot(names, name)] - 1;
}

static KlStatus grow(KlNames *names) {
    int32_t capacity = names->capacity > 0 ? 2 * names->capacity : 64;
    int32_t *slots = kl_alloc((size_t)capacity * sizeof *slots);
    const char **list = kl_realloc((void *)names->names, (size_t)capacity * sizeof *list);
    if (list != NULL) {
        names->names = list;
    }
    if (slots == NULL || list == NULL) {
        kl_free(slots);
        return kl_fail(KL_ERR_MEMORY, "out of memory for %d names", (int)capacity);
    }
    kl_free(names->slots);
    names->slots = slots;
    names->capacity = capacity;
    for (int32_t i = 0; i < names->count; i++) {
        slots[find_slot(names, names->names[i])] = i + 1;
    }
    return KL_OK;
}

KlStatus kl_names_add(KlNames *names, const char *name) {
    if (2 * (names->count + 1) > names->capacity) {
        KL_TRY(grow(names));
    }
    names->names[names->count] = name;
    names->slots[find_slot(names, name)] = names->count + 1;
    names->count++;
    return KL_OK;
}

void kl_names_free(KlNames *names) {
    kl_free((void *)names->names);
    kl_free(names->slots);
    *names = (KlNames){0};
}

enum { LONGEST_COMPARED = 64 };

// Levenshtein distance of two short texts.
static int32_t edit_distance(const char *a, const char *b) {
    int32_t n = (int32_t)strlen(a), m = (int32_t)strlen(b);
    int32_t row[LONGEST_COMPARED + 1];
    if (n > LONGEST_COMPARED || m > LONGEST_COMPARED) {
        return INT32_MAX;
    }
    for (int32_t j = 0; j <= m; j++) {
        row[j] = j;
    }
    for (int32_t i = 1; i <= n; i++) {
        int32_t diagonal = row[0];
        row[0] = i;
        for (int32_t j = 1; j <= m; j++) {
            int32_t replace = diagonal + (a[i - 1] != b[j - 1]);
            int32_t insert = row[j - 1] + 1, delete = row[j] + 1;
            diagonal = row[j];
            row[j] = replace < insert ? replace : insert;
            row[j] = delete < row[j] ? delete : row[j];
        }
    }
    return row[m];
}

const char *kl_nearest_name(const char *const *known, int32_t count, const char *name) {
    const char *best = NULL;
    int32_t allowed = 1 + (int32_t)strlen(name) / 4;  // one slip in four letters
    int32_t best_distance = allowed + 1;
    for (int32_t i = 0; i < count; i++) {
        int32_t distance = edit_distance(known[i], name);
        if (distance < best_distance) {
            best_distance = distance;
            best = known[i];
        }
    }
    return best;
}
