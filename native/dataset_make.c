// Samples a benchmark set from simulations.
#include "dataset_make.h"

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset_file.h"
#include "dual/rank.h"
#include "runner.h"
#include "scene_find.h"

// --- one unit -------------------------------------------------------------------------------------

// Solvers that look for lambda*, in this order: where one resists, the spectral penalty often does not.
enum { BEST_COUNT = 4 };
static const struct {
    const char *id;
    double iterations;
} best_solvers[BEST_COUNT] = {
    {"newton-ncp", 300}, {"admm-ncp-plus", 20000}, {"admm-ncp-sa", 20000}, {"admm-ncp-la", 20000}};

typedef struct Unit {
    const DatasetPlan *plan;
    const char *system;
    int32_t number;  // within the system: its seed
    KlScene *scene;
    KlModel *model;
    const KlRunDef *run;
    KlModelInfo info;
    KlSim *sim;
    KlSolver *best[BEST_COUNT];  // give lambda*: the first that reaches the goal
    H5File file;
    int32_t taken[KL_CATEGORY_COUNT];
    int64_t last[KL_CATEGORY_COUNT];  // step of the last sample
    KlRng rng;
} Unit;

// Relative natural map that a best known solution should reach; what falls short is stored as it is.
static const double goal = 1e-10;

static KlStatus make_solver(const char *id, double iterations, KlSolver **solver) {
    if (kl_solver_kind_find(id) < 0) {
        return KL_OK;
    }
    KL_TRY(kl_solver_create(id, solver));
    KL_TRY(kl_solver_set(*solver, "tolerance", 1e-12));
    return kl_solver_set(*solver, "max_iterations", iterations);
}

static void unit_free(Unit *unit) {
    for (int i = 0; i < BEST_COUNT; i++) {
        kl_solver_destroy(unit->best[i]);
    }
    h5_close(&unit->file);
    kl_sim_destroy(unit->sim);
    kl_model_destroy(unit->model);
    kl_scene_destroy(unit->scene);
}

static KlStatus unit_begin(Unit *unit) {
    char path[1024];
    KL_TRY(scene_find(unit->system, path, sizeof path));
    KL_TRY(kl_scene_load(path, kl_files_disk(), &unit->scene));
    int32_t run = unit->number % kl_scene_run_count(unit->scene);
    unit->run = kl_scene_run(unit->scene, run);
    KL_TRY(kl_scene_model_for_run(unit->scene, run, &unit->model));
    kl_model_info(unit->model, &unit->info);
    KL_TRY(kl_sim_create(unit->model, &unit->sim));
    KL_TRY(kl_sim_set_solver(unit->sim, unit->plan->driver));
    KL_TRY(kl_solver_set(kl_sim_solver(unit->sim), "max_iterations", 2000));
    KL_TRY(kl_solver_set(kl_sim_solver(unit->sim), "tolerance", 1e-9));
    KL_TRY(kl_solver_set_text(kl_sim_solver(unit->sim), "warm_start", "previous"));
    for (int i = 0; i < BEST_COUNT; i++) {
        KL_TRY(make_solver(best_solvers[i].id, best_solvers[i].iterations, &unit->best[i]));
    }
    unit->rng.state = (uint64_t)unit->plan->seed * 1000003u + (uint64_t)unit->number;
    for (int c = 0; c < KL_CATEGORY_COUNT; c++) {
        unit->last[c] = -unit->plan->stride;
    }
    return KL_OK;
}

// --- perturbation ---------------------------------------------------------------------------------

static void random_quaternion(KlRng *rng, double most, double q[4]) {
    double half = 0.5 * most * kl_rng_unit(rng), axis[3], squared;
    do {
        for (int k = 0; k < 3; k++) {
            axis[k] = kl_rng_range(rng, -1.0, 1.0);
        }
        squared = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2];
    } while (squared < 0.01 || squared > 1.0);
    q[0] = cos(half);
    for (int k = 0; k < 3; k++) {
        q[1 + k] = sin(half) * axis[k] / sqrt(squared);
    }
}

