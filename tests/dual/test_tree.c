// The rest of a forest of joints against the dense Schur complement, with joints of every form on random bodies.
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "dual/problem.h"
#include "dual/tree.h"
#include "math/llt.h"
#include "math/vec.h"
#include "support.h"

enum { BODIES = 12, CONTACTS = 6, LIMITS = 3, SEEDS = 60 };

// Forces along axes of a frame, then torques, of every kind of joint and some more.
static const int32_t forms[][2] = {{3, 3}, {3, 2}, {3, 1}, {3, 0}, {2, 3}, {2, 2}, {0, 3}, {1, 2}};
enum { FORMS = sizeof forms / sizeof forms[0] };

typedef struct Case {
    KlRng rng;
    double place[BODIES][3];
    KlProblem *p;
    int32_t block, row;
} Case;

static double any(Case *c) { return kl_rng_range(&c->rng, -1.0, 1.0); }

static void any_vector(Case *c, double x[3]) {
    for (int i = 0; i < 3; i++) {
        x[i] = any(c);
    }
}

static void any_frame(Case *c, double axes[9]) {
    double q[4] = {any(c), any(c), any(c), any(c)};
    kl_quat_normalize(q);
    kl_quat_to_mat3(q, axes);
}

// A wrench through a point, on the second body and against the first.
static void set_row(Case *c, int32_t first, int32_t second, const double point[3], const double force[3],
                    const double torque[3]) {
    double *row = c->p->jacobian + 12 * c->row;
    int32_t body[2] = {first, second};
    for (int side = 0; side < 2; side++) {
        if (body[side] < 0) {
            continue;
        }
        double sign = side == 0 ? -1.0 : 1.0, arm[3], moment[3];
        kl_sub3(point, c->place[body[side]], arm);
        kl_cross3(arm, force, moment);
        kl_add3(moment, torque, moment);
        kl_scale3(sign, force, row + 6 * side);
        kl_scale3(sign, moment, row + 6 * side + 3);
    }
    c->p->free_velocity[c->row++] = any(c);
}

static void begin_block(Case *c, int32_t first, int32_t second) {
    c->p->block_start[c->block] = c->row;
    c->p->block_body[2 * c->block] = first;
    c->p->block_body[2 * c->block + 1] = second;
    c->p->block_id[c->block] = (uint64_t)c->block;
    c->block++;
}

static void add_joint(Case *c, int32_t first, int32_t second, const int32_t form[2]) {
    static const double none[3] = {0.0};
    double point[3], axes[9], turned[9];
    any_vector(c, point);
    any_frame(c, axes);
    any_frame(c, turned);
    turned[0] += 0.5;  // torques need not be orthonormal
    begin_block(c, first, second);
    for (int32_t i = 0; i < form[0]; i++) {
        set_row(c, first, second, point, axes + 3 * i, none);
    }
    for (int32_t i = 0; i < form[1]; i++) {
        set_row(c, first, second, point, none, turned + 3 * i);
    }
}

static void set_body(Case *c, int32_t i) {
    KlProblem *p = c->p;
    double frame[9], principal[9] = {0.0}, inverse[9] = {0.0}, moved[9];
    any_vector(c, c->place[i]);
    any_frame(c, frame);
    p->mass[i] = exp(2.0 * any(c));
    p->inverse_mass[i] = 1.0 / p->mass[i];
    for (int k = 0; k < 3; k++) {
        principal[4 * k] = p->mass[i] * (0.2 + 0.1 * any(c));
        inverse[4 * k] = 1.0 / principal[4 * k];
    }
    kl_mat3_mul(frame, principal, moved);
    kl_mat3_mul_t(moved, frame, p->inertia + 9 * i);
    kl_mat3_mul(frame, inverse, moved);
    kl_mat3_mul_t(moved, frame, p->inverse_inertia + 9 * i);
}

// Two trees, free or on the world, and a free body; a yielding row in place of a motor; limits and contacts.
static Case make_case(uint64_t seed) {
    static const double none[3] = {0.0};
    Case c = {.rng = {seed}};
    int32_t parent[BODIES], form[BODIES], rows = 1, joints = 1;
    for (int32_t i = 0; i < BODIES; i++) {
        bool root = i == 0 || i == 5 || i == BODIES - 1;
        form[i] = i == BODIES - 1 || (root && kl_rng_index(&c.rng, 2) == 0) ? -1 : kl_rng_index(&c.rng, FORMS);
        parent[i] = root ? -1 : i > 5 ? 5 + kl_rng_index(&c.rng, i - 5) : kl_rng_index(&c.rng, i);
        rows += form[i] >= 0 ? forms[form[i]][0] + forms[form[i]][1] : 0;
        joints += form[i] >= 0;
    }
    KlProblemSize size = {.joint_rows = rows,
                          .joint_count = joints,
                          .limit_count = LIMITS,
                          .contact_count = CONTACTS,
                          .body_count = BODIES};
    assert_ok(kl_problem_create(&size, &c.p));
    c.p->dt = 1e-3;
    for (int32_t i = 0; i < BODIES; i++) {
        set_body(&c, i);
    }
    for (int32_t i = 0; i < BODIES; i++) {
        if (form[i] >= 0) {
            bool turned = kl_rng_index(&c.rng, 2) == 0;
            add_joint(&c, turned ? i : parent[i], turned ? parent[i] : i, forms[form[i]]);
        }
    }
    double point[3], axes[9];
    any_frame(&c, axes);
    begin_block(&c, 1, 0);
    c.p->softening[c.row] = 0.3;
    set_row(&c, 1, 0, none, none, axes);
    for (int32_t l = 0; l < LIMITS; l++) {
        int32_t body = kl_rng_index(&c.rng, BODIES - 1);
        any_frame(&c, axes);
        begin_block(&c, body, body + 1);
        set_row(&c, body, body + 1, none, none, axes);
    }
    for (int32_t k = 0; k < CONTACTS; k++) {
        int32_t body = kl_rng_index(&c.rng, BODIES), other = k < 3 ? -1 : (body + 1 + k) % BODIES;
        any_vector(&c, point);
        any_frame(&c, axes);
        begin_block(&c, other, body);
        for (int32_t i = 0; i < 3; i++) {
            set_row(&c, other, body, point, axes + 3 * i, none);
        }
        c.p->friction[k] = 0.5;
    }
    assert_ok(kl_problem_check(c.p));
    return c;
}

