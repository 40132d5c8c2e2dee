// kinloop profile: performance profiles of results, overall, per system and per category.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "profiles.h"
#include "results.h"

static const CliOption options[] = {
    {"metric", 'm', CLI_TEXT, "ID", "what is compared (default: all of them)", 0, 0,
     "iterations|time_s|t_iter|r_dual|r_ncp|r_nat|r_nat_rel"},
    {"by", 'b', CLI_TEXT, "GROUPING", "one profile for all, per system or per category", 0, 0, "all|system|category"},
    {"tau-max", 0, CLI_REAL, "RATIO", "largest ratio (1000)", 1.0000001, 1e15, NULL},
    {"no-floor", 0, CLI_FLAG, NULL, "without the Dingle-Higham floor for residuals", 0, 0, NULL},
    {"output", 'o', CLI_TEXT, "STEM", "write STEM.csv, STEM.json and STEM-GROUP-METRIC.svg", 0, 0, "file"},
    CLI_OPTION_FORCE,
    CLI_COMMON,
};

typedef struct Task {
    const CliArgs *args;
    const ProfileTable *table;
    ProfileGrouping grouping;
    json_t *profiles;  // all that were made
    CliTable text;
} Task;

static json_t *profile_json(const ProfileTable *table, const Profile *profile, const char *group, const char *metric) {
    json_t *curves = json_array();
    for (int32_t s = 0; s < table->solver_count; s++) {
        const double *rho = profile->rho + s * PROFILE_POINTS;
        json_array_append_new(curves,
                              json_pack("{s:s, s:o, s:o, s:o}", "solver", table->solvers[s], "rho_1",
                                        cli_json_real(rho[0]), "rho_max", cli_json_real(rho[PROFILE_POINTS - 1]), "rho",
                                        cli_json_reals(rho, PROFILE_POINTS)));
    }
    return json_pack("{s:s, s:s, s:i, s:o, s:o}", "group", group, "metric", metric, "problems",
                     (int)profile->problem_count, "tau", cli_json_reals(profile->tau, PROFILE_POINTS), "solvers",
                     curves);
}

static void add_rows(Task *task, const Profile *profile, const char *group, const char *metric) {
    for (int32_t s = 0; s < task->table->solver_count; s++) {
        const double *rho = profile->rho + s * PROFILE_POINTS;
        cli_table_cell(&task->text, "%s", group);
        cli_table_cell(&task->text, "%s", metric);
        cli_table_cell(&task->text, "%d", (int)profile->problem_count);
        cli_table_cell(&task->text, "%s", task->table->solvers[s]);
        cli_table_cell(&task->text, "%.3f", rho[0]);
        cli_table_cell(&task->text, "%.3f", rho[PROFILE_POINTS / 3]);
        cli_table_cell(&task->text, "%.3f", rho[PROFILE_POINTS - 1]);
    }
}

static KlStatus write_picture(Task *task, const Profile *profile, const char *group, const ProfileMeasure *measure) {
    const char *stem = cli_text(task->args, "output", NULL);
    if (stem == NULL) {
        return KL_OK;
    }
    char path[1200], title[256];
    CliOutput output;
    snprintf(path, sizeof path, "%.900s-%.64s-%s.svg", stem, group, measure->id);
    snprintf(title, sizeof title, "%s, %.60s (%d problems)", measure->title, group, (int)profile->problem_count);
    KL_TRY(cli_output_open(&output, path, cli_has(task->args, "force")));
    profile_svg(output.file, task->table, profile, title);
    return cli_output_commit(&output);
}

static KlStatus make_profile(Task *task, const char *group, int32_t measure) {
    Profile profile;
    KlStatus status = profile_of(task->table, task->grouping, group, measure, cli_real(task->args, "tau-max", 1000.0),
                                 !cli_has(task->args, "no-floor"), &profile);
    if (status == KL_OK) {
        const char *metric = profile_measures[measure].id;
        json_array_append_new(task->profiles, profile_json(task->table, &profile, group, metric));
        add_rows(task, &profile, group, metric);
        status = write_picture(task, &profile, group, &profile_measures[measure]);
    }
    profile_free(&profile);
    return status;
}

static KlStatus make_profiles(Task *task) {
    static char groups[256][64];
    int32_t count = profile_groups(task->table, task->grouping, groups, 256);
    const char *metric = cli_text(task->args, "metric", NULL);
    if (count == 0) {
        return kl_fail(KL_ERR_ARGUMENT, "--by %s: no problem's name tells its group",
                       cli_text(task->args, "by", "all"));
    }
    for (int32_t g = 0; g < count; g++) {
        for (int32_t m = 0; m < PROFILE_MEASURE_COUNT; m++) {
            if (metric == NULL || strcmp(metric, profile_measures[m].id) == 0) {
                KL_TRY(make_profile(task, groups[g], m));
            }
        }
    }
    return KL_OK;
}