static void multiply(const double a[4], const double b[4], double out[4]) {
    const double product[4] = {
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(out, product, sizeof product);
}

static void rotate(const double q[4], const double v[3], double out[3]) {
    const double conjugate[4] = {q[0], -q[1], -q[2], -q[3]}, pure[4] = {0.0, v[0], v[1], v[2]};
    double half[4], whole[4];
    multiply(q, pure, half);
    multiply(half, conjugate, whole);
    memcpy(out, whole + 1, 3 * sizeof *out);
}

// Turns the whole mechanism about its first body and lifts it: joints stay closed, contacts change.
static KlStatus turn_and_lift(Unit *unit) {
    double q[4], centre[3];
    random_quaternion(&unit->rng, unit->number % 2 == 0 ? 3.1 : 0.4, q);
    double lift = kl_rng_range(&unit->rng, 0.0, 0.3);
    const double *poses = kl_sim_find_field(unit->sim, "pose")->data;
    double lowest = poses[2], radius = 0.0;
    memcpy(centre, poses, sizeof centre);
    for (int32_t b = 0; b < unit->info.bodies; b++) {
        double d[3] = {poses[7 * b] - centre[0], poses[7 * b + 1] - centre[1], poses[7 * b + 2] - centre[2]};
        double distance = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        radius = distance > radius ? distance : radius;
        lowest = poses[7 * b + 2] < lowest ? poses[7 * b + 2] : lowest;
    }
    double up = radius - (centre[2] - lowest) + lift;  // no body ends below the lowest of the start
    for (int32_t b = 0; b < unit->info.bodies; b++) {
        double pose[7], d[3], turned[3];
        memcpy(pose, poses + 7 * b, sizeof pose);
        for (int k = 0; k < 3; k++) {
            d[k] = pose[k] - centre[k];
        }
        rotate(q, d, turned);
        for (int k = 0; k < 3; k++) {
            pose[k] = centre[k] + turned[k] + (k == 2 ? up : 0.0);
        }
        multiply(q, pose + 3, pose + 3);
        KL_TRY(kl_sim_set_pose(unit->sim, b, pose));
    }
    return KL_OK;
}

// Every so often a push of up to the weight of the mechanism on one body, for one step: N s as of 20 steps.
static KlStatus push(Unit *unit) {
    if (unit->number == 0 || kl_rng_unit(&unit->rng) > 0.02) {
        return KL_OK;
    }
    int32_t body = kl_rng_index(&unit->rng, unit->info.bodies);
    double wrench[6] = {0}, most = 20.0 * 9.81 * unit->info.total_mass;
    double share = kl_model_body(unit->model, body)->mass / unit->info.total_mass;
    for (int k = 0; k < 3; k++) {
        wrench[k] = most * share * kl_rng_range(&unit->rng, -1.0, 1.0);
    }
    return kl_sim_apply_wrench(unit->sim, body, wrench);
}

// --- sampling -------------------------------------------------------------------------------------

static bool wanted(Unit *unit, KlCategory category, int64_t step) {
    int64_t bucket = unit->plan->bucket, units = unit->plan->units;
    int64_t quota = bucket * (unit->number + 1) / units - bucket * unit->number / units;  // sums to the bucket
    return category != KL_CATEGORY_UNCONSTRAINED && unit->taken[category] < quota &&
           step - unit->last[category] >= unit->plan->stride;
}

// Points record->lambda at the best of the driver's and the best-effort solvers' solutions, which the
// solvers own.
static KlStatus solve_best(Unit *unit, ProblemRecord *record, const double *driver) {
    KlResiduals residuals;
    kl_problem_residuals(record->problem, driver, &residuals);
    double best = residuals.natural_relative;
    record->lambda = (double *)driver;
    for (int i = 0; i < BEST_COUNT && !(best <= goal); i++) {
        KlSolution solution;
        if (unit->best[i] == NULL) {
            continue;
        }
        kl_solver_forget(unit->best[i]);
        if (kl_solver_solve(unit->best[i], record->problem, NULL, &solution) != KL_OK) {
            continue;
        }
        kl_problem_residuals(record->problem, solution.lambda, &residuals);
        if (residuals.natural_relative < best || !(best >= 0.0)) {
            best = residuals.natural_relative;
            record->lambda = (double *)solution.lambda;
        }
    }
    return isfinite(best) ? KL_OK : kl_fail(KL_ERR_DIVERGED, "no finite solution of %s", record->name);
}

static KlStatus store(Unit *unit, KlCategory category, int64_t step, const double *driver) {
    ProblemRecord record;
    problem_record_init(&record);
    record.problem = (KlProblem *)kl_sim_problem(unit->sim);  // only read
    record.seed = unit->plan->seed * 1000 + unit->number;
    record.step = step;
    record.mass_ratio = unit->info.mass_ratio;
    snprintf(record.scene, sizeof record.scene, "%s", kl_scene_id(unit->scene));
    snprintf(record.run, sizeof record.run, "%s", unit->run->id);
    snprintf(record.category, sizeof record.category, "%s", kl_category_name(category));
    KL_TRY(kl_problem_jacobian_rank(record.problem, record.problem->dim, &record.rank));
    char name[192];
    snprintf(name, sizeof name, "/%.60s/%s/s%05d-t%07lld", unit->system, record.category, (int)unit->number,
             (long long)step);
    snprintf(record.name, sizeof record.name, "%s", name + 1);
    KL_TRY(solve_best(unit, &record, driver));
    KL_TRY(dataset_write(&unit->file, name, &record, unit->plan->with_delassus));
    unit->taken[category]++;
    unit->last[category] = step;
    return KL_OK;
}

// One step of the driver, with the problem of the step sampled when its category still has room.
static KlStatus unit_step(Unit *unit, int64_t step) {
    KlSolution solution;
    KlCategory category;
    KL_TRY(push(unit));
    KL_TRY(kl_sim_begin_step(unit->sim));
    const KlProblem *problem = kl_sim_problem(unit->sim);
    KL_TRY(kl_solver_solve(kl_sim_solver(unit->sim), problem, NULL, &solution));
    KL_TRY(kl_problem_category(problem, &category));
    if (wanted(unit, category, step)) {
        KL_TRY(store(unit, category, step, solution.lambda));
    }
    return kl_sim_end_step(unit->sim, solution.lambda);
}

// A simulation that diverges or runs out of contacts ends its unit with what it has sampled.
static bool ends_unit(KlStatus status) { return status == KL_ERR_DIVERGED || status == KL_ERR_LIMIT; }

// Steps without a sample after which a unit ends: what it still passes through is full.
enum { PATIENCE = 500 };

static int64_t last_sample(const Unit *unit) {
    int64_t last = 0;
    for (int c = 0; c < KL_CATEGORY_COUNT; c++) {
        last = unit->last[c] > last ? unit->last[c] : last;
    }
    return last;
}

static KlStatus unit_sample(Unit *unit) {
    if (unit->number >= kl_scene_run_count(unit->scene) && !unit->info.fixed_base) {
        KL_TRY(turn_and_lift(unit));
    }
    for (int64_t step = 0; step < unit->plan->steps && step - last_sample(unit) <= PATIENCE; step++) {
        if (cli_interrupted()) {
            return kl_fail(KL_ERR_INTERRUPTED, "interrupted");
        }
        KlStatus status = unit_step(unit, step);
        if (ends_unit(status)) {
            break;
        }
        KL_TRY(status);
    }
    return KL_OK;
}

static KlStatus unit_write(Unit *unit, const char *path) {
    char temporary[1100];
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    KL_TRY(dataset_create(temporary, &unit->file));
    KlStatus status = h5_set_text(&unit->file, "/", "recipe", unit->plan->recipe);
    if (status == KL_OK) {
        status = unit_sample(unit);
    }
    if (status == KL_OK) {
        status = h5_finish(&unit->file);
    }
    if (status == KL_OK && rename(temporary, path) != 0) {
        status = cli_fail_output(path, strerror(errno));
    }
    if (status != KL_OK) {
        h5_close(&unit->file);
        unlink(temporary);
    }
    return status;
}

// --- all units ------------------------------------------------------------------------------------

static void unit_path(const DatasetPlan *plan, const char *folder, int32_t index, char *path, size_t size) {
    snprintf(path, size, "%s/%s-s%05d.h5", folder, plan->systems[index / plan->units], (int)(index % plan->units));
}

static bool is_mine(const DatasetPlan *plan, int32_t index) { return index % plan->shards == plan->shard; }

// A unit file that was made by another recipe must not mix in.
static KlStatus check_unit(const DatasetPlan *plan, const char *path) {
    H5File file;
    char recipe[512];
    KL_TRY(h5_open(path, &file));
    KlStatus status = h5_attribute_text(&file, "/", "recipe", recipe, sizeof recipe);
    if (status == KL_OK && strcmp(recipe, plan->recipe) != 0) {
        status = h5_fail(&file, KL_ERR_ARGUMENT, "/@recipe",
                         "was made with other options (%s); remove it or repeat them", recipe);
    }
    h5_close(&file);
    return status;
}

// Temporary files of this unit that a killed process has left.
static void remove_leftovers(const char *path) {
    char pattern[1100];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s.*.tmp", path);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            unlink(found.gl_pathv[i]);
        }
        globfree(&found);
    }
}

