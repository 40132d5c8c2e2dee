// Kernels of the solvers under the roof. Multiply-adds and bytes are counted from sizes here, but for those of a
// factorization, which its plan counts (kl_block_lu_flops, kl_block_lu_nonzeros): what the method needs, not what
// the code does. Bytes are those of the matrices, each passage over them once more, and of the vectors in and out;
// projections, square roots and divisions count as nothing, so that kernels with many of them stand low.
#include "roofline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "build_info.h"
#include "problem_file.h"
#include "roof.h"
#include "scene_find.h"
#include "solver/scaled.h"
#include "solver/sweeps.h"

enum { NUMBER = sizeof(double), ROW = 12, DEFAULT_STEPS = 200 };  // ROW: numbers of a row of J

// A problem with the scaled systems made of it; `x` and `y` are vectors of the kernels.
typedef struct Bench {
    const KlProblem *problem;
    KlScaled scaled;
    KlSolver *solver;
    double *x, *y;  // (dim)
} Bench;

typedef struct Count {
    double madds, bytes;  // of one call
    double held;          // [bytes] of different numbers: what a cache must hold
} Count;

// ---- kernels -----------------------------------------------------------------------------------

static void factor(void *context) {
    Bench *b = context;
    (void)kl_scaled_factor_shifted(&b->scaled, 0.1, 1.0);
}

static void solve(void *context) {
    Bench *b = context;
    memcpy(b->y, b->x, (size_t)b->scaled.dim * sizeof *b->y);
    kl_scaled_solve_shifted(&b->scaled, 1e-12, b->y);
}

static void iterate_afresh(void *context) {  // not from the last solution, which would leave nothing to do
    Bench *b = context;
    memset(b->scaled.gradients.twist, 0, 6 * (size_t)b->problem->body_count * sizeof(double));
    solve(context);
}

static void multiply(void *context) {
    Bench *b = context;
    kl_scaled_multiply(&b->scaled, b->x, b->y);
}

static void sweep_blocks(void *context) {
    Bench *b = context;
    (void)kl_sweep_once(&b->scaled, b->x);
}

static void sweep_bodies(void *context) {
    Bench *b = context;
    bool done;
    if (kl_solver_advance(b->solver, 1, &done) == KL_OK && done) {  // at rounding, after hundreds of sweeps
        (void)kl_solver_begin(b->solver, b->problem, NULL);
    }
}

// ---- what they need ----------------------------------------------------------------------------

static Count count_factor(const Bench *b) {
    const KlScaled *s = &b->scaled;
    const KlBlockLu *lu = s->bodies ? s->body_system.lu : s->lu;
    double numbers = (double)kl_block_lu_nonzeros(lu), madds = kl_block_lu_flops(lu);
    double matrix = 0.5 * ((double)s->value_count + s->dim);  // its upper triangle
    double rows = 0.0;
    if (s->bodies) {
        const KlBlockMatrix *m = &s->body_system.matrix;
        matrix = 36.0 * m->row_start[m->block_count];
        rows = (double)ROW * s->dim;
        for (int32_t i = 0; i < s->problem->block_count; i++) {
            int32_t count = s->problem->block_start[i + 1] - s->problem->block_start[i];
            for (int32_t k = 0; k < 4; k++) {
                madds += s->body_system.entry[4 * i + k] >= 0 ? 36.0 * count : 0.0;
            }
        }
    }
    return (Count){madds, NUMBER * (rows + matrix + numbers), NUMBER * (rows + matrix + numbers)};
}

static Count count_solve(const Bench *b) {
    const KlScaled *s = &b->scaled;
    double numbers = (double)kl_block_lu_nonzeros(s->bodies ? s->body_system.lu : s->lu);
    double rows = s->bodies ? (double)ROW * s->dim : 0.0, vectors = 2.0 * s->dim;
    return (Count){2.0 * (numbers + rows), NUMBER * (2.0 * (numbers + rows) + vectors),
                   NUMBER * (numbers + rows + vectors)};
}

