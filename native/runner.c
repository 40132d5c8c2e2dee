// Runs a scene with one solver, or several on the same problems.
#include "runner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bench/statistics.h"
#include "scene_find.h"

// --- the plan -------------------------------------------------------------------------------------

// The place of "bodies.1.mass" in a document: its parent, and the last key.
static json_t *parent_of(json_t *root, const char *path, char last[64]) {
    json_t *at = root;
    for (const char *key = path;;) {
        size_t length = strcspn(key, ".");
        if (length == 0 || length >= 64) {
            return NULL;
        }
        memcpy(last, key, length);
        last[length] = '\0';
        if (key[length] == '\0') {
            return at;
        }
        json_t *next =
            json_is_array(at) ? json_array_get(at, (size_t)strtoul(last, NULL, 10)) : json_object_get(at, last);
        if (next == NULL && json_is_object(at)) {
            next = json_object();
            json_object_set_new(at, last, next);
        }
        if (next == NULL) {
            return NULL;
        }
        at = next;
        key += length + 1;
    }
}

static KlStatus apply_edit(json_t *root, const char *edit) {
    const char *equals = strchr(edit, '=');
    char path[256], last[64];
    if (equals == NULL || equals == edit || (size_t)(equals - edit) >= sizeof path) {
        return kl_fail(KL_ERR_ARGUMENT, "--edit takes path=json, e.g. bodies.1.mass=0.1 (got %s)", edit);
    }
    memcpy(path, edit, (size_t)(equals - edit));
    path[equals - edit] = '\0';
    json_error_t error;
    json_t *value = json_loads(equals + 1, JSON_DECODE_ANY, &error);
    if (value == NULL) {
        value = json_string(equals + 1);  // a bare word
    }
    json_t *parent = parent_of(root, path, last);
    int failed = -1;
    if (json_is_array(parent)) {
        failed = json_array_set_new(parent, (size_t)strtoul(last, NULL, 10), value);
    } else if (json_is_object(parent)) {
        failed = json_object_set_new(parent, last, value);
    } else {
        json_decref(value);
    }
    return failed == 0 ? KL_OK : kl_fail(KL_ERR_ARGUMENT, "--edit %s: there is no such place in the document", edit);
}

static KlStatus edit_text(const char *path, const char *const *edits, int32_t count, char **text) {
    char *whole = NULL;
    size_t size;
    KL_TRY(cli_read_file(path, &whole, &size));
    json_error_t error;
    json_t *root = json_loadb(whole, size, JSON_REJECT_DUPLICATES, &error);
    kl_free(whole);
    if (root == NULL) {
        KlPlace place = {.file = path, .line = error.line, .column = error.column};
        return kl_fail_at(KL_ERR_FORMAT, &place, "%s", error.text);
    }
    KlStatus status = KL_OK;
    for (int32_t i = 0; i < count && status == KL_OK; i++) {
        status = apply_edit(root, edits[i]);
    }
    *text = status == KL_OK ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    return status != KL_OK || *text != NULL ? status : kl_fail(KL_ERR_MEMORY, "out of memory");
}

KlStatus scene_load_edited(const char *path, const char *const *edits, int32_t edit_count, KlScene **scene) {
    if (edit_count == 0) {
        return kl_scene_load(path, kl_files_disk(), scene);
    }
    char *text = NULL;
    KL_TRY(edit_text(path, edits, edit_count, &text));
    KlStatus status = kl_scene_parse(text, strlen(text), path, kl_files_disk(), scene);
    free(text);
    return status;
}

static KlStatus load_scene(const CliArgs *args, const char *operand, RunPlan *plan, int *exit_code) {
    char path[1024];
    *exit_code = CLI_EXIT_USAGE;
    if (scene_find(operand, path, sizeof path) != KL_OK) {
        *exit_code = kl_last_error()->status == KL_ERR_NOT_FOUND ? CLI_EXIT_USAGE : CLI_EXIT_INPUT;
        return kl_last_error()->status;
    }
    const char *edits[64];
    int32_t count = cli_value_count(args, "edit");
    if (count > 64) {
        return kl_fail(KL_ERR_LIMIT, "at most 64 times --edit");
    }
    for (int32_t i = 0; i < count; i++) {
        edits[i] = cli_value(args, "edit", i);
    }
    KlStatus status = scene_load_edited(path, edits, count, &plan->scene);
    *exit_code = status == KL_ERR_ARGUMENT ? CLI_EXIT_USAGE : CLI_EXIT_INPUT;
    return status;
}

