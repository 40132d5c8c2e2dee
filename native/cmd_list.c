// kinloop list: the tables of solvers, scenes, metrics and parameters.
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "output.h"
#include "scene_find.h"

static const CliOption options[] = {
    {"ids", 0, CLI_FLAG, NULL, "only the ids, one a line", 0, 0, NULL},
    CLI_COMMON,
};

// --- solvers ------------------------------------------------------------------------------------

static json_t *solver_row(int32_t i) {
    const KlSolverInfo *solver = kl_solver_kind(i);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:b}", "id", solver->id, "title", solver->title, "text", solver->text,
                     "source", solver->source, "family", solver->family, "de_saxce", (int)solver->de_saxce);
}

static KlStatus list_solvers(json_t *rows) {
    for (int32_t i = 0; i < kl_solver_kind_count(); i++) {
        json_array_append_new(rows, solver_row(i));
    }
    return KL_OK;
}

// --- parameters ---------------------------------------------------------------------------------

static const char *kind_name(KlParamKind kind) {
    static const char *const names[] = {"real", "int", "bool", "choice"};
    return names[kind];
}

// A parameter is named solver.param, as --set takes it.
static json_t *param_row(const KlSolverInfo *solver, const KlParam *param) {
    char id[128];
    snprintf(id, sizeof id, "%s.%s", solver->id, param->id);
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:b}", "id", id, "title", param->title, "solver",
                  solver->id, "param", param->id, "unit", param->unit, "text", param->text, "kind",
                  kind_name(param->kind), "initial", cli_json_real(param->initial), "min", cli_json_real(param->min),
                  "max", cli_json_real(param->max), "log_scale", (int)param->log_scale);
    if (param->kind == KL_PARAM_CHOICE) {
        json_object_set_new(row, "choices", json_string(param->choices));
    }
    return row;
}

static KlStatus list_params(json_t *rows) {
    for (int32_t i = 0; i < kl_solver_kind_count(); i++) {
        const KlSolverInfo *solver = kl_solver_kind(i);
        for (int32_t k = 0; k < solver->param_count; k++) {
            json_array_append_new(rows, param_row(solver, &solver->params[k]));
        }
    }
    return KL_OK;
}

// --- metrics ------------------------------------------------------------------------------------

static KlStatus list_metrics(json_t *rows) {
    for (int32_t i = 0; i < kl_metric_count(); i++) {
        const KlMetricInfo *metric = kl_metric_kind(i);
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:s, s:s, s:b}", "id", metric->id, "title", metric->title, "unit",
                                        metric->unit, "text", metric->text, "log_scale", (int)metric->log_scale));
    }
    return KL_OK;
}

// --- scenes -------------------------------------------------------------------------------------

static json_t *runs_of(const KlScene *scene) {
    json_t *runs = json_array();
    for (int32_t i = 0; i < kl_scene_run_count(scene); i++) {
        const KlRunDef *run = kl_scene_run(scene, i);
        json_array_append_new(runs, json_pack("{s:s, s:s, s:o}", "id", run->id, "title", run->title, "duration",
                                              cli_json_real(run->duration)));
    }
    return runs;
}

static json_t *scene_row(const char *id, const char *path, const KlScene *scene) {
    KlModelInfo info;
    kl_model_info(kl_scene_model(scene), &info);
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:i, s:b, s:b}", "id", id, "title",
                  kl_scene_title(scene), "text", kl_scene_text(scene), "bodies", (int)info.bodies, "joints",
                  (int)info.joints, "actuated_dofs", (int)info.actuated_dofs, "passive_dofs", (int)info.passive_dofs,
                  "joint_rows", (int)info.joint_rows, "mass_ratio", cli_json_real(info.mass_ratio), "loops",
                  (int)info.loops, "surrogate", (int)kl_scene_surrogate(scene), "fixed_base", (int)info.fixed_base);
    json_object_set_new(row, "experiment", json_boolean(strstr(path, "/experiments/") != NULL));
    json_object_set_new(row, "runs", runs_of(scene));
    return row;
}