// All steps of the last solution. A row goes into velocities and comes back from reactions, twelve products each; a
// contact that is a lever takes two cross products and a frame, 21, of 15 numbers.
static Count count_gradients(const Bench *b) {
    const KlScaled *s = &b->scaled;
    double dim = s->dim, steps = s->gradients.steps, own = 48.0 * s->problem->body_count;  // M and its block's inverse
    double levers = s->gradients.levers ? s->contacts : 0.0, rows = (double)ROW * (dim - 3.0 * levers);
    double once = rows + 21.0 * levers, numbers = rows + 15.0 * levers;
    double vectors = 3.0 * dim, twists = 30.0 * s->problem->body_count;
    return (Count){(2.0 * steps + 3.0) * once + (steps + 1.0) * (dim + own),
                   NUMBER * ((steps + 2.0) * (numbers + dim) + (steps + 1.0) * (own + twists)),
                   NUMBER * (numbers + vectors + own + twists)};
}

static Count count_multiply(const Bench *b) {
    const KlScaled *s = &b->scaled;
    double numbers = s->problem->body_count > 0 ? 2.0 * ROW * s->dim : (double)s->value_count, vectors = 3.0 * s->dim;
    return (Count){numbers + s->dim, NUMBER * (numbers + vectors), NUMBER * (numbers + vectors)};
}

static Count count_sweep_blocks(const Bench *b) {
    double numbers = (double)b->scaled.value_count, vectors = 3.0 * b->scaled.dim;
    return (Count){numbers, NUMBER * (numbers + vectors), NUMBER * (numbers + vectors)};
}

static Count count_sweep_bodies(const Bench *b) {  // velocity, push and the residual's velocity; D_jj of every block
    double dim = b->problem->dim, rows = ROW * dim, own = 3.0 * dim, vectors = 8.0 * dim;
    return (Count){3.0 * rows + own, NUMBER * (3.0 * rows + own + vectors), NUMBER * (rows + own + vectors)};
}

// ---- one kernel on one problem -----------------------------------------------------------------

typedef struct Session {
    Roof roof;
    json_t *kernels;
    const char *problem;  // its name
} Session;

static void tell(Session *session, const Bench *b, const char *kernel, void (*work)(void *),
                 Count (*count)(const Bench *)) {
    double seconds = roof_seconds(work, (void *)b);
    Count c = count(b);
    const RoofLevel *level = roof_level(&session->roof, c.held);
    double compute = c.madds / session->roof.peak, data = c.bytes / level->bandwidth;
    json_array_append_new(session->kernels, json_pack("{s:s, s:i, s:i, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:f}",
                                                      "problem", session->problem, "rows", (int)b->problem->dim,
                                                      "bodies", (int)b->problem->body_count, "kernel", kernel, "madds",
                                                      c.madds, "bytes", c.bytes, "held_bytes", c.held, "cpu_s", seconds,
                                                      "madds_per_s", c.madds / seconds, "intensity", c.madds / c.bytes,
                                                      "bound", compute > data ? "arithmetic" : level->name, "share",
                                                      (compute > data ? compute : data) / seconds));
}

static bool begin(Bench *b, KlFactorization where) {
    KlStatus status = kl_scaled_begin(&b->scaled, b->problem, true, where);
    for (int32_t i = 0; i < b->problem->dim; i++) {
        b->x[i] = 1.0 + 0.01 * (i % 7);
    }
    return status == KL_OK;
}

static KlStatus bench_begin(Bench *b, const KlProblem *problem) {
    *b = (Bench){.problem = problem, .x = kl_alloc(((size_t)problem->dim + 1) * sizeof(double))};
    b->y = kl_alloc(((size_t)problem->dim + 1) * sizeof(double));
    return b->x != NULL && b->y != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
}

static void bench_end(Bench *b) {
    kl_scaled_release(&b->scaled);
    kl_solver_destroy(b->solver);
    kl_free(b->x);
    kl_free(b->y);
}

// The scaled D of `s` as an explicit problem.
static KlStatus explicit_problem(KlScaled *s, KlProblem **explicit) {
    const KlProblem *p = s->problem;
    KlProblemSize size = {p->joint_rows, p->joint_count, p->limit_count, p->contact_count, 0, (int32_t)s->value_count};
    KL_TRY(kl_problem_create(&size, explicit));
    KlProblem *to = *explicit;
    const KlBlockMatrix *m = &s->delassus;
    kl_scaled_mirror(s);
    to->dt = p->dt;
    memcpy(to->block_start, p->block_start, ((size_t)p->block_count + 1) * sizeof *to->block_start);
    memcpy(to->friction, p->friction, (size_t)p->contact_count * sizeof *to->friction);
    memcpy(to->free_velocity, s->free_velocity, (size_t)p->dim * sizeof *to->free_velocity);
    int32_t at = 0;
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t i = 0; i < p->block_start[b + 1] - p->block_start[b]; i++) {
            to->delassus_start[p->block_start[b] + i] = at;
            for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
                int32_t first = p->block_start[m->column[e]], columns = p->block_start[m->column[e] + 1] - first;
                for (int32_t j = 0; j < columns; j++, at++) {
                    to->delassus_index[at] = first + j;
                    to->delassus_value[at] = m->values[m->offset[e] + (size_t)(i * columns + j)];
                }
            }
        }
    }
    to->delassus_start[p->dim] = at;
    return KL_OK;
}