static KlStatus choose_run(const CliArgs *args, RunPlan *plan) {
    const char *id = cli_text(args, "run", NULL);
    int32_t index = id != NULL ? kl_scene_find_run(plan->scene, id) : 0;
    if (index < 0) {
        const char *names[128] = {NULL};
        for (int32_t i = 0; i < kl_scene_run_count(plan->scene) && i < 127; i++) {
            names[i] = kl_scene_run(plan->scene, i)->id;
        }
        const char *hint = cli_did_you_mean(id, names);
        return kl_fail(KL_ERR_NOT_FOUND, "%s has no run %s%s%s%s", kl_scene_id(plan->scene), id,
                       hint != NULL       ? "; did you mean "
                       : names[0] != NULL ? "; its first is "
                                          : "",
                       hint != NULL       ? hint
                       : names[0] != NULL ? names[0]
                                          : "",
                       hint != NULL ? "?" : "");
    }
    plan->run = kl_scene_run(plan->scene, index);
    plan->defaults = (SolverDefaults){plan->run->preset, plan->run->max_iterations, plan->run->tolerance};
    KlSettings settings = plan->run->settings;
    settings.dt = cli_real(args, "dt", settings.dt);
    plan->dt = settings.dt;
    double duration = cli_real(args, "duration", plan->run->duration);
    plan->steps = cli_int(args, "steps", (int64_t)floor(duration / plan->dt + 0.5));
    plan->steps = plan->steps > 0 ? plan->steps : 1;
    return kl_scene_model_with(plan->scene, index, &settings, &plan->model);
}

// The solvers of the command line, else those of the document, else the default.
static KlStatus choose_solvers(const CliArgs *args, RunPlan *plan) {
    char list[1024] = "";
    for (int32_t i = 0; i < kl_scene_solver_count(plan->scene); i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? "," : "", kl_scene_solver(plan->scene, i));
    }
    return solver_choice(args, list[0] != '\0' ? list : solver_default(), &plan->choice);
}

KlStatus run_plan_load(const CliArgs *args, const char *operand, RunPlan *plan, int *exit_code) {
    *plan = (RunPlan){0};
    KL_TRY(load_scene(args, operand, plan, exit_code));
    *exit_code = CLI_EXIT_USAGE;
    KL_TRY(choose_solvers(args, plan));
    KlStatus status = choose_run(args, plan);
    *exit_code = status == KL_ERR_NOT_FOUND || status == KL_ERR_ARGUMENT ? CLI_EXIT_USAGE : CLI_EXIT_INPUT;
    return status;
}

void run_plan_free(RunPlan *plan) {
    kl_model_destroy(plan->model);
    kl_scene_destroy(plan->scene);
    *plan = (RunPlan){0};
}

// --- statistics -----------------------------------------------------------------------------------

KlStatus run_stats_begin(const RunPlan *plan, RunStats *stats) {
    *stats = (RunStats){.outcome = "failed"};
    for (int i = 0; i < MAX_METRICS; i++) {
        stats->maximum[i] = stats->final[i] = (double)NAN;
    }
    KlModelInfo info;
    kl_model_info(plan->model, &info);
    stats->model = plan->model;
    stats->motion = kl_alloc(((size_t)info.bodies * MOTION_COLUMNS + 1) * sizeof *stats->motion);
    stats->iterations = kl_alloc((size_t)plan->steps * sizeof *stats->iterations);
    return stats->iterations != NULL && stats->motion != NULL
               ? KL_OK
               : kl_fail(KL_ERR_MEMORY, "out of memory for %lld steps", (long long)plan->steps);
}

