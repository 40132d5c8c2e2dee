// Samples a benchmark set from simulations: units of work that any machine may do in any order.
//
// A unit is one scene simulated from one seed. Seed 0 follows a run as written; higher seeds turn and
// drop free mechanisms and push bodies at random, so that all categories occur. Each unit keeps its share
// of the bucket of each category, every `stride` steps, each with its best known solution.
// A unit ends early when 500 steps gave nothing new. A finished unit is one small file, renamed into
// place: what is killed loses at most the units in work.
#ifndef KINLOOP_DATASET_MAKE_H
#define KINLOOP_DATASET_MAKE_H

#include "options.h"
#include "output.h"

typedef struct DatasetPlan {
    const char *systems[64];  // (system_count) scene names
    int32_t system_count;
    int32_t bucket;  // problems per system and category
    int32_t units;   // seeds per system
    int32_t stride;  // steps between samples of one category
    int64_t steps;   // of one unit, at most
    int64_t seed;
    const char *driver;  // id of the solver that moves the bodies
    bool with_delassus;
    int32_t shard, shards;  // this process does units with number % shards == shard
    char recipe[512];       // all of the above that decides the bytes, as text
} DatasetPlan;

// Does the units of this shard that have no file in `folder` yet. KL_ERR_INTERRUPTED after Ctrl-C.
KlStatus dataset_make_units(const CliArgs *args, const DatasetPlan *plan, const char *folder);
// Paths of the shard's unit files, in order; NULL-ended, freed with kl_free each and as a whole.
KlStatus dataset_unit_paths(const DatasetPlan *plan, const char *folder, char ***paths, int32_t *count);

// Joins files into a new one, problems in the order of their names; a name in several files must be the
// same problem and is taken once. Any order and grouping of the inputs gives the same bytes.
KlStatus dataset_join(char *const *paths, int32_t count, const char *target);

#endif
