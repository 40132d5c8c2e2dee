// The framework around the solvers: registry, parameters, memory, warm start, the loop with its
// outcomes, and the trace. It knows no method; a method knows no loop.
//
// Outcomes
//   converged       the method's stop test holds.
//   max-iterations  the iteration limit was reached (or the caller finished early).
//   diverged        an iterate or residual is not finite, a factorization failed, or a residual
//   grew
//                   DIVERGED_GROWTH times past the first one and |v_f|. The solution is then the
//                   best iterate there was.
//   stagnated       for STAGNATED_WINDOW iterations in a row lambda moved by less than
//                   STAGNATED_MOTION of its size and no iteration bettered the best residual: the
//                   iterates are at rounding level and further iterations cannot help. A method
//                   that still creeps, cycles visibly or improves is never called stagnated.
#include "solver/solver.h"
#include "math/lanes.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "solver/solver_list.h"
#include "solver/warm_start.h"

static const double DIVERGED_GROWTH = 1e12;                // far beyond any transient seen
static const double STAGNATED_MOTION = 4.0 * DBL_EPSILON;  // a few roundings of one iteration
enum { STAGNATED_WINDOW = 200 };                           // longer than the transients of rho adaptation

#define DECLARE(name) extern const KlMethod kl_method_##name;
KL_SOLVER_LIST(DECLARE)
#define ENTRY(name) &kl_method_##name,
static const KlMethod *const methods[] = {KL_SOLVER_LIST(ENTRY)};
enum { METHOD_COUNT = sizeof methods / sizeof methods[0] };

struct KlSolver {
    const KlMethod *method;
    KlArena fixed;   // parameters and state: the solver's life
    double *param;   // (param_count) as set
    double *frozen;  // (param_count) as of the running solve
    void *state;

    KlArena arena;  // everything sized by the problem
    KlCapacity capacity;
    bool laid_out;
    KlWarmMemory memory;
    double *lambda, *velocity, *previous, *scratch;  // (capacity.dim)
    double *best_lambda;  // (capacity.dim) iterate of the smallest residual: what a diverged solve
                          // gives

    KlRun run;
    KlTrace *trace;
    bool trace_natural;
    bool running, done;
    KlOutcome outcome;
    double time;       // [s] spent in begin, advance and finish
    double reference;  // residual size from which growth is counted
    double best;       // smallest residual so far
    int32_t still;     // iterations in a row without motion or improvement
};

// ---- registry ----------------------------------------------------------------------------------

int32_t kl_solver_kind_count(void) { return METHOD_COUNT; }

const KlSolverInfo *kl_solver_kind(int32_t index) {
    return index >= 0 && index < METHOD_COUNT ? &methods[index]->info : NULL;
}

int32_t kl_solver_kind_find(const char *id) {
    for (int32_t i = 0; i < METHOD_COUNT; i++) {
        if (strcmp(methods[i]->info.id, id) == 0) {
            return i;
        }
    }
    return -1;
}

const char *kl_outcome_name(KlOutcome o) {
    static const char *const names[] = {"converged", "max-iterations", "stagnated", "diverged"};
    return (size_t)o < sizeof names / sizeof names[0] ? names[o] : "unknown";
}

static KlStatus fail_unknown_solver(const char *id) {
    char known[512] = "";
    for (int32_t i = 0; i < METHOD_COUNT; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", methods[i]->info.id);
    }
    return kl_fail(KL_ERR_NOT_FOUND, "no solver '%s'; known: %s", id, known);
}

// ---- life --------------------------------------------------------------------------------------

