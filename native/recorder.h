// `run --record`: trajectories and dual problems of every solver, to HDF5 or CSV.
#ifndef KINLOOP_RECORDER_H
#define KINLOOP_RECORDER_H

#include "output.h"
#include "runner.h"

typedef struct Recorder Recorder;

// `path` ending in .csv (or "-") makes a table of the metrics of each step; else HDF5, see
// dataset_file.h: problems of every `every`-th step, /trajectory/SOLVER/{time (n), pose (n x bodies x 7),
// twist (n x bodies x 6), hash (n), metrics (n x metrics)}, and /trajectory@command to run it again.
KlStatus recorder_create(const RunPlan *plan, const char *path, bool force, int64_t every, bool with_delassus,
                         const char *command, Recorder **recorder);
KlStatus recorder_begin(Recorder *recorder, const char *solver);  // steps that follow are this solver's
KlStatus recorder_step(void *recorder, const RunStep *step);      // a RunWatcher
KlStatus recorder_end(Recorder *recorder);                        // of this solver
KlStatus recorder_commit(Recorder *recorder);                     // the file appears under its name
void recorder_destroy(Recorder *recorder);                        // without commit nothing is left behind

#endif
