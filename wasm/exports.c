// What the page calls. A KlPage is one experiment in one worker: its files, its scene, one simulation
// with the solver that drives it and, in a curated run, a second solver (the observer) that solves the
// same dual problems without moving anything. Steps are done in slices of time, so that a worker can
// answer messages in between. Lists and tables leave as JSON, numbers as pointers into this memory.
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/status.h"
#include "file_store.h"
#include "kl.h"

enum {
    RECORD_CAPACITY = 256,   // steps kept between two calls of the page
    TRACE_CAPACITY = 20000,  // rows of one convergence trace; more are counted
    MAX_DENSE_ROWS = 2000,   // D as a picture
};

// Columns of the record before and after the metrics.
static const char *const RECORD_HEAD[] = {"time"}, *const RECORD_TAIL[] = {"category"};
enum { HEAD_COUNT = (int)(sizeof RECORD_HEAD / sizeof RECORD_HEAD[0]) };
enum { TAIL_COUNT = (int)(sizeof RECORD_TAIL / sizeof RECORD_TAIL[0]) };

typedef enum Phase { PHASE_IDLE, PHASE_DRIVE, PHASE_OBSERVE } Phase;

typedef struct KlPage {
    KlFileStore store;
    KlScene *scene;
    KlModel *model;
    KlSim *sim;
    KlProblem *loaded;  // a problem of its own, without bodies
    KlSolver *observer;
    Phase phase;
    int32_t slice;           // iterations per slice, follows the clock
    bool categories;         // the record tells each problem's category
    int32_t joint_category;  // of this run's problems without contacts, -1 until there was one
    bool tracing;
    KlTrace trace;        // of the solver that is looked at: the observer if there is one
    KlTrace silent;       // none
    KlSolution solution;  // of that solver
    double driver_time;
    double *record;  // (RECORD_CAPACITY x record_columns)
    int32_t record_columns, record_count;
    double *dense;       // D, on demand
    double *trace_rows;  // (TRACE_CAPACITY x 6), on demand
    char *json;          // the last answer
} KlPage;

// Copies `data`; a file of the same path is replaced.
KlStatus kl_page_put_file(KlPage *page, const char *path, const void *data, size_t size) {
    return kl_store_put(&page->store, path, data, size);
}

// ------------------------------------------------------------------------------------------------
// Life
// ------------------------------------------------------------------------------------------------

KlPage *kl_page_create(void) {
    json_object_seed(1);  // hash seed of jansson's tables: there is no /dev/urandom to take one from
    KlPage *page = kl_alloc(sizeof *page);
    if (page == NULL) {
        return NULL;
    }
    page->record_columns = HEAD_COUNT + kl_metric_count() + TAIL_COUNT;
    page->record = kl_alloc(sizeof(double) * RECORD_CAPACITY * (size_t)page->record_columns);
    page->trace.rows = kl_alloc(sizeof(KlTraceRow) * TRACE_CAPACITY);
    page->trace_rows = kl_alloc(sizeof(double) * 6 * TRACE_CAPACITY);
    page->trace.capacity = TRACE_CAPACITY;
    page->slice = 4;
    kl_store_open(&page->store);
    if (page->record == NULL || page->trace.rows == NULL || page->trace_rows == NULL) {
        kl_free(page->record);
        kl_free(page->trace.rows);
        kl_free(page->trace_rows);
        kl_free(page);
        return NULL;
    }
    return page;
}

static void stop(KlPage *page) {
    if (page->sim != NULL) {
        kl_sim_destroy(page->sim);
    }
    if (page->model != NULL) {
        kl_model_destroy(page->model);
    }
    if (page->loaded != NULL) {
        kl_problem_destroy(page->loaded);
    }
    page->sim = NULL;
    page->model = NULL;
    page->loaded = NULL;
    page->phase = PHASE_IDLE;
    page->record_count = 0;
    page->trace.count = page->trace.dropped = 0;
    memset(&page->solution, 0, sizeof page->solution);
}

static void drop_observer(KlPage *page) {
    if (page->observer != NULL) {
        kl_solver_destroy(page->observer);
    }
    page->observer = NULL;
    memset(&page->solution, 0, sizeof page->solution);  // its arrays were the observer's
}

void kl_page_destroy(KlPage *page) {
    if (page == NULL) {
        return;
    }
    stop(page);
    drop_observer(page);
    if (page->scene != NULL) {
        kl_scene_destroy(page->scene);
    }
    kl_store_free(&page->store);
    kl_free(page->record);
    kl_free(page->trace.rows);
    kl_free(page->trace_rows);
    kl_free(page->dense);
    free(page->json);
    kl_free(page);
}

