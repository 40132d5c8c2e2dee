// Times scenes and stored problems.
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "bench/statistics.h"
#include "build_info.h"
#include "problem_file.h"
#include "scene_find.h"
#include "shard.h"

// --- suites ---------------------------------------------------------------------------------------

typedef struct SuiteEntry {
    const char *scene, *run;
    int64_t steps;
} SuiteEntry;

#define SUITE(id, title, text, solvers, ...) static const SuiteEntry id##_entries[] = {__VA_ARGS__};
#include "suites.h"
#undef SUITE

typedef struct Suite {
    const char *id, *title, *text, *solvers;
    const SuiteEntry *entries;
    int32_t count;
} Suite;

static const Suite suites[] = {
#define SUITE(id, title, text, solvers, ...) \
    {#id, title, text, solvers, id##_entries, (int32_t)(sizeof id##_entries / sizeof id##_entries[0])},
#include "suites.h"
#undef SUITE
};

int32_t bench_suite_count(void) { return (int32_t)(sizeof suites / sizeof suites[0]); }
const char *bench_suite_id(int32_t i) { return suites[i].id; }
const char *bench_suite_title(int32_t i) { return suites[i].title; }
const char *bench_suite_text(int32_t i) { return suites[i].text; }

static const Suite *find_suite(const char *id) {
    for (int32_t i = 0; i < bench_suite_count(); i++) {
        if (strcmp(suites[i].id, id) == 0) {
            return &suites[i];
        }
    }
    return NULL;
}

static KlStatus fail_suite(const char *id) {
    const char *names[64] = {NULL};
    for (int32_t i = 0; i < bench_suite_count(); i++) {
        names[i] = suites[i].id;
    }
    const char *hint = cli_did_you_mean(id, names);
    return kl_fail(KL_ERR_NOT_FOUND, "no suite, file or scene %s%s%s%s; kinloop bench --list names the suites", id,
                   hint != NULL ? "; did you mean " : "", hint != NULL ? hint : "", hint != NULL ? "?" : "");
}

// --- the list -------------------------------------------------------------------------------------

static KlStatus add_case(BenchList *list, const BenchCase *benchmark) {
    if (list->count % 64 == 0) {
        BenchCase *cases = kl_realloc(list->cases, (size_t)(list->count + 64) * sizeof *cases);
        if (cases == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory");
        }
        list->cases = cases;
    }
    list->cases[list->count++] = *benchmark;
    return KL_OK;
}

// Drops what --filter or --shard leave to others.
static KlStatus keep_case(const CliArgs *args, BenchList *list, const BenchCase *benchmark, int32_t *number) {
    int32_t shard, shards;
    KL_TRY(shard_parse(cli_text(args, "shard", NULL), &shard, &shards));
    const char *filter = cli_text(args, "filter", NULL);
    if (filter != NULL && strstr(benchmark->id, filter) == NULL) {
        return KL_OK;
    }
    bool mine = (*number)++ % shards == shard;
    return mine ? add_case(list, benchmark) : KL_OK;
}

static BenchCase empty_case(int32_t kind) {
    BenchCase benchmark = {.kind = kind, .problem = -1, .outcome = "not-run"};
    snprintf(benchmark.solver, sizeof benchmark.solver, "%s", kl_solver_kind(kind)->id);
    for (int i = 0; i < 5; i++) {
        benchmark.residuals[i] = (double)NAN;
    }
    return benchmark;
}

static KlStatus list_entry(const CliArgs *args, const SuiteEntry *entry, const SolverChoice *choice, BenchList *list,
                           int32_t *number) {
    char path[1024];
    KlScene *scene = NULL;
    KL_TRY(scene_find(entry->scene, path, sizeof path));
    KL_TRY(kl_scene_load(path, kl_files_disk(), &scene));
    int32_t index = entry->run[0] != '\0' ? kl_scene_find_run(scene, entry->run) : 0;
    KlStatus status = index >= 0 ? KL_OK : kl_fail(KL_ERR_NOT_FOUND, "%s has no run %s", entry->scene, entry->run);
    for (int32_t k = 0; k < choice->count && status == KL_OK; k++) {
        const KlRunDef *run = kl_scene_run(scene, index);
        BenchCase benchmark = empty_case(choice->kinds[k]);
        snprintf(benchmark.scene, sizeof benchmark.scene, "%s", entry->scene);
        snprintf(benchmark.run, sizeof benchmark.run, "%s", run->id);
        snprintf(benchmark.preset, sizeof benchmark.preset, "%s", cli_text(args, "preset", run->preset));
        benchmark.steps = cli_int(args, "steps", entry->steps);
        snprintf(benchmark.id, sizeof benchmark.id, "%.60s/%.60s/%.30s/%.60s", benchmark.scene, benchmark.run,
                 benchmark.preset, benchmark.solver);
        status = keep_case(args, list, &benchmark, number);
    }
    kl_scene_destroy(scene);
    return status;
}

static KlStatus list_suite(const CliArgs *args, const Suite *suite, BenchList *list) {
    SolverChoice choice;
    KL_TRY(solver_choice(args, suite->solvers, &choice));
    int32_t number = 0;
    for (int32_t i = 0; i < suite->count; i++) {
        KL_TRY(list_entry(args, &suite->entries[i], &choice, list, &number));
    }
    return KL_OK;
}

static KlStatus list_scene(const CliArgs *args, const char *name, BenchList *list) {
    enum { STEPS = 200 };
    SolverChoice choice;
    SuiteEntry entry = {name, "", STEPS};
    int32_t number = 0;
    KL_TRY(solver_choice(args, solver_default(), &choice));
    return list_entry(args, &entry, &choice, list, &number);
}

static KlStatus list_problems(const CliArgs *args, const char *operand, BenchList *list) {
    SolverChoice choice;
    ProblemSelection selection;
    ProblemFile file;
    KL_TRY(solver_choice(args, solver_default(), &choice));
    KL_TRY(problem_select(operand, &selection));
    KL_TRY(problem_file_open(selection.path, &file));
    snprintf(list->operand, sizeof list->operand, "%s", selection.path);
    KlStatus status = KL_OK;
    int32_t number = 0;
    for (int32_t i = 0; i < file.count && status == KL_OK; i++) {
        for (int32_t k = 0; k < choice.count && status == KL_OK && problem_selected(&file, &selection, i); k++) {
            BenchCase benchmark = empty_case(choice.kinds[k]);
            const char *name = strrchr(selection.path, '/');
            snprintf(benchmark.preset, sizeof benchmark.preset, "%s", cli_text(args, "preset", "high-precision"));
            if (file.names != NULL) {
                snprintf(benchmark.id, sizeof benchmark.id, "%.180s/%.60s", file.names[i] + 1, benchmark.solver);
            } else {
                snprintf(benchmark.id, sizeof benchmark.id, "%.160s/%d/%.60s", name != NULL ? name + 1 : selection.path,
                         (int)i, benchmark.solver);
            }
            benchmark.problem = i;
            benchmark.steps = 1;
            status = keep_case(args, list, &benchmark, &number);
        }
    }
    problem_file_close(&file);
    return status;
}

KlStatus bench_list(const CliArgs *args, const char *operand, BenchList *list) {
    *list = (BenchList){0};
    const Suite *suite = find_suite(operand);
    if (suite != NULL) {
        return list_suite(args, suite, list);
    }
    bool stored = access(operand, F_OK) == 0 && !cli_ends_with(operand, ".json");  // even if it cannot be read
    if (stored || problem_file_is(operand)) {
        return list_problems(args, operand, list);
    }
    char path[1024];
    return scene_find(operand, path, sizeof path) == KL_OK ? list_scene(args, operand, list) : fail_suite(operand);
}

void bench_list_free(BenchList *list) {
    for (int32_t i = 0; i < list->count; i++) {
        kl_free(list->cases[i].samples);
    }
    kl_free(list->cases);
    *list = (BenchList){0};
}

// --- timing ---------------------------------------------------------------------------------------

static const char *const residual_ids[5] = {"r_p", "r_dual", "r_ncp", "r_nat", "r_nat_rel"};

static KlStatus run_case(const CliArgs *args, BenchCase *benchmark, double *seconds, double *stage) {
    RunPlan plan = {.steps = benchmark->steps};
    char path[1024];
    KL_TRY(scene_find(benchmark->scene, path, sizeof path));
    KlStatus status = kl_scene_load(path, kl_files_disk(), &plan.scene);
    if (status == KL_OK) {
        int32_t run = kl_scene_find_run(plan.scene, benchmark->run);
        plan.run = kl_scene_run(plan.scene, run);
        plan.defaults = (SolverDefaults){plan.run->preset, plan.run->max_iterations, plan.run->tolerance};
        status = kl_scene_model_for_run(plan.scene, run, &plan.model);
    }
    RunStats stats = {0};
    CliProgress silent = {0};
    double done = 0.0;
    if (status == KL_OK) {
        status = run_one(args, &plan, benchmark->kind, NULL, &silent, &done, &stats);
    }
    if (status == KL_OK) {
        benchmark->outcome = stats.outcome;
        snprintf(benchmark->error, sizeof benchmark->error, "%.255s", stats.error);
        benchmark->iterations = stats.iterations_sum;
        for (int i = 0; i < 5; i++) {
            int32_t metric = kl_metric_find(residual_ids[i]);
            benchmark->residuals[i] = metric >= 0 ? stats.maximum[metric] : (double)NAN;
        }
        benchmark->rows = (int32_t)stats.maximum[kl_metric_find("n_d")];
        benchmark->contacts = (int32_t)stats.maximum[kl_metric_find("n_c")];
        *seconds = stats.steps > 0 ? stats.total / (double)stats.steps : (double)NAN;
        for (int i = 0; i < MAX_STAGES; i++) {
            stage[i] = stats.steps > 0 ? stats.stage[i] / (double)stats.steps : 0.0;
        }
    }
    run_stats_free(&stats);
    run_plan_free(&plan);
    return status;
}

static KlStatus solve_case(const CliArgs *args, ProblemFile *file, BenchCase *benchmark, double *seconds) {
    ProblemRecord record;
    KlSolver *solver = NULL;
    KlSolution solution;
    SolverDefaults defaults = {.preset = "high-precision"};
    KlStatus status = problem_file_read(file, benchmark->problem, &record);
    if (status == KL_OK) {
        status = solver_make(args, benchmark->kind, &defaults, &solver);
    }
    if (status == KL_OK && kl_solver_solve(solver, record.problem, NULL, &solution) != KL_OK) {
        benchmark->outcome = "failed";
        snprintf(benchmark->error, sizeof benchmark->error, "%.255s", kl_last_error()->message);
        *seconds = (double)NAN;
    } else if (status == KL_OK) {
        KlResiduals r;
        kl_problem_residuals(record.problem, solution.lambda, &r);
        const double values[5] = {r.primal, r.dual, r.complementarity, r.natural, r.natural_relative};
        memcpy(benchmark->residuals, values, sizeof values);
        benchmark->outcome = kl_outcome_name(solution.outcome);
        benchmark->iterations = solution.iterations;
        benchmark->rows = record.problem->dim;
        benchmark->contacts = record.problem->contact_count;
        *seconds = solution.time;
    }
    kl_solver_destroy(solver);
    problem_record_free(&record);
    return status;
}

static KlStatus time_case(const CliArgs *args, ProblemFile *file, BenchCase *benchmark, bool warm_up) {
    double seconds = (double)NAN, stage[MAX_STAGES] = {0.0};
    KL_TRY(benchmark->problem >= 0 ? solve_case(args, file, benchmark, &seconds)
                                   : run_case(args, benchmark, &seconds, stage));
    if (!warm_up && isfinite(seconds) && !cli_interrupted()) {
        double *samples = kl_realloc(benchmark->samples, (size_t)(benchmark->repeats + 1) * sizeof *samples);
        if (samples == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory");
        }
        benchmark->samples = samples;
        samples[benchmark->repeats++] = seconds;
        bool fastest = true;
        for (int32_t i = 0; i + 1 < benchmark->repeats; i++) {
            fastest = fastest && seconds < samples[i];
        }
        if (fastest) {
            memcpy(benchmark->stage, stage, sizeof stage);
        }
    }
    return KL_OK;
}

// Fisher-Yates: neighbours in time change from round to round, so that a slow minute hits all alike.
static void shuffle(int32_t *order, int32_t count, KlRng *rng) {
    for (int32_t i = count - 1; i > 0; i--) {
        int32_t k = kl_rng_index(rng, i + 1), keep = order[i];
        order[i] = order[k];
        order[k] = keep;
    }
}

static KlStatus time_rounds(const CliArgs *args, BenchList *list, ProblemFile *file, int32_t *order) {
    int64_t rounds = cli_int(args, "repeat", 5) + cli_int(args, "warmup", 1);
    double budget = cli_real(args, "budget", INFINITY), start = kl_clock();
    KlRng rng = {.state = (uint64_t)cli_int(args, "seed", 1)};
    CliProgress progress;
    cli_progress_begin(&progress, args, "timings", (double)rounds * list->count);
    KlStatus status = KL_OK;
    double done = 0.0;
    for (int64_t round = 0; round < rounds && status == KL_OK; round++) {
        shuffle(order, list->count, &rng);
        for (int32_t i = 0; i < list->count && status == KL_OK && !cli_interrupted(); i++) {
            BenchCase *benchmark = &list->cases[order[i]];
            bool spent = kl_clock() - start > budget && benchmark->repeats > 0;
            bool failed = strcmp(benchmark->outcome, "failed") == 0;
            if (!spent && !failed) {
                status = time_case(args, file, benchmark, round < cli_int(args, "warmup", 1));
            }
            cli_progress_update(&progress, ++done);
        }
    }
    cli_progress_end(&progress, done);
    return status;
}

KlStatus bench_time(const CliArgs *args, BenchList *list) {
    ProblemFile file;
    if (list->operand[0] != '\0') {
        KL_TRY(problem_file_open(list->operand, &file));
    }
    int32_t *order = kl_alloc(((size_t)list->count + 1) * sizeof *order);
    for (int32_t i = 0; order != NULL && i < list->count; i++) {
        order[i] = i;
    }
    KlStatus status = order != NULL ? time_rounds(args, list, &file, order) : kl_fail(KL_ERR_MEMORY, "out of memory");
    kl_free(order);
    if (list->operand[0] != '\0') {
        problem_file_close(&file);
    }
    return status;
}

// --- results --------------------------------------------------------------------------------------

json_t *bench_case_json(const BenchCase *benchmark) {
    char machine[256];
    machine_name(machine, sizeof machine);
    json_t *samples = cli_json_reals(benchmark->samples, benchmark->repeats);
    double *sorted = kl_alloc(((size_t)benchmark->repeats + 1) * sizeof *sorted);
    double median = (double)NAN, least = (double)NAN, spread = (double)NAN;
    if (sorted != NULL && benchmark->repeats > 0) {
        memcpy(sorted, benchmark->samples, (size_t)benchmark->repeats * sizeof *sorted);
        median = kl_median(sorted, benchmark->repeats);
        least = sorted[0];
        spread = kl_median_deviation(sorted, benchmark->repeats);
    }
    kl_free(sorted);
    json_t *residuals = json_object();
    for (int i = 0; i < 5; i++) {
        json_object_set_new(residuals, residual_ids[i], cli_json_real(benchmark->residuals[i]));
    }
    json_t *row = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:I, s:i, s:i, s:o, s:o, s:o, s:i, s:o, s:s, s:o, s:o, s:s, s:s, s:s, s:s}", "id",
        benchmark->id, "scene", benchmark->scene, "run", benchmark->run, "preset", benchmark->preset, "solver",
        benchmark->solver, "steps", (json_int_t)benchmark->steps, "n", (int)benchmark->rows, "contacts",
        (int)benchmark->contacts, "median_s", cli_json_real(median), "min_s", cli_json_real(least), "mad_s",
        cli_json_real(spread), "repeats", (int)benchmark->repeats, "samples_s", samples, "outcome", benchmark->outcome,
        "residuals", residuals, "iterations", cli_json_real(benchmark->iterations), "machine", machine, "compiler",
        compiler_name(), "commit", commit_name(), "build", build_name());
    if (benchmark->problem < 0 && benchmark->repeats > 0) {
        json_t *stages = json_object();
        for (int32_t i = 0; i < kl_stage_count() && i < MAX_STAGES; i++) {
            json_object_set_new(stages, kl_stage_name(i), cli_json_real(benchmark->stage[i]));
        }
        json_object_set_new(row, "stages_s", stages);
    }
    if (benchmark->error[0] != '\0') {
        json_object_set_new(row, "error", json_string(benchmark->error));
    }
    return row;
}