void run_stats_free(RunStats *stats) {
    kl_free(stats->iterations);
    kl_free(stats->motion);
    json_decref(stats->contacts);
    stats->iterations = NULL;
    stats->motion = NULL;
    stats->contacts = NULL;
}

static void note_motion(RunStats *stats, const KlSim *sim) {
    const KlField *poses = kl_sim_find_field(sim, "pose");
    for (int32_t b = 0; b < poses->rows; b++) {
        const double *pose = (const double *)poses->data + 7 * b;
        double *row = stats->motion + MOTION_COLUMNS * b;
        memcpy(row, pose, 7 * sizeof *row);
        for (int k = 0; k < 3; k++) {
            row[7 + k] = stats->steps == 0 || pose[k] < row[7 + k] ? pose[k] : row[7 + k];
            row[10 + k] = stats->steps == 0 || pose[k] > row[10 + k] ? pose[k] : row[10 + k];
        }
    }
}

static void note_metric(RunStats *stats, int32_t metric, double value) {
    stats->final[metric] = value;
    if (!isnan(value) && !(stats->maximum[metric] >= value)) {
        stats->maximum[metric] = value;
        stats->maximum_step[metric] = stats->steps;
    }
}

static int32_t find_field(const KlSim *sim, const char *id) {
    int32_t i = 0;
    while (kl_sim_field(sim, i) != kl_sim_find_field(sim, id)) {
        i++;
    }
    return i;
}

static void note_metrics(RunStats *stats, const KlSim *sim) {
    const double *metrics = kl_sim_metrics(sim);
    for (int32_t i = 0; i < kl_metric_count() && i < MAX_METRICS; i++) {
        note_metric(stats, i, metrics[i]);
    }
}

static void note_solution(RunStats *stats, const KlSolution *solution) {
    stats->iterations[stats->steps] = solution->iterations;
    stats->iterations_sum += solution->iterations;
    stats->converged_steps += solution->outcome == KL_OUTCOME_CONVERGED;
}

void run_stats_step(RunStats *stats, const KlSim *sim, bool measured) {
    if (measured) {
        note_metrics(stats, sim);
    }
    if (stats->steps == 0) {  // not by name in every step, which is short
        stats->stages_field = find_field(sim, "stage_time");
    }
    note_motion(stats, sim);
    const KlField *stages = kl_sim_field(sim, stats->stages_field);
    for (int32_t i = 0; i < stages->columns && i < MAX_STAGES; i++) {
        stats->stage[i] += ((const double *)stages->data)[i];
    }
    note_solution(stats, kl_sim_solution(sim));
    stats->steps++;
}

static void note_failure(RunStats *stats, KlStatus status) {
    stats->outcome = status == KL_ERR_DIVERGED ? "diverged" : "failed";
    snprintf(stats->error, sizeof stats->error, "step %lld: %.340s", (long long)stats->steps, kl_last_error()->message);
}

// Where each body is at the end, and how far it has been on the way.
static json_t *motion_json(const RunStats *stats) {
    KlModelInfo info;
    kl_model_info(stats->model, &info);
    json_t *bodies = json_array();
    for (int32_t b = 0; b < info.bodies; b++) {
        const double *row = stats->motion + MOTION_COLUMNS * b;
        json_array_append_new(bodies, json_pack("{s:s, s:o, s:o, s:o}", "name", kl_model_body(stats->model, b)->name,
                                                "pose", cli_json_reals(row, 7), "low", cli_json_reals(row + 7, 3),
                                                "high", cli_json_reals(row + 10, 3)));
    }
    return bodies;
}