static KlStatus list_scenes(json_t *rows) {
    SceneNames list;
    KL_TRY(scene_names(&list));
    KlStatus status = KL_OK;
    for (int i = 0; i < list.count && status == KL_OK; i++) {
        KlScene *scene = NULL;
        status = kl_scene_load(list.paths[i], kl_files_disk(), &scene);
        if (status == KL_OK) {
            json_array_append_new(rows, scene_row(list.names[i], list.paths[i], scene));
            kl_scene_destroy(scene);
        }
    }
    scene_names_free(&list);
    return status;
}

// --- printing -----------------------------------------------------------------------------------

typedef struct Listing {
    const char *name;
    KlStatus (*fill)(json_t *rows);
    const char *columns[10];  // keys of the table for people
} Listing;

static const Listing listings[] = {
    {"solvers", list_solvers, {"id", "title", "family", "de_saxce", "text"}},
    {"scenes",
     list_scenes,
     {"id", "bodies", "joints", "actuated_dofs", "passive_dofs", "joint_rows", "mass_ratio", "loops", "surrogate"}},
    {"metrics", list_metrics, {"id", "unit", "title"}},
    {"params", list_params, {"id", "kind", "initial", "min", "max", "unit", "title"}},
};
enum { LISTING_COUNT = sizeof listings / sizeof listings[0] };

static void cell_of(CliTable *table, const json_t *value) {
    switch (json_typeof(value)) {
        case JSON_STRING: cli_table_cell(table, "%s", json_string_value(value)); break;
        case JSON_INTEGER: cli_table_cell(table, "%d", (int)json_integer_value(value)); break;
        case JSON_REAL: cli_table_cell(table, "%g", json_real_value(value)); break;
        case JSON_TRUE: cli_table_cell(table, "yes"); break;
        case JSON_FALSE: cli_table_cell(table, "no"); break;
        default: cli_table_cell(table, "-"); break;
    }
}

static void print_table(const Listing *listing, const json_t *rows) {
    int columns = 0;
    while (columns < 10 && listing->columns[columns] != NULL) {
        columns++;
    }
    CliTable table;
    cli_table_begin(&table, columns, listing->columns);
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) {
        for (int k = 0; k < columns; k++) {
            cell_of(&table, json_object_get(row, listing->columns[k]));
        }
    }
    cli_table_print(&table, stdout);
    cli_table_free(&table);
}

static void print_ids(const json_t *rows) {
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) { puts(json_string_value(json_object_get(row, "id"))); }
}

static int run(const CliArgs *args) {
    const char *name = cli_operand(args, 0);
    const Listing *listing = NULL;
    for (int i = 0; i < LISTING_COUNT; i++) {
        if (strcmp(listings[i].name, name) == 0) {
            listing = &listings[i];
        }
    }
    if (listing == NULL) {
        kl_fail(KL_ERR_ARGUMENT, "list takes solvers, scenes, metrics or params (got %s)", name);
        return cli_report(args);
    }
    json_t *rows = json_array();
    if (listing->fill(rows) != KL_OK) {
        json_decref(rows);
        return cli_report(args);
    }
    if (cli_has(args, "json")) {
        cli_print_json(rows);
        return CLI_EXIT_OK;
    }
    if (cli_has(args, "ids")) {
        print_ids(rows);
    } else {
        print_table(listing, rows);
    }
    json_decref(rows);
    return CLI_EXIT_OK;
}

const CliCommand cmd_list = {
    .name = "list",
    .operands = "solvers|scenes|metrics|params",
    .summary = "the solvers, scenes, metrics and parameters of this build",
    .text = "Prints one of the tables that everything else follows: menus of the page, columns of "
            "results, keys of JSON.",
    .options = options,
    .examples = {"kinloop list solvers", "the ids that --solver takes",
                 "kinloop list scenes --json | jq -r '.[] | select(.loops > 0).id'", "the scenes with kinematic loops"},
    .min_operands = 1,
    .max_operands = 1,
    .complete = "solvers|scenes|metrics|params",
    .run = run,
};
