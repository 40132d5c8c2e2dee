// kinloop bench: timings with their spread, beside the accuracy they bought; comparison with older ones.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench.h"
#include "bench/statistics.h"
#include "build_info.h"
#include "results.h"
#include "roofline.h"

static const CliOption options[] = {
    CLI_OPTIONS_SOLVER,
    {"filter", 0, CLI_TEXT, "TEXT", "only cases whose id contains this", 0, 0, NULL},
    {"list", 0, CLI_FLAG, NULL, "name the suites, or the cases of SUITE, and time nothing", 0, 0, NULL},
    {"repeat", 'r', CLI_INT, "N", "timed repetitions of each case (5)", 1, 100000, NULL},
    {"warmup", 0, CLI_INT, "N", "untimed repetitions before (1)", 0, 1000, NULL},
    {"steps", 'n', CLI_INT, "N", "steps of one repetition in place of the suite's", 1, 100000000, NULL},
    {"budget", 0, CLI_REAL, "SECONDS", "after this time only cases without a timing run", 0, 1e9, NULL},
    {"seed", 0, CLI_INT, "N", "of the order of the cases (1)", 0, 1000000000, NULL},
    {"shard", 0, CLI_TEXT, "I/N", "time the I-th of N shares of the cases", 0, 0, NULL},
    {"merge", 0, CLI_FLAG, NULL, "join result files of shards (the operands) into one", 0, 0, NULL},
    {"compare", 0, CLI_TEXT, "OLD.json", "ratio to older results, with a 95 % interval", 0, 0, "file"},
    {"fail-above", 0, CLI_REAL, "RATIO", "exit 3 when a case is slower than this, surely slower than before", 0, 1e6,
     NULL},
    {"roofline", 0, CLI_FLAG, NULL, "time the kernels of scenes or stored problems under the roof of the machine", 0, 0,
     NULL},
    {"export", 0, CLI_TEXT, "KINDS", "json, csv, md, h5: files beside --output, parted by commas", 0, 0, NULL},
    {"output", 'o', CLI_TEXT, "STEM", "stem of the exported files", 0, 0, "file"},
    CLI_OPTION_FORCE,
    CLI_OPTION_STRICT,
    CLI_COMMON,
};

// --- comparing ------------------------------------------------------------------------------------

static json_t *find_case(const json_t *rows, const char *id) {
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        const char *other = json_string_value(json_object_get(row, "id"));
        if (other != NULL && strcmp(other, id) == 0) {
            return row;
        }
    }
    return NULL;
}

static int32_t samples_of(const json_t *row, double *samples, int32_t most) {
    const json_t *array = json_object_get(row, "samples_s");
    int32_t count = 0;
    for (size_t i = 0; i < json_array_size(array) && count < most; i++) {
        double value = json_number_value(json_array_get(array, i));
        if (value > 0.0) {
            samples[count++] = value;
        }
    }
    return count;
}

static bool same_text(const json_t *a, const json_t *b, const char *key) {
    const char *x = json_string_value(json_object_get(a, key)), *y = json_string_value(json_object_get(b, key));
    return x != NULL && y != NULL && strcmp(x, y) == 0;
}

// Adds "ratio" to a row; true when it is past the limit beyond doubt.
static bool compare_row(json_t *row, const json_t *old, double limit) {
    enum { MOST = 4096 };
    static double now[MOST], before[MOST];
    int32_t count = samples_of(row, now, MOST), older = samples_of(old, before, MOST);
    KlRatio ratio;
    if (count == 0 || older == 0 || kl_bootstrap_ratio(before, older, now, count, 2000, 0.95, 1, &ratio) != KL_OK) {
        return false;
    }
    json_object_set_new(row, "ratio",
                        json_pack("{s:o, s:o, s:o}", "ratio", cli_json_real(ratio.ratio), "low",
                                  cli_json_real(ratio.low), "high", cli_json_real(ratio.high)));
    return ratio.ratio > limit && ratio.low > 1.0;
}

static KlStatus compare(const CliArgs *args, json_t *rows, bool *regressed) {
    const char *path = cli_text(args, "compare", NULL);
    json_t *old = NULL;
    KL_TRY(results_load(path, &old));
    double limit = cli_real(args, "fail-above", INFINITY);
    KlStatus status = KL_OK;
    int32_t matched = 0;
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) {
        json_t *before = find_case(old, json_string_value(json_object_get(row, "id")));
        if (before == NULL) {
            continue;
        }
        if (!cli_has(args, "force") && !(same_text(row, before, "machine") && same_text(row, before, "build"))) {
            status =
                kl_fail(KL_ERR_ARGUMENT, "%s was timed on another machine or build (%s, %s); --force compares anyway",
                        path, json_string_value(json_object_get(before, "machine")),
                        json_string_value(json_object_get(before, "build")));
            break;
        }
        matched++;
        *regressed = compare_row(row, before, limit) || *regressed;
    }
    json_decref(old);
    return status == KL_OK && matched == 0 ? kl_fail(KL_ERR_ARGUMENT, "%s holds none of these cases", path) : status;
}

