#include "families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "math/vec.h"

static const double GRAVITY = 9.81, TIME_STEP = 1e-3, FRICTION = 0.7;

// Bodies, then constraints one by one, then v_f of gravity, forces and velocities.
typedef struct Maker {
    KlProblem *p;
    double *position, *force, *twist;  // (bodies x 3, 6, 6)
    int32_t joints, rows, contacts;    // made so far
} Maker;

static Maker start(int32_t bodies, int32_t joints, int32_t joint_rows, int32_t contacts) {
    Maker m = {0};
    KlProblemSize size = {joint_rows, joints, 0, contacts, bodies, 0};
    if (kl_problem_create(&size, &m.p) != KL_OK) {
        abort();
    }
    m.p->dt = TIME_STEP;
    m.position = calloc((size_t)bodies, 3 * sizeof(double));
    m.force = calloc((size_t)bodies, 6 * sizeof(double));
    m.twist = calloc((size_t)bodies, 6 * sizeof(double));
    for (int32_t b = 0; b < m.p->block_count; b++) {
        m.p->block_id[b] = (uint64_t)b + 1;
    }
    return m;
}

static void body(Maker *m, int32_t i, double mass, const double inertia[3], const double position[3]) {
    m->p->mass[i] = mass;
    m->p->inverse_mass[i] = 1.0 / mass;
    for (int32_t k = 0; k < 3; k++) {
        m->p->inertia[9 * i + 4 * k] = inertia[k];
        m->p->inverse_inertia[9 * i + 4 * k] = 1.0 / inertia[k];
        m->position[3 * i + k] = position[k];
    }
    m->force[6 * i + 2] = -GRAVITY * mass;
}

static void box(Maker *m, int32_t i, double mass, double x, double y, double z, const double position[3]) {
    double inertia[3] = {mass / 12.0 * (y * y + z * z), mass / 12.0 * (x * x + z * z), mass / 12.0 * (x * x + y * y)};
    body(m, i, mass, inertia, position);
}

// One row: `axis` as a force at `point` (or as a couple) on body i with this sign.
static void fill_row(Maker *m, int32_t row, int32_t side, int32_t i, double sign, const double point[3],
                     const double axis[3], bool couple) {
    double *jacobian = m->p->jacobian + 12 * (size_t)row + 6 * side, arm[3], moment[3];
    if (i < 0) {
        return;
    }
    kl_sub3(point, m->position + 3 * i, arm);
    kl_cross3(arm, axis, moment);
    for (int32_t k = 0; k < 3; k++) {
        jacobian[k] = couple ? 0.0 : sign * axis[k];
        jacobian[3 + k] = sign * (couple ? axis[k] : moment[k]);
    }
}

// The first `rows` of: three translations, three rotations; base -1 is the world.
static void joint(Maker *m, int32_t base, int32_t follower, const double point[3], int32_t rows) {
    KlProblem *p = m->p;
    p->block_start[m->joints] = m->rows;
    p->block_body[2 * m->joints] = base;
    p->block_body[2 * m->joints + 1] = follower;
    for (int32_t k = 0; k < rows; k++) {
        double axis[3] = {k % 3 == 0, k % 3 == 1, k % 3 == 2};
        fill_row(m, m->rows + k, 0, base, -1.0, point, axis, k >= 3);
        fill_row(m, m->rows + k, 1, follower, 1.0, point, axis, k >= 3);
    }
    m->joints++;
    m->rows += rows;
}

// Normal from a to b; -1 is the ground.
static void contact(Maker *m, int32_t a, int32_t b, const double point[3], const double normal[3]) {
    KlProblem *p = m->p;
    int32_t block = p->joint_count + m->contacts, row = p->joint_rows + 3 * m->contacts;
    double frame[3][3], other[3] = {fabs(normal[0]) < 0.9, fabs(normal[0]) >= 0.9, 0.0};
    kl_cross3(normal, other, frame[1]);
    kl_scale3(1.0 / kl_norm3(frame[1]), frame[1], frame[1]);
    kl_cross3(frame[1], normal, frame[0]);
    kl_copy3(normal, frame[2]);
    p->block_body[2 * block] = a;
    p->block_body[2 * block + 1] = b;
    p->friction[m->contacts] = FRICTION;
    for (int32_t k = 0; k < 3; k++) {
        fill_row(m, row + k, 0, a, -1.0, point, frame[k], false);
        fill_row(m, row + k, 1, b, 1.0, point, frame[k], false);
    }
    m->contacts++;
}

static KlProblem *finish(Maker *m) {
    KlProblem *p = m->p;
    p->block_start[p->joint_count] = p->joint_rows;
    for (int32_t b = 0; b < p->block_count; b++) {
        for (int32_t row = p->block_start[b]; row < p->block_start[b + 1]; row++) {
            double sum = 0.0;
            for (int32_t side = 0; side < 2; side++) {
                int32_t i = p->block_body[2 * b + side];
                const double *jacobian = p->jacobian + 12 * (size_t)row + 6 * side;
                for (int32_t k = 0; i >= 0 && k < 6; k++) {
                    double inverse = k < 3 ? p->inverse_mass[i] : p->inverse_inertia[9 * i + 4 * (k - 3)];
                    sum += jacobian[k] * (m->twist[6 * i + k] + p->dt * inverse * m->force[6 * i + k]);
                }
            }
            p->free_velocity[row] = sum;
        }
    }
    free(m->position);
    free(m->force);
    free(m->twist);
    return p;
}

