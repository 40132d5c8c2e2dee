#include "solver/body_gradients.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/lanes.h"
#include "math/llt.h"
#include "solver/scaled.h"

enum { MOST_STEPS = 1000 };            // of one solution
static const double ROUNDING = 1e-15;  // of the right-hand side, in the energy norm

KlStatus kl_body_gradients_reserve(KlBodyGradients *g, int32_t dim, int32_t bodies) {
    size_t rows = (size_t)dim, twists = 6 * (size_t)bodies + 6;
    if (!KL_ROOM(g->numbers, 2 * rows + 11 * twists)) {
        return KL_ERR_MEMORY;
    }
    double **vectors[] = {&g->twist, &g->residual, &g->turned, &g->step, &g->image};
    for (size_t i = 0; i < 5; i++) {
        *vectors[i] = g->numbers.at + i * twists;
    }
    g->block = g->numbers.at + 5 * twists;
    g->weight = g->block + 6 * twists;
    g->right = g->weight + rows;
    memset(g->numbers.at, 0, 5 * twists * sizeof *g->twist);
    return KL_OK;
}

void kl_body_gradients_release(KlBodyGradients *g) {
    kl_free(g->numbers.at);
    *g = (KlBodyGradients){0};
}

static int32_t place(const KlProblem *p, int32_t block, int32_t side) {  // of its body's twist
    int32_t body = p->block_body[2 * block + side];
    return 6 * (body >= 0 ? body : p->body_count);
}

// ---- the own blocks ----------------------------------------------------------------------------

static bool invert(double *block) {
    enum { FACTOR = 48, COLUMN = 8 };  // kl_llt_size(6), kl_llt_padded(6)
    double factor[FACTOR], column[COLUMN];
    if (kl_llt_factor(block, 6, 6, 0.0, factor) >= 0) {
        return false;
    }
    for (int32_t i = 0; i < 6; i++) {
        memset(column, 0, sizeof column);
        column[i] = 1.0;
        kl_llt_solve(factor, 6, column);
        memcpy(block + 6 * i, column, 6 * sizeof *block);
    }
    return true;
}

static void add_own(KlBodyGradients *g, const KlScaled *s, int32_t row, int32_t block) {
    const KlProblem *p = s->problem;
    for (int32_t side = 0; side < 2; side++) {
        const double *jacobian = s->rows + 12 * (size_t)row + 6 * side;
        double *own = g->block + 6 * (size_t)place(p, block, side);
        for (int32_t i = 0; i < 6; i++) {
            kl_lanes_add6(g->weight[row] * jacobian[i], jacobian, own + 6 * i);
        }
    }
}

bool kl_body_gradients_shift(KlBodyGradients *g, const KlScaled *s, double joint_shift, double shift) {
    const KlProblem *p = s->problem;
    bool regular = true;
    g->most = 0.0;
    g->longest = 1.0;
    for (int32_t b = 0; b < p->body_count; b++) {
        kl_body_system_mass(p, b, g->block + 36 * (size_t)b);
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t row = p->block_start[b]; row < p->block_start[b + 1]; row++) {
            g->weight[row] = 1.0 / ((row < s->first_limit ? joint_shift : shift) + kl_scaled_softness(s, row));
            g->most = g->most > g->weight[row] ? g->most : g->weight[row];
            add_own(g, s, row, b);
        }
    }
    for (int32_t b = 0; b < p->body_count; b++) {
        regular = invert(g->block + 36 * (size_t)b) && regular;
    }
    return regular;
}

// ---- solution ----------------------------------------------------------------------------------

static double minus_velocity(const KlScaled *s, int32_t row, const double *left, const double *right) {  // -J u
    const double *jacobian = s->rows + 12 * (size_t)row;
    return -(kl_lanes_dot6(jacobian, left) + kl_lanes_dot6(jacobian + 6, right));
}