// Parses a scene; on failure the page keeps the one it had.
KlStatus kl_page_load(KlPage *page, const char *text, size_t size, const char *name) {
    KlScene *scene = NULL;
    KL_TRY(kl_scene_parse(text, size, name, &page->store.access, &scene));
    stop(page);
    if (page->scene != NULL) {
        kl_scene_destroy(page->scene);
    }
    page->scene = scene;
    return KL_OK;
}

// A simulation of run `run`, driven by `driver`, at step 0; none on failure.
KlStatus kl_page_start(KlPage *page, int32_t run, const char *driver) {
    if (page->scene == NULL) {
        return kl_fail(KL_ERR_ARGUMENT, "no scene is loaded");
    }
    stop(page);
    KL_TRY(kl_scene_model_for_run(page->scene, run, &page->model));
    KL_TRY(kl_sim_create(page->model, &page->sim));
    page->joint_category = -1;
    KlStatus status = kl_sim_set_solver(page->sim, driver);
    if (status != KL_OK) {
        stop(page);
    }
    return status;
}

// The dual problem `index` of a JSON document instead of a simulation; *count tells how many there are.
KlStatus kl_page_load_problem(KlPage *page, const char *text, size_t size, const char *name, int32_t index,
                              int32_t *count) {
    KlProblem *problem = NULL;
    KL_TRY(kl_problem_parse_json(text, size, name, index, count, &problem));
    stop(page);
    page->loaded = problem;
    return KL_OK;
}

// ------------------------------------------------------------------------------------------------
// Solvers of the page
// ------------------------------------------------------------------------------------------------

// Curated runs: `id` solves each problem that the driver meets. NULL or "" ends that.
KlStatus kl_page_observe(KlPage *page, const char *id) {
    drop_observer(page);
    if (id == NULL || id[0] == '\0') {
        return KL_OK;
    }
    return kl_solver_create(id, &page->observer);
}

static KlSolver *chosen(const KlPage *page, bool observer) {
    if (observer) {
        return page->observer;
    }
    return page->sim != NULL ? kl_sim_solver(page->sim) : NULL;
}

KlStatus kl_page_set_param(KlPage *page, int32_t observer, const char *param, double value) {
    KlSolver *solver = chosen(page, observer != 0);
    return solver != NULL ? kl_solver_set(solver, param, value) : kl_fail(KL_ERR_ARGUMENT, "no solver yet");
}

KlStatus kl_page_preset(KlPage *page, int32_t observer, const char *preset) {
    KlSolver *solver = chosen(page, observer != 0);
    return solver != NULL ? kl_solver_preset(solver, preset) : kl_fail(KL_ERR_ARGUMENT, "no solver yet");
}

double kl_page_param(const KlPage *page, int32_t observer, const char *param) {
    const KlSolver *solver = chosen(page, observer != 0);
    return solver != NULL ? kl_solver_get(solver, param) : (double)NAN;
}

// Tells the category of each problem in the record, for profiles by category.
void kl_page_set_categories(KlPage *page, int32_t on) { page->categories = on != 0; }

// Keeps the convergence trace of each solve; `natural` adds the scale-free residual of each iterate.
void kl_page_set_trace(KlPage *page, int32_t on, int32_t natural) {
    page->tracing = on != 0;
    KlSolver *seen = chosen(page, page->observer != NULL);
    if (seen != NULL) {
        kl_solver_trace_natural(seen, on != 0 && natural != 0);
    }
}

// ------------------------------------------------------------------------------------------------
// Stepping
// ------------------------------------------------------------------------------------------------

// One slice of the running solve; its length follows the clock towards 2 ms.
static KlStatus advance_slice(KlPage *page, KlSolver *solver, bool *done) {
    double began = kl_clock();
    KL_TRY(kl_solver_advance(solver, page->slice, done));
    double spent = kl_clock() - began;
    if (spent > 4e-3 && page->slice > 1) {
        page->slice /= 2;
    } else if (spent < 1e-3 && page->slice < 1 << 20) {
        page->slice *= 2;
    }
    return KL_OK;
}

static KlTrace *trace_for(KlPage *page, bool looked_at) {
    if (!page->tracing || !looked_at) {
        return NULL;
    }
    page->trace.count = page->trace.dropped = 0;
    return &page->trace;
}

typedef struct NamedValue {
    const char *metric;
    double value;
} NamedValue;

static void overwrite(double *metrics, const NamedValue *table, size_t count) {
    for (size_t i = 0; i < count; i++) {
        int32_t column = kl_metric_find(table[i].metric);
        if (column >= 0) {
            metrics[column] = table[i].value;
        }
    }
}