KlProblem *family_boxes_fixed(double bottom, double top, double push) {
    static const double up[3] = {0.0, 0.0, 1.0};
    double d = 0.2;
    Maker m = start(2, 1, 6, 4);
    box(&m, 0, bottom, d, d, d, (double[]){0.0, 0.0, d / 2.0});
    box(&m, 1, top, d, d, d, (double[]){0.0, 0.0, 1.5 * d});
    joint(&m, 0, 1, (double[]){0.0, 0.0, d}, 6);
    for (int32_t k = 0; k < 4; k++) {
        contact(&m, -1, 0, (double[]){k < 2 ? -d / 2.0 : d / 2.0, k % 2 == 0 ? -d / 2.0 : d / 2.0, 0.0}, up);
    }
    m.force[0] += push * FRICTION * (bottom + top) * GRAVITY;
    return finish(&m);
}

KlProblem *family_four_bar(const double mass[4], double push) {
    static const double up[3] = {0.0, 0.0, 1.0};
    double w = 0.01, l = 0.1, total = mass[0] + mass[1] + mass[2] + mass[3];
    double centre[4][3] = {{0.0, -l / 2, w / 2}, {l / 2, 0.0, w / 2}, {0.0, l / 2, w / 2}, {-l / 2, 0.0, w / 2}};
    double corner[4][3] = {
        {l / 2, -l / 2, w / 2}, {l / 2, l / 2, w / 2}, {-l / 2, l / 2, w / 2}, {-l / 2, -l / 2, w / 2}};
    Maker m = start(4, 4, 20, 16);
    for (int32_t i = 0; i < 4; i++) {
        box(&m, i, mass[i], i % 2 == 0 ? l : w, i % 2 == 0 ? w : l, w, centre[i]);
    }
    for (int32_t i = 0; i < 4; i++) {
        joint(&m, i, (i + 1) % 4, corner[i], 5);
    }
    for (int32_t k = 0; k < 16; k++) {
        int32_t i = k / 4;
        double half_x = (i % 2 == 0 ? l : w) / 2.0, half_y = (i % 2 == 0 ? w : l) / 2.0;
        contact(&m, -1, i,
                (double[]){centre[i][0] + (k % 4 < 2 ? -half_x : half_x),
                           centre[i][1] + (k % 2 == 0 ? -half_y : half_y), 0.0},
                up);
    }
    m.force[0] += 0.3 * push * FRICTION * total * GRAVITY;
    m.force[1] += push * FRICTION * total * GRAVITY;
    return finish(&m);
}

KlProblem *family_chain(int32_t links, bool loop) {
    int32_t joints = links + (loop ? 1 : 0);
    Maker m = start(links, joints, 5 * joints, 0);
    for (int32_t i = 0; i < links; i++) {
        box(&m, i, 1.0, 0.1, 0.02, 0.02, (double[]){0.1 * i + 0.05, 0.0, 1.0});
    }
    for (int32_t i = 0; i < joints; i++) {  // the last one holds the free end to the world
        joint(&m, i - 1, i < links ? i : -1, (double[]){0.1 * i, 0.0, 1.0}, 5);
    }
    return finish(&m);
}

static void brick_contacts(Maker *m, int32_t below, int32_t above, double left, double right, double z) {
    static const double up[3] = {0.0, 0.0, 1.0};
    for (int32_t k = 0; k < 4; k++) {
        contact(m, below, above, (double[]){k < 2 ? left : right, k % 2 == 0 ? -0.05 : 0.05, z}, up);
    }
}

KlProblem *family_wall(int32_t columns, int32_t rows) {
    double length = 0.2, height = 0.1;
    int32_t pairs = columns;  // of the ground; then two below each brick, one at the ends of shifted rows
    for (int32_t r = 1; r < rows; r++) {
        pairs += 2 * columns - 1;
    }
    Maker m = start(columns * rows, 0, 0, 4 * pairs);
    for (int32_t r = 0; r < rows; r++) {
        double shift = r % 2 == 0 ? 0.0 : length / 2.0;
        for (int32_t c = 0; c < columns; c++) {
            double x = c * length + shift;
            int32_t i = r * columns + c;
            box(&m, i, 1.0 + 0.1 * (i % 7), length, 0.1, height, (double[]){x, 0.0, (r + 0.5) * height});
            m.force[6 * i + 1] += 0.5 * (i % 3);
            if (r == 0) {
                brick_contacts(&m, -1, i, x - length / 2.0, x + length / 2.0, 0.0);
                continue;
            }
            int32_t left = r % 2 == 0 ? c - 1 : c, right = left + 1;
            if (left >= 0) {
                brick_contacts(&m, i - columns + (left - c), i, x - length / 2.0, x, r * height);
            }
            if (right < columns) {
                brick_contacts(&m, i - columns + (right - c), i, x, x + length / 2.0, r * height);
            }
        }
    }
    return finish(&m);
}

