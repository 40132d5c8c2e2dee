// kinloop run: simulates a scene with each chosen solver and sums up how it went.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "link.h"
#include "recorder.h"
#include "runner.h"
#include "scene_find.h"

static int run(const CliArgs *args);

static const CliOption options[] = {
    CLI_OPTIONS_SOLVER,
    CLI_OPTIONS_RUN,
    {"curated", 'c', CLI_FLAG, NULL, "the first solver drives, all others re-solve its problems", 0, 0, NULL},
    {"record", 'o', CLI_TEXT, "FILE", "trajectories and problems to FILE.h5, or metrics to FILE.csv or - (stdout)", 0,
     0, "file"},
    {"every", 0, CLI_INT, "N", "record the dual problem of every N-th step", 1, 100000000, NULL},
    {"delassus", 0, CLI_FLAG, NULL, "record D beside J and M^-1 (larger files)", 0, 0, NULL},
    {"expect", 0, CLI_TEXT, "STEP:HASH[,HASH...]", "state hashes at a step, one a solver; exit 1 when they differ", 0,
     0, NULL},
    {"measure-last", 0, CLI_FLAG, NULL,
     "metrics of the last step alone; the whole and the solves are timed, not every stage", 0, 0, NULL},
    {"print-link", 0, CLI_FLAG, NULL, "print the page's link to this run, and run nothing", 0, 0, NULL},
    {"hash", 0, CLI_FLAG, NULL, "print only solver and state hash", 0, 0, NULL},
    CLI_OPTION_FORCE,
    CLI_OPTION_STRICT,
    CLI_COMMON,
};

// --- telling --------------------------------------------------------------------------------------

static void print_stages(const RunPlan *plan, const RunStats *stats) {
    const char *titles[MAX_STAGES + 3] = {"time per step", "total"};
    int32_t stages = kl_stage_count() < MAX_STAGES ? kl_stage_count() : MAX_STAGES;
    for (int32_t i = 0; i < stages; i++) {
        titles[2 + i] = kl_stage_name(i);
    }
    CliTable table;
    cli_table_begin(&table, 2 + stages, titles);
    for (int32_t k = 0; k < plan->choice.count; k++) {
        double steps = stats[k].steps > 0 ? (double)stats[k].steps : (double)NAN;
        cli_table_cell(&table, "%s", kl_solver_kind(plan->choice.kinds[k])->id);
        cli_table_time(&table, stats[k].total / steps);
        for (int32_t i = 0; i < stages; i++) {
            cli_table_time(&table, stats[k].stage[i] / steps);
        }
    }
    cli_table_print(&table, stdout);
    cli_table_free(&table);
}

static void worst_cell(CliTable *table, const RunStats *stats, const char *metric) {
    int32_t i = kl_metric_find(metric);
    if (i < 0 || i >= MAX_METRICS || isnan(stats->maximum[i])) {
        cli_table_cell(table, "-");
    } else {
        cli_table_cell(table, "%.2e @%lld", stats->maximum[i], (long long)stats->maximum_step[i]);
    }
}

static void final_cell(CliTable *table, const RunStats *stats, const char *metric) {
    int32_t i = kl_metric_find(metric);
    cli_table_residual(table, i >= 0 && i < MAX_METRICS ? stats->final[i] : (double)NAN);
}

static void print_summary(const RunPlan *plan, const RunStats *stats) {
    static const char *const titles[] = {"solver",          "outcome",     "steps",        "converged",
                                         "iterations",      "worst r_pen", "worst r_dual", "worst r_ncp",
                                         "worst r_nat_rel", "final r_pen", "energy",       "hash"};
    CliTable table;
    cli_table_begin(&table, 12, titles);
    for (int32_t k = 0; k < plan->choice.count; k++) {
        const RunStats *s = &stats[k];
        cli_table_cell(&table, "%s", kl_solver_kind(plan->choice.kinds[k])->id);
        cli_table_cell(&table, "%s", s->outcome);
        cli_table_cell(&table, "%lld", (long long)s->steps);
        cli_table_cell(&table, "%lld", (long long)s->converged_steps);
        cli_table_cell(&table, "%.0f", s->iterations_sum);
        worst_cell(&table, s, "r_pen");
        worst_cell(&table, s, "r_dual");
        worst_cell(&table, s, "r_ncp");
        worst_cell(&table, s, "r_nat_rel");
        final_cell(&table, s, "r_pen");
        final_cell(&table, s, "total_energy");
        cli_table_cell(&table, "%016llx", (unsigned long long)s->hash);
    }
    cli_table_print(&table, stdout);
    cli_table_free(&table);
}