// The simulation has not seen the solve, which was done in slices from outside: its metrics follow here.
static void write_solve(const KlPage *page, double *metrics) {
    const KlSolution *s = &page->solution;
    const NamedValue table[] = {
        {"iterations", s->iterations},
        {"t_solve", s->time},
        {"t_iter", s->iterations > 0 ? s->time / s->iterations : 0.0},
        {"outcome", s->outcome},
        {"factorizations", s->factorizations},
        {"penalty", s->penalty},
        {"t_step", kl_sim_metric(page->sim, "t_step") + s->time},
    };
    overwrite(metrics, table, sizeof table / sizeof table[0]);
}

// In a curated run the residuals belong to the observer's reaction, not to the driver's.
static void write_residuals(const KlPage *page, double *metrics) {
    KlResiduals r;
    kl_problem_residuals(kl_sim_problem(page->sim), page->solution.lambda, &r);
    const NamedValue table[] = {
        {"r_p", r.primal},
        {"r_dual", r.dual},
        {"r_ncp", r.complementarity},
        {"r_nat", r.natural},
        {"r_nat_rel", r.natural_relative},
        {"r_dual_ccp", r.dual_ccp},
        {"r_ccp", r.complementarity_ccp},
        {"r_nat_ccp", r.natural_ccp},
        {"f", r.objective},
        {"f_ds", r.objective_desaxce},
        {"f_ncp", r.objective_ncp},
    };
    overwrite(metrics, table, sizeof table / sizeof table[0]);
}

// Index in tables.categories; NaN unless asked for. The rank that parts problems of joints alone is costly, so the first
// of a run decides for those after it.
static double category_of(KlPage *page) {
    const KlProblem *problem = kl_sim_problem(page->sim);
    bool joints_alone = problem->contact_count == 0 && problem->dim > 0;
    KlCategory category = KL_CATEGORY_UNCONSTRAINED;
    if (!page->categories) {
        return (double)NAN;
    }
    if (joints_alone && page->joint_category >= 0) {
        return page->joint_category;
    }
    if (kl_problem_category(problem, &category) != KL_OK) {
        return (double)NAN;
    }
    page->joint_category = joints_alone ? (int32_t)category : page->joint_category;
    return (double)category;
}

static void write_record(KlPage *page) {
    double *row = page->record + (size_t)page->record_count++ * (size_t)page->record_columns;
    row[0] = kl_sim_time(page->sim);
    double *metrics = row + HEAD_COUNT;
    memcpy(metrics, kl_sim_metrics(page->sim), sizeof(double) * (size_t)kl_metric_count());
    write_solve(page, metrics);
    if (page->observer != NULL) {
        write_residuals(page, metrics);
    }
    metrics[kl_metric_count()] = category_of(page);
}

static KlStatus begin_step(KlPage *page) {
    KL_TRY(kl_sim_begin_step(page->sim));
    KL_TRY(
        kl_solver_begin(kl_sim_solver(page->sim), kl_sim_problem(page->sim), trace_for(page, page->observer == NULL)));
    page->phase = PHASE_DRIVE;
    return KL_OK;
}

// Applies the driver's reaction. The observer solves first: the problem is a loan until the next begin.
static KlStatus end_step(KlPage *page) {
    KlSolution driver;
    KL_TRY(kl_solver_finish(kl_sim_solver(page->sim), &driver));
    if (page->observer == NULL) {
        page->solution = driver;
    }
    KL_TRY(kl_sim_end_step(page->sim, driver.lambda));
    page->phase = PHASE_IDLE;
    write_record(page);
    return KL_OK;
}

static KlStatus work_once(KlPage *page) {
    bool done = false;
    switch (page->phase) {
        case PHASE_IDLE: return begin_step(page);
        case PHASE_DRIVE:
            KL_TRY(advance_slice(page, kl_sim_solver(page->sim), &done));
            if (!done) {
                return KL_OK;
            }
            if (page->observer == NULL) {
                return end_step(page);
            }
            KL_TRY(kl_solver_begin(page->observer, kl_sim_problem(page->sim), trace_for(page, true)));
            page->phase = PHASE_OBSERVE;
            return KL_OK;
        case PHASE_OBSERVE:
            KL_TRY(advance_slice(page, page->observer, &done));
            if (!done) {
                return KL_OK;
            }
            KL_TRY(kl_solver_finish(page->observer, &page->solution));
            return end_step(page);
    }
    return KL_OK;
}

