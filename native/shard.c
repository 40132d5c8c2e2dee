#include "shard.h"

#include <stdlib.h>

#include "base/status.h"

KlStatus shard_parse(const char *text, int32_t *shard, int32_t *shards) {
    *shard = 0;
    *shards = 1;
    if (text == NULL) {
        return KL_OK;
    }
    char *end;
    long i = strtol(text, &end, 10), n = 0;
    if (end != text && *end == '/') {
        const char *second = end + 1;
        n = strtol(second, &end, 10);
        n = end == second || *end != '\0' ? 0 : n;
    }
    if (n < 1 || n > 100000 || i < 1 || i > n) {
        return kl_fail(KL_ERR_ARGUMENT, "--shard must be I/N with 1 <= I <= N, e.g. 3/8 (got %s)", text);
    }
    *shard = (int32_t)(i - 1);
    *shards = (int32_t)n;
    return KL_OK;
}