static KlStatus do_unit(const DatasetPlan *plan, const char *folder, int32_t index) {
    char path[1024];
    unit_path(plan, folder, index, path, sizeof path);
    if (access(path, F_OK) == 0) {
        return check_unit(plan, path);
    }
    remove_leftovers(path);
    Unit unit = {
        .plan = plan, .system = plan->systems[index / plan->units], .number = index % plan->units, .file.id = -1};
    KlStatus status = unit_begin(&unit);
    if (status == KL_OK) {
        status = unit_write(&unit, path);
    }
    unit_free(&unit);
    return status;
}

KlStatus dataset_make_units(const CliArgs *args, const DatasetPlan *plan, const char *folder) {
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return cli_fail_output(folder, strerror(errno));
    }
    int32_t total = plan->system_count * plan->units, done = 0;
    int32_t own = (total + plan->shards - 1 - plan->shard) / plan->shards;
    CliProgress progress;
    cli_progress_begin(&progress, args, "units", own);
    KlStatus status = KL_OK;
    for (int32_t i = 0; i < total && status == KL_OK; i++) {
        if (!is_mine(plan, i)) {
            continue;
        }
        status = cli_interrupted() ? kl_fail(KL_ERR_INTERRUPTED, "interrupted") : do_unit(plan, folder, i);
        cli_progress_update(&progress, ++done);
    }
    cli_progress_end(&progress, done);
    return status;
}