// --- printing -------------------------------------------------------------------------------------

static double real_of(const json_t *row, const char *key) {
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void print_rows(const json_t *rows, bool with_ratio) {
    static const char *const titles[] = {"case",    "median",     "min",       "mad",         "repeats",
                                         "outcome", "iterations", "r_nat_rel", "ratio (95 %)"};
    CliTable table;
    cli_table_begin(&table, with_ratio ? 9 : 8, titles);
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) {
        cli_table_cell(&table, "%s", json_string_value(json_object_get(row, "id")));
        cli_table_time(&table, real_of(row, "median_s"));
        cli_table_time(&table, real_of(row, "min_s"));
        cli_table_time(&table, real_of(row, "mad_s"));
        cli_table_cell(&table, "%d", (int)json_integer_value(json_object_get(row, "repeats")));
        cli_table_cell(&table, "%s", json_string_value(json_object_get(row, "outcome")));
        cli_table_cell(&table, "%.0f", real_of(row, "iterations"));
        cli_table_residual(&table, real_of(json_object_get(row, "residuals"), "r_nat_rel"));
        const json_t *ratio = json_object_get(row, "ratio");
        if (with_ratio && ratio != NULL) {
            cli_table_cell(&table, "%.3f [%.3f, %.3f]", real_of(ratio, "ratio"), real_of(ratio, "low"),
                           real_of(ratio, "high"));
        } else if (with_ratio) {
            cli_table_cell(&table, "-");
        }
    }
    cli_table_print(&table, stdout);
    cli_table_free(&table);
}

// Where the time of a step goes, of the cases that are scenes.
static void print_stages(const json_t *rows) {
    const char *titles[MAX_STAGES + 1] = {"time per step"};
    int32_t stages = kl_stage_count() < MAX_STAGES ? kl_stage_count() : MAX_STAGES;
    for (int32_t i = 0; i < stages; i++) {
        titles[1 + i] = kl_stage_name(i);
    }
    CliTable table;
    cli_table_begin(&table, 1 + stages, titles);
    bool any = false;
    size_t k;
    const json_t *row;
    json_array_foreach(rows, k, row) {
        const json_t *own = json_object_get(row, "stages_s");
        if (own == NULL) {
            continue;
        }
        any = true;
        cli_table_cell(&table, "%s", json_string_value(json_object_get(row, "id")));
        for (int32_t i = 0; i < stages; i++) {
            cli_table_time(&table, real_of(own, kl_stage_name(i)));
        }
    }
    if (any) {
        putchar('\n');
        cli_table_print(&table, stdout);
    }
    cli_table_free(&table);
}

static void print_list(const BenchList *list) {
    for (int32_t i = 0; i < list->count; i++) {
        puts(list->cases[i].id);
    }
}

static int list_suites(const CliArgs *args) {
    json_t *rows = json_array();
    for (int32_t i = 0; i < bench_suite_count(); i++) {
        if (!cli_has(args, "json")) {
            printf("%-12s %s\n", bench_suite_id(i), bench_suite_text(i));
        }
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s}", "id", bench_suite_id(i), "title", bench_suite_title(i),
                                              "text", bench_suite_text(i)));
    }
    if (cli_has(args, "json")) {
        cli_print_json(rows);
    } else {
        json_decref(rows);
    }
    return CLI_EXIT_OK;
}

// --- running --------------------------------------------------------------------------------------

static KlStatus export_rows(const CliArgs *args, const json_t *rows) {
    const char *stem = cli_text(args, "output", NULL);
    const char *kinds = cli_text(args, "export", stem != NULL ? "json" : NULL);
    if (kinds == NULL) {
        return KL_OK;
    }
    if (stem == NULL) {
        return kl_fail(KL_ERR_ARGUMENT, "--export needs --output STEM");
    }
    return results_export(rows, stem, kinds, cli_has(args, "force"));
}