static void print_text(const CliArgs *args, const RunPlan *plan, const RunStats *stats) {
    if (cli_has(args, "hash")) {
        for (int32_t k = 0; k < plan->choice.count; k++) {
            printf("%s %016llx\n", kl_solver_kind(plan->choice.kinds[k])->id, (unsigned long long)stats[k].hash);
        }
        return;
    }
    printf("%s, run %s%s: dt %g s, %lld steps%s\n\n", kl_scene_id(plan->scene), plan->run->id,
           kl_scene_surrogate(plan->scene) ? " (surrogate mechanism)" : "", plan->dt, (long long)plan->steps,
           cli_has(args, "curated") ? ", curated" : "");
    print_summary(plan, stats);
    putchar('\n');
    print_stages(plan, stats);
    for (int32_t k = 0; k < plan->choice.count; k++) {
        if (stats[k].error[0] != '\0') {
            printf("\n%s: %s\n", kl_solver_kind(plan->choice.kinds[k])->id, stats[k].error);
        }
    }
}

static void print_json(const CliArgs *args, const RunPlan *plan, const RunStats *stats, const char *command) {
    json_t *runs = json_array();
    for (int32_t k = 0; k < plan->choice.count; k++) {
        json_array_append_new(runs, run_stats_json(&stats[k], kl_solver_kind(plan->choice.kinds[k])->id));
    }
    cli_print_json(json_pack("{s:s, s:s, s:o, s:I, s:b, s:b, s:s, s:s, s:s, s:o}", "scene", kl_scene_id(plan->scene),
                             "run", plan->run->id, "dt", cli_json_real(plan->dt), "steps", (json_int_t)plan->steps,
                             "surrogate", (int)kl_scene_surrogate(plan->scene), "curated",
                             (int)cli_has(args, "curated"), "version", KL_VERSION, "build", KL_BUILD_NAME, "command",
                             command, "runs", runs));
}

// --- running --------------------------------------------------------------------------------------

static KlStatus simulate(const CliArgs *args, const RunPlan *plan, Recorder *recorder, RunStats *stats) {
    RunWatcher watcher = {.context = recorder, .step = recorder_step};
    const RunWatcher *watching = recorder != NULL ? &watcher : NULL;
    CliProgress progress;
    double done = 0.0;
    if (cli_has(args, "curated")) {
        cli_progress_begin(&progress, args, "steps", (double)plan->steps);
        if (recorder != NULL) {
            KL_TRY(recorder_begin(recorder, kl_solver_kind(plan->choice.kinds[0])->id));
        }
        KlStatus status = run_curated(args, plan, watching, &progress, stats);
        cli_progress_end(&progress, (double)stats[0].steps);
        return status == KL_OK && recorder != NULL ? recorder_end(recorder) : status;
    }
    cli_progress_begin(&progress, args, "steps", (double)plan->steps * plan->choice.count);
    KlStatus status = KL_OK;
    for (int32_t k = 0; k < plan->choice.count && status == KL_OK; k++) {
        int32_t kind = plan->choice.kinds[k];
        status = recorder != NULL ? recorder_begin(recorder, kl_solver_kind(kind)->id) : KL_OK;
        if (status == KL_OK) {
            status = run_one(args, plan, kind, watching, &progress, &done, &stats[k]);
        }
        if (status == KL_OK && recorder != NULL) {
            status = recorder_end(recorder);
        }
    }
    if (cli_interrupted()) {  // the last run ended early
        done = 0.0;
        for (int32_t k = 0; k < plan->choice.count; k++) {
            done += (double)stats[k].steps;
        }
    }
    cli_progress_end(&progress, done);
    return status;
}

// 1 when a run failed; with --strict also when one diverged or a step did not converge.
static int exit_code(const CliArgs *args, const RunPlan *plan, const RunStats *stats) {
    int code = CLI_EXIT_OK;
    for (int32_t k = 0; k < plan->choice.count; k++) {
        bool weak = strcmp(stats[k].outcome, "diverged") == 0 || stats[k].converged_steps < stats[k].steps;
        if (strcmp(stats[k].outcome, "failed") == 0 || (weak && cli_has(args, "strict"))) {
            code = CLI_EXIT_FAILED;
        }
    }
    return cli_interrupted() ? CLI_EXIT_INTERRUPTED : code;
}

static KlStatus run_plan(const CliArgs *args, const RunPlan *plan, RunStats *stats) {
    char command[2048];
    const char *path = cli_text(args, "record", NULL);
    Recorder *recorder = NULL;
    KL_TRY(cli_command_text(args, command, sizeof command));
    KlStatus status = KL_OK;
    if (path != NULL) {
        status = recorder_create(plan, path, cli_has(args, "force"), cli_int(args, "every", 1),
                                 cli_has(args, "delassus"), command, &recorder);
    }
    if (status == KL_OK) {
        status = simulate(args, plan, recorder, stats);
    }
    if (status == KL_OK && recorder != NULL) {
        status = recorder_commit(recorder);
    }
    recorder_destroy(recorder);
    if (status == KL_OK && (path == NULL || strcmp(path, "-") != 0)) {
        if (cli_has(args, "json")) {
            print_json(args, plan, stats, command);
        } else {
            print_text(args, plan, stats);
        }
    }
    return status;
}