static KlStatus begin_sweeps(Bench *b) {
    KL_TRY(kl_solver_create("pgs-ncp", &b->solver));
    KL_TRY(kl_solver_set_text(b->solver, "sweep", "body-space"));
    KL_TRY(kl_solver_set(b->solver, "max_iterations", 1e6));
    KL_TRY(kl_solver_set(b->solver, "tolerance", 0.0));
    return kl_solver_begin(b->solver, b->problem, NULL);
}

static KlStatus bench_blocks(Session *session, const KlProblem *problem) {
    Bench b;
    KlStatus status = bench_begin(&b, problem);
    if (status == KL_OK && begin(&b, KL_FACTOR_SPARSE)) {
        tell(session, &b, "product with D, blocks", multiply, count_multiply);
        if (kl_sweeps_apply(&b.scaled)) {
            tell(session, &b, "sweep, blocks of D", sweep_blocks, count_sweep_blocks);
        }
    }
    bench_end(&b);
    return status;
}

static KlStatus bench_bodies(Session *session, const KlProblem *problem) {
    Bench b;
    KlProblem *explicit = NULL;
    KlStatus status = bench_begin(&b, problem);
    if (status == KL_OK && begin(&b, KL_FACTOR_SPARSE)) {
        tell(session, &b, "factor on constraints", factor, count_factor);
        tell(session, &b, "solution on constraints", solve, count_solve);
        tell(session, &b, "product with D, bodies", multiply, count_multiply);
        status = explicit_problem(&b.scaled, &explicit);
    }
    if (status == KL_OK && explicit != NULL) {
        status = bench_blocks(session, explicit);
    }
    kl_problem_destroy(explicit);
    if (status == KL_OK && begin(&b, KL_FACTOR_BODIES)) {
        tell(session, &b, "factor on bodies", factor, count_factor);
        tell(session, &b, "solution on bodies", solve, count_solve);
    }
    if (status == KL_OK && begin(&b, KL_FACTOR_ITERATIVE)) {
        factor(&b);
        tell(session, &b, "J products, iterated", iterate_afresh, count_gradients);
        status = begin_sweeps(&b);
    }
    if (status == KL_OK) {
        tell(session, &b, "sweep, bodies", sweep_bodies, count_sweep_bodies);
    }
    bench_end(&b);
    return status;
}

static KlStatus bench_problem(Session *session, const KlProblem *problem, const char *name) {
    session->problem = name;
    KlStatus status = problem->body_count > 0 ? bench_bodies(session, problem) : bench_blocks(session, problem);
    session->problem = NULL;
    return status;
}

// ---- problems ----------------------------------------------------------------------------------

static KlStatus bench_scene(const CliArgs *args, Session *session, const char *name) {
    char path[1024];
    KlScene *scene = NULL;
    KlModel *model = NULL;
    KlSim *sim = NULL;
    KL_TRY(scene_find(name, path, sizeof path));
    KlStatus status = kl_scene_load(path, kl_files_disk(), &scene);
    if (status == KL_OK && (status = kl_scene_model_for_run(scene, 0, &model)) == KL_OK &&
        (status = kl_sim_create(model, &sim)) == KL_OK) {
        status = kl_sim_set_solver(sim, "newton-ncp");
    }
    int64_t steps = cli_int(args, "steps", DEFAULT_STEPS);
    for (int64_t i = 0; i < steps && status == KL_OK; i++) {
        status = kl_sim_step(sim);
    }
    if (status == KL_OK) {
        status = kl_sim_problem(sim)->dim > 0
                     ? bench_problem(session, kl_sim_problem(sim), name)
                     : kl_fail(KL_ERR_ARGUMENT, "%s: no constraint acts after %lld steps", name, (long long)steps);
    }
    kl_sim_destroy(sim);
    kl_model_destroy(model);
    kl_scene_destroy(scene);
    return status;
}

