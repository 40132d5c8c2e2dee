// Closing loops: Gauss-Newton on the joint residuals f_J with minimum-norm steps,
//   delta = -J^T (J J^T + mu 1)^-1 f,   mu = min(1e-8, |f|^2) max diag(J J^T)
// (Levenberg-Marquardt with a vanishing mu: steps stay in the row space, redundant loops do no harm,
// and convergence is quadratic), halved while the residual does not fall. Norms are taken in metres and
// radians as they are.
#include "math/eigen.h"
#include "math/llt.h"
#include "math/vec.h"
#include "sim/sim.h"

#include <float.h>
#include <string.h>

enum { MAX_ITERATIONS = 100, MAX_HALVINGS = 20 };

typedef struct Closing {
    KlArena arena;
    int32_t rows, freedoms;  // n_jd, 6 n_b
    double *pose, *trial;    // (n_b x 7)
    double *residual;        // (rows)
    double *jacobian;        // (rows x freedoms), dense
    double *gram;            // (rows x rows)
    double *factor;          // L of it
    double *multiplier;      // (rows, padded)
    double *delta;           // (freedoms)
} Closing;

static KlStatus prepare(const KlSim *sim, Closing *c) {
    c->rows = sim->row_start[sim->joint_count];
    c->freedoms = 6 * sim->body_count;
    size_t rows = (size_t)c->rows, freedoms = (size_t)c->freedoms;
    c->pose = KL_ARENA_ARRAY(&c->arena, double, 7 * sim->body_count);
    c->trial = KL_ARENA_ARRAY(&c->arena, double, 7 * sim->body_count);
    c->residual = KL_ARENA_ARRAY(&c->arena, double, rows);
    c->jacobian = KL_ARENA_ARRAY(&c->arena, double, rows *freedoms);
    c->gram = KL_ARENA_ARRAY(&c->arena, double, rows *rows);
    c->factor = KL_ARENA_ARRAY(&c->arena, double, kl_llt_size(c->rows));
    c->multiplier = KL_ARENA_ARRAY(&c->arena, double, kl_llt_padded(c->rows));
    c->delta = KL_ARENA_ARRAY(&c->arena, double, freedoms);
    KL_TRY(kl_arena_check(&c->arena));
    memcpy(c->pose, sim->now.pose, 7 * (size_t)sim->body_count * sizeof *c->pose);
    return KL_OK;
}

static double largest(const double *x, int32_t count) {
    double worst = 0.0;
    for (int32_t i = 0; i < count; i++) {
        worst = fabs(x[i]) > worst ? fabs(x[i]) : worst;
    }
    return worst;
}

static double square(const double *x, int32_t count) {
    double sum = 0.0;
    for (int32_t i = 0; i < count; i++) {
        sum += x[i] * x[i];
    }
    return sum;
}

// f_J at these poses; with `jacobian` also the dense J (zeroed before).
static void linearise(const KlSim *sim, const double *pose, int32_t freedoms, double *residual, double *jacobian) {
    for (int32_t j = 0; j < sim->joint_count; j++) {
        const KlJointDef *def = &sim->model->joints[j];
        KlJointFrame frame;
        double rows[KL_JOINT_MAX_ROWS * KL_ROW];
        int32_t first = sim->row_start[j];
        kl_joint_frame(def, pose, &frame);
        int32_t count = kl_joint_constraint(def->kind, &frame, residual + first, rows);
        for (int32_t i = 0; jacobian != NULL && i < count; i++) {
            double *out = jacobian + (size_t)(first + i) * (size_t)freedoms;
            if (def->base >= 0) {
                memcpy(out + 6 * def->base, rows + i * KL_ROW, 6 * sizeof *out);
            }
            memcpy(out + 6 * def->follower, rows + i * KL_ROW + 6, 6 * sizeof *out);
        }
    }
}

// J J^T, both triangles.
static void fill_gram(Closing *c) {
    int32_t n = c->rows, m = c->freedoms;
    for (int32_t i = 0; i < n; i++) {
        const double *row = c->jacobian + (size_t)i * (size_t)m;
        for (int32_t j = 0; j <= i; j++) {
            const double *other = c->jacobian + (size_t)j * (size_t)m;
            double sum = 0.0;
            for (int32_t k = 0; k < m; k++) {
                sum += row[k] * other[k];
            }
            c->gram[(size_t)i * (size_t)n + (size_t)j] = sum;
            c->gram[(size_t)j * (size_t)n + (size_t)i] = sum;
        }
    }
}

