// --shard I/N: the I-th of N shares of a list of work, I from 1.
#ifndef KINLOOP_SHARD_H
#define KINLOOP_SHARD_H

#include "kl.h"

// NULL is 1/1. `shard` comes out from 0. KL_ERR_ARGUMENT unless 1 <= I <= N <= 100000.
KlStatus shard_parse(const char *text, int32_t *shard, int32_t *shards);

#endif
