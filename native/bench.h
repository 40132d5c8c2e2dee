// Timed cases: scene x run x solver, or stored problem x solver; results as JSON objects.
#ifndef KINLOOP_BENCH_H
#define KINLOOP_BENCH_H

#include "output.h"
#include "runner.h"

typedef struct BenchCase {
    char id[256];     // "scene/run/preset/solver" or "file/problem/solver"
    char scene[512];  // name or path
    char run[64], solver[64], preset[32];
    int64_t steps;    // timed in one repetition
    int32_t problem;  // of the problem file, -1 = a scene
    int32_t kind;     // of kl_solver_kind
    double *samples;  // (repeats) seconds a step, or of a solve
    int32_t repeats;
    double stage[MAX_STAGES];  // [s] a step, in the fastest repetition
    const char *outcome;       // of the last repetition: as RunStats.outcome or kl_outcome_name
    char error[256];
    double residuals[5];     // r_p r_dual r_ncp r_nat r_nat_rel: the worst of a repetition
    double iterations;       // of one repetition
    int32_t rows, contacts;  // the most of a repetition
} BenchCase;

typedef struct BenchList {
    BenchCase *cases;  // (count)
    int32_t count;
    char operand[1024];  // the problem file, "" = scenes
} BenchList;

int32_t bench_suite_count(void);
const char *bench_suite_id(int32_t i);
const char *bench_suite_title(int32_t i);
const char *bench_suite_text(int32_t i);

// Cases of a suite, of a problem file, or of a scene's first run, that contain `filter` in their id and fall to this shard.
KlStatus bench_list(const CliArgs *args, const char *operand, BenchList *list);
void bench_list_free(BenchList *list);

// Rounds over all cases in a random order that a seed fixes; each round times each case once.
KlStatus bench_time(const CliArgs *args, BenchList *list);

json_t *bench_case_json(const BenchCase *benchmark);

#endif
