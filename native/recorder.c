// Records runs to HDF5 or CSV.
#include "recorder.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "dataset_file.h"

// Rows of one solver's trajectory, kept until it ends: a run may be interrupted at any step.
typedef struct Column {
    const char *id;
    double *values;  // (capacity x width)
    int32_t width;
} Column;

enum { COLUMN_COUNT = 3, COLUMN_METRICS = 2 };
static const char *const column_ids[COLUMN_COUNT] = {"pose", "twist", [COLUMN_METRICS] = "metrics"};

static const double *column_data(const RunStep *step, int column) {
    return column == COLUMN_METRICS ? step->metrics : kl_sim_find_field(step->sim, column_ids[column])->data;
}

static int32_t column_width(const KlSim *sim, int column) {
    const KlField *field = kl_sim_find_field(sim, column_ids[column]);
    return column == COLUMN_METRICS ? kl_metric_count() : field->rows * field->columns;
}

struct Recorder {
    const RunPlan *plan;
    CliOutput output;
    H5File h5;  // id -1: CSV
    int64_t every;
    bool with_delassus;
    char solver[64];
    Column columns[COLUMN_COUNT];
    double *times;
    uint64_t *hashes;
    int64_t count, capacity;  // rows
};

static bool is_table(const char *path) { return strcmp(path, "-") == 0 || cli_ends_with(path, ".csv"); }

static KlStatus write_csv_head(Recorder *recorder) {
    FILE *file = recorder->output.file;
    fprintf(file, "solver,step,time,hash");
    for (int32_t i = 0; i < kl_metric_count(); i++) {
        fprintf(file, ",%s", kl_metric_kind(i)->id);
    }
    fputc('\n', file);
    return KL_OK;
}

static KlStatus write_h5_head(Recorder *recorder, const char *command) {
    const H5File *file = &recorder->h5;
    const RunPlan *plan = recorder->plan;
    KL_TRY(h5_make_group(file, "/trajectory"));
    KL_TRY(h5_set_text(file, "/trajectory", "scene", kl_scene_id(plan->scene)));
    KL_TRY(h5_set_text(file, "/trajectory", "run", plan->run->id));
    KL_TRY(h5_set_real(file, "/trajectory", "dt", plan->dt));
    KL_TRY(h5_set_text(file, "/trajectory", "command", command));
    char names[2048] = "";
    for (int32_t i = 0; i < kl_metric_count(); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? "," : "", kl_metric_kind(i)->id);
    }
    return h5_set_text(file, "/trajectory", "metrics", names);
}

KlStatus recorder_create(const RunPlan *plan, const char *path, bool force, int64_t every, bool with_delassus,
                         const char *command, Recorder **result) {
    Recorder *recorder = kl_alloc(sizeof *recorder);
    *result = recorder;
    if (recorder == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    recorder->plan = plan;
    recorder->every = every;
    recorder->with_delassus = with_delassus;
    recorder->h5.id = -1;
    if (is_table(path)) {
        KL_TRY(cli_output_open(&recorder->output, path, force));
        return write_csv_head(recorder);
    }
    KL_TRY(cli_output_reserve(&recorder->output, path, force));
    const char *name = recorder->output.temporary[0] != '\0' ? recorder->output.temporary : path;
    KL_TRY(dataset_create(name, &recorder->h5));
    return write_h5_head(recorder, command);
}

KlStatus recorder_begin(Recorder *recorder, const char *solver) {
    snprintf(recorder->solver, sizeof recorder->solver, "%s", solver);
    recorder->count = 0;
    return KL_OK;
}

// --- rows -----------------------------------------------------------------------------------------

static KlStatus write_csv_row(Recorder *recorder, const RunStep *step) {
    FILE *file = recorder->output.file;
    const KlSim *sim = step->sim;
    fprintf(file, "%s,%lld,%.17g,%016llx", kl_solver_kind(step->kind)->id, (long long)kl_sim_step_index(sim),
            kl_sim_time(sim), (unsigned long long)kl_sim_hash(sim));
    for (int32_t i = 0; i < kl_metric_count(); i++) {
        fprintf(file, ",%.17g", step->metrics[i]);
    }
    fputc('\n', file);
    return ferror(file) ? cli_fail_output(recorder->output.path, "write error") : KL_OK;
}

static KlStatus grow(Recorder *recorder, const KlSim *sim) {
    if (recorder->count < recorder->capacity) {
        return KL_OK;
    }
    int64_t capacity = recorder->capacity > 0 ? 2 * recorder->capacity : 256;
    double *times = kl_realloc(recorder->times, (size_t)capacity * sizeof *times);
    recorder->times = times != NULL ? times : recorder->times;
    uint64_t *hashes = kl_realloc(recorder->hashes, (size_t)capacity * sizeof *hashes);
    recorder->hashes = hashes != NULL ? hashes : recorder->hashes;
    bool fits = times != NULL && hashes != NULL;
    for (int i = 0; i < COLUMN_COUNT && fits; i++) {
        Column *column = &recorder->columns[i];
        column->id = column_ids[i];
        column->width = column_width(sim, i);
        double *values = kl_realloc(column->values, (size_t)capacity * (size_t)column->width * sizeof *values);
        column->values = values != NULL ? values : column->values;
        fits = values != NULL;
    }
    recorder->capacity = fits ? capacity : recorder->capacity;
    return fits ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory for the trajectory");
}

static KlStatus keep_row(Recorder *recorder, const RunStep *step) {
    const KlSim *sim = step->sim;
    KL_TRY(grow(recorder, sim));
    recorder->times[recorder->count] = kl_sim_time(sim);
    recorder->hashes[recorder->count] = kl_sim_hash(sim);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        Column *column = &recorder->columns[i];
        memcpy(column->values + recorder->count * column->width, column_data(step, i),
               (size_t)column->width * sizeof(double));
    }
    recorder->count++;
    return KL_OK;
}

