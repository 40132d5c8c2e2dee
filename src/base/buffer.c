#include "base/buffer.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

bool kl_buffer_grow(void **at, size_t *capacity, size_t wanted, size_t used, size_t element_size) {
    if (wanted <= *capacity && *at != NULL) {  // room for nothing is room too: *at is never null after
        return true;
    }
    size_t next = wanted + wanted / 2 + 64;
    void *larger = next < SIZE_MAX / 2 / element_size ? kl_alloc(next * element_size) : NULL;
    if (larger == NULL) {
        (void)kl_fail(KL_ERR_MEMORY, "out of memory for %zu elements of %zu bytes", next, element_size);
        return false;
    }
    if (*at != NULL) {
        memcpy(larger, *at, used * element_size);
    }
    kl_free(*at);
    *at = larger;
    *capacity = next;
    return true;
}
