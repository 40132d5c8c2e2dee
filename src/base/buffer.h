// Arrays that grow when more is wanted and never shrink: a solve that is not larger than an earlier
// one allocates nothing. Zero-initialise.
#ifndef KL_BASE_BUFFER_H
#define KL_BASE_BUFFER_H

#include "kl.h"

#define KL_BUFFER(type)        \
    struct {                   \
        type *at;              \
        size_t capacity, used; \
    }

// Room for `wanted` elements; the first `used` keep their values. False when out of memory.
bool kl_buffer_grow(void **at, size_t *capacity, size_t wanted, size_t used, size_t element_size);
#define KL_ROOM(buffer, wanted) \
    kl_buffer_grow((void **)&(buffer).at, &(buffer).capacity, (size_t)(wanted), (buffer).used, sizeof *(buffer).at)

#endif
