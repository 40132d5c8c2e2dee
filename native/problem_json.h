// Dual problems written as JSON, the form that kl_problem_parse_json reads.
#ifndef KINLOOP_PROBLEM_JSON_H
#define KINLOOP_PROBLEM_JSON_H

#include "problem_file.h"

// One object on one line: body form with J and M, explicit form with D; `name` and `lambda` besides. Numbers keep
// every bit; a failed write stays in the stream. KL_ERR_LIMIT above 2000 rows, KL_ERR_MEMORY.
KlStatus problem_json_write(const ProblemRecord *record, FILE *file);
// `name` and `lambda` of problem `index` of a file that has been read into record->problem; left as they are without.
KlStatus problem_json_remarks(const char *text, size_t size, const char *file, int32_t index, ProblemRecord *record);

#endif