// What a link expects: the hash of each solver's state after some step.
static KlStatus parse_expected(const CliArgs *args, RunPlan *plan) {
    const char *text = cli_text(args, "expect", NULL);
    if (text == NULL) {
        return KL_OK;
    }
    char *end;
    plan->expected_step = strtoll(text, &end, 10);
    for (int32_t k = 0; k < plan->choice.count && *end != '\0'; k++) {
        const char *from = end + 1;
        plan->expected[k] = strtoull(from, &end, 16);
        if (end - from != 16) {
            return kl_fail(KL_ERR_ARGUMENT, "--expect takes STEP:HASH,HASH... with 16 digits each (got %s)", text);
        }
    }
    plan->steps = plan->expected_step > plan->steps ? plan->expected_step : plan->steps;
    return KL_OK;
}

static KlStatus choose_measuring(const CliArgs *args, RunPlan *plan) {
    plan->measure_last = cli_has(args, "measure-last");
    if (plan->measure_last && cli_has(args, "curated")) {
        return kl_fail(KL_ERR_ARGUMENT, "--measure-last times independent runs, not --curated ones");
    }
    if (plan->measure_last && cli_has(args, "record")) {
        return kl_fail(KL_ERR_ARGUMENT, "--measure-last leaves out what --record writes: the metrics of every step");
    }
    return KL_OK;
}

// Differences from what a link expects, told; true when all agree.
static bool meets_expected(const CliArgs *args, const RunPlan *plan, const RunStats *stats) {
    bool all = true;
    for (int32_t k = 0; plan->expected_step > 0 && k < plan->choice.count; k++) {
        const char *solver = kl_solver_kind(plan->choice.kinds[k])->id;
        if (plan->expected[k] == 0) {
            continue;
        }
        bool same = stats[k].hash_at_step == plan->expected[k];
        cli_note(args, "%s, step %lld: %s (%016llx, the link says %016llx)", solver, (long long)plan->expected_step,
                 same ? "reproduced" : "DIFFERS", (unsigned long long)stats[k].hash_at_step,
                 (unsigned long long)plan->expected[k]);
        all = all && same;
    }
    return all;
}

static int print_link(const CliArgs *args) {
    char path[1024];
    const char *operand = cli_operand(args, 0);
    if (scene_find(operand, path, sizeof path) != KL_OK ||
        link_print(args, path, operand, strcmp(path, operand) != 0) != KL_OK) {
        return cli_report(args);
    }
    return CLI_EXIT_OK;
}

static int run_link(const CliArgs *args) {
    LinkWords words;
    CliArgs *expanded = NULL;
    int code = link_expand(args, cli_operand(args, 0), &words, &expanded) == KL_OK ? run(expanded) : cli_report(args);
    cli_args_destroy(expanded);
    link_words_free(&words);
    return code;
}

static int run(const CliArgs *args) {
    RunPlan plan;
    int code;
    if (link_is(cli_operand(args, 0))) {
        return run_link(args);
    }
    if (cli_has(args, "print-link")) {
        return print_link(args);
    }
    if (run_plan_load(args, cli_operand(args, 0), &plan, &code) != KL_OK) {
        run_plan_free(&plan);
        return cli_report_as(args, code);
    }
    if (parse_expected(args, &plan) != KL_OK || choose_measuring(args, &plan) != KL_OK) {
        run_plan_free(&plan);
        return cli_report(args);
    }
    RunStats *stats = kl_alloc((size_t)plan.choice.count * sizeof *stats);
    KlStatus status = stats != NULL ? run_plan(args, &plan, stats) : kl_fail(KL_ERR_MEMORY, "out of memory");
    code = status == KL_OK ? exit_code(args, &plan, stats) : cli_report(args);
    if (status == KL_OK && !meets_expected(args, &plan, stats) && code == CLI_EXIT_OK) {
        code = CLI_EXIT_FAILED;
    }
    for (int32_t k = 0; stats != NULL && k < plan.choice.count; k++) {
        run_stats_free(&stats[k]);
    }
    kl_free(stats);
    run_plan_free(&plan);
    return code;
}

const CliCommand cmd_run = {
    .name = "run",
    .operands = "SCENE|EXPERIMENT|LINK",
    .summary = "simulates a scene with every chosen solver",
    .text = "SCENE is a file, or a name that kinloop list scenes shows. Without --solver the document's own "
            "suggestions run. Prints final and worst residuals with the step of the worst, iterations, and "
            "time per step by stage, of which \"measure\" are the metrics of every step. Independent runs give each "
            "solver its own motion; --curated re-solves the "
            "first solver's problems with all others. The state hash is the same wherever the same run is "
            "repeated by the deterministic builds. Ctrl-C finishes the step, writes what it has, exits 130.",
    .options = options,
    .examples = {"kinloop run box_on_plane --solver admm-ncp-plus,pgs-ncp --steps 2000",
                 "two solvers side by side, with a summary table",
                 "kinloop run boxes_fixed --preset high-throughput --edit bodies.1.mass=100 --steps 200 --record "
                 "boxes.h5 --json",
                 "another mass; every dual problem and the trajectory go to a file"},
    .min_operands = 1,
    .max_operands = 1,
    .complete = "scenes",
    .run = run,
};
