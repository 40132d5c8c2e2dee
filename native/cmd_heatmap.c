// kinloop heatmap: what a solver makes of a scene over a grid of two of its parameters.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "runner.h"
#include "scene_find.h"
#include "shard.h"
#include "svg.h"

static const CliOption options[] = {
    CLI_OPTIONS_SOLVER,
    {"x", 'x', CLI_TEXT, "PATH=LOW..HIGH:N", "first parameter (bodies.0.mass=1e-6..1e6:13)", 0, 0, NULL},
    {"y", 'y', CLI_TEXT, "PATH=LOW..HIGH:N", "second parameter (bodies.1.mass=1e-6..1e6:13)", 0, 0, NULL},
    {"linear", 0, CLI_FLAG, NULL, "grid values at equal distances, not at equal ratios", 0, 0, NULL},
    {"run", 0, CLI_TEXT, "ID", "the run of the scene (step_at_rest, else its first)", 0, 0, NULL},
    {"steps", 'n', CLI_INT, "N", "steps before measuring (1)", 1, 1000000, NULL},
    {"push", 0, CLI_REAL, "FACTOR", "a force on the first body along x: FACTOR times mu m g of the whole", -1e6, 1e6,
     NULL},
    {"edit", 'e', CLI_TEXT, "PATH=JSON", "changes the document for all cells; may be repeated", 0, 0, NULL},
    {"metric", 'm', CLI_TEXT, "ID[,ID...]", "pictures to draw (iterations,r_ncp)", 0, 0, "metrics"},
    {"shard", 0, CLI_TEXT, "I/N", "compute the I-th of N shares of the cells", 0, 0, NULL},
    {"resume", 0, CLI_FLAG, NULL, "go on with the cells that STEM.csv lacks", 0, 0, NULL},
    {"merge", 0, CLI_FLAG, NULL, "join CSV files of shards (the operands) and draw", 0, 0, NULL},
    {"output", 'o', CLI_TEXT, "STEM", "write STEM.csv and STEM-SOLVER-METRIC.svg (default: CSV to stdout)", 0, 0,
     "file"},
    CLI_OPTION_FORCE,
    CLI_COMMON,
};

enum { MAX_SIDE = 201, VALUE_COUNT = 6 };
static const char *const value_ids[VALUE_COUNT] = {"iterations", "r_ncp", "r_dual", "r_nat", "r_nat_rel", "r_pen"};

typedef struct Side {
    char path[128];
    double values[MAX_SIDE];
    int32_t count;
} Side;

typedef struct Cell {
    char outcome[24];  // "" = not computed
    bool converged;
    double values[VALUE_COUNT];
} Cell;

typedef struct Grid {
    Side x, y;
    char solvers[MAX_CHOSEN][64];
    int32_t solver_count;
    Cell *cells;  // (solver_count x y.count x x.count)
} Grid;

static int32_t cell_count(const Grid *grid) { return grid->solver_count * grid->y.count * grid->x.count; }

// --- the grid -------------------------------------------------------------------------------------

static KlStatus parse_side(const char *text, bool linear, Side *side) {
    double low = 0.0, high = 0.0;
    int count = 0, used = 0;
    char first[64] = "", *end = first;
    const char *equals = strchr(text, '='), *dots = equals != NULL ? strstr(equals, "..") : NULL;
    bool good = dots != NULL && equals != text && (size_t)(equals - text) < sizeof side->path;
    if (good) {  // "1..10" would be read as "1." and ".10"
        snprintf(first, sizeof first, "%.*s", (int)(dots - equals - 1), equals + 1);
        low = strtod(first, &end);
        good = end != first && *end == '\0' && sscanf(dots + 2, "%lf:%d%n", &high, &count, &used) == 2 &&
               dots[2 + used] == '\0';
    }
    if (!good || count < 2 || count > MAX_SIDE || !(linear ? low < high : low > 0.0 && low < high)) {
        return kl_fail(KL_ERR_ARGUMENT,
                       "a side is PATH=LOW..HIGH:N with LOW < HIGH (> 0 unless --linear) and 2 to %d values "
                       "(got %s)",
                       (int)MAX_SIDE, text);
    }
    snprintf(side->path, sizeof side->path, "%.*s", (int)(equals - text), text);
    side->count = count;
    for (int i = 0; i < count; i++) {
        double t = (double)i / (count - 1);
        side->values[i] = linear ? low + t * (high - low) : pow(10.0, log10(low) + t * (log10(high) - log10(low)));
    }
    return KL_OK;
}

