#include "solver/body_gradients.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/lanes.h"
#include "math/llt.h"
#include "math/vec.h"
#include "solver/scaled.h"

enum { MOST_STEPS = 1000 };            // of one solution
static const double ROUNDING = 1e-15;  // of the right-hand side, in the energy norm
static const double SAME = 1e-14;      // of the largest number in a contact's rows: their own rounding

KlStatus kl_body_gradients_reserve(KlBodyGradients *g, int32_t dim, int32_t contacts, int32_t bodies) {
    size_t rows = (size_t)dim, twists = 6 * (size_t)bodies + 6;
    if (!KL_ROOM(g->numbers, 2 * rows + 11 * twists) || !KL_ROOM(g->lever, contacts + 1)) {
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
    kl_free(g->lever.at);
    *g = (KlBodyGradients){0};
}

static int32_t place(const KlProblem *p, int32_t block, int32_t side) {  // of its body's twist
    int32_t body = p->block_body[2 * block + side];
    return 6 * (body >= 0 ? body : p->body_count);
}

// ---- rows of contacts --------------------------------------------------------------------------

// The arm of the moments in rows (12 apart) whose forces, times `sign`, are the frame: for orthogonal f_k of one
// length, sum f_k x (r x f_k) = 2 |f|^2 r. False when the rows are not of that form.
static bool find_arm(const double *frame, double sign, const double *rows, double arm[3]) {
    double square = kl_dot3(frame, frame), sum[3] = {0.0}, size = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        double turn[3];
        kl_cross3(frame + 3 * k, rows + 12 * k + 3, turn);
        kl_add3(sum, turn, sum);
        for (int32_t i = 0; i < 6; i++) {
            size = fmax(size, fabs(rows[12 * k + i]));
        }
    }
    kl_scale3(sign / (2.0 * square), sum, arm);
    bool same = true;
    for (int32_t k = 0; k < 3; k++) {
        double moment[3];
        kl_cross3(arm, frame + 3 * k, moment);
        for (int32_t i = 0; i < 3; i++) {
            same = same && fabs(rows[12 * k + i] - sign * frame[3 * k + i]) <= SAME * size &&
                   fabs(rows[12 * k + 3 + i] - sign * moment[i]) <= SAME * size;
        }
    }
    return same;
}

static bool find_lever(const KlProblem *p, int32_t block, const double *rows, KlLever *lever) {
    bool left = p->block_body[2 * block] >= 0, right = p->block_body[2 * block + 1] >= 0;
    double frame[9], arms[2][3] = {{0.0}};
    for (int32_t i = 0; i < 9; i++) {
        const double *own = rows + 12 * (i / 3) + i % 3;
        frame[i] = right ? own[6] : -own[0];
    }
    if ((left && !find_arm(frame, -1.0, rows, arms[0])) || (right && !find_arm(frame, 1.0, rows + 6, arms[1]))) {
        return false;
    }
    for (int32_t k = 0; k < 3; k++) {
        for (int32_t i = 0; i < 2; i++) {
            lever->tangents[2 * k + i] = frame[3 * i + k];
            lever->arms[2 * k + i] = arms[i][k];
        }
        lever->normal[k] = frame[6 + k];
    }
    return true;
}

KlStatus kl_body_gradients_begin(KlBodyGradients *g, const KlScaled *s) {
    const KlProblem *p = s->problem;
    KL_TRY(kl_body_gradients_reserve(g, p->dim, p->contact_count, p->body_count));
    g->levers = true;
    for (int32_t k = 0; k < p->contact_count && g->levers; k++) {
        g->levers = find_lever(p, kl_contact_block(p, k), s->rows + 12 * (size_t)kl_contact_row(p, k), g->lever.at + k);
    }
    return KL_OK;
}

// In pairs of the left and the right body: c = a x b
static inline void cross_pairs(const KlPair a[3], const KlPair b[3], KlPair c[3]) {
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static inline void load_arms(const KlLever *l, KlPair arms[3]) {
    for (int32_t k = 0; k < 3; k++) {
        arms[k] = kl_load(l->arms + 2 * k);
    }
}

// velocity = J of a contact times the twists of its bodies
static inline void lever_pull(const KlLever *l, const double *left, const double *right, double velocity[3]) {
    KlPair turn[3], arms[3], moved[3], tangents = kl_both(0.0);
    double normal = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        turn[k] = (KlPair){left[3 + k], right[3 + k]};
    }
    load_arms(l, arms);
    cross_pairs(turn, arms, moved);
    for (int32_t k = 0; k < 3; k++) {
        moved[k] += (KlPair){left[k], right[k]};
        double apart = moved[k][1] - moved[k][0];
        tangents += kl_load(l->tangents + 2 * k) * kl_both(apart);
        normal += l->normal[k] * apart;
    }
    kl_store(velocity, tangents);
    velocity[2] = normal;
}