static void subtract_momentum(const KlProblem *p, const double *u, double *to) {  // to = -M u
    for (int32_t b = 0; b < p->body_count; b++, u += 6, to += 6) {
        const double *inertia = p->inertia + 9 * (size_t)b;
        for (int32_t i = 0; i < 3; i++, inertia += 3) {
            to[i] = -p->mass[b] * u[i];
            to[3 + i] = -(inertia[0] * u[3] + inertia[1] * u[4] + inertia[2] * u[5]);
        }
    }
}

// to = J^T S^-1 (b - J u) - M u; b NULL: 0
static void measure(const KlBodyGradients *g, const KlScaled *s, const double *b, const double *u, double *to) {
    const KlProblem *p = s->problem;
    subtract_momentum(p, u, to);
    for (int32_t k = 0; k < p->block_count; k++) {
        int32_t left = place(p, k, 0), right = place(p, k, 1);
        double sum[12] = {0.0};
        for (int32_t row = p->block_start[k]; row < p->block_start[k + 1]; row++) {
            const double *jacobian = s->rows + 12 * (size_t)row;
            double v = minus_velocity(s, row, u + left, u + right) + (b != NULL ? b[row] : 0.0);
            kl_lanes_add6(g->weight[row] * v, jacobian, sum);
            kl_lanes_add6(g->weight[row] * v, jacobian + 6, sum + 6);
        }
        kl_lanes_add6(1.0, sum, to + left);
        kl_lanes_add6(1.0, sum + 6, to + right);
    }
}

// turned = the inverses of the own blocks times residual; residual . turned
static double precondition(KlBodyGradients *g, int32_t bodies) {
    for (int32_t b = 0; b < bodies; b++) {
        for (int32_t i = 0; i < 6; i++) {
            g->turned[6 * b + i] = kl_lanes_dot6(g->block + 36 * (size_t)b + 6 * i, g->residual + 6 * b);
        }
    }
    return kl_lanes_dot(g->residual, g->turned, 6 * bodies);
}

// The residual . turned that `accuracy` in x asks for: with e the error of u, A its matrix and l the least
// eigenvalue of the preconditioned one, |S^-1 J e|^2 <= most e . A e <= most residual . turned / l.
// Every step's length is below 1 / l; the longest so far stands for it.
static double enough(const KlBodyGradients *g, double accuracy) {
    double asked = accuracy * accuracy / (g->most * g->longest), least = ROUNDING * ROUNDING * g->energy;
    return asked > least ? asked : least;
}

void kl_body_gradients_solve(KlBodyGradients *g, const KlScaled *s, double accuracy, double *x) {
    const KlProblem *p = s->problem;
    int32_t count = 6 * p->body_count;
    g->energy = 0.0;
    for (int32_t i = 0; i < s->dim; i++) {
        g->right[i] = x[i];
        g->energy += g->weight[i] * x[i] * x[i];
    }
    measure(g, s, g->right, g->twist, g->residual);
    double square = precondition(g, p->body_count);
    memcpy(g->step, g->turned, (size_t)count * sizeof *g->step);
    g->steps = 0;
    for (; g->steps < MOST_STEPS && square > enough(g, accuracy); g->steps++) {
        measure(g, s, NULL, g->step, g->image);
        double length = -square / kl_lanes_dot(g->step, g->image, count), before = square;
        g->longest = g->longest > length ? g->longest : length;
        for (int32_t i = 0; i < count; i++) {
            g->twist[i] += length * g->step[i];
            g->residual[i] += length * g->image[i];
        }
        square = precondition(g, p->body_count);
        for (int32_t i = 0; i < count; i++) {
            g->step[i] = g->turned[i] + square / before * g->step[i];
        }
    }
    for (int32_t b = 0; b < p->block_count; b++) {
        const double *left = g->twist + place(p, b, 0), *right = g->twist + place(p, b, 1);
        for (int32_t row = p->block_start[b]; row < p->block_start[b + 1]; row++) {
            x[row] = g->weight[row] * (g->right[row] + minus_velocity(s, row, left, right));
        }
    }
}
