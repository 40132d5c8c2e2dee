// kinloop dataset: makes, describes, joins, verifies and converts sets of dual problems.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench/statistics.h"
#include "dataset_convert.h"
#include "dataset_file.h"
#include "dataset_make.h"
#include "output.h"
#include "problem_file.h"
#include "shard.h"
#include "solver_choice.h"

static const CliOption options[] = {
    {"output", 'o', CLI_TEXT, "FILE", "the file to make; convert to FCLIB: a folder (FOLDER/) for several problems", 0,
     0, "file"},
    {"solver", 's', CLI_TEXT, "ID", "make: the solver that drives the simulations", 0, 0, "solvers"},
    {"systems", 0, CLI_TEXT, "ID[,ID...]", "make: scenes to sample (default: the benchmark suite)", 0, 0, "scenes"},
    {"bucket", 0, CLI_INT, "N", "make: problems per system and category (640)", 1, 1000000, NULL},
    {"units", 0, CLI_INT, "N", "make: simulations per system, seeds 0 to N - 1 (10)", 1, 100000, NULL},
    {"steps", 'n', CLI_INT, "N", "make: steps of one simulation, at most (3000)", 1, 10000000, NULL},
    {"stride", 0, CLI_INT, "N", "make: steps between samples of one category (5)", 1, 1000000, NULL},
    {"seed", 0, CLI_INT, "N", "make: of all random numbers (1)", 0, 1000000000, NULL},
    {"no-delassus", 0, CLI_FLAG, NULL, "make: leave D out, it follows from J and M (smaller files)", 0, 0, NULL},
    {"shard", 0, CLI_TEXT, "I/N", "make: this process does the I-th of N shares", 0, 0, NULL},
    {"keep", 0, CLI_FLAG, NULL, "make: keep the folder of unit files", 0, 0, NULL},
    {"to", 0, CLI_TEXT, "FORMAT", "convert: kinloop, json, fclib (local) or fclib-global", 0, 0,
     "kinloop|json|fclib|fclib-global"},
    CLI_OPTION_FORCE,
    CLI_COMMON,
};

// The twelve systems of the paper's suite and its base case, in the order of its table.
static const char *const suite[] = {"box_on_plane", "boxes_fixed", "nunchaku", "fourbar_fixed", "fourbar_free",
                                    "arm7d",        "quadruped",   "bdx",      "lima",          "misha",
                                    "walker",       "gazelle",     "ironman"};
enum { SUITE_COUNT = sizeof suite / sizeof suite[0] };

static KlStatus need_output(const CliArgs *args, const char **path) {
    *path = cli_text(args, "output", NULL);
    return *path != NULL ? KL_OK : kl_fail(KL_ERR_ARGUMENT, "dataset: -o FILE is missing");
}

// --- make -----------------------------------------------------------------------------------------

static KlStatus choose_systems(const CliArgs *args, DatasetPlan *plan, char *list, size_t size) {
    const char *given = cli_text(args, "systems", NULL);
    if (given == NULL) {
        memcpy(plan->systems, suite, sizeof suite);
        plan->system_count = SUITE_COUNT;
        return KL_OK;
    }
    snprintf(list, size, "%s", given);
    for (char *id = strtok(list, ","); id != NULL; id = strtok(NULL, ",")) {
        if (plan->system_count == 64) {
            return kl_fail(KL_ERR_LIMIT, "at most 64 systems");
        }
        plan->systems[plan->system_count++] = id;
    }
    return plan->system_count > 0 ? KL_OK : kl_fail(KL_ERR_ARGUMENT, "--systems names no scene");
}

