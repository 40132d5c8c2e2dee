// kinloop solve: one or more dual problems by every chosen solver, judged by residuals that are
// recomputed from lambda alone.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "bench/statistics.h"
#include "options.h"
#include "output.h"
#include "problem_file.h"
#include "solver_choice.h"

static const CliOption options[] = {
    CLI_OPTIONS_SOLVER,
    {"repeat", 'r', CLI_INT, "N", "solve N times, tell the median time", 1, 100000, NULL},
    {"trace", 't', CLI_FLAG, NULL, "tell the residuals of every iteration", 0, 0, NULL},
    {"lambda", 'l', CLI_FLAG, NULL, "tell the reactions (rows: joints, limits, contacts as t, o, n)", 0, 0, NULL},
    {"condition", 'c', CLI_FLAG, NULL,
     "tell rank and condition of each problem (with --json the whole spectrum), and the share of each "
     "solution's reactions that moves nothing (internal)",
     0, 0, NULL},
    CLI_OPTION_STRICT,
    CLI_COMMON,
};

enum { TRACE_ROWS = 100000 };

typedef struct Session {
    const CliArgs *args;
    SolverChoice choice;
    KlTrace trace;  // rows NULL unless --trace
    double *times;  // (repeat) of the clock
    double *costs;  // (repeat) of the processor
    int32_t repeat;
    json_t *results, *problems;
    CliTable table, trace_table, condition_table;
    int32_t unfinished;  // failed, diverged or not converged
    bool failed;         // a solver returned an error
} Session;

// What one solver did to one problem.
typedef struct Result {
    const char *outcome;  // of kl_outcome_name, or "failed"
    KlSolution solution;
    KlResiduals residuals;
    double time;      // [s] median
    double cost;      // [s] of the processor, median: other programs' load is not in it
    double internal;  // share of lambda that moves nothing, NaN unless --condition
    char error[256];
} Result;

// --- solving
// --------------------------------------------------------------------------------------

static const Result failed = {.outcome = "failed",
                              .residuals = {.primal = (double)NAN,
                                            .dual = (double)NAN,
                                            .complementarity = (double)NAN,
                                            .natural = (double)NAN,
                                            .natural_relative = (double)NAN},
                              .time = (double)NAN,
                              .cost = (double)NAN,
                              .internal = (double)NAN};

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static KlStatus solve_repeatedly(Session *session, KlSolver *solver, const KlProblem *problem, Result *result) {
    KlTrace *trace = session->trace.rows != NULL ? &session->trace : NULL;
    kl_solver_trace_natural(solver, trace != NULL);
    for (int32_t i = 0; i < session->repeat; i++) {
        kl_solver_forget(solver);
        session->trace.count = session->trace.dropped = 0;
        double start = processor_time();
        KL_TRY(kl_solver_solve(solver, problem, trace, &result->solution));
        session->costs[i] = processor_time() - start;
        session->times[i] = result->solution.time;
    }
    result->outcome = kl_outcome_name(result->solution.outcome);
    result->time = kl_median(session->times, session->repeat);
    result->cost = kl_median(session->costs, session->repeat);
    kl_problem_residuals(problem, result->solution.lambda, &result->residuals);
    if (cli_has(session->args, "condition") &&
        kl_problem_internal_share(problem, result->solution.lambda, &result->internal) != KL_OK) {
        result->internal = (double)NAN;  // above the stated limit of rows, which the condition tells
    }
    return KL_OK;
}

// --- telling
// --------------------------------------------------------------------------------------

static json_t *trace_json(const KlTrace *trace) {
    json_t *rows = json_array();
    for (int32_t i = 0; i < trace->count; i++) {
        const KlTraceRow *row = &trace->rows[i];
        json_array_append_new(rows,
                              json_pack("{s:i, s:o, s:o, s:o, s:o, s:o}", "iteration", (int)row->iteration, "primal",
                                        cli_json_real(row->primal), "dual", cli_json_real(row->dual), "complementarity",
                                        cli_json_real(row->complementarity), "natural_relative",
                                        cli_json_real(row->natural_relative), "penalty", cli_json_real(row->penalty)));
    }
    return rows;
}