KlStatus kl_solver_create(const char *id, KlSolver **solver) {
    *solver = NULL;
    int32_t kind = kl_solver_kind_find(id);
    if (kind < 0) {
        return fail_unknown_solver(id);
    }
    KlSolver *s = kl_alloc(sizeof *s);
    if (s == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory for solver '%s'", id);
    }
    s->method = methods[kind];
    const KlSolverInfo *info = &s->method->info;
    s->param = KL_ARENA_ARRAY(&s->fixed, double, info->param_count);
    s->frozen = KL_ARENA_ARRAY(&s->fixed, double, info->param_count);
    s->state = kl_arena_alloc(&s->fixed, 1, s->method->state_size);
    KlStatus status = kl_arena_check(&s->fixed);
    if (status != KL_OK) {
        kl_solver_destroy(s);
        return status;
    }
    for (int32_t i = 0; i < info->param_count; i++) {
        s->param[i] = info->params[i].initial;
    }
    *solver = s;
    return KL_OK;
}

static void release_state(KlSolver *s) {
    if (s->method->release != NULL && s->state != NULL) {
        s->method->release(s->state);
    }
}

void kl_solver_destroy(KlSolver *solver) {
    if (solver != NULL) {
        release_state(solver);
        kl_arena_free(&solver->arena);
        kl_arena_free(&solver->fixed);
        kl_free(solver);
    }
}

const KlSolverInfo *kl_solver_info(const KlSolver *solver) { return &solver->method->info; }

// ---- parameters --------------------------------------------------------------------------------

static int32_t find_param(const KlSolver *s, const char *id) {
    const KlSolverInfo *info = &s->method->info;
    for (int32_t i = 0; i < info->param_count; i++) {
        if (strcmp(info->params[i].id, id) == 0) {
            return i;
        }
    }
    return -1;
}

static KlStatus fail_unknown_param(const KlSolver *s, const char *id) {
    return kl_fail(KL_ERR_NOT_FOUND, "solver '%s' has no parameter '%s'", s->method->info.id, id);
}

KlStatus kl_solver_set(KlSolver *solver, const char *param, double value) {
    int32_t i = find_param(solver, param);
    if (i < 0) {
        return fail_unknown_param(solver, param);
    }
    const KlParam *p = &solver->method->info.params[i];
    if (!(value >= p->min && value <= p->max)) {
        return kl_fail(KL_ERR_ARGUMENT, "%s.%s must be in [%g, %g] (got %g)", solver->method->info.id, param, p->min,
                       p->max, value);
    }
    if (p->kind != KL_PARAM_REAL && value != floor(value)) {
        return kl_fail(KL_ERR_ARGUMENT, "%s.%s must be a whole number (got %g)", solver->method->info.id, param, value);
    }
    bool shapes_memory = i >= KL_COMMON_PARAM_COUNT && (p->kind == KL_PARAM_BOOL || p->kind == KL_PARAM_CHOICE);
    if (shapes_memory && solver->param[i] != value) {
        solver->laid_out = false;
    }
    solver->param[i] = value;
    return KL_OK;
}

// The place of `value` in "a|b|c", -1 when it is none of them.
static int32_t find_choice(const char *choices, const char *value) {
    size_t length = strlen(value);
    for (int32_t index = 0; choices != NULL; index++) {
        const char *end = strchr(choices, '|');
        size_t size = end != NULL ? (size_t)(end - choices) : strlen(choices);
        if (size == length && strncmp(choices, value, size) == 0) {
            return index;
        }
        choices = end != NULL ? end + 1 : NULL;
    }
    return -1;
}

KlStatus kl_solver_set_text(KlSolver *solver, const char *param, const char *value) {
    int32_t i = find_param(solver, param);
    if (i < 0) {
        return fail_unknown_param(solver, param);
    }
    const KlParam *p = &solver->method->info.params[i];
    const char *choices = p->kind == KL_PARAM_CHOICE ? p->choices : "false|true";
    if (p->kind == KL_PARAM_CHOICE || p->kind == KL_PARAM_BOOL) {
        int32_t choice = find_choice(choices, value);
        if (choice >= 0) {
            return kl_solver_set(solver, param, choice);
        }
        return kl_fail(KL_ERR_ARGUMENT, "%s.%s must be one of %s (got '%s')", solver->method->info.id, param, choices,
                       value);
    }
    char *end = NULL;
    double number = strtod(value, &end);
    if (end == value || *end != '\0') {
        return kl_fail(KL_ERR_ARGUMENT, "%s.%s must be a number (got '%s')", solver->method->info.id, param, value);
    }
    return kl_solver_set(solver, param, number);
}