static KlStatus plan_make(const CliArgs *args, DatasetPlan *plan, char *list, size_t size) {
    *plan = (DatasetPlan){
        .bucket = (int32_t)cli_int(args, "bucket", 640),
        .units = (int32_t)cli_int(args, "units", 10),
        .stride = (int32_t)cli_int(args, "stride", 5),
        .steps = cli_int(args, "steps", 3000),
        .seed = cli_int(args, "seed", 1),
        .driver = cli_text(args, "solver", solver_default()),
        .with_delassus = !cli_has(args, "no-delassus"),
    };
    KL_TRY(shard_parse(cli_text(args, "shard", NULL), &plan->shard, &plan->shards));
    KL_TRY(choose_systems(args, plan, list, size));
    snprintf(plan->recipe, sizeof plan->recipe,
             "driver=%s bucket=%d units=%d stride=%d steps=%lld seed=%lld delassus=%d", plan->driver, (int)plan->bucket,
             (int)plan->units, (int)plan->stride, (long long)plan->steps, (long long)plan->seed,
             (int)plan->with_delassus);
    return KL_OK;
}

static KlStatus join_into(const char *path, bool force, char *const *inputs, int32_t count) {
    CliOutput output;
    KL_TRY(cli_output_reserve(&output, path, force));
    if (output.temporary[0] == '\0') {
        return kl_fail(KL_ERR_ARGUMENT, "a data set needs a regular file (got %s)", path);
    }
    KlStatus status = dataset_join(inputs, count, output.temporary);
    if (status == KL_OK) {
        return cli_output_commit(&output);
    }
    cli_output_discard(&output);
    return status;
}

static KlStatus finish_make(const CliArgs *args, const DatasetPlan *plan, const char *folder, const char *path) {
    char **units = NULL;
    int32_t count = 0;
    KlStatus status = dataset_unit_paths(plan, folder, &units, &count);
    if (status == KL_OK) {
        status = join_into(path, cli_has(args, "force"), units, count);
    }
    for (int32_t i = 0; units != NULL && i < count; i++) {
        if (status == KL_OK && !cli_has(args, "keep")) {
            unlink(units[i]);
        }
        kl_free(units[i]);
    }
    kl_free(units);
    if (status == KL_OK && !cli_has(args, "keep")) {
        rmdir(folder);  // stays when other shards have files there
    }
    return status;
}

static KlStatus make(const CliArgs *args) {
    DatasetPlan plan;
    CliOutput probe;
    char list[1024], folder[1200];
    const char *path;
    KL_TRY(need_output(args, &path));
    KL_TRY(plan_make(args, &plan, list, sizeof list));
    KL_TRY(cli_output_reserve(&probe, path, cli_has(args, "force")));
    snprintf(folder, sizeof folder, "%s.parts", path);
    KL_TRY(dataset_make_units(args, &plan, folder));
    return finish_make(args, &plan, folder, path);
}

// --- info -----------------------------------------------------------------------------------------

// What one group (system and category) of a file holds.
typedef struct Bucket {
    char name[128];
    int32_t problems, solved, rows_min, rows_max, contacts_max;
    double *natural;  // (problems) r_nat_rel of the solved ones
} Bucket;

typedef struct Summary {
    Bucket buckets[512];
    int32_t count;
} Summary;

static KlStatus bucket_of(Summary *summary, const char *name, int32_t problems, Bucket **bucket) {
    char group[128];
    snprintf(group, sizeof group, "%.127s", name);
    char *slash = strrchr(group, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    Bucket *last = summary->count > 0 ? &summary->buckets[summary->count - 1] : NULL;
    if (last == NULL || strcmp(last->name, group) != 0) {
        if (summary->count == 512) {
            return kl_fail(KL_ERR_LIMIT, "more than 512 systems and categories");
        }
        last = &summary->buckets[summary->count++];
        *last = (Bucket){.rows_min = INT32_MAX};
        memcpy(last->name, group, sizeof group);
        last->natural = kl_alloc(((size_t)problems + 1) * sizeof *last->natural);
    }
    *bucket = last;
    return last->natural != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
}

static KlStatus add_to_summary(Summary *summary, const ProblemRecord *record, int32_t problems) {
    Bucket *bucket = NULL;
    KL_TRY(bucket_of(summary, record->name, problems, &bucket));
    const KlProblem *p = record->problem;
    bucket->problems++;
    bucket->rows_min = p->dim < bucket->rows_min ? p->dim : bucket->rows_min;
    bucket->rows_max = p->dim > bucket->rows_max ? p->dim : bucket->rows_max;
    bucket->contacts_max = p->contact_count > bucket->contacts_max ? p->contact_count : bucket->contacts_max;
    if (record->lambda != NULL) {
        bucket->natural[bucket->solved++] = record->lambda_natural;
    }
    return KL_OK;
}

static json_t *bucket_json(Bucket *bucket) {
    double median = kl_median(bucket->natural, bucket->solved);  // sorts
    double worst = bucket->solved > 0 ? bucket->natural[bucket->solved - 1] : (double)NAN;
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o}", "id", bucket->name, "problems", (int)bucket->problems,
                     "solved", (int)bucket->solved, "rows_min", (int)bucket->rows_min, "rows_max",
                     (int)bucket->rows_max, "contacts_max", (int)bucket->contacts_max, "r_nat_rel_median",
                     cli_json_real(median), "r_nat_rel_max", cli_json_real(worst));
}