// One row per group, metric, solver and tau.
static void write_csv(FILE *file, const json_t *profiles) {
    fprintf(file, "group,metric,problems,solver,tau,rho\n");
    size_t i, s;
    const json_t *profile, *curve;
    json_array_foreach(profiles, i, profile) {
        const json_t *tau = json_object_get(profile, "tau");
        json_array_foreach(json_object_get(profile, "solvers"), s, curve) {
            for (size_t k = 0; k < json_array_size(tau); k++) {
                fprintf(file, "%s,%s,%d,%s,%.9g,%.9g\n", json_string_value(json_object_get(profile, "group")),
                        json_string_value(json_object_get(profile, "metric")),
                        (int)json_integer_value(json_object_get(profile, "problems")),
                        json_string_value(json_object_get(curve, "solver")), json_number_value(json_array_get(tau, k)),
                        json_number_value(json_array_get(json_object_get(curve, "rho"), k)));
            }
        }
    }
}

static KlStatus write_files(const Task *task) {
    const char *stem = cli_text(task->args, "output", NULL);
    if (stem == NULL) {
        return KL_OK;
    }
    char path[1100];
    CliOutput output;
    snprintf(path, sizeof path, "%.1000s.csv", stem);
    KL_TRY(cli_output_open(&output, path, cli_has(task->args, "force")));
    write_csv(output.file, task->profiles);
    KL_TRY(cli_output_commit(&output));
    snprintf(path, sizeof path, "%.1000s.json", stem);
    KL_TRY(cli_output_open(&output, path, cli_has(task->args, "force")));
    json_dumpf(task->profiles, output.file, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
    fputc('\n', output.file);
    return cli_output_commit(&output);
}

static KlStatus load_all(const CliArgs *args, json_t *rows) {
    for (int i = 0; i < cli_operand_count(args); i++) {
        json_t *part = NULL;
        KL_TRY(results_load(cli_operand(args, i), &part));
        json_array_extend(rows, part);
        json_decref(part);
    }
    return json_array_size(rows) > 0 ? KL_OK : kl_fail(KL_ERR_SCENE, "the files hold no results");
}

static int run(const CliArgs *args) {
    static const char *const titles[] = {"group",  "metric",           "problems",    "solver",
                                         "rho(1)", "rho(tau_max^1/3)", "rho(tau_max)"};
    json_t *rows = json_array();
    ProfileTable table = {0};
    const char *by = cli_text(args, "by", "all");
    Task task = {.args = args, .table = &table, .profiles = json_array()};
    task.grouping = strcmp(by, "system") == 0     ? PROFILE_SYSTEM
                    : strcmp(by, "category") == 0 ? PROFILE_CATEGORY
                                                  : PROFILE_ALL;
    cli_table_begin(&task.text, 7, titles);
    KlStatus status = load_all(args, rows);
    status = status == KL_OK ? profile_table(rows, &table) : status;
    status = status == KL_OK ? make_profiles(&task) : status;
    status = status == KL_OK ? write_files(&task) : status;
    int code = status == KL_OK ? CLI_EXIT_OK : cli_report(args);
    if (status == KL_OK && cli_has(args, "json")) {
        cli_print_json(json_incref(task.profiles));
    } else if (status == KL_OK) {
        cli_table_print(&task.text, stdout);
    }
    cli_table_free(&task.text);
    json_decref(task.profiles);
    json_decref(rows);
    profile_table_free(&table);
    return code;
}

const CliCommand cmd_profile = {
    .name = "profile",
    .operands = "RESULTS...",
    .summary = "performance profiles of solve and bench results",
    .text = "Dolan-More profiles: the share of problems that a solver does within a factor tau of the best. Failed "
            "runs never count but their problems do; iterations and time count only where the solver converged. "
            "Ranks beyond a pair of solvers mislead: compare two at a time by giving two solvers' results. "
            "Residuals are floored after Dingle and Higham unless --no-floor.",
    .options = options,
    .examples = {"kinloop solve set.h5 -s pgs-ncp,newton-ncp --max-iter 1000 --json > r.json && kinloop profile r.json "
                 "--by category -o profile",
                 "profiles of a whole data set, with pictures", "kinloop profile r.json --metric iterations --json",
                 "one metric as data"},
    .min_operands = 1,
    .max_operands = 100000,
    .complete = "file",
    .run = run,
};