double kl_solver_get(const KlSolver *solver, const char *param) {
    int32_t i = find_param(solver, param);
    return i >= 0 ? solver->param[i] : NAN;
}

KlStatus kl_solver_preset(KlSolver *solver, const char *preset) {
    static const struct {
        const char *id;
        double max_iterations, tolerance;  // 0: the method's own
    } presets[] = {{"high-precision", 1e4, 0.0}, {"high-throughput", 1e3, 1e-6}};
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        if (strcmp(presets[i].id, preset) == 0) {
            KL_TRY(kl_solver_set(solver, "max_iterations", presets[i].max_iterations));
            double own = solver->method->info.params[find_param(solver, "tolerance")].initial;
            return kl_solver_set(solver, "tolerance", presets[i].tolerance > 0.0 ? presets[i].tolerance : own);
        }
    }
    return kl_fail(KL_ERR_NOT_FOUND, "no preset '%s'; known: high-precision, high-throughput", preset);
}

void kl_solver_trace_natural(KlSolver *solver, bool on) { solver->trace_natural = on; }

// ---- memory ------------------------------------------------------------------------------------

// As double: int32_t rows squared may not fit a size_t of 32 bits.
static size_t dense_size(int32_t dim) {
    double bytes = (double)sizeof(double) * dim * dim;
    return bytes < (double)SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

double *kl_dense_alloc(KlArena *arena, int32_t dim) {
    if (dim > KL_DENSE_DIM_MAX && !arena->failed) {
        arena->failed = true;
        arena->refused = dense_size(dim);
    }
    return KL_ARENA_ARRAY(arena, double, (size_t)dim *(size_t)dim);
}

enum { JOINT_ROWS_MAX = 6 };  // of one joint, when the problem knows bodies

static KlCapacity capacity_of_size(const KlProblemSize *size) {
    size_t rows = (size_t)size->joint_rows;
    // Without bodies all joint rows may sit in one block.
    size_t block_rows = size->body_count > 0 && rows > JOINT_ROWS_MAX ? JOINT_ROWS_MAX : rows;
    return (KlCapacity){.size = *size,
                        .dim = kl_size_rows(size),
                        .block_count = kl_size_blocks(size),
                        .joint_squares = rows * block_rows};
}

static KlCapacity capacity_of_problem(const KlProblem *problem) {
    KlProblemSize size = kl_problem_size(problem);
    KlCapacity capacity = capacity_of_size(&size);
    size_t squares = 0;
    for (int32_t b = 0; b < problem->joint_count; b++) {
        size_t rows = (size_t)kl_block_rows(problem, b);
        squares += rows * rows;
    }
    if (squares > capacity.joint_squares) {
        capacity.joint_squares = squares;
    }
    return capacity;
}

#define GROW(field) (to->field = to->field > from->field ? to->field : from->field)
static void cover(const KlCapacity *from, KlCapacity *to) {
    GROW(size.joint_rows);
    GROW(size.joint_count);
    GROW(size.limit_count);
    GROW(size.contact_count);
    GROW(size.body_count);
    GROW(size.nonzeros);
    GROW(joint_squares);
    to->dim = kl_size_rows(&to->size);
    to->block_count = kl_size_blocks(&to->size);
}
#undef GROW

static bool covers(const KlCapacity *has, const KlCapacity *wanted) {
    return has->size.joint_rows >= wanted->size.joint_rows && has->size.joint_count >= wanted->size.joint_count &&
           has->size.limit_count >= wanted->size.limit_count && has->size.contact_count >= wanted->size.contact_count &&
           has->size.body_count >= wanted->size.body_count && has->size.nonzeros >= wanted->size.nonzeros &&
           has->joint_squares >= wanted->joint_squares;
}

static void lay_out(KlSolver *s, KlArena *arena) {
    int32_t dim = s->capacity.dim;
    s->lambda = KL_ARENA_ARRAY(arena, double, dim);
    s->velocity = KL_ARENA_ARRAY(arena, double, dim);
    s->previous = KL_ARENA_ARRAY(arena, double, dim);
    s->scratch = KL_ARENA_ARRAY(arena, double, dim);
    s->best_lambda = KL_ARENA_ARRAY(arena, double, dim);
    release_state(s);
    memset(s->state, 0, s->method->state_size);
    if (s->method->reserve != NULL) {
        s->method->reserve(s->state, &s->capacity, s->param, arena);
    }
}

static KlStatus no_room(const KlSolver *s, const KlArena *arena) {
    double rows = s->capacity.dim;
    if (arena->refused < dense_size(s->capacity.dim)) {
        return kl_fail(KL_ERR_MEMORY, "%s: no room for %.0f rows", s->method->info.id, rows);
    }
    return kl_fail(KL_ERR_MEMORY,
                   "%s: no room for %.0f rows; its dense matrices take %.3g MB each, up to %d rows; "
                   "newton-ncp and admm-ncp-plus have none",
                   s->method->info.id, rows, 8e-6 * rows * rows, (int)KL_DENSE_DIM_MAX);
}

// Moves to a new arena that fits `wanted` beside what fitted before; the warm start moves along.
static KlStatus reserve(KlSolver *s, const KlCapacity *wanted) {
    if (s->laid_out && covers(&s->capacity, wanted)) {
        return KL_OK;
    }
    cover(wanted, &s->capacity);
    kl_alloc_forget_refused();  // too many rows ask for nothing
    KlArena arena = {0};
    KlWarmMemory memory;
    kl_warm_reserve(&memory, s->capacity.block_count, s->capacity.dim, &arena);
    lay_out(s, &arena);
    KlStatus status = arena.failed ? no_room(s, &arena) : KL_OK;
    if (status == KL_OK) {
        kl_warm_copy(&s->memory, &memory);
    } else {
        kl_arena_free(&arena);
        memory = (KlWarmMemory){0};
        s->capacity = (KlCapacity){0};
    }
    kl_arena_free(&s->arena);
    s->arena = arena;
    s->memory = memory;
    s->laid_out = status == KL_OK;
    return status;
}

KlStatus kl_solver_reserve(KlSolver *solver, const KlProblemSize *size) {
    if (size->joint_rows < 0 || size->joint_count < 0 || size->limit_count < 0 || size->contact_count < 0 ||
        size->body_count < 0 || size->nonzeros < 0) {
        return kl_fail(KL_ERR_ARGUMENT, "kl_solver_reserve: counts must be >= 0");
    }
    KlCapacity wanted = capacity_of_size(size);
    solver->running = false;
    return reserve(solver, &wanted);
}

void kl_solver_forget(KlSolver *solver) { solver->memory.block_count = 0; }

// ---- the loop ----------------------------------------------------------------------------------

static double max2(double a, double b) { return a > b ? a : b; }

bool kl_converged_residuals(const KlRun *run) {
    double tolerance = run->param[KL_PARAM_TOLERANCE];
    return run->primal < tolerance && run->dual < tolerance && run->complementarity < tolerance;
}

static bool converged(const KlSolver *s) {
    return s->method->converged != NULL ? s->method->converged(&s->run) : kl_converged_residuals(&s->run);
}

// |lambda - previous| <= STAGNATED_MOTION |lambda|
static bool rests(const KlSolver *s, double size) {
    KlLargest motion = {0};
    int32_t i = 0, dim = s->run.problem->dim;
    for (; i + 2 <= dim; i += 2) {
        kl_largest_take(&motion, kl_load(s->lambda + i) - kl_load(s->previous + i));
    }
    if (i < dim) {
        kl_largest_take(&motion, kl_both(s->lambda[i] - s->previous[i]));
    }
    return kl_largest(&motion) <= STAGNATED_MOTION * size;
}

static bool diverged(KlSolver *s, bool finite_lambda) {
    double size = max2(s->run.primal, s->run.dual);
    bool finite = finite_lambda && isfinite(s->run.primal) && isfinite(s->run.dual) && isfinite(s->run.complementarity);
    if (s->run.broken || !finite) {
        return true;
    }
    if (s->run.iteration == 1) {
        s->reference = max2(s->reference, size);
    }
    return size > DIVERGED_GROWTH * s->reference;
}

// True when the iterate is the best so far, which is then kept.
static bool keep_best(KlSolver *s) {
    double residual = max2(max2(s->run.primal, s->run.dual), s->run.complementarity);
    if (!(residual < s->best)) {
        return false;
    }
    s->best = residual;
    memcpy(s->best_lambda, s->lambda, (size_t)s->run.problem->dim * sizeof *s->lambda);
    return true;
}

static bool stagnated(KlSolver *s, bool at_rest) {
    bool better = keep_best(s);
    s->still = at_rest && !better ? s->still + 1 : 0;
    return s->still >= STAGNATED_WINDOW;
}

// A diverged solve gives the best iterate it had, the first guess if none was finite.
static void stop(KlSolver *s, KlOutcome outcome) {
    s->done = true;
    s->outcome = outcome;
    if (outcome == KL_OUTCOME_DIVERGED) {
        memcpy(s->lambda, s->best_lambda, (size_t)s->run.problem->dim * sizeof *s->lambda);
    }
}

static void judge(KlSolver *s) {
    double size = kl_lanes_largest(s->lambda, s->run.problem->dim);
    if (diverged(s, isfinite(size))) {
        stop(s, KL_OUTCOME_DIVERGED);
    } else if (converged(s)) {
        stop(s, KL_OUTCOME_CONVERGED);
    } else if (stagnated(s, rests(s, size))) {
        stop(s, KL_OUTCOME_STAGNATED);
    } else if (s->run.iteration >= kl_param_int(&s->run, KL_PARAM_MAX_ITERATIONS)) {
        stop(s, KL_OUTCOME_MAX_ITERATIONS);
    }
}

static void write_trace(KlSolver *s) {
    KlTrace *trace = s->trace;
    if (trace->count >= trace->capacity) {
        trace->dropped++;
        return;
    }
    KlTraceRow *row = &trace->rows[trace->count++];
    *row = (KlTraceRow){.iteration = s->run.iteration,
                        .primal = s->run.primal,
                        .dual = s->run.dual,
                        .complementarity = s->run.complementarity,
                        .natural_relative = NAN,
                        .penalty = s->run.penalty};
    if (s->trace_natural) {
        KlResiduals residuals;
        kl_problem_residuals(s->run.problem, s->lambda, &residuals);
        row->natural_relative = residuals.natural_relative;
    }
}

static void iterate(KlSolver *s) {
    memcpy(s->previous, s->lambda, (size_t)s->run.problem->dim * sizeof *s->lambda);
    s->run.iteration++;
    s->method->iterate(&s->run);
    if (s->trace != NULL) {
        write_trace(s);
    }
    judge(s);
}

static KlStatus start(KlSolver *s, const KlProblem *problem) {
    KlCapacity wanted = capacity_of_problem(problem);
    KL_TRY(reserve(s, &wanted));
    memcpy(s->frozen, s->param, (size_t)s->method->info.param_count * sizeof *s->param);
    KlWarmStart mode = (KlWarmStart)(int32_t)s->frozen[KL_PARAM_WARM_START];
    kl_warm_start(&s->memory, mode, problem, s->scratch, s->lambda);
    s->run = (KlRun){
        .problem = problem, .param = s->frozen, .state = s->state, .lambda = s->lambda, .velocity = s->velocity};
    if (problem->dim == 0) {
        stop(s, KL_OUTCOME_CONVERGED);
        return KL_OK;
    }
    s->reference = max2(kl_lanes_largest(problem->free_velocity, problem->dim), DBL_MIN);
    s->best = INFINITY;
    memcpy(s->best_lambda, s->lambda, (size_t)problem->dim * sizeof *s->lambda);
    KL_TRY(s->method->begin(&s->run));
    if (s->run.broken) {
        stop(s, KL_OUTCOME_DIVERGED);
    }
    return KL_OK;
}

static KlStatus begin(KlSolver *solver, const KlProblem *problem, KlTrace *trace) {
    solver->running = false;
    solver->done = false;
    solver->still = 0;
    solver->outcome = KL_OUTCOME_MAX_ITERATIONS;
    solver->trace = trace;
    if (trace != NULL) {
        trace->count = 0;
        trace->dropped = 0;
    }
    KL_TRY(start(solver, problem));
    solver->running = true;
    return KL_OK;
}

KlStatus kl_solver_begin(KlSolver *solver, const KlProblem *problem, KlTrace *trace) {
    double clock = kl_clock();
    KL_TRY(begin(solver, problem, trace));
    solver->time = kl_clock() - clock;
    return KL_OK;
}

static KlStatus check_running(const KlSolver *s, const char *function) {
    return s->running ? KL_OK : kl_fail(KL_ERR_ARGUMENT, "%s: no solve has begun", function);
}

static void advance(KlSolver *solver, int32_t iterations) {
    for (int32_t i = 0; i < iterations && !solver->done; i++) {
        iterate(solver);
    }
}

KlStatus kl_solver_advance(KlSolver *solver, int32_t iterations, bool *done) {
    KL_TRY(check_running(solver, "kl_solver_advance"));
    double clock = kl_clock();
    advance(solver, iterations);
    *done = solver->done;
    solver->time += kl_clock() - clock;
    return KL_OK;
}

static void finish(KlSolver *solver) {
    const KlProblem *problem = solver->run.problem;
    if (!solver->run.velocity_known || solver->outcome == KL_OUTCOME_DIVERGED) {  // which hands out another point
        kl_problem_velocity(problem, solver->lambda, solver->velocity);
    }
    if (solver->outcome == KL_OUTCOME_DIVERGED) {
        kl_solver_forget(solver);
    } else {
        kl_warm_store(&solver->memory, problem, solver->lambda);
    }
    solver->running = false;
}

static void hand_out(const KlSolver *solver, KlSolution *solution) {
    *solution = (KlSolution){.outcome = solver->outcome,
                             .iterations = solver->run.iteration,
                             .factorizations = solver->run.factorizations,
                             .time = solver->time,
                             .lambda = solver->lambda,
                             .velocity = solver->velocity,
                             .penalty = solver->run.penalty};
}

KlStatus kl_solver_finish(KlSolver *solver, KlSolution *solution) {
    KL_TRY(check_running(solver, "kl_solver_finish"));
    double clock = kl_clock();
    finish(solver);
    solver->time += kl_clock() - clock;
    hand_out(solver, solution);
    return KL_OK;
}

KlStatus kl_solver_run(KlSolver *solver, const KlProblem *problem, KlTrace *trace, KlSolution *solution) {
    bool keeps = kl_problem_keep(problem);  // nobody changes the problem meanwhile
    kl_problem_forget(problem);             // each solver's time has what it needs in it, not the first one's alone
    KlStatus status = begin(solver, problem, trace);
    if (status == KL_OK) {
        advance(solver, INT32_MAX);
        finish(solver);
        solver->time = 0.0;
        hand_out(solver, solution);
    }
    if (keeps) {
        kl_problem_let_go(problem);
    }
    return status;
}

KlStatus kl_solver_solve(KlSolver *solver, const KlProblem *problem, KlTrace *trace, KlSolution *solution) {
    double clock = kl_clock();
    KL_TRY(kl_solver_run(solver, problem, trace, solution));
    solution->time = solver->time = kl_clock() - clock;
    return KL_OK;
}

// ---- checkpoints -------------------------------------------------------------------------------

size_t kl_solver_state_size(const KlSolver *solver) { return kl_warm_size(&solver->memory); }
void kl_solver_save(const KlSolver *solver, void *state) { kl_warm_save(&solver->memory, state); }
void kl_solver_load(KlSolver *solver, const void *state) { kl_warm_load(&solver->memory, state); }