// The contacts that the last step solved for, where they act, and the force on the second body.
static json_t *contacts_json(const KlSim *sim, const KlModel *model) {
    const KlField *positions = kl_sim_find_field(sim, "contact_position");
    const double *position = positions->data, *frame = kl_sim_find_field(sim, "contact_frame")->data;
    const double *force = kl_sim_find_field(sim, "contact_force")->data;
    const int32_t *pair = kl_sim_find_field(sim, "contact_bodies")->data;
    json_t *contacts = json_array();
    for (int32_t c = 0; c < *positions->row_count; c++) {
        json_t *bodies = json_array();
        for (int side = 0; side < 2; side++) {
            int32_t body = pair[2 * c + side];
            json_array_append_new(bodies, body < 0 ? json_null() : json_string(kl_model_body(model, body)->name));
        }
        json_array_append_new(contacts, json_pack("{s:o, s:o, s:o, s:o}", "bodies", bodies, "position",
                                                  cli_json_reals(position + 3 * c, 3), "normal",
                                                  cli_json_reals(frame + 9 * c + 6, 3), "force",
                                                  cli_json_reals(force + 3 * c, 3)));
    }
    return contacts;
}

json_t *run_stats_json(const RunStats *stats, const char *solver) {
    json_t *time = json_pack("{s:o}", "total", cli_json_real(stats->total));
    for (int32_t i = 0; i < kl_stage_count() && i < MAX_STAGES; i++) {
        json_object_set_new(time, kl_stage_name(i), cli_json_real(stats->stage[i]));
    }
    json_t *maximum = json_object(), *final = json_object(), *at = json_object();
    for (int32_t i = 0; i < kl_metric_count() && i < MAX_METRICS; i++) {
        const char *id = kl_metric_kind(i)->id;
        json_object_set_new(maximum, id, cli_json_real(stats->maximum[i]));
        json_object_set_new(final, id, cli_json_real(stats->final[i]));
        json_object_set_new(at, id, json_integer((json_int_t)stats->maximum_step[i]));
    }
    double most = 0.0;
    for (int64_t i = 0; i < stats->steps; i++) {
        most = stats->iterations[i] > most ? stats->iterations[i] : most;
    }
    double median = kl_median(stats->iterations, (int32_t)stats->steps);
    char hash[32];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)stats->hash);
    json_t *result = json_pack("{s:s, s:s, s:s, s:I, s:o, s:{s:o, s:o, s:o}, s:I, s:o, s:o, s:o}", "solver", solver,
                               "outcome", stats->outcome, "hash", hash, "steps", (json_int_t)stats->steps, "time_s",
                               time, "iterations", "median", cli_json_real(median), "max", cli_json_real(most), "sum",
                               cli_json_real(stats->iterations_sum), "converged_steps",
                               (json_int_t)stats->converged_steps, "max", maximum, "max_step", at, "final", final);
    if (stats->model != NULL) {
        json_object_set_new(result, "bodies", motion_json(stats));
    }
    if (stats->contacts != NULL) {
        json_object_set(result, "contacts", stats->contacts);
    }
    if (stats->error[0] != '\0') {
        json_object_set_new(result, "error", json_string(stats->error));
    }
    return result;
}

// --- one solver -----------------------------------------------------------------------------------

static KlStatus make_sim(const CliArgs *args, const RunPlan *plan, int32_t kind, KlSim **sim) {
    KL_TRY(kl_sim_create(plan->model, sim));
    KL_TRY(kl_sim_set_solver(*sim, kl_solver_kind(kind)->id));
    return solver_apply(args, &plan->defaults, kl_sim_solver(*sim));
}

// The force that a plane's friction just holds, times plan->push, on the first body.
static KlStatus apply_push(const RunPlan *plan, KlSim *sim) {
    KlModelInfo info;
    kl_model_info(plan->model, &info);
    double friction = 0.0;
    for (int32_t g = info.geoms - 1; g >= 0; g--) {
        const KlGeomDef *geom = kl_model_geom(plan->model, g);
        friction = geom->body == 0 && !geom->visual_only ? geom->friction : friction;
    }
    const double *gravity = kl_model_settings(plan->model)->gravity;
    double weight = info.total_mass * sqrt(gravity[0] * gravity[0] + gravity[1] * gravity[1] + gravity[2] * gravity[2]);
    const double wrench[6] = {plan->push * friction * weight, 0.0, 0.0, 0.0, 0.0, 0.0};
    return kl_sim_apply_wrench(sim, 0, wrench);
}