static void print_summary(const CliArgs *args, const char *path, Summary *summary) {
    static const char *const titles[] = {"bucket",   "problems",         "solved",       "rows",
                                         "contacts", "median r_nat_rel", "max r_nat_rel"};
    CliTable table;
    cli_table_begin(&table, 7, titles);
    json_t *rows = json_array();
    int32_t problems = 0, solved = 0;
    for (int32_t i = 0; i < summary->count; i++) {
        Bucket *bucket = &summary->buckets[i];
        json_t *row = bucket_json(bucket);
        cli_table_cell(&table, "%s", bucket->name);
        cli_table_cell(&table, "%d", (int)bucket->problems);
        cli_table_cell(&table, "%d", (int)bucket->solved);
        cli_table_cell(&table, "%d-%d", (int)bucket->rows_min, (int)bucket->rows_max);
        cli_table_cell(&table, "<= %d", (int)bucket->contacts_max);
        const json_t *median = json_object_get(row, "r_nat_rel_median"), *worst = json_object_get(row, "r_nat_rel_max");
        cli_table_residual(&table, json_is_number(median) ? json_number_value(median) : (double)NAN);
        cli_table_residual(&table, json_is_number(worst) ? json_number_value(worst) : (double)NAN);
        json_array_append_new(rows, row);
        problems += bucket->problems;
        solved += bucket->solved;
    }
    if (cli_has(args, "json")) {
        cli_print_json(json_pack("{s:s, s:i, s:i, s:o}", "file", path, "problems", (int)problems, "solved", (int)solved,
                                 "buckets", rows));
    } else {
        cli_table_print(&table, stdout);
        printf("\n%d problems, %d with a solution\n", (int)problems, (int)solved);
        json_decref(rows);
    }
    cli_table_free(&table);
}