// Works for about `seconds` or until `steps` (<= 256) steps are finished, whichever comes first. The
// finished steps' rows are in kl_page_record; their number is in kl_page_record_count. A step left
// half solved goes on at the next call.
KlStatus kl_page_work(KlPage *page, int32_t steps, double seconds) {
    if (page->sim == NULL) {
        return kl_fail(KL_ERR_ARGUMENT, "no simulation is started");
    }
    if (steps < 0 || steps > RECORD_CAPACITY) {
        return kl_fail(KL_ERR_ARGUMENT, "steps must be in 0..%d (got %d)", RECORD_CAPACITY, steps);
    }
    page->record_count = 0;
    double end = kl_clock() + seconds;
    while (page->record_count < steps) {
        KlStatus status = work_once(page);
        if (status != KL_OK) {
            page->phase = PHASE_IDLE;
            return status;
        }
        if (kl_clock() >= end) {
            break;
        }
    }
    return KL_OK;
}

double *kl_page_record(KlPage *page) { return page->record; }

int32_t kl_page_record_count(const KlPage *page) { return page->record_count; }

// True while a step is half solved: no checkpoint can be taken.
int32_t kl_page_busy(const KlPage *page) { return page->phase != PHASE_IDLE; }

KlSim *kl_page_sim(KlPage *page) { return page->sim; }

// Continues from a checkpoint, dropping a half solved step.
KlStatus kl_page_restore(KlPage *page, const void *state, size_t size) {
    if (page->sim == NULL) {
        return kl_fail(KL_ERR_ARGUMENT, "no simulation is started");
    }
    page->phase = PHASE_IDLE;
    return kl_sim_load(page->sim, state, size);
}

// ------------------------------------------------------------------------------------------------
// The problem at hand: of the last step, or loaded
// ------------------------------------------------------------------------------------------------

static const KlProblem *problem_of(const KlPage *page) {
    if (page->loaded != NULL) {
        return page->loaded;
    }
    return page->sim != NULL ? kl_sim_problem(page->sim) : NULL;
}

// Solves that problem with the observer, in slices: begin, then resolve until *done.
KlStatus kl_page_resolve_begin(KlPage *page) {
    const KlProblem *problem = problem_of(page);
    if (problem == NULL || page->observer == NULL) {
        return kl_fail(KL_ERR_ARGUMENT, "a problem and a solver are needed");
    }
    page->tracing = true;
    return kl_solver_begin(page->observer, problem, trace_for(page, true));
}

KlStatus kl_page_resolve(KlPage *page, double seconds, int32_t *done) {
    double end = kl_clock() + seconds;
    bool finished = false;
    while (!finished && kl_clock() < end) {
        KL_TRY(advance_slice(page, page->observer, &finished));
    }
    *done = finished;
    return finished ? kl_solver_finish(page->observer, &page->solution) : KL_OK;
}

// (rows x 6): iteration, r_p, r_d, r_c, r_nat_rel, penalty. Loan until the next call.
const double *kl_page_trace(KlPage *page) {
    for (int32_t i = 0; i < page->trace.count; i++) {
        const KlTraceRow *row = &page->trace.rows[i];
        double *out = page->trace_rows + 6 * i;
        out[0] = row->iteration;
        out[1] = row->primal;
        out[2] = row->dual;
        out[3] = row->complementarity;
        out[4] = row->natural_relative;
        out[5] = row->penalty;
    }
    return page->trace_rows;
}

int32_t kl_page_trace_count(const KlPage *page) { return page->trace.count; }

// (dim) reaction of the solver looked at; NULL before any solve.
const double *kl_page_lambda(const KlPage *page) { return page->solution.lambda; }

// (dim) mu of contacts, v_f: pointers of the problem at hand.
const double *kl_page_friction(const KlPage *page) {
    const KlProblem *problem = problem_of(page);
    return problem != NULL ? problem->friction : NULL;
}

const double *kl_page_free_velocity(const KlPage *page) {
    const KlProblem *problem = problem_of(page);
    return problem != NULL ? problem->free_velocity : NULL;
}

const double *kl_page_softening(const KlPage *page) {
    const KlProblem *problem = problem_of(page);
    return problem != NULL ? problem->softening : NULL;
}

// D of `problem` as if nothing were softened.
static KlStatus hard_delassus(const KlProblem *problem, double *dense) {
    KlProblem *hard = NULL;
    KL_TRY(kl_problem_clone(problem, &hard));
    memset(hard->softening, 0, sizeof(double) * (size_t)hard->dim);
    kl_problem_delassus(hard, dense);
    kl_problem_destroy(hard);
    return KL_OK;
}

