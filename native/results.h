// Result files of bench and solve: lists of JSON objects, one a case.
#ifndef KINLOOP_RESULTS_H
#define KINLOOP_RESULTS_H

#include "output.h"

// The list of a file: an array (bench), or the "results" of an object (solve). KL_ERR_FORMAT with place.
KlStatus results_load(const char *path, json_t **rows);
KlStatus results_sort(json_t *rows);  // by "id", in place
// STEM.json, STEM.csv, STEM.md, STEM.h5 for the kinds in a comma-separated list.
KlStatus results_export(const json_t *rows, const char *stem, const char *kinds, bool force);

#endif