KlStatus dataset_unit_paths(const DatasetPlan *plan, const char *folder, char ***paths, int32_t *count) {
    int32_t total = plan->system_count * plan->units;
    *count = 0;
    *paths = kl_alloc(((size_t)total + 1) * sizeof **paths);
    for (int32_t i = 0; *paths != NULL && i < total; i++) {
        if (is_mine(plan, i)) {
            char *path = kl_alloc(1024);
            if (path == NULL) {
                return kl_fail(KL_ERR_MEMORY, "out of memory");
            }
            unit_path(plan, folder, i, path, 1024);
            (*paths)[(*count)++] = path;
        }
    }
    return *paths != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
}

// --- joining --------------------------------------------------------------------------------------

// A problem of one of the inputs.
typedef struct Part {
    char *name;
    int32_t file;
} Part;

static int by_name(const void *a, const void *b) {
    const Part *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->file > y->file) - (x->file < y->file);
}

typedef struct Join {
    H5File *inputs;  // (count)
    int32_t count;
    Part *parts;  // (part_count)
    int32_t part_count, capacity;
    char recipe[512];
    H5File output;
} Join;

static void join_free(Join *join) {
    for (int32_t i = 0; i < join->count; i++) {
        h5_close(&join->inputs[i]);
    }
    for (int32_t i = 0; i < join->part_count; i++) {
        kl_free(join->parts[i].name);
    }
    kl_free(join->inputs);
    kl_free(join->parts);
    h5_close(&join->output);
}