// (dim x dim) D, row-major, with R on its diagonal unless `hard`; NULL with an error above 2000 rows. Loan until the
// next call.
const double *kl_page_delassus(KlPage *page, int32_t hard) {
    const KlProblem *problem = problem_of(page);
    if (problem == NULL) {
        (void)kl_fail(KL_ERR_ARGUMENT, "there is no problem yet");
        return NULL;
    }
    if (problem->dim > MAX_DENSE_ROWS) {
        (void)kl_fail(KL_ERR_LIMIT, "D has %d rows; at most %d are shown", problem->dim, MAX_DENSE_ROWS);
        return NULL;
    }
    size_t n = (size_t)problem->dim;
    kl_free(page->dense);
    page->dense = kl_alloc(sizeof(double) * (n * n + 1));
    if (page->dense == NULL) {
        (void)kl_fail(KL_ERR_MEMORY, "out of memory for D (%d rows)", problem->dim);
        return NULL;
    }
    if (hard != 0) {
        return hard_delassus(problem, page->dense) == KL_OK ? page->dense : NULL;
    }
    kl_problem_delassus(problem, page->dense);
    return page->dense;
}

// ------------------------------------------------------------------------------------------------
// Tables as JSON: loans until the next call on the same page
// ------------------------------------------------------------------------------------------------

static const char *answer(KlPage *page, json_t *value) {
    free(page->json);
    page->json = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(value);
    return page->json;
}

static json_t *real(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *reals(const double *x, int32_t count) {
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        json_array_append_new(list, real(x[i]));
    }
    return list;
}

static json_t *text(const char *s) { return json_string(s != NULL ? s : ""); }

static json_t *params_table(const KlSolverInfo *info) {
    static const char *const KINDS[] = {"real", "int", "bool", "choice"};
    json_t *list = json_array();
    for (int32_t i = 0; i < info->param_count; i++) {
        const KlParam *p = &info->params[i];
        json_array_append_new(list, json_pack("{so so so so ss so so so sb so}", "id", text(p->id), "title",
                                              text(p->title), "unit", text(p->unit), "text", text(p->text), "kind",
                                              KINDS[p->kind], "initial", real(p->initial), "min", real(p->min), "max",
                                              real(p->max), "log", p->log_scale, "choices", text(p->choices)));
    }
    return list;
}

static json_t *solvers_table(void) {
    json_t *list = json_array();
    for (int32_t i = 0; i < kl_solver_kind_count(); i++) {
        const KlSolverInfo *s = kl_solver_kind(i);
        json_array_append_new(list,
                              json_pack("{so so so so so sb so so}", "id", text(s->id), "title", text(s->title), "text",
                                        text(s->text), "source", text(s->source), "family", text(s->family), "deSaxce",
                                        s->de_saxce, "solves", text(s->solves), "params", params_table(s)));
    }
    return list;
}

static json_t *metrics_table(void) {
    json_t *list = json_array();
    for (int32_t i = 0; i < kl_metric_count(); i++) {
        const KlMetricInfo *m = kl_metric_kind(i);
        json_array_append_new(list, json_pack("{so so so so sb}", "id", text(m->id), "title", text(m->title), "unit",
                                              text(m->unit), "text", text(m->text), "log", m->log_scale));
    }
    return list;
}

static json_t *names(int32_t count, const char *(*name)(int32_t)) {
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        json_array_append_new(list, text(name(i)));
    }
    return list;
}

static const char *category_name(int32_t i) { return kl_category_name((KlCategory)i); }

static const char *outcome_name(int32_t i) { return kl_outcome_name((KlOutcome)i); }

static const char *record_name(int32_t i) {
    int32_t metric = i - HEAD_COUNT, tail = metric - kl_metric_count();
    return metric < 0 ? RECORD_HEAD[i] : tail >= 0 ? RECORD_TAIL[tail] : kl_metric_kind(metric)->id;
}

// Everything that does not depend on a scene.
const char *kl_page_tables(KlPage *page) {
    return answer(page, json_pack("{ss so so so so so so}", "version", KL_VERSION, "solvers", solvers_table(),
                                  "metrics", metrics_table(), "stages", names(kl_stage_count(), kl_stage_name),
                                  "categories", names(KL_CATEGORY_COUNT, category_name), "outcomes",
                                  names(KL_OUTCOME_DIVERGED + 1, outcome_name), "record",
                                  names(page->record_columns, record_name)));
}

static json_t *softening_table(const KlSoftening *s) {
    return json_pack("{sb sf sf sf sf sf sf sf}", "on", s->on, "d0", s->d0, "dw", s->dw, "width", s->width, "midpoint",
                     s->midpoint, "power", s->power, "timeConst", s->time_const, "dampRatio", s->damp_ratio);
}