static void tell_json(Session *session, const char *file, int32_t index, const ProblemRecord *record,
                      const char *solver, const Result *result) {
    const KlResiduals *r = &result->residuals;
    json_t *row = json_pack("{s:s, s:i, s:s, s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i}", "file", file,
                            "index", (int)index, "name", record->name, "solver", solver, "outcome", result->outcome,
                            "iterations", (int)result->solution.iterations, "time_s", cli_json_real(result->time),
                            "cpu_s", cli_json_real(result->cost), "r_p", cli_json_real(r->primal), "r_dual",
                            cli_json_real(r->dual), "r_ncp", cli_json_real(r->complementarity), "r_nat",
                            cli_json_real(r->natural), "r_nat_rel", cli_json_real(r->natural_relative), "n",
                            (int)record->problem->dim, "contacts", (int)record->problem->contact_count);
    if (record->note[0] != '\0') {
        json_object_set_new(row, "note", json_string(record->note));
    }
    if (result->error[0] != '\0') {
        json_object_set_new(row, "error", json_string(result->error));
    }
    if (cli_has(session->args, "lambda") && result->solution.lambda != NULL) {
        json_object_set_new(row, "lambda", cli_json_reals(result->solution.lambda, record->problem->dim));
    }
    if (cli_has(session->args, "condition")) {
        json_object_set_new(row, "internal_share", cli_json_real(result->internal));
    }
    if (session->trace.rows != NULL) {
        json_object_set_new(row, "trace", trace_json(&session->trace));
        json_object_set_new(row, "trace_dropped", json_integer(session->trace.dropped));
    }
    json_array_append_new(session->results, row);
}

static void tell_trace(Session *session, const char *label) {
    for (int32_t i = 0; i < session->trace.count; i++) {
        const KlTraceRow *row = &session->trace.rows[i];
        cli_table_cell(&session->trace_table, "%s", label);
        cli_table_cell(&session->trace_table, "%d", (int)row->iteration);
        cli_table_residual(&session->trace_table, row->primal);
        cli_table_residual(&session->trace_table, row->dual);
        cli_table_residual(&session->trace_table, row->complementarity);
        cli_table_residual(&session->trace_table, row->natural_relative);
        cli_table_residual(&session->trace_table, row->penalty);
    }
}

static void tell_row(Session *session, const ProblemRecord *record, const char *solver, const Result *result) {
    CliTable *table = &session->table;
    const KlResiduals *r = &result->residuals;
    cli_table_cell(table, "%s", record->name);
    cli_table_cell(table, "%d", (int)record->problem->dim);
    cli_table_cell(table, "%d", (int)record->problem->contact_count);
    cli_table_cell(table, "%s", solver);
    cli_table_cell(table, "%s", result->outcome);
    cli_table_cell(table, "%d", (int)result->solution.iterations);
    cli_table_time(table, result->time);
    cli_table_residual(table, r->primal);
    cli_table_residual(table, r->dual);
    cli_table_residual(table, r->complementarity);
    cli_table_residual(table, r->natural);
    cli_table_residual(table, r->natural_relative);
    if (cli_has(session->args, "condition")) {
        cli_table_residual(table, result->internal);
    }
    if (session->trace.rows != NULL) {
        char label[320];
        snprintf(label, sizeof label, "%s %s", record->name, solver);
        tell_trace(session, label);
    }
}

static void tell_lambda(const ProblemRecord *record, const char *solver, const double *lambda) {
    printf("# lambda of %s by %s\n", record->name, solver);
    for (int32_t i = 0; i < record->problem->dim; i++) {
        printf("%.17g\n", lambda[i]);
    }
}