static KlStatus gather(const CliArgs *args, json_t *rows) {
    if (cli_has(args, "merge")) {
        for (int i = 0; i < cli_operand_count(args); i++) {
            json_t *part = NULL;
            KL_TRY(results_load(cli_operand(args, i), &part));
            json_array_extend(rows, part);
            json_decref(part);
        }
        return results_sort(rows);
    }
    BenchList list;
    KlStatus status = bench_list(args, cli_operand_count(args) > 0 ? cli_operand(args, 0) : "quick", &list);
    if (status == KL_OK && cli_has(args, "list")) {
        print_list(&list);
    } else if (status == KL_OK) {
        status = list.count > 0 ? bench_time(args, &list) : kl_fail(KL_ERR_ARGUMENT, "no case is left to time");
        for (int32_t i = 0; i < list.count && status == KL_OK; i++) {
            json_array_append_new(rows, bench_case_json(&list.cases[i]));
        }
    }
    bench_list_free(&list);
    return status;
}

static bool any_failed(const json_t *rows) {
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) {
        const char *outcome = json_string_value(json_object_get(row, "outcome"));
        if (outcome != NULL && strcmp(outcome, "finished") != 0 && strcmp(outcome, "converged") != 0) {
            return true;
        }
    }
    return false;
}

// Nothing that was asked for is passed over.
static KlStatus refuse_timing_options(const CliArgs *args) {
    static const char *const taken[] = {"roofline", "steps", "json", "progress", "help"};
    for (const CliOption *o = options; o->name != NULL; o++) {
        bool known = false;
        for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
            known = known || strcmp(o->name, taken[i]) == 0;
        }
        if (!known && cli_has(args, o->name)) {
            return kl_fail(KL_ERR_ARGUMENT, "--roofline takes --steps and --json alone (got --%s)", o->name);
        }
    }
    return KL_OK;
}

static int run_roofline(const CliArgs *args) {
    json_t *result = NULL;
    KlStatus status = refuse_timing_options(args);
    status = status == KL_OK ? roofline_measure(args, &result) : status;
    if (status == KL_OK && cli_has(args, "json")) {
        cli_print_json(json_incref(result));
    } else if (status == KL_OK) {
        roofline_print(result);
    }
    json_decref(result);
    return status != KL_OK ? cli_report(args) : cli_interrupted() ? CLI_EXIT_INTERRUPTED : CLI_EXIT_OK;
}

static int run(const CliArgs *args) {
    if (cli_has(args, "roofline")) {
        return run_roofline(args);
    }
    if (cli_has(args, "list") && cli_operand_count(args) == 0) {
        return list_suites(args);
    }
    json_t *rows = json_array();
    bool regressed = false;
    KlStatus status = gather(args, rows);
    if (status == KL_OK && !cli_has(args, "list") && cli_has(args, "compare")) {
        status = compare(args, rows, &regressed);
    }
    if (status == KL_OK && !cli_has(args, "list")) {
        status = export_rows(args, rows);
    }
    int code = CLI_EXIT_OK;
    if (status != KL_OK) {
        code = cli_report(args);
    } else if (regressed) {
        code = CLI_EXIT_REGRESSION;
    } else if (cli_has(args, "strict") && any_failed(rows)) {
        code = CLI_EXIT_FAILED;
    }
    if (status == KL_OK && !cli_has(args, "list")) {
        if (cli_has(args, "json")) {
            cli_print_json(json_incref(rows));
        } else {
            print_rows(rows, cli_has(args, "compare"));
            print_stages(rows);
        }
    }
    json_decref(rows);
    return cli_interrupted() ? CLI_EXIT_INTERRUPTED : code;
}

const CliCommand cmd_bench = {
    .name = "bench",
    .operands = "[SUITE|FILE[:INDEX]|SCENE...|RESULTS...]",
    .summary = "times solvers on scenes or stored problems, and compares with older timings",
    .text =
        "A repetition simulates the case anew; its time is per step (per solve for stored problems); a second table "
        "parts the fastest by stage. Cases run "
        "interleaved in an order that --seed fixes. Told are median, minimum and median absolute deviation beside "
        "iterations and the worst residual: time without accuracy says nothing. --compare gives the ratio of "
        "medians with a bootstrap interval and refuses another machine or build without --force. --roofline measures "
        "the peak of one core and its bandwidth from each cache, then the solvers' kernels on the problems of its "
        "operands (scenes: of step --steps; files of problems), and tells how near each comes to what bounds it.",
    .options = options,
    .examples = {"kinloop bench quick --filter nunchaku --repeat 5 --export json,md -o old",
                 "five timings of every solver of the suite on one system",
                 "kinloop bench quick --filter nunchaku --compare old.json --fail-above 1.10",
                 "exits 3 when a case has become more than a tenth slower"},
    .min_operands = 0,
    .max_operands = 100000,
    .complete = "quick|primitives|systems|file",
    .run = run,
};