static KlStatus grid_begin(const CliArgs *args, const SolverChoice *choice, Grid *grid) {
    bool linear = cli_has(args, "linear");
    KL_TRY(parse_side(cli_text(args, "x", "bodies.0.mass=1e-6..1e6:13"), linear, &grid->x));
    KL_TRY(parse_side(cli_text(args, "y", "bodies.1.mass=1e-6..1e6:13"), linear, &grid->y));
    for (int32_t k = 0; k < choice->count; k++) {
        snprintf(grid->solvers[k], sizeof grid->solvers[0], "%s", kl_solver_kind(choice->kinds[k])->id);
    }
    grid->solver_count = choice->count;
    grid->cells = kl_alloc((size_t)(cell_count(grid) + 1) * sizeof *grid->cells);
    return grid->cells != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
}

// --- cells ----------------------------------------------------------------------------------------

static KlStatus load_cell(const CliArgs *args, const char *path, const Grid *grid, int32_t ix, int32_t iy,
                          RunPlan *plan) {
    char x[200], y[200];
    const char *edits[66];
    int32_t count = cli_value_count(args, "edit");
    if (count > 64) {
        return kl_fail(KL_ERR_LIMIT, "at most 64 times --edit");
    }
    for (int32_t i = 0; i < count; i++) {
        edits[i] = cli_value(args, "edit", i);
    }
    snprintf(x, sizeof x, "%s=%.17g", grid->x.path, grid->x.values[ix]);
    snprintf(y, sizeof y, "%s=%.17g", grid->y.path, grid->y.values[iy]);
    edits[count] = x;
    edits[count + 1] = y;
    KL_TRY(scene_load_edited(path, edits, count + 2, &plan->scene));
    const char *id = cli_text(args, "run", "step_at_rest");
    int32_t run = kl_scene_find_run(plan->scene, id);
    if (run < 0 && cli_has(args, "run")) {
        return kl_fail(KL_ERR_NOT_FOUND, "%s has no run %s", kl_scene_id(plan->scene), id);
    }
    run = run >= 0 ? run : 0;
    plan->run = kl_scene_run(plan->scene, run);
    plan->defaults = (SolverDefaults){plan->run->preset, plan->run->max_iterations, plan->run->tolerance};
    plan->steps = cli_int(args, "steps", 1);
    plan->push = cli_real(args, "push", 0.0);
    return kl_scene_model_for_run(plan->scene, run, &plan->model);
}

static KlStatus compute_cell(const CliArgs *args, const char *path, const Grid *grid, int32_t index, Cell *cell) {
    int32_t ix = index % grid->x.count, iy = index / grid->x.count % grid->y.count;
    int32_t solver = index / (grid->x.count * grid->y.count);
    RunPlan plan = {0};
    RunStats stats = {0};
    CliProgress silent = {0};
    double done = 0.0;
    KlStatus status = load_cell(args, path, grid, ix, iy, &plan);
    if (status == KL_OK) {
        status = run_one(args, &plan, kl_solver_kind_find(grid->solvers[solver]), NULL, &silent, &done, &stats);
    }
    if (status == KL_OK) {
        int32_t outcome = kl_metric_find("outcome");
        bool finished = strcmp(stats.outcome, "finished") == 0;
        int code = finished ? (int)stats.final[outcome] : -1;
        snprintf(cell->outcome, sizeof cell->outcome, "%s",
                 finished ? kl_outcome_name((KlOutcome)code) : stats.outcome);
        for (int v = 0; v < VALUE_COUNT; v++) {
            cell->values[v] = finished ? stats.final[kl_metric_find(value_ids[v])] : (double)NAN;
        }
    }
    run_stats_free(&stats);
    run_plan_free(&plan);
    return status;
}