static json_t *settings_table(const KlSettings *s) {
    return json_pack("{sf so ss sf sf sf sf sf sf si so so so}", "dt", s->dt, "gravity", reals(s->gravity, 3),
                     "integrator", s->integrator == KL_INTEGRATOR_MOREAU ? "moreau" : "euler", "baumgarteJoint",
                     s->baumgarte_joint, "baumgarteLimit", s->baumgarte_limit, "baumgarteContact", s->baumgarte_contact,
                     "margin", s->margin, "detectionDistance", s->detection_distance, "cullDistance", s->cull_distance,
                     "maxContacts", s->max_contacts, "softJoint", softening_table(&s->soft_joint), "softLimit",
                     softening_table(&s->soft_limit), "softContact", softening_table(&s->soft_contact));
}

static json_t *events_table(const KlForceEvent *events, int32_t count) {
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        const KlForceEvent *e = &events[i];
        json_array_append_new(list,
                              json_pack("{si sf sf so so so}", "body", e->body, "start", e->start, "end", e->end,
                                        "from", reals(e->from, 6), "to", reals(e->to, 6), "point", reals(e->point, 3)));
    }
    return list;
}

static json_t *runs_table(const KlScene *scene) {
    json_t *list = json_array();
    for (int32_t i = 0; i < kl_scene_run_count(scene); i++) {
        const KlRunDef *run = kl_scene_run(scene, i);
        json_array_append_new(list, json_pack("{so so so sf so so so si sf}", "id", text(run->id), "title",
                                              text(run->title), "text", text(run->text), "duration", run->duration,
                                              "settings", settings_table(&run->settings), "events",
                                              events_table(run->events, run->event_count), "preset", text(run->preset),
                                              "maxIterations", run->max_iterations, "tolerance", run->tolerance));
    }
    return list;
}

static json_t *bodies_table(const KlModel *model, int32_t count) {
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        const KlBodyDef *b = kl_model_body(model, i);
        json_array_append_new(list,
                              json_pack("{so sf so so so}", "name", text(b->name), "mass", b->mass, "inertia",
                                        reals(b->inertia, 9), "pose", reals(b->pose, 7), "twist", reals(b->twist, 6)));
    }
    return list;
}

static json_t *joints_table(const KlModel *model, int32_t count) {
    static const char *const ACTUATION[] = {"passive", "force", "pid", "pd-implicit"};
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        const KlJointDef *j = kl_model_joint(model, i);
        const KlJointInfo *kind = kl_joint_kind(j->kind);
        json_array_append_new(
            list, json_pack("{so so si si si so so so so ss}", "name", text(j->name), "kind", text(kind->id), "dofs",
                            kind->dofs, "base", j->base, "follower", j->follower, "baseFrame", reals(j->base_frame, 7),
                            "followerFrame", reals(j->follower_frame, 7), "lower", reals(j->lower, kind->dofs), "upper",
                            reals(j->upper, kind->dofs), "actuation", ACTUATION[j->actuation]));
    }
    return list;
}

static json_t *geoms_table(const KlModel *model, int32_t count) {
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        const KlGeomDef *g = kl_model_geom(model, i);
        double color[4] = {(double)g->color[0], (double)g->color[1], (double)g->color[2], (double)g->color[3]};
        json_array_append_new(list,
                              json_pack("{so si so so so si sf sf sb so}", "name", text(g->name), "body", g->body,
                                        "kind", text(kl_geom_kind_name(g->kind)), "pose", reals(g->pose, 7), "size",
                                        reals(g->size, 3), "mesh", g->mesh, "friction", g->friction, "restitution",
                                        g->restitution, "visualOnly", g->visual_only, "color", reals(color, 4)));
    }
    return list;
}

// Addresses instead of numbers: the loader copies the arrays.
static json_t *meshes_table(const KlModel *model, int32_t count) {
    json_t *list = json_array();
    for (int32_t i = 0; i < count; i++) {
        const KlMeshDef *m = kl_model_mesh(model, i);
        json_array_append_new(list, json_pack("{so si si sI sI}", "name", text(m->name), "vertexCount", m->vertex_count,
                                              "triangleCount", m->triangle_count, "vertices",
                                              (json_int_t)(uintptr_t)m->vertices, "triangles",
                                              (json_int_t)(uintptr_t)m->triangles));
    }
    return list;
}

static json_t *suggested_solvers(const KlScene *scene) {
    json_t *list = json_array();
    for (int32_t i = 0; i < kl_scene_solver_count(scene); i++) {
        json_array_append_new(list, text(kl_scene_solver(scene, i)));
    }
    return list;
}