static KlStatus tell_condition(Session *session, const char *file, int32_t index, const ProblemRecord *record) {
    const KlProblem *problem = record->problem;
    KlCondition condition;
    KL_TRY(kl_problem_condition(problem, &condition));
    if (session->results == NULL) {
        CliTable *table = &session->condition_table;
        cli_table_cell(table, "%s", record->name);
        cli_table_cell(table, "%d", (int)problem->dim);
        cli_table_cell(table, "%d", (int)condition.rank);
        cli_table_cell(table, "%d", (int)condition.jacobian_rank);
        cli_table_residual(table, condition.eigen_min);
        cli_table_residual(table, condition.eigen_max);
        cli_table_residual(table, condition.condition);
        cli_table_cell(table, "%.3f", condition.density);
        return KL_OK;
    }
    double *spectrum = kl_alloc((size_t)(problem->dim > 0 ? problem->dim : 1) * sizeof *spectrum);
    KlStatus status =
        spectrum != NULL ? kl_problem_spectrum(problem, spectrum) : kl_fail(KL_ERR_MEMORY, "out of memory");
    if (status == KL_OK) {
        json_array_append_new(
            session->problems,
            json_pack("{s:s, s:i, s:s, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:o}", "file", file, "index", (int)index,
                      "name", record->name, "n", (int)problem->dim, "rank", (int)condition.rank, "jacobian_rank",
                      (int)condition.jacobian_rank, "eigen_min", cli_json_real(condition.eigen_min), "eigen_max",
                      cli_json_real(condition.eigen_max), "condition", cli_json_real(condition.condition), "density",
                      cli_json_real(condition.density), "spectrum", cli_json_reals(spectrum, problem->dim)));
    }
    kl_free(spectrum);
    return status;
}

// --- the loops
// ------------------------------------------------------------------------------------

static KlStatus solve_one(Session *session, const char *file, int32_t index, const ProblemRecord *record,
                          int32_t kind) {
    KlSolver *solver = NULL;
    SolverDefaults defaults = {.preset = "high-precision"};
    KL_TRY(solver_make(session->args, kind, &defaults, &solver));
    Result result = failed;
    if (solve_repeatedly(session, solver, record->problem, &result) != KL_OK) {
        result = failed;
        snprintf(result.error, sizeof result.error, "%.255s", kl_last_error()->message);
        session->failed = true;
        cli_note(session->args, "%s, %s: %s", record->name, kl_solver_kind(kind)->id, result.error);
    }
    session->unfinished += strcmp(result.outcome, "converged") != 0;
    const char *id = kl_solver_kind(kind)->id;
    if (session->results != NULL) {
        tell_json(session, file, index, record, id, &result);
    } else {
        tell_row(session, record, id, &result);
        if (cli_has(session->args, "lambda") && result.solution.lambda != NULL) {
            tell_lambda(record, id, result.solution.lambda);
        }
    }
    kl_solver_destroy(solver);
    return KL_OK;
}

static KlStatus solve_problem(Session *session, ProblemFile *file, int32_t index) {
    ProblemRecord record;
    KlStatus status = problem_file_read(file, index, &record);
    if (status == KL_OK && record.note[0] != '\0') {
        cli_note(session->args, "%s: %s", file->path, record.note);
    }
    if (status == KL_OK && cli_has(session->args, "condition")) {
        status = tell_condition(session, file->path, index, &record);
    }
    for (int32_t k = 0; k < session->choice.count && status == KL_OK && !cli_interrupted(); k++) {
        status = solve_one(session, file->path, index, &record, session->choice.kinds[k]);
    }
    problem_record_free(&record);
    return status;
}

static KlStatus solve_file(Session *session, const char *operand) {
    ProblemSelection selection;
    ProblemFile file;
    KL_TRY(problem_select(operand, &selection));
    KL_TRY(problem_file_open(selection.path, &file));
    CliProgress progress;
    cli_progress_begin(&progress, session->args, "problems", file.count);
    KlStatus status = KL_OK;
    int32_t used = 0, i = 0;
    while (i < file.count && status == KL_OK && !cli_interrupted()) {
        if (problem_selected(&file, &selection, i)) {
            status = solve_problem(session, &file, i);
            used++;
        }
        cli_progress_update(&progress, ++i);
    }
    cli_progress_end(&progress, i);
    if (status == KL_OK && used == 0 && !cli_interrupted()) {
        status = kl_fail(KL_ERR_ARGUMENT, "%s selects none of the %d problems of %s", operand, (int)file.count,
                         selection.path);
    }
    problem_file_close(&file);
    return status;
}