static KlStatus compute(const CliArgs *args, const char *path, Grid *grid) {
    int32_t shard, shards, total = cell_count(grid);
    KL_TRY(shard_parse(cli_text(args, "shard", NULL), &shard, &shards));
    int32_t own = (total + shards - 1 - shard) / shards;
    CliProgress progress;
    cli_progress_begin(&progress, args, "cells", own);
    double done = 0.0;
    KlStatus status = KL_OK;
    for (int32_t i = shard; i < total && status == KL_OK && !cli_interrupted(); i += shards) {
        if (grid->cells[i].outcome[0] == '\0') {
            status = compute_cell(args, path, grid, i, &grid->cells[i]);
        }
        cli_progress_update(&progress, ++done);
    }
    cli_progress_end(&progress, done);
    return status;
}

// --- CSV ------------------------------------------------------------------------------------------

// The first line tells the grid, so that shards join without the command line.
static void write_csv(FILE *file, const Grid *grid) {
    fprintf(file, "cell,solver,%s,%s,outcome", grid->x.path, grid->y.path);
    for (int v = 0; v < VALUE_COUNT; v++) {
        fprintf(file, ",%s", value_ids[v]);
    }
    fputc('\n', file);
    for (int32_t i = 0; i < cell_count(grid); i++) {
        const Cell *cell = &grid->cells[i];
        if (cell->outcome[0] == '\0') {
            continue;
        }
        fprintf(file, "%d,%s,%.17g,%.17g,%s", (int)i, grid->solvers[i / (grid->x.count * grid->y.count)],
                grid->x.values[i % grid->x.count], grid->y.values[i / grid->x.count % grid->y.count], cell->outcome);
        for (int v = 0; v < VALUE_COUNT; v++) {
            fprintf(file, ",%.17g", cell->values[v]);
        }
        fputc('\n', file);
    }
}

static KlStatus fail_line(const char *path, int line, const char *what) {
    KlPlace place = {.file = path, .line = line, .column = 1};
    return kl_fail_at(KL_ERR_FORMAT, &place, "%s", what);
}

static KlStatus read_line(const char *path, int number, char *line, Grid *grid) {
    int32_t index = 0;
    int column = 0;
    Cell cell = {0};
    for (char *field = strtok(line, ","); field != NULL; field = strtok(NULL, ","), column++) {
        if (column == 0) {
            index = atoi(field);
        } else if (column == 4) {
            snprintf(cell.outcome, sizeof cell.outcome, "%.23s", field);
        } else if (column >= 5 && column < 5 + VALUE_COUNT) {
            cell.values[column - 5] = strtod(field, NULL);
        }
    }
    if (column != 5 + VALUE_COUNT || index < 0 || index >= cell_count(grid)) {
        return fail_line(path, number, "is no cell of this grid: give the options of the shards again");
    }
    grid->cells[index] = cell;
    return KL_OK;
}

static KlStatus read_csv(const char *path, Grid *grid) {
    char *text = NULL, *rest = NULL;
    size_t size;
    KL_TRY(cli_read_file(path, &text, &size));
    KlStatus status = KL_OK;
    char head[400];
    snprintf(head, sizeof head, "cell,solver,%s,%s,outcome,", grid->x.path, grid->y.path);
    if (strncmp(text, head, strlen(head)) != 0) {
        status = fail_line(path, 1, "is no CSV of a heatmap of these parameters");
    }
    (void)strtok_r(text, "\n", &rest);  // the head
    for (int number = 2; status == KL_OK; number++) {
        char *line = strtok_r(NULL, "\n", &rest);
        if (line == NULL) {
            break;
        }
        status = read_line(path, number, line, grid);
    }
    kl_free(text);
    return status;
}