// The problem of the step, with this solver's reactions as its known solution.
static KlStatus write_problem(Recorder *recorder, const KlSim *sim, const KlSolution *solution) {
    const RunPlan *plan = recorder->plan;
    KlCategory category;
    ProblemRecord record;
    problem_record_init(&record);
    record.problem = (KlProblem *)kl_sim_problem(sim);  // only read
    record.lambda = (double *)solution->lambda;
    record.step = kl_sim_step_index(sim);
    KL_TRY(kl_problem_category(record.problem, &category));
    KlModelInfo info;
    kl_model_info(plan->model, &info);
    record.mass_ratio = info.mass_ratio;
    snprintf(record.scene, sizeof record.scene, "%s", kl_scene_id(plan->scene));
    snprintf(record.run, sizeof record.run, "%s", plan->run->id);
    snprintf(record.category, sizeof record.category, "%s", kl_category_name(category));
    char name[256];
    snprintf(name, sizeof name, "/%s/%s/%s-t%07lld", record.scene, record.category, recorder->solver,
             (long long)record.step);
    return dataset_write(&recorder->h5, name, &record, recorder->with_delassus);
}

// A table has a row for every solver; HDF5 holds motions and problems, which are the driver's.
KlStatus recorder_step(void *context, const RunStep *step) {
    Recorder *recorder = context;
    if (recorder->h5.id < 0) {
        return write_csv_row(recorder, step);
    }
    if (step->guest) {
        return KL_OK;
    }
    KL_TRY(keep_row(recorder, step));
    bool sampled = (kl_sim_step_index(step->sim) - 1) % recorder->every == 0;
    return sampled && kl_sim_problem(step->sim)->dim > 0 ? write_problem(recorder, step->sim, step->solution) : KL_OK;
}

KlStatus recorder_end(Recorder *recorder) {
    if (recorder->h5.id < 0 || recorder->count == 0) {
        return KL_OK;
    }
    char group[128], path[192];
    snprintf(group, sizeof group, "/trajectory/%s", recorder->solver);
    KL_TRY(h5_make_group(&recorder->h5, group));
    snprintf(path, sizeof path, "%s/time", group);
    KL_TRY(h5_write_reals(&recorder->h5, path, recorder->times, recorder->count, 0));
    snprintf(path, sizeof path, "%s/hash", group);
    KL_TRY(h5_write_ids(&recorder->h5, path, recorder->hashes, recorder->count));
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const Column *column = &recorder->columns[i];
        snprintf(path, sizeof path, "%s/%s", group, column->id);
        KL_TRY(h5_write_reals(&recorder->h5, path, column->values, recorder->count, column->width));
    }
    return KL_OK;
}

KlStatus recorder_commit(Recorder *recorder) {
    if (recorder->h5.id >= 0) {
        KL_TRY(h5_finish(&recorder->h5));
    }
    return cli_output_commit(&recorder->output);
}

void recorder_destroy(Recorder *recorder) {
    if (recorder == NULL) {
        return;
    }
    h5_close(&recorder->h5);
    cli_output_discard(&recorder->output);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        kl_free(recorder->columns[i].values);
    }
    kl_free(recorder->times);
    kl_free(recorder->hashes);
    kl_free(recorder);
}