typedef struct Touch {
    int32_t a, b;
} Touch;

KlProblem *family_spheres(int32_t side, int32_t layers, uint64_t seed) {
    KlRng rng = {seed};
    int32_t count = side * side * layers, touches = 0;
    double radius = 0.05, *place = malloc(3 * (size_t)count * sizeof *place);
    Touch *touch = malloc(16 * (size_t)count * sizeof *touch);
    for (int32_t i = 0; i < count; i++) {  // square layers over each other's gaps
        int32_t layer = i / (side * side), x = i % side, y = i / side % side;
        double shift = layer % 2 == 0 ? 0.0 : radius;
        place[3 * i] = 2.0 * radius * x + shift + 1e-4 * (kl_rng_unit(&rng) - 0.5);
        place[3 * i + 1] = 2.0 * radius * y + shift + 1e-4 * (kl_rng_unit(&rng) - 0.5);
        place[3 * i + 2] = radius + sqrt(2.0) * radius * layer;
    }
    for (int32_t i = 0; i < count; i++) {
        if (i < side * side) {
            touch[touches++] = (Touch){-1, i};
        }
        for (int32_t j = i + 1; j < count && j < i + 2 * side * side; j++) {
            double d[3];
            kl_sub3(place + 3 * j, place + 3 * i, d);
            if (kl_norm3(d) < 2.0 * radius + 2e-4 && touches < 16 * count) {
                touch[touches++] = (Touch){i, j};
            }
        }
    }
    Maker m = start(count, 0, 0, touches);
    for (int32_t i = 0; i < count; i++) {
        double mass = 0.5 + kl_rng_unit(&rng), turn = 0.4 * mass * radius * radius;
        body(&m, i, mass, (double[]){turn, turn, turn}, place + 3 * i);
        for (int32_t k = 0; k < 3; k++) {
            m.twist[6 * i + k] = 0.2 * (kl_rng_unit(&rng) - 0.5);
        }
    }
    for (int32_t t = 0; t < touches; t++) {
        double up[3] = {0.0, 0.0, 1.0}, point[3];
        const double *a = touch[t].a >= 0 ? place + 3 * touch[t].a : NULL, *b = place + 3 * touch[t].b;
        if (a != NULL) {
            kl_sub3(b, a, up);
            kl_scale3(1.0 / kl_norm3(up), up, up);
        }
        kl_copy3(b, point);
        kl_axpy3(-radius, up, point);
        contact(&m, touch[t].a, touch[t].b, point, up);
    }
    free(place);
    free(touch);
    return finish(&m);
}

static int32_t pick(KlRng *rng, int32_t low, int32_t high) {  // low .. high
    return low + (int32_t)(kl_rng_unit(rng) * (high - low + 1));
}

static double bell(KlRng *rng) {  // near normal, variance 1
    double sum = -6.0;
    for (int32_t i = 0; i < 12; i++) {
        sum += kl_rng_unit(rng);
    }
    return sum;
}

KlProblem *family_random(uint64_t seed, int32_t contacts) {
    KlRng rng = {seed};
    int32_t nc = pick(&rng, 1, contacts), nj = pick(&rng, 0, 6), nl = pick(&rng, 0, 3), n = nj + nl + 3 * nc;
    int32_t rank = pick(&rng, n / 3 > 1 ? n / 3 : 1, n);
    size_t size = (size_t)n;
    double *a = calloc(size * (size_t)rank, sizeof *a), *d = calloc(size * size, sizeof *d);
    double *v = calloc(size, sizeof *v), *mu = calloc((size_t)nc, sizeof *mu), *w = calloc(size, sizeof *w);
    for (int32_t i = 0; i < n; i++) {
        double scale = pow(10.0, 2.0 * kl_rng_unit(&rng) - 1.0);
        for (int32_t k = 0; k < rank; k++) {
            a[i * rank + k] = scale * bell(&rng);
        }
    }
    for (int32_t k = 0; k < rank; k++) {
        w[k] = bell(&rng);
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            for (int32_t k = 0; k < rank; k++) {
                d[i * n + j] += a[i * rank + k] * a[j * rank + k] / rank;
            }
        }
        for (int32_t k = 0; k < rank; k++) {
            v[i] += a[i * rank + k] * w[k];
        }
    }
    for (int32_t k = 0; k < nc; k++) {
        mu[k] = 2.0 * kl_rng_unit(&rng);
        mu[k] = mu[k] < 0.1 ? 0.0 : mu[k];
    }
    KlProblem *p = NULL;
    if (kl_problem_from_dense(nj, nl, nc, d, v, mu, TIME_STEP, &p) != KL_OK) {
        abort();
    }
    free(a);
    free(d);
    free(v);
    free(mu);
    free(w);
    return p;
}