// The loaded scene: texts, runs, counts, and the bodies, joints and shapes of the run that is started.
const char *kl_page_scene(KlPage *page) {
    if (page->scene == NULL) {
        (void)kl_fail(KL_ERR_ARGUMENT, "no scene is loaded");
        return NULL;
    }
    const KlModel *model = page->model != NULL ? page->model : kl_scene_model(page->scene);
    KlModelInfo info;
    kl_model_info(model, &info);
    json_t *counts = json_pack("{si si si si si si si sf sf sb}", "bodies", info.bodies, "joints", info.joints, "geoms",
                               info.geoms, "jointRows", info.joint_rows, "actuatedDofs", info.actuated_dofs,
                               "passiveDofs", info.passive_dofs, "loops", info.loops, "massRatio", info.mass_ratio,
                               "totalMass", info.total_mass, "fixedBase", info.fixed_base);
    return answer(page,
                  json_pack("{so so so sb so so so so so so so so}", "id", text(kl_scene_id(page->scene)), "title",
                            text(kl_scene_title(page->scene)), "text", text(kl_scene_text(page->scene)), "surrogate",
                            kl_scene_surrogate(page->scene), "preset", text(kl_scene_preset(page->scene)), "solvers",
                            suggested_solvers(page->scene), "runs", runs_table(page->scene), "info", counts, "bodies",
                            bodies_table(model, info.bodies), "joints", joints_table(model, info.joints), "geoms",
                            geoms_table(model, info.geoms), "meshes", meshes_table(model, info.meshes)));
}

// The scene as a canonical document; NULL with an error.
const char *kl_page_scene_document(KlPage *page) {
    char *document = NULL;
    size_t size = 0;
    if (page->scene == NULL || kl_scene_write_json(page->scene, &document, &size) != KL_OK) {
        return NULL;
    }
    free(page->json);
    page->json = malloc(size + 1);
    if (page->json != NULL) {
        memcpy(page->json, document, size);
        page->json[size] = '\0';
    }
    kl_free(document);
    return page->json;
}

// The simulation's fields with their addresses; hold until the next start.
const char *kl_page_fields(KlPage *page) {
    static const char *const TYPES[] = {"f64", "i32", "u64", "f32"};
    if (page->sim == NULL) {
        (void)kl_fail(KL_ERR_ARGUMENT, "no simulation is started");
        return NULL;
    }
    json_t *list = json_array();
    for (int32_t i = 0; i < kl_sim_field_count(page->sim); i++) {
        const KlField *f = kl_sim_field(page->sim, i);
        json_array_append_new(list, json_pack("{so so so sI si si sI ss}", "id", text(f->id), "unit", text(f->unit),
                                              "text", text(f->text), "data", (json_int_t)(uintptr_t)f->data, "rows",
                                              f->rows, "columns", f->columns, "rowCount",
                                              (json_int_t)(uintptr_t)f->row_count, "type", TYPES[f->type]));
    }
    return answer(page, list);
}

static json_t *error_table(const KlError *e) {
    return json_pack("{ss so so si si so}", "status", kl_status_name(e->status), "message", text(e->message), "file",
                     text(e->file), "line", e->line, "column", e->column, "path", text(e->path));
}

const char *kl_page_error(KlPage *page) { return answer(page, error_table(kl_last_error())); }

// Eigenvalues of D + R, ascending; null when they cannot be had.
static json_t *spectrum_list(const KlProblem *problem) {
    double *values = kl_alloc((size_t)(problem->dim > 0 ? problem->dim : 1) * sizeof *values);
    bool known = values != NULL && kl_problem_spectrum(problem, values) == KL_OK;
    json_t *list = known ? json_array() : json_null();
    for (int32_t i = 0; known && i < problem->dim; i++) {
        json_array_append_new(list, real(values[i]));
    }
    kl_free(values);
    return list;
}

static json_t *condition_table(const KlProblem *problem) {
    KlCondition c;
    if (kl_problem_condition(problem, &c) != KL_OK) {
        return json_pack("{so}", "error", text(kl_last_error()->message));
    }
    return json_pack("{si si so so so so so}", "rank", c.rank, "jacobianRank", c.jacobian_rank, "eigenMin",
                     real(c.eigen_min), "eigenMax", real(c.eigen_max), "condition", real(c.condition), "density",
                     real(c.density), "spectrum", spectrum_list(problem));
}

static json_t *residuals_table(const KlProblem *problem, const double *lambda) {
    KlResiduals r;
    kl_problem_residuals(problem, lambda, &r);
    return json_pack("{so so so so so so so so}", "r_p", real(r.primal), "r_dual", real(r.dual), "r_ncp",
                     real(r.complementarity), "r_nat", real(r.natural), "r_nat_rel", real(r.natural_relative), "f",
                     real(r.objective), "f_ds", real(r.objective_desaxce), "f_ncp", real(r.objective_ncp));
}