// --- pictures -------------------------------------------------------------------------------------

static bool is_complete(const Grid *grid) {
    for (int32_t i = 0; i < cell_count(grid); i++) {
        if (grid->cells[i].outcome[0] == '\0') {
            return false;
        }
    }
    return true;
}

static KlStatus draw(const CliArgs *args, const Grid *grid, int32_t solver, int value, const char *stem) {
    int32_t cells = grid->x.count * grid->y.count;
    double *values = kl_alloc((size_t)cells * sizeof *values);
    bool *hatched = kl_alloc((size_t)cells * sizeof *hatched);
    char path[1200], title[200];
    CliOutput output;
    KlStatus status = values != NULL && hatched != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
    for (int32_t i = 0; i < cells && status == KL_OK; i++) {
        const Cell *cell = &grid->cells[solver * cells + i];
        values[i] = cell->values[value];
        hatched[i] = strcmp(cell->outcome, "converged") != 0;
    }
    snprintf(path, sizeof path, "%.1000s-%s-%s.svg", stem, grid->solvers[solver], value_ids[value]);
    snprintf(title, sizeof title, "%s of %s (hatched: not converged)", value_ids[value], grid->solvers[solver]);
    status = status == KL_OK ? cli_output_open(&output, path, cli_has(args, "force")) : status;
    if (status == KL_OK) {
        SvgHeatmap map = {.title = title,
                          .x_label = grid->x.path,
                          .y_label = grid->y.path,
                          .value_label = value_ids[value],
                          .x = grid->x.values,
                          .y = grid->y.values,
                          .values = values,
                          .hatched = hatched,
                          .columns = grid->x.count,
                          .rows = grid->y.count};
        svg_heatmap(output.file, &map);
        status = cli_output_commit(&output);
    }
    kl_free(values);
    kl_free(hatched);
    return status;
}

static KlStatus draw_all(const CliArgs *args, const Grid *grid, const char *stem) {
    const char *metrics = cli_text(args, "metric", "iterations,r_ncp");
    if (!is_complete(grid)) {
        cli_note(args, "the grid has cells without a value: no picture yet");
        return KL_OK;
    }
    for (const char *at = metrics; *at != '\0';) {
        size_t length = strcspn(at, ",");
        int value = -1;
        for (int v = 0; v < VALUE_COUNT; v++) {
            value = strlen(value_ids[v]) == length && strncmp(value_ids[v], at, length) == 0 ? v : value;
        }
        if (value < 0) {
            return kl_fail(KL_ERR_ARGUMENT,
                           "--metric takes iterations, r_ncp, r_dual, r_nat, r_nat_rel, r_pen (got %s)", at);
        }
        for (int32_t s = 0; s < grid->solver_count; s++) {
            KL_TRY(draw(args, grid, s, value, stem));
        }
        at += length;
        at += *at == ',';
    }
    return KL_OK;
}

// --- all ------------------------------------------------------------------------------------------

static KlStatus fill(const CliArgs *args, Grid *grid) {
    if (cli_has(args, "merge")) {
        for (int i = 0; i < cli_operand_count(args); i++) {
            KL_TRY(read_csv(cli_operand(args, i), grid));
        }
        return KL_OK;
    }
    char path[1100];
    const char *stem = cli_text(args, "output", NULL);
    if (cli_has(args, "resume")) {
        if (stem == NULL) {
            return kl_fail(KL_ERR_ARGUMENT, "--resume needs --output STEM");
        }
        snprintf(path, sizeof path, "%.1000s.csv", stem);
        if (access(path, F_OK) == 0) {
            KL_TRY(read_csv(path, grid));
        }
    }
    if (cli_operand_count(args) > 1) {
        return kl_fail(KL_ERR_ARGUMENT, "heatmap takes one scene (or --merge with CSV files)");
    }
    KL_TRY(scene_find(cli_operand_count(args) > 0 ? cli_operand(args, 0) : "boxes_fixed", path, sizeof path));
    return compute(args, path, grid);
}

