// Line and column of a value inside a JSON text that parsed: for messages about its meaning.
#ifndef KL_BASE_JSON_PLACE_H
#define KL_BASE_JSON_PLACE_H

#include <stddef.h>

#include "base/status.h"

// `path` names members and elements, e.g. "bodies[3].mass" or "[2].D[0][1]"; "" is the whole text.
// Follows it as far as the text does: a missing last member gives its parent's place.
void kl_json_locate(const char *text, size_t size, const char *path, int32_t *line, int32_t *column);

// kl_fail_at with the place of `path` in `text`.
KlStatus kl_json_fail(KlStatus status, const char *file, const char *text, size_t size, const char *path,
                      const char *format, ...) KL_PRINTF(6, 7);

#endif