// Sizes and category of the problem at hand; with `condition`, rank and spectrum too (O(dim^3)).
const char *kl_page_problem(KlPage *page, int32_t condition) {
    const KlProblem *problem = problem_of(page);
    if (problem == NULL) {
        (void)kl_fail(KL_ERR_ARGUMENT, "there is no problem yet");
        return NULL;
    }
    KlCategory category = KL_CATEGORY_UNCONSTRAINED;
    bool known = kl_problem_category(problem, &category) == KL_OK;
    json_t *starts = json_array();
    for (int32_t k = 0; k < problem->joint_count; k++) {
        json_array_append_new(starts, json_integer(problem->block_start[k]));
    }
    json_t *out =
        json_pack("{si si so si si si si so sf}", "dim", problem->dim, "jointRows", problem->joint_rows, "jointStarts",
                  starts, "jointCount", problem->joint_count, "limitCount", problem->limit_count, "contactCount",
                  problem->contact_count, "bodyCount", problem->body_count, "category",
                  known ? text(kl_category_name(category)) : json_null(), "dt", problem->dt);
    if (condition != 0) {
        json_object_set_new(out, "condition", condition_table(problem));
    }
    return answer(page, out);
}

// Share of `lambda` (dim) that moves nothing on the problem at hand (O(dim^3)); NaN with an error.
double kl_page_internal_share(KlPage *page, const double *lambda) {
    const KlProblem *problem = problem_of(page);
    double share = NAN;
    if (problem == NULL) {
        (void)kl_fail(KL_ERR_ARGUMENT, "there is no problem yet");
    } else if (kl_problem_internal_share(problem, lambda, &share) != KL_OK) {
        share = NAN;
    }
    return share;
}

// Fills `natural` (block_count) with the scale-free natural map of each joint, limit and contact at `lambda` (dim).
KlStatus kl_page_block_residuals(const KlPage *page, const double *lambda, double *natural) {
    const KlProblem *problem = problem_of(page);
    if (problem == NULL) {
        return kl_fail(KL_ERR_ARGUMENT, "there is no problem yet");
    }
    kl_problem_block_residuals(problem, lambda, natural);
    return KL_OK;
}

// The impedance curve of a kind of constraint (0 joints, 1 limits, 2 contacts) in run `run`: `count` values at
// residuals from 0 to `reach` [m], [rad]. KL_ERR_ARGUMENT without such a run, or when that kind is hard.
KlStatus kl_page_impedance(const KlPage *page, int32_t run, int32_t kind, double reach, int32_t count, double *values) {
    if (page->scene == NULL || run < 0 || run >= kl_scene_run_count(page->scene)) {
        return kl_fail(KL_ERR_ARGUMENT, "no such run is loaded");
    }
    const KlSettings *settings = &kl_scene_run(page->scene, run)->settings;
    const KlSoftening *kinds[] = {&settings->soft_joint, &settings->soft_limit, &settings->soft_contact};
    if (kind < 0 || kind > 2 || !kinds[kind]->on) {
        return kl_fail(KL_ERR_ARGUMENT, "this kind of constraint is hard");
    }
    for (int32_t i = 0; i < count; i++) {
        values[i] = kl_softening_impedance(kinds[kind], reach * i / (count - 1));
    }
    return KL_OK;
}

// How the last solve ended, judged afresh on the problem at hand.
const char *kl_page_solution(KlPage *page) {
    const KlProblem *problem = problem_of(page);
    const KlSolution *s = &page->solution;
    if (problem == NULL || s->lambda == NULL) {
        (void)kl_fail(KL_ERR_ARGUMENT, "nothing is solved yet");
        return NULL;
    }
    return answer(page, json_pack("{ss si si so so so si}", "outcome", kl_outcome_name(s->outcome), "iterations",
                                  s->iterations, "factorizations", s->factorizations, "time", real(s->time), "penalty",
                                  real(s->penalty), "residuals", residuals_table(problem, s->lambda), "dropped",
                                  page->trace.dropped));
}

// ------------------------------------------------------------------------------------------------
// Performance profiles
// ------------------------------------------------------------------------------------------------

// `measure` (problems x solvers), NaN = failed; fills tau (points) and rho (solvers x points).
KlStatus kl_page_profile(int32_t problems, int32_t solvers, const double *measure, int32_t floor_residuals,
                         int32_t points, double tau_max, double *tau, double *rho) {
    const KlProfileDef def = {problems, solvers, measure, floor_residuals != 0, points, tau_max};
    return kl_profile_compute(&def, tau, rho);
}