KlStatus run_one(const CliArgs *args, const RunPlan *plan, int32_t kind, const RunWatcher *watcher,
                 CliProgress *progress, double *progress_done, RunStats *stats) {
    KlSim *sim = NULL;
    KL_TRY(run_stats_begin(plan, stats));
    KlStatus status = make_sim(args, plan, kind, &sim);
    stats->outcome = "finished";
    bool each = !plan->measure_last;  // else nothing is timed but the whole and the solves
    if (status == KL_OK) {
        kl_sim_time_stages(sim, each);
    }
    double start = kl_clock();
    while (status == KL_OK && stats->steps < plan->steps) {
        if (cli_interrupted()) {
            stats->outcome = "interrupted";
            break;
        }
        start = each ? kl_clock() : start;
        KlStatus step = plan->push != 0.0 ? apply_push(plan, sim) : KL_OK;
        step = step == KL_OK ? kl_sim_step(sim) : step;
        if (step == KL_OK && each) {
            (void)kl_sim_metrics(sim);  // its time is the step's
        }
        stats->total += each ? kl_clock() - start : 0.0;
        if (step != KL_OK) {
            note_failure(stats, step);
            break;
        }
        run_stats_step(stats, sim, each || stats->steps + 1 == plan->steps);
        stats->hash_at_step = stats->steps == plan->expected_step ? kl_sim_hash(sim) : stats->hash_at_step;
        if (watcher != NULL) {
            RunStep seen = {sim, kind, false, kl_sim_metrics(sim), kl_sim_solution(sim)};
            status = watcher->step(watcher->context, &seen);
        }
        cli_progress_update(progress, *progress_done + (double)stats->steps);
    }
    stats->total = each ? stats->total : kl_clock() - start;
    *progress_done += (double)plan->steps;
    if (sim != NULL) {
        stats->hash = kl_sim_hash(sim);
        stats->contacts = contacts_json(sim, plan->model);
    }
    kl_sim_destroy(sim);
    return status;
}

// --- curated --------------------------------------------------------------------------------------

// The metrics that follow from a problem and lambda alone.
static void note_residuals(RunStats *stats, const KlProblem *problem, const KlSolution *solution) {
    KlResiduals r;
    kl_problem_residuals(problem, solution->lambda, &r);
    const struct {
        const char *id;
        double value;
    } values[] = {{"r_dual", r.dual},
                  {"r_ncp", r.complementarity},
                  {"r_nat", r.natural},
                  {"r_nat_rel", r.natural_relative},
                  {"r_p", r.primal},
                  {"r_dual_ccp", r.dual_ccp},
                  {"r_ccp", r.complementarity_ccp},
                  {"r_nat_ccp", r.natural_ccp},
                  {"f", r.objective},
                  {"f_ds", r.objective_desaxce},
                  {"f_ncp", r.objective_ncp},
                  {"iterations", solution->iterations},
                  {"t_solve", solution->time},
                  {"t_iter", solution->iterations > 0 ? solution->time / solution->iterations : 0.0},
                  {"outcome", (double)solution->outcome},
                  {"factorizations", solution->factorizations},
                  {"penalty", solution->penalty},
                  {"n_d", problem->dim},
                  {"n_jd", problem->joint_rows},
                  {"n_l", problem->limit_count},
                  {"n_c", problem->contact_count}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        int32_t metric = kl_metric_find(values[i].id);
        if (metric >= 0 && metric < MAX_METRICS) {
            note_metric(stats, metric, values[i].value);
        }
    }
    for (int32_t i = 0; i < kl_stage_count() && i < MAX_STAGES; i++) {
        stats->stage[i] += strcmp(kl_stage_name(i), "solve") == 0 ? solution->time : 0.0;
    }
    note_solution(stats, solution);
    stats->total += solution->time;
    stats->steps++;
}

typedef struct Curated {
    KlSim *sim;
    KlSolver *solvers[MAX_CHOSEN];  // [0] drives
    int32_t count;
} Curated;

static void curated_free(Curated *curated) {
    for (int32_t i = 0; i < curated->count; i++) {
        kl_solver_destroy(curated->solvers[i]);
    }
    kl_sim_destroy(curated->sim);
}