static KlStatus info(const CliArgs *args) {
    const char *path = cli_operand(args, 1);
    Summary *summary = kl_alloc(sizeof *summary);
    ProblemFile file;
    if (summary == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    KlStatus status = problem_file_open(path, &file);
    bool opened = status == KL_OK;
    for (int32_t i = 0; opened && i < file.count && status == KL_OK && !cli_interrupted(); i++) {
        ProblemRecord record;
        status = problem_file_read(&file, i, &record);
        if (status == KL_OK) {
            status = add_to_summary(summary, &record, file.count);
        }
        problem_record_free(&record);
    }
    if (status == KL_OK) {
        print_summary(args, path, summary);
    }
    for (int32_t i = 0; i < summary->count; i++) {
        kl_free(summary->buckets[i].natural);
    }
    kl_free(summary);
    if (opened) {
        problem_file_close(&file);
    }
    return status;
}

// --- merge ----------------------------------------------------------------------------------------

static KlStatus merge(const CliArgs *args) {
    const char *path;
    KL_TRY(need_output(args, &path));
    int32_t count = cli_operand_count(args) - 1;
    char **inputs = kl_alloc(((size_t)count + 1) * sizeof *inputs);
    if (inputs == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < count; i++) {
        inputs[i] = (char *)cli_operand(args, i + 1);  // only read
    }
    KlStatus status = join_into(path, cli_has(args, "force"), inputs, count);
    kl_free(inputs);
    return status;
}

// --- verify ---------------------------------------------------------------------------------------

// Largest difference of the stored D and J M^-1 J' (+ R on neither), relative to the largest entry.
static KlStatus delassus_difference(const H5File *file, const char *name, const KlProblem *p, double *difference) {
    char path[320];
    *difference = 0.0;
    snprintf(path, sizeof path, "%s/D", name);
    if (p->body_count == 0 || !h5_has(file, path)) {
        return KL_OK;
    }
    size_t dim = (size_t)p->dim;
    int32_t *start = NULL, *index = NULL;
    double *value = NULL, *dense = kl_alloc((dim * dim + 1) * sizeof *dense);
    int64_t starts = 0, indices = 0, values = 0;
    KlStatus status = dense != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
    snprintf(path, sizeof path, "%s/D/start", name);
    status = status == KL_OK ? h5_read_ints(file, path, &start, &starts) : status;
    snprintf(path, sizeof path, "%s/D/index", name);
    status = status == KL_OK ? h5_read_ints(file, path, &index, &indices) : status;
    snprintf(path, sizeof path, "%s/D/value", name);
    status = status == KL_OK ? h5_read_reals(file, path, &value, &values) : status;
    if (status == KL_OK && (starts != p->dim + 1 || start[p->dim] != values || indices != values)) {
        status = h5_fail(file, KL_ERR_FORMAT, path, "does not fit D/start");
    }
    double largest = 0.0;
    if (status == KL_OK) {
        kl_problem_delassus(p, dense);
        for (size_t i = 0; i < dim; i++) {
            dense[i * dim + i] -= p->softening[i];
            largest = dense[i * dim + i] > largest ? dense[i * dim + i] : largest;
            for (int32_t k = start[i]; k < start[i + 1] && k >= 0 && k < values; k++) {
                if (index[k] >= 0 && (size_t)index[k] < dim) {
                    dense[i * dim + (size_t)index[k]] -= value[k];
                }
            }
        }
        for (size_t i = 0; i < dim * dim; i++) {
            *difference = fabs(dense[i]) > *difference ? fabs(dense[i]) : *difference;
        }
        *difference = largest > 0.0 ? *difference / largest : *difference;
    }
    kl_free(start);
    kl_free(index);
    kl_free(value);
    kl_free(dense);
    return status;
}

// Says in `why` what does not hold; empty when all does.
static KlStatus verify_record(const ProblemFile *file, int32_t index, const ProblemRecord *record, char *why,
                              size_t size) {
    why[0] = '\0';
    KlResiduals residuals;
    if (record->lambda == NULL) {
        snprintf(why, size, "has no solution");
        return KL_OK;
    }
    kl_problem_residuals(record->problem, record->lambda, &residuals);
    // Another machine's rounding may move a residual of rounding size: allow what double precision leaves.
    if (!(residuals.natural_relative <= 2.0 * record->lambda_natural + 1e-13)) {
        snprintf(why, size, "r_nat_rel of lambda is %.3e, stored %.3e", residuals.natural_relative,
                 record->lambda_natural);
        return KL_OK;
    }
    KlCategory category;
    if (record->category[0] != '\0' && kl_problem_category(record->problem, &category) == KL_OK &&
        strcmp(kl_category_name(category), record->category) != 0) {
        snprintf(why, size, "is %s, stored as %s", kl_category_name(category), record->category);
        return KL_OK;
    }
    double difference = 0.0;
    if (file->format == PROBLEM_OURS) {
        KL_TRY(delassus_difference(&file->h5, file->names[index], record->problem, &difference));
    }
    if (difference > 1e-12) {  // rounding of products of twelve terms
        snprintf(why, size, "D differs from J M^-1 J' by %.1e", difference);
    }
    return KL_OK;
}

static KlStatus verify(const CliArgs *args, int *code) {
    ProblemFile file;
    KL_TRY(problem_file_open(cli_operand(args, 1), &file));
    CliProgress progress;
    cli_progress_begin(&progress, args, "problems", file.count);
    json_t *faults = json_array();
    KlStatus status = KL_OK;
    int32_t checked = 0;
    for (; checked < file.count && status == KL_OK && !cli_interrupted(); checked++) {
        ProblemRecord record;
        char why[256] = "";
        status = problem_file_read(&file, checked, &record);
        if (status == KL_OK) {
            status = verify_record(&file, checked, &record, why, sizeof why);
        }
        if (status == KL_OK && why[0] != '\0') {
            json_array_append_new(faults, json_pack("{s:s, s:s}", "name", record.name, "fault", why));
        }
        problem_record_free(&record);
        cli_progress_update(&progress, checked + 1);
    }
    cli_progress_end(&progress, checked);
    problem_file_close(&file);
    if (status != KL_OK) {
        json_decref(faults);
        return status;
    }
    *code = json_array_size(faults) > 0 ? CLI_EXIT_FAILED : CLI_EXIT_OK;
    if (cli_has(args, "json")) {
        cli_print_json(json_pack("{s:i, s:o}", "checked", (int)checked, "faults", faults));
        return KL_OK;
    }
    size_t i;
    json_t *fault;
    json_array_foreach(faults, i, fault) {
        printf("%s: %s\n", json_string_value(json_object_get(fault, "name")),
               json_string_value(json_object_get(fault, "fault")));
    }
    printf("%d problems checked, %zu faults\n", (int)checked, json_array_size(faults));
    json_decref(faults);
    return KL_OK;
}

// --- dispatch -------------------------------------------------------------------------------------

static KlStatus need_operands(const CliArgs *args, int least, int most) {
    int count = cli_operand_count(args) - 1;
    return count >= least && count <= most
               ? KL_OK
               : kl_fail(KL_ERR_ARGUMENT, "dataset %s takes %s file%s (got %d)", cli_operand(args, 0),
                         most == 0   ? "no"
                         : most == 1 ? "one"
                                     : "one or more",
                         most == 1 ? "" : "s", count);
}

static KlStatus dispatch(const CliArgs *args, int *code) {
    const char *action = cli_operand(args, 0);
    if (strcmp(action, "make") == 0) {
        KL_TRY(need_operands(args, 0, 0));
        return make(args);
    }
    if (strcmp(action, "info") == 0) {
        KL_TRY(need_operands(args, 1, 1));
        return info(args);
    }
    if (strcmp(action, "merge") == 0) {
        KL_TRY(need_operands(args, 1, 100000));
        return merge(args);
    }
    if (strcmp(action, "verify") == 0) {
        KL_TRY(need_operands(args, 1, 1));
        return verify(args, code);
    }
    if (strcmp(action, "convert") == 0) {
        KL_TRY(need_operands(args, 1, 100000));
        return dataset_convert(args);
    }
    return kl_fail(KL_ERR_ARGUMENT, "dataset takes make, info, merge, verify or convert (got %s)", action);
}

static int run(const CliArgs *args) {
    int code = CLI_EXIT_OK;
    if (dispatch(args, &code) != KL_OK) {
        return cli_report(args);
    }
    return cli_interrupted() ? CLI_EXIT_INTERRUPTED : code;
}

const CliCommand cmd_dataset = {
    .name = "dataset",
    .operands = "make|info|merge|verify|convert [FILE...]",
    .summary = "makes, describes, joins, verifies and converts sets of problems",
    .text = "make samples dual problems from simulations of every system, in buckets of fixed size per category, "
            "each with its best known solution. It works in FILE.parts, one file per finished simulation: killed "
            "at any moment, the same command continues and ends with the same bytes. Shards may run on many "
            "machines; merge joins them in any order to the same bytes. verify recomputes the residual of every "
            "stored solution. convert reads and writes our HDF5, JSON and FCLIB, local and global.",
    .options = options,
    .examples = {"kinloop dataset make --systems box_on_plane,fourbar_free --bucket 20 --units 1 -o set.h5",
                 "a small set of two systems; without options, the whole benchmark set",
                 "parallel kinloop dataset make --systems nunchaku --bucket 20 --units 4 -o part{}.h5 --shard {}/4 ::: "
                 "1 2 3 4 && kinloop dataset merge part*.h5 -o all.h5",
                 "the bytes of one process from four"},
    .min_operands = 1,
    .max_operands = 100001,
    .complete = "make|info|merge|verify|convert|file",
    .run = run,
};