static void print_json(const Grid *grid) {
    json_t *rows = json_array();
    for (int32_t i = 0; i < cell_count(grid); i++) {
        const Cell *cell = &grid->cells[i];
        json_t *row = json_pack(
            "{s:i, s:s, s:o, s:o, s:s}", "cell", (int)i, "solver", grid->solvers[i / (grid->x.count * grid->y.count)],
            "x", cli_json_real(grid->x.values[i % grid->x.count]), "y",
            cli_json_real(grid->y.values[i / grid->x.count % grid->y.count]), "outcome", cell->outcome);
        for (int v = 0; v < VALUE_COUNT; v++) {
            json_object_set_new(row, value_ids[v], cli_json_real(cell->values[v]));
        }
        json_array_append_new(rows, row);
    }
    cli_print_json(json_pack("{s:s, s:s, s:o}", "x", grid->x.path, "y", grid->y.path, "cells", rows));
}

static KlStatus write_all(const CliArgs *args, const Grid *grid) {
    const char *stem = cli_text(args, "output", NULL);
    if (cli_has(args, "json")) {
        print_json(grid);
    } else if (stem == NULL || strcmp(stem, "-") == 0) {
        write_csv(stdout, grid);
        return KL_OK;
    }
    if (stem == NULL) {
        return KL_OK;
    }
    char path[1100];
    CliOutput output;
    snprintf(path, sizeof path, "%.1000s.csv", stem);
    KL_TRY(cli_output_open(&output, path, cli_has(args, "force") || cli_has(args, "resume")));
    write_csv(output.file, grid);
    KL_TRY(cli_output_commit(&output));
    return draw_all(args, grid, stem);
}

static int run(const CliArgs *args) {
    Grid *grid = kl_alloc(sizeof *grid);
    SolverChoice choice;
    KlStatus status =
        grid != NULL ? solver_choice(args, "newton-ncp", &choice) : kl_fail(KL_ERR_MEMORY, "out of memory");
    status = status == KL_OK ? grid_begin(args, &choice, grid) : status;
    status = status == KL_OK ? fill(args, grid) : status;
    status = status == KL_OK ? write_all(args, grid) : status;
    int code = status != KL_OK ? cli_report(args) : cli_interrupted() ? CLI_EXIT_INTERRUPTED : CLI_EXIT_OK;
    if (grid != NULL) {
        kl_free(grid->cells);
    }
    kl_free(grid);
    return code;
}

const CliCommand cmd_heatmap = {
    .name = "heatmap",
    .operands = "[SCENE|CSV...]",
    .summary = "a grid over two parameters of a scene: CSV and pictures",
    .text = "By default the mass grid of boxes_fixed: bottom and top mass from 1e-6 to 1e6 kg, one step at rest, or "
            "pushed with --push 1.01. Any two places of any scene document make a grid. A cell holds the metrics of "
            "the last step; hatched cells did not converge. Shards merge in any order to the same bytes.",
    .options = options,
    .examples =
        {"kinloop heatmap -s newton-ncp,admm-ncp-fp --preset high-throughput --push 1.01 -o mass",
         "the pushed mass grid of two solvers",
         "kinloop heatmap fourbar_free -s newton-ncp -x bodies.1.mass=1..1000:7 -y dt=1e-4..1e-2:5 --steps 20 -o bar",
         "a mass against the time step"},
    .min_operands = 0,
    .max_operands = 100000,
    .complete = "scenes",
    .run = run,
};