// The wrenches on its bodies += J^T times its reaction
static inline void lever_push(const KlLever *l, const double reaction[3], double *left, double *right) {
    KlPair force[3], arms[3], moment[3], slip = kl_load(reaction);
    double f[3];
    for (int32_t k = 0; k < 3; k++) {
        KlPair own = kl_load(l->tangents + 2 * k) * slip;
        f[k] = own[0] + own[1] + l->normal[k] * reaction[2];
        force[k] = kl_both(f[k]);
    }
    load_arms(l, arms);
    cross_pairs(arms, force, moment);
    KlPair first = {f[0], f[1]};
    kl_store(left, kl_load(left) - first);
    kl_store(right, kl_load(right) + first);
    kl_store(left + 2, kl_load(left + 2) - (KlPair){f[2], moment[0][0]});
    kl_store(right + 2, kl_load(right + 2) + (KlPair){f[2], moment[0][1]});
    kl_store(left + 4, kl_load(left + 4) - (KlPair){moment[1][0], moment[2][0]});
    kl_store(right + 4, kl_load(right + 4) + (KlPair){moment[1][1], moment[2][1]});
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

// Blocks from this one on are levers.
static int32_t first_lever(const KlBodyGradients *g, const KlProblem *p) {
    return g->levers ? kl_contact_block(p, 0) : p->block_count;
}

// velocity = J u of a block by its rows
static void pull(const KlScaled *s, int32_t block, const double *u, double *velocity) {
    const KlProblem *p = s->problem;
    const double *left = u + place(p, block, 0), *right = u + place(p, block, 1);
    const double *jacobian = s->rows + 12 * (size_t)p->block_start[block];
    int32_t i = 0, rows = kl_block_rows(p, block);
    for (; i + 2 <= rows; i += 2, jacobian += 24) {
        KlPair one = kl_lanes_times6(jacobian, left) + kl_lanes_times6(jacobian + 6, right);
        KlPair two = kl_lanes_times6(jacobian + 12, left) + kl_lanes_times6(jacobian + 18, right);
        kl_store(velocity + i, (KlPair){one[0], two[0]} + (KlPair){one[1], two[1]});
    }
    if (i < rows) {
        velocity[i] = kl_lanes_dot6(jacobian, left) + kl_lanes_dot6(jacobian + 6, right);
    }
}

// to += J^T x of a block by its rows
static void push(const KlScaled *s, int32_t block, const double *x, double *to) {
    const KlProblem *p = s->problem;
    const double *jacobian = s->rows + 12 * (size_t)p->block_start[block];
    for (int32_t side = 0; side < 2; side++) {
        kl_lanes_push(jacobian + 6 * side, x, kl_block_rows(p, block), to + place(p, block, side));
    }
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
    int32_t first = first_lever(g, p);
    subtract_momentum(p, u, to);
    memset(to + 6 * p->body_count, 0, 6 * sizeof *to);  // of the world
    for (int32_t k = 0; k < first; k++) {
        const double *left = u + place(p, k, 0), *right = u + place(p, k, 1);
        double sum[12] = {0.0};
        for (int32_t row = p->block_start[k]; row < p->block_start[k + 1]; row++) {
            const double *jacobian = s->rows + 12 * (size_t)row;
            double v = kl_lanes_dot6(jacobian, left) + kl_lanes_dot6(jacobian + 6, right);
            double x = g->weight[row] * ((b != NULL ? b[row] : 0.0) - v);
            kl_lanes_add6(x, jacobian, sum);
            kl_lanes_add6(x, jacobian + 6, sum + 6);
        }
        kl_lanes_add6(1.0, sum, to + place(p, k, 0));
        kl_lanes_add6(1.0, sum + 6, to + place(p, k, 1));
    }
    const KlLever *lever = g->lever.at;
    for (int32_t k = first; k < p->block_count; k++, lever++) {
        int32_t left = place(p, k, 0), right = place(p, k, 1), row = p->block_start[k];
        double v[3], x[3];
        lever_pull(lever, u + left, u + right, v);
        for (int32_t i = 0; i < 3; i++) {
            x[i] = g->weight[row + i] * ((b != NULL ? b[row + i] : 0.0) - v[i]);
        }
        lever_push(lever, x, to + left, to + right);
    }
}

void kl_body_gradients_multiply(KlBodyGradients *g, const KlScaled *s, const double *x, double *product) {
    const KlProblem *p = s->problem;
    int32_t first = first_lever(g, p);
    double *wrench = g->image, *u = g->step;  // of no solution
    memset(wrench, 0, (6 * (size_t)p->body_count + 6) * sizeof *wrench);
    for (int32_t k = 0; k < p->block_count; k++) {
        if (k < first) {
            push(s, k, x + p->block_start[k], wrench);
        } else {
            lever_push(g->lever.at + (k - first), x + p->block_start[k], wrench + place(p, k, 0),
                       wrench + place(p, k, 1));
        }
    }
    for (int32_t b = 0; b < p->body_count; b++) {
        kl_scale3(p->inverse_mass[b], wrench + 6 * b, u + 6 * b);
        kl_mat3_mul_vec(p->inverse_inertia + 9 * (size_t)b, wrench + 6 * b + 3, u + 6 * b + 3);
    }
    for (int32_t k = 0; k < p->block_count; k++) {
        if (k < first) {
            pull(s, k, u, product + p->block_start[k]);
        } else {
            lever_pull(g->lever.at + (k - first), u + place(p, k, 0), u + place(p, k, 1), product + p->block_start[k]);
        }
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
    int32_t first = first_lever(g, p);
    for (int32_t b = 0; b < p->block_count; b++) {
        double *own = x + p->block_start[b];
        if (b < first) {
            pull(s, b, g->twist, own);
        } else {
            lever_pull(g->lever.at + (b - first), g->twist + place(p, b, 0), g->twist + place(p, b, 1), own);
        }
    }
    for (int32_t i = 0; i < s->dim; i++) {
        x[i] = g->weight[i] * (g->right[i] - x[i]);
    }
}
