// Reading JSON texts with jansson, whose allocations go through base/memory.
#ifndef KL_BASE_JSON_LOAD_H
#define KL_BASE_JSON_LOAD_H

#include <jansson.h>

#include "base/status.h"

// `root` is the caller's (json_decref), NULL on failure. KL_ERR_FORMAT with line and column, also for a
// name given twice in one object; KL_ERR_MEMORY.
KlStatus kl_json_load(const char *text, size_t size, const char *name, json_t **root);

#endif