static KlStatus curated_make(const CliArgs *args, const RunPlan *plan, Curated *curated) {
    *curated = (Curated){0};
    KL_TRY(kl_sim_create(plan->model, &curated->sim));
    kl_sim_time_stages(curated->sim, false);  // many solves share a step: t_step would be nobody's
    for (int32_t i = 0; i < plan->choice.count; i++) {
        KL_TRY(solver_make(args, plan->choice.kinds[i], &plan->defaults, &curated->solvers[i]));
        curated->count++;
    }
    return KL_OK;
}

// A guest solves the driver's problem; when it fails it is out from there on.
static void curated_guest(KlSolver *solver, const KlProblem *problem, RunStats *stats, KlSolution *solution) {
    if (strcmp(stats->outcome, "finished") != 0) {
        return;
    }
    KlStatus status = kl_solver_solve(solver, problem, NULL, solution);
    if (status != KL_OK) {
        note_failure(stats, status);
        return;
    }
    note_residuals(stats, problem, solution);
}

// The driver's row first. A guest that is out has none.
static KlStatus curated_watch(const Curated *curated, const RunPlan *plan, const RunWatcher *watcher,
                              const RunStats *stats, const KlSolution *solutions) {
    for (int32_t i = 0; i < curated->count && watcher != NULL; i++) {
        RunStep seen = {curated->sim, plan->choice.kinds[i], i > 0, stats[i].final, &solutions[i]};
        if (strcmp(stats[i].outcome, "finished") == 0) {
            KL_TRY(watcher->step(watcher->context, &seen));
        }
    }
    return KL_OK;
}

// One step of the driver. Its solve counts as any other's: the same problem, the same clock.
static KlStatus curated_step(Curated *curated, const RunPlan *plan, const RunWatcher *watcher, RunStats *stats) {
    KL_TRY(kl_sim_begin_step(curated->sim));
    const KlProblem *problem = kl_sim_problem(curated->sim);
    KlSolution solutions[MAX_CHOSEN];
    KL_TRY(kl_solver_solve(curated->solvers[0], problem, NULL, &solutions[0]));
    for (int32_t i = 1; i < curated->count; i++) {
        curated_guest(curated->solvers[i], problem, &stats[i], &solutions[i]);
    }
    KL_TRY(kl_sim_end_step(curated->sim, solutions[0].lambda));
    note_motion(&stats[0], curated->sim);
    note_metrics(&stats[0], curated->sim);  // energies, violations ...; what the solve gives comes next
    note_residuals(&stats[0], problem, &solutions[0]);
    return curated_watch(curated, plan, watcher, stats, solutions);
}

KlStatus run_curated(const CliArgs *args, const RunPlan *plan, const RunWatcher *watcher, CliProgress *progress,
                     RunStats *stats) {
    Curated curated;
    for (int32_t i = 0; i < plan->choice.count; i++) {
        KL_TRY(run_stats_begin(plan, &stats[i]));
        stats[i].outcome = "finished";
        stats[i].model = i == 0 ? plan->model : NULL;  // guests move nothing
    }
    KlStatus status = curated_make(args, plan, &curated);
    for (int64_t step = 0; status == KL_OK && step < plan->steps; step++) {
        if (cli_interrupted()) {
            for (int32_t i = 0; i < curated.count; i++) {
                stats[i].outcome = "interrupted";
            }
            break;
        }
        KlStatus done = curated_step(&curated, plan, watcher, stats);
        if (done == KL_ERR_IO || done == KL_ERR_MEMORY) {  // the watcher's
            status = done;
        } else if (done != KL_OK) {
            note_failure(&stats[0], done);
            break;
        }
        if (step + 1 == plan->expected_step) {  // the guests have no state: all share the driver's
            for (int32_t i = 0; i < curated.count; i++) {
                stats[i].hash_at_step = kl_sim_hash(curated.sim);
            }
        }
        cli_progress_update(progress, (double)(step + 1));
    }
    if (curated.sim != NULL) {
        stats[0].hash = kl_sim_hash(curated.sim);
    }
    curated_free(&curated);
    return status;
}