static KlStatus bench_file(Session *session, const ProblemSelection *selection) {
    ProblemFile file;
    KL_TRY(problem_file_open(selection->path, &file));
    KlStatus status = KL_OK;
    int32_t selected = 0;
    for (int32_t i = 0; i < file.count && status == KL_OK && !cli_interrupted(); i++) {
        ProblemRecord record;
        if (problem_selected(&file, selection, i)) {
            selected++;
            status = problem_file_read(&file, i, &record);
            if (status == KL_OK) {
                status = bench_problem(session, record.problem, record.name);
            }
            problem_record_free(&record);
        }
    }
    problem_file_close(&file);
    return status == KL_OK && selected == 0
               ? kl_fail(KL_ERR_NOT_FOUND, "%s holds none of these problems", selection->path)
               : status;
}

static KlStatus bench_operand(const CliArgs *args, Session *session, const char *operand) {
    ProblemSelection selection;
    if (!problem_file_is(operand)) {
        return bench_scene(args, session, operand);
    }
    KL_TRY(problem_select(operand, &selection));
    return bench_file(session, &selection);
}

// ---- results -----------------------------------------------------------------------------------

static json_t *roof_json(const Roof *roof) {
    json_t *levels = json_array();
    for (int i = 0; i < ROOF_LEVELS; i++) {
        const RoofLevel *l = &roof->level[i];
        json_array_append_new(levels, json_pack("{s:s, s:I, s:f}", "level", l->name, "read_bytes",
                                                (json_int_t)l->measured, "bytes_per_s", l->bandwidth));
    }
    return json_pack("{s:s, s:f, s:o}", "instructions", roof->instructions, "madds_per_s", roof->peak, "levels",
                     levels);
}

KlStatus roofline_measure(const CliArgs *args, json_t **result) {
    static const char *const scenes[] = {"quadruped", "walker", "ironman"};
    Session session = {.kernels = json_array()};
    char machine[256];
    machine_name(machine, sizeof machine);
    KlStatus status =
        roof_measure(&session.roof) ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory for the largest array");
    int operands = cli_operand_count(args), count = operands > 0 ? operands : (int)(sizeof scenes / sizeof scenes[0]);
    for (int i = 0; i < count && status == KL_OK && !cli_interrupted(); i++) {
        status = bench_operand(args, &session, operands > 0 ? cli_operand(args, i) : scenes[i]);
    }
    *result =
        json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "machine", machine, "compiler", compiler_name(), "commit",
                  commit_name(), "build", build_name(), "roof", roof_json(&session.roof), "kernels", session.kernels);
    return status;
}

static double real(const json_t *object, const char *key) { return json_number_value(json_object_get(object, key)); }

static const char *text(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

void roofline_print(const json_t *result) {
    static const char *const titles[] = {"problem", "rows",   "kernel",   "multiply-adds", "bytes",
                                         "time",    "10^9/s", "per byte", "bound by",      "of the roof"};
    const json_t *roof = json_object_get(result, "roof"), *row;
    size_t i;
    printf("%s, %s: %.1f 10^9 multiply-adds/s of one core; reading", text(result, "build"), text(roof, "instructions"),
           1e-9 * real(roof, "madds_per_s"));
    json_array_foreach(json_object_get(roof, "levels"), i, row) {
        printf("%s %s %.0f", i > 0 ? "," : "", text(row, "level"), 1e-9 * real(row, "bytes_per_s"));
    }
    printf(" GB/s\n\n");
    CliTable table;
    cli_table_begin(&table, 10, titles);
    json_array_foreach(json_object_get(result, "kernels"), i, row) {
        cli_table_cell(&table, "%s", text(row, "problem"));
        cli_table_cell(&table, "%.0f", real(row, "rows"));
        cli_table_cell(&table, "%s", text(row, "kernel"));
        cli_table_cell(&table, "%.3g", real(row, "madds"));
        cli_table_cell(&table, "%.3g", real(row, "bytes"));
        cli_table_time(&table, real(row, "cpu_s"));
        cli_table_cell(&table, "%.2f", 1e-9 * real(row, "madds_per_s"));
        cli_table_cell(&table, "%.2f", real(row, "intensity"));
        cli_table_cell(&table, "%s", text(row, "bound"));
        cli_table_cell(&table, "%.0f %%", 100.0 * real(row, "share"));
    }
    cli_table_print(&table, stdout);
    cli_table_free(&table);
}