static KlStatus add_part(Join *join, char *name, int32_t file) {
    if (join->part_count == join->capacity) {
        int32_t capacity = join->capacity > 0 ? 2 * join->capacity : 1024;
        Part *parts = kl_realloc(join->parts, (size_t)capacity * sizeof *parts);
        if (parts == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory");
        }
        join->parts = parts;
        join->capacity = capacity;
    }
    join->parts[join->part_count++] = (Part){name, file};
    return KL_OK;
}

static KlStatus add_input(Join *join, const char *path) {
    H5File *file = &join->inputs[join->count];
    KL_TRY(h5_open(path, file));
    int32_t index = join->count++;
    if (!dataset_is(file)) {
        return h5_fail(file, KL_ERR_FORMAT, "/", "is no data set of ours (@format)");
    }
    char recipe[512] = "";
    if (h5_has_attribute(file, "/", "recipe")) {
        KL_TRY(h5_attribute_text(file, "/", "recipe", recipe, sizeof recipe));
    }
    if (index == 0) {
        memcpy(join->recipe, recipe, sizeof recipe);
    } else if (strcmp(join->recipe, recipe) != 0) {
        snprintf(join->recipe, sizeof join->recipe, "several");
    }
    char **names = NULL;
    int32_t count = 0;
    KL_TRY(dataset_names(file, &names, &count));
    KlStatus status = KL_OK;
    for (int32_t i = 0; i < count; i++) {
        if (status == KL_OK) {
            status = add_part(join, names[i], index);
        }
        if (status != KL_OK) {
            kl_free(names[i]);
        }
    }
    kl_free(names);
    return status;
}

// The same problem twice: compared by v_f, which no two problems of a set share.
static KlStatus check_same(const Join *join, const Part *a, const Part *b) {
    char path[320];
    snprintf(path, sizeof path, "%s/v_f", a->name);
    double *x = NULL, *y = NULL;
    int64_t n = 0, m = 0;
    KlStatus status = h5_read_reals(&join->inputs[a->file], path, &x, &n);
    if (status == KL_OK) {
        status = h5_read_reals(&join->inputs[b->file], path, &y, &m);
    }
    if (status == KL_OK && (n != m || memcmp(x, y, (size_t)n * sizeof *x) != 0)) {
        status = h5_fail(&join->inputs[b->file], KL_ERR_SCENE, b->name, "is another problem in %s",
                         join->inputs[a->file].path);
    }
    kl_free(x);
    kl_free(y);
    return status;
}

static KlStatus copy_part(Join *join, const Part *part) {
    return h5_copy(&join->inputs[part->file], &join->output, part->name);
}

static KlStatus copy_parts(Join *join) {
    if (join->part_count > 0) {
        qsort(join->parts, (size_t)join->part_count, sizeof *join->parts, by_name);
    }
    for (int32_t i = 0; i < join->part_count; i++) {
        if (cli_interrupted()) {
            return kl_fail(KL_ERR_INTERRUPTED, "interrupted");
        }
        bool repeated = i > 0 && strcmp(join->parts[i].name, join->parts[i - 1].name) == 0;
        KL_TRY(repeated ? check_same(join, &join->parts[i - 1], &join->parts[i]) : copy_part(join, &join->parts[i]));
    }
    return KL_OK;
}

KlStatus dataset_join(char *const *paths, int32_t count, const char *target) {
    Join join = {.output.id = -1};
    join.inputs = kl_alloc(((size_t)count + 1) * sizeof *join.inputs);
    KlStatus status = join.inputs != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
    for (int32_t i = 0; i < count && status == KL_OK; i++) {
        status = add_input(&join, paths[i]);
    }
    if (status == KL_OK) {
        status = dataset_create(target, &join.output);
    }
    if (status == KL_OK && join.recipe[0] != '\0') {
        status = h5_set_text(&join.output, "/", "recipe", join.recipe);
    }
    if (status == KL_OK) {
        status = copy_parts(&join);
    }
    if (status == KL_OK) {
        status = h5_finish(&join.output);
    }
    join_free(&join);
    return status;
}