static KlStatus session_begin(Session *session, const CliArgs *args) {
    static const char *const columns[] = {"problem", "n",      "contacts", "solver", "outcome",   "iterations", "time",
                                          "r_p",     "r_dual", "r_ncp",    "r_nat",  "r_nat_rel", "internal"};
    static const char *const trace_columns[] = {"trace", "iteration", "r_p", "r_d", "r_cp", "r_nat_rel", "penalty"};
    static const char *const condition_columns[] = {"problem",   "n",         "rank",      "rank of J",
                                                    "eigen_min", "eigen_max", "condition", "density"};
    *session = (Session){.args = args, .repeat = (int32_t)cli_int(args, "repeat", 1)};
    KL_TRY(solver_choice(args, solver_default(), &session->choice));
    session->times = kl_alloc((size_t)session->repeat * sizeof(double));
    session->costs = kl_alloc((size_t)session->repeat * sizeof(double));
    if (cli_has(args, "trace")) {
        session->trace.rows = kl_alloc(TRACE_ROWS * sizeof(KlTraceRow));
        session->trace.capacity = TRACE_ROWS;
    }
    if (session->times == NULL || session->costs == NULL || (cli_has(args, "trace") && session->trace.rows == NULL)) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    if (cli_has(args, "json")) {
        session->results = json_array();
        session->problems = json_array();
    }
    cli_table_begin(&session->table, cli_has(args, "condition") ? 13 : 12, columns);
    cli_table_begin(&session->trace_table, 7, trace_columns);
    cli_table_begin(&session->condition_table, 8, condition_columns);
    return KL_OK;
}

static void session_print(Session *session) {
    if (session->results != NULL) {
        json_t *whole = json_pack("{s:O}", "results", session->results);
        if (cli_has(session->args, "condition")) {
            json_object_set(whole, "problems", session->problems);
        }
        cli_print_json(whole);
        return;
    }
    if (cli_has(session->args, "condition")) {
        cli_table_print(&session->condition_table, stdout);
        putchar('\n');
    }
    if (session->trace.rows != NULL) {
        cli_table_print(&session->trace_table, stdout);
        putchar('\n');
    }
    cli_table_print(&session->table, stdout);
}

static void session_end(Session *session) {
    json_decref(session->results);
    json_decref(session->problems);
    kl_free(session->times);
    kl_free(session->costs);
    kl_free(session->trace.rows);
    cli_table_free(&session->table);
    cli_table_free(&session->trace_table);
    cli_table_free(&session->condition_table);
}

static int run(const CliArgs *args) {
    Session session;
    KlStatus status = session_begin(&session, args);
    if (status != KL_OK) {
        session_end(&session);
        return cli_report(args);
    }
    for (int i = 0; i < cli_operand_count(args) && status == KL_OK && !cli_interrupted(); i++) {
        status = solve_file(&session, cli_operand(args, i));
    }
    if (status == KL_OK || session.table.count > session.table.columns) {
        session_print(&session);  // after a failure: what was solved before it
    }
    int code = CLI_EXIT_OK;
    if (status != KL_OK) {
        code = cli_report(args);
    } else if (cli_interrupted()) {
        code = CLI_EXIT_INTERRUPTED;
    } else if (session.failed || (cli_has(args, "strict") && session.unfinished > 0)) {
        code = CLI_EXIT_FAILED;
    }
    session_end(&session);
    return code;
}

const CliCommand cmd_solve = {
    .name = "solve",
    .operands = "FILE[:INDEX]...",
    .summary = "solves dual problems of a file by every chosen solver",
    .text = "Reads our HDF5, FCLIB local and global, or JSON problems, told apart by content. "
            "FILE:3 takes "
            "one problem, FILE:0-9 a range, FILE:walker/dense those whose name starts so. "
            "Residuals are "
            "recomputed from lambda, independently of the solver's own. Without --strict, not "
            "converging "
            "is a result and exits 0.",
    .options = options,
    .examples = {"kinloop solve tests/data/fclib/Capsules-i125-1213.hdf5 --solver pgs-ncp,admm-ncp-sa "
                 "--max-iter 1000",
                 "two solvers on a public problem of 286 contacts",
                 "kinloop solve set.h5:0-9 --solver pgs-ncp,newton-ncp --tol 1e-8 --json > results.json",
                 "the first ten problems of a data set, for kinloop profile"},
    .min_operands = 1,
    .max_operands = 1000000,
    .complete = "file",
    .run = run,
};