static double largest_diagonal(const Closing *c) {
    double worst = 0.0;
    for (int32_t i = 0; i < c->rows; i++) {
        double d = c->gram[(size_t)i * (size_t)(c->rows + 1)];
        worst = d > worst ? d : worst;
    }
    return worst;
}

static void fill_system(const KlSim *sim, Closing *c) {
    memset(c->jacobian, 0, (size_t)c->rows * (size_t)c->freedoms * sizeof *c->jacobian);
    linearise(sim, c->pose, c->freedoms, c->residual, c->jacobian);
    fill_gram(c);
}

// delta = -J^T (J J^T + mu 1)^-1 f; false when the matrix is not positive definite.
static bool newton_direction(Closing *c, double mu) {
    int32_t n = c->rows, m = c->freedoms;
    if (kl_llt_factor(c->gram, n, n, mu, c->factor) >= 0) {
        return false;
    }
    memcpy(c->multiplier, c->residual, (size_t)n * sizeof *c->multiplier);
    kl_llt_solve(c->factor, n, c->multiplier);
    memset(c->delta, 0, (size_t)m * sizeof *c->delta);
    for (int32_t i = 0; i < n; i++) {
        const double *row = c->jacobian + (size_t)i * (size_t)m;
        for (int32_t k = 0; k < m; k++) {
            c->delta[k] -= row[k] * c->multiplier[i];
        }
    }
    return true;
}

// False when no multiple of the step lowers |f|.
static bool newton_step(const KlSim *sim, Closing *c) {
    fill_system(sim, c);
    double before = square(c->residual, c->rows);
    double share = before < 1e-8 ? before : 1e-8;
    double mu = (share > 1e-14 ? share : 1e-14) * largest_diagonal(c);  // at least the rounding of J J^T
    if (!newton_direction(c, mu)) {
        return false;
    }
    double step = 1.0;
    for (int32_t halving = 0; halving < MAX_HALVINGS; halving++, step *= 0.5) {
        kl_integrate_poses(sim->body_count, step, c->pose, c->delta, c->trial);
        linearise(sim, c->trial, c->freedoms, c->residual, NULL);
        if (square(c->residual, c->rows) < before) {
            memcpy(c->pose, c->trial, 7 * (size_t)sim->body_count * sizeof *c->pose);
            return true;
        }
    }
    return false;
}

static void measure_rank(const KlSim *sim, Closing *c, KlAssembly *report) {
    fill_system(sim, c);
    report->rank = kl_rank_semidefinite(c->gram, c->rows, 10.0 * c->rows * DBL_EPSILON, c->multiplier);
    report->mobility = c->freedoms - report->rank;
}

static int32_t worst_joint(const KlSim *sim, const Closing *c) {
    int32_t joint = 0;
    double worst = -1.0;
    for (int32_t j = 0; j < sim->joint_count; j++) {
        double size = largest(c->residual + sim->row_start[j], sim->row_start[j + 1] - sim->row_start[j]);
        if (size > worst) {
            worst = size;
            joint = j;
        }
    }
    return joint;
}

static KlStatus close_loops(KlSim *sim, Closing *c, double tolerance, KlAssembly *report) {
    KL_TRY(prepare(sim, c));
    linearise(sim, c->pose, c->freedoms, c->residual, NULL);
    report->residual_before = report->residual_after = largest(c->residual, c->rows);
    while (report->residual_after > tolerance && report->iterations < MAX_ITERATIONS && newton_step(sim, c)) {
        report->residual_after = largest(c->residual, c->rows);
        report->iterations++;
    }
    measure_rank(sim, c, report);
    report->residual_after = largest(c->residual, c->rows);
    if (!(report->residual_after <= tolerance)) {
        return kl_fail(KL_ERR_SCENE,
                       "the joints cannot be closed to %g: after %d iterations joint '%s' is still off "
                       "by %g [m or rad]",
                       tolerance, (int)report->iterations, sim->model->joints[worst_joint(sim, c)].name,
                       report->residual_after);
    }
    memcpy(sim->now.pose, c->pose, 7 * (size_t)sim->body_count * sizeof *c->pose);
    kl_settle(sim);
    return KL_OK;
}

KlStatus kl_sim_assemble(KlSim *sim, double tolerance, KlAssembly *report) {
    if (!(tolerance > 0.0)) {
        return kl_fail(KL_ERR_ARGUMENT, "kl_sim_assemble: tolerance must be > 0 (got %g)", tolerance);
    }
    KlAssembly local = {0};
    Closing closing = {0};
    KlStatus status = close_loops(sim, &closing, tolerance, &local);
    kl_arena_free(&closing.arena);
    if (report != NULL) {
        *report = local;
    }
    return status;
}