enum { MOST = 120 };

// The reference: rows of joints are taken out one after the other by Gauss's elimination of (D v_f).
typedef struct Reference {
    double d[MOST * (MOST + 1)];
    int32_t dim, out;
} Reference;

static void eliminate(Reference *r, const KlProblem *p, int32_t out) {
    static double delassus[MOST * MOST];
    kl_problem_delassus(p, delassus);
    r->dim = p->dim;
    r->out = out;
    int32_t n = p->dim, width = n + 1;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < n; j++) {
            r->d[i * width + j] = delassus[i * n + j] - (i == j ? p->softening[i] : 0.0);
        }
        r->d[i * width + n] = p->free_velocity[i];
    }
    for (int32_t k = 0; k < out; k++) {
        for (int32_t i = k + 1; i < n; i++) {
            double share = r->d[i * width + k] / r->d[k * width + k];
            for (int32_t j = k; j < width; j++) {
                r->d[i * width + j] -= share * r->d[k * width + j];
            }
        }
    }
}

static void the_rest_is_the_schur_complement_of_the_joints(void **state) {
    (void)state;
    static Reference r;
    KlTree tree = {0};
    int32_t applied = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        Case c = make_case(seed);
        KlProblem *p = c.p;
        int32_t out = p->joint_rows - 1, width = p->dim + 1;
        if (!kl_tree_begin(&tree, p)) {
            assert_true(out < 30);  // too few rows to pay
            kl_problem_destroy(p);
            continue;
        }
        applied++;
        eliminate(&r, p, out);
        assert_int_equal(tree.kept, p->dim - out);
        double size = 0.0;
        for (int32_t i = 0; i < tree.kept; i++) {
            size = fmax(size, tree.rest->delassus_value[i * tree.kept + i]);
        }
        for (int32_t i = 0; i < tree.kept; i++) {
            const double *row = r.d + (out + i) * width + out;
            assert_near_array(tree.rest->delassus_value + i * tree.kept, row, tree.kept, 1e-11 * size);
            assert_near(tree.rest->free_velocity[i], row[tree.kept], 1e-10);
        }
        double kept[KL_TREE_ROWS], lambda[MOST], velocity[MOST], found[MOST];
        for (int32_t i = 0; i < tree.kept; i++) {
            kept[i] = any(&c);
        }
        kl_tree_extend(&tree, kept, lambda);
        kl_problem_velocity(p, lambda, velocity);
        double most = 0.0;
        for (int32_t i = 0; i < p->dim; i++) {
            most = fmax(most, fabs(lambda[i]));
        }
        for (int32_t i = 0; i < out; i++) {
            assert_near(velocity[i], 0.0, 1e-11 * most);
        }
        kl_tree_restrict(&tree, lambda, found);
        assert_near_array(found, kept, tree.kept, 0.0);
        kl_tree_restrict(&tree, velocity, found);
        for (int32_t i = 0; i < tree.kept; i++) {
            double v = tree.rest->free_velocity[i] + tree.rest->softening[i] * kept[i];
            for (int32_t j = 0; j < tree.kept; j++) {
                v += tree.rest->delassus_value[i * tree.kept + j] * kept[j];
            }
            assert_near(found[i], v, 1e-10 * most);
        }
        kl_problem_destroy(p);
    }
    assert_true(applied > SEEDS / 2);
    kl_tree_release(&tree);
}

// Reactions of 0 press on no body; one that presses a body is borne by the joints it hangs on.
static void joints_bear_what_presses_a_body(void **state) {
    (void)state;
    Case c = make_case(3);
    KlProblem *p = c.p;
    KlTree tree = {0};
    assert_true(kl_tree_begin(&tree, p));
    double kept[KL_TREE_ROWS] = {0.0}, lambda[MOST];
    assert_false(kl_tree_bear(&tree, kept, lambda));
    kept[tree.kept - 1] = 1.0;
    assert_true(kl_tree_bear(&tree, kept, lambda));
    kl_problem_destroy(p);
    kl_tree_release(&tree);
}

static void other_rows_of_joints_are_left_to_the_whole_problem(void **state) {
    (void)state;
    KlTree tree = {0};
    Case c = make_case(3);
    assert_true(kl_tree_begin(&tree, c.p));
    c.p->jacobian[0] *= 1.5, c.p->jacobian[1] *= 1.5, c.p->jacobian[2] *= 1.5;  // no unit force, or no equal one
    c.p->jacobian[6] *= 1.5, c.p->jacobian[7] *= 1.5, c.p->jacobian[8] *= 1.5;
    assert_false(kl_tree_begin(&tree, c.p));
    kl_problem_destroy(c.p);
    kl_tree_release(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_is_the_schur_complement_of_the_joints),
        cmocka_unit_test(joints_bear_what_presses_a_body),
        cmocka_unit_test(other_rows_of_joints_are_left_to_the_whole_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
