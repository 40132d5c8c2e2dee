// Properties of the projectors: they hold for every point, friction and scale.
#include <math.h>

#include "base/rng.h"
#include "cone/cone.h"
#include "math/vec.h"
#include "support.h"

static const double FRICTIONS[] = {0.0, 1e-3, 0.3, 0.7, 1.0, 10.0};
static const double SCALES[] = {1e-8, 1.0, 1e8};
enum { FRICTION_COUNT = 6, SCALE_COUNT = 3, SAMPLES = 2000 };

typedef void (*PointTest)(KlRng *rng, double mu, double scale, const double x[3]);

static void for_every_point(PointTest test) {
    KlRng rng = {11};
    for (int m = 0; m < FRICTION_COUNT; m++) {
        for (int s = 0; s < SCALE_COUNT; s++) {
            for (int i = 0; i < SAMPLES; i++) {
                double x[3] = {kl_rng_range(&rng, -1, 1), kl_rng_range(&rng, -1, 1), kl_rng_range(&rng, -1, 1)};
                if (i % 7 == 0) {
                    x[0] = x[1] = 0.0;  // on the axis
                }
                kl_scale3(SCALES[s], x, x);
                test(&rng, FRICTIONS[m], SCALES[s], x);
            }
        }
    }
}

static void check_idempotent(KlRng *rng, double mu, double scale, const double x[3]) {
    (void)rng;
    double once[3], twice[3];
    kl_copy3(x, once);
    kl_project_coulomb(mu, once);
    kl_copy3(once, twice);
    kl_project_coulomb(mu, twice);
    assert_near_array(twice, once, 3, 4e-15 * scale);
    kl_copy3(x, once);
    kl_project_coulomb_dual(mu, once);
    kl_copy3(once, twice);
    kl_project_coulomb_dual(mu, twice);
    assert_near_array(twice, once, 3, 4e-15 * scale);
}

static void projecting_twice_changes_nothing(void **state) {
    (void)state;
    for_every_point(check_idempotent);
}

// x = P_K(x) - P_K*(-x), the two parts orthogonal, each in its cone (Moreau).
static void check_moreau(KlRng *rng, double mu, double scale, const double x[3]) {
    (void)rng;
    double inside[3], polar[3] = {-x[0], -x[1], -x[2]}, sum[3];
    kl_copy3(x, inside);
    kl_project_coulomb(mu, inside);
    kl_project_coulomb_dual(mu, polar);
    kl_sub3(inside, polar, sum);
    assert_near_array(sum, x, 3, 4e-15 * scale);
    assert_near(kl_dot3(inside, polar), 0.0, 4e-15 * scale * scale);
    double slack = 1e-14 * scale * (1.0 + mu);
    assert_true(sqrt(inside[0] * inside[0] + inside[1] * inside[1]) <= mu * inside[2] + slack);
    assert_true(mu * sqrt(polar[0] * polar[0] + polar[1] * polar[1]) <= polar[2] + slack);
}

static void a_point_is_the_difference_of_its_two_projections(void **state) {
    (void)state;
    for_every_point(check_moreau);
}

// Beside a point of another case in the other lane, to the bit.
static void check_pair(KlRng *rng, double mu, double scale, const double x[3]) {
    (void)rng;
    static const double others[][3] = {{0.1, 0.2, 0.9}, {0.5, -0.4, 0.01}, {0.1, 0.1, -5.0}, {0.0, 0.0, 1.0}};
    for (int i = 0; i < 4; i++) {
        double one[3], two[3], dual_one[3], dual_two[3];
        KlPair pair[3], dual[3], friction = {mu, 0.5};
        kl_scale3(scale, others[i], two);
        kl_copy3(two, dual_two);
        kl_copy3(x, one);
        kl_copy3(x, dual_one);
        for (int k = 0; k < 3; k++) {
            pair[k] = dual[k] = (KlPair){x[k], two[k]};
        }
        kl_project_coulomb(mu, one);
        kl_project_coulomb(0.5, two);
        kl_project_coulomb_dual(mu, dual_one);
        kl_project_coulomb_dual(0.5, dual_two);
        kl_project_coulomb_pair(friction, pair);
        kl_project_coulomb_dual_pair(friction, dual);
        for (int k = 0; k < 3; k++) {
            assert_true(pair[k][0] == one[k] && pair[k][1] == two[k]);
            assert_true(dual[k][0] == dual_one[k] && dual[k][1] == dual_two[k]);
        }
    }
}

static void pairs_are_projected_as_single_points(void **state) {
    (void)state;
    for_every_point(check_pair);
}

static void many_contacts_are_projected_as_single_ones(void **state) {
    (void)state;
    enum { MOST = KL_MANY_CONTACTS + 3 };
    static double friction[MOST], all[3 * MOST], each[3 * MOST];
    KlRng rng = {5};
    for (int32_t count = KL_MANY_CONTACTS - 1; count <= MOST; count++) {
        for (int32_t k = 0; k < count; k++) {
            friction[k] = FRICTIONS[k % FRICTION_COUNT];
        }
        for (int32_t i = 0; i < 3 * count; i++) {
            all[i] = each[i] = i == 8 ? NAN : kl_rng_range(&rng, -1, 1);
        }
        kl_project_coulomb_all(friction, all, count);
        for (int32_t k = 0; k < count; k++) {
            kl_project_coulomb(friction[k], each + 3 * k);
        }
        for (int32_t i = 0; i < 3 * count; i++) {
            assert_true(all[i] == each[i] || (isnan(all[i]) && isnan(each[i])));
        }
    }
}

// Exactly one of: the point stays, goes to the apex, goes to the surface and is neither.
static void check_partition(KlRng *rng, double mu, double scale, const double x[3]) {
    (void)rng;
    double t = sqrt(x[0] * x[0] + x[1] * x[1]), y[3];
    kl_copy3(x, y);
    kl_project_coulomb(mu, y);
    bool polar = mu * t <= -x[2], inside = t <= mu * x[2] && !polar;
    switch (kl_coulomb_region(mu, x)) {
        case KL_CONE_POLAR:
            assert_true(polar);
            assert_near(kl_norm3(y), 0.0, 0.0);
            break;
        case KL_CONE_INSIDE:
            assert_true(inside);
            assert_near_array(y, x, 3, 0.0);
            break;
        case KL_CONE_SURFACE:
            assert_true(!polar && !inside && y[2] > 0.0);
            assert_near(sqrt(y[0] * y[0] + y[1] * y[1]), mu * y[2], 4e-15 * scale * (1.0 + mu));
            break;
        default: fail();
    }
}

static void three_cases_partition_the_space(void **state) {
    (void)state;
    for_every_point(check_partition);
}

// (x - P(x)).(z - P(x)) <= 0 for every z of the cone: the definition of the nearest point.
static void check_nearest(KlRng *rng, double mu, double scale, const double x[3]) {
    double y[3], outward[3], z[3], to_z[3];
    kl_copy3(x, y);
    kl_project_coulomb(mu, y);
    kl_sub3(x, y, outward);
    for (int i = 0; i < 5; i++) {
        double height = scale * kl_rng_unit(rng), angle = kl_rng_range(rng, 0, 6.3);
        double radius = mu * height * kl_rng_unit(rng);
        z[0] = radius * cos(angle);
        z[1] = radius * sin(angle);
        z[2] = height;
        kl_sub3(z, y, to_z);
        assert_true(kl_dot3(outward, to_z) <= 1e-14 * scale * scale * (1.0 + mu));
    }
}

static void no_point_of_the_cone_is_nearer(void **state) {
    (void)state;
    for_every_point(check_nearest);
}

static void check_scaling(KlRng *rng, double mu, double scale, const double x[3]) {
    (void)rng;
    (void)scale;
    double y[3], z[3];
    kl_copy3(x, y);
    kl_project_coulomb(mu, y);
    kl_scale3(0x1p+20, x, z);
    kl_project_coulomb(mu, z);
    for (int i = 0; i < 3; i++) {
        assert_near(z[i], 0x1p+20 * y[i], 0.0);  // powers of two commute with every rounding
    }
}

static void projection_commutes_with_powers_of_two(void **state) {
    (void)state;
    for_every_point(check_scaling);
}

static void without_friction_only_the_normal_half_line_remains(void **state) {
    (void)state;
    double below[3] = {3.0, 4.0, -2.0}, above[3] = {3.0, 4.0, 2.0}, axis[3] = {0.0, 0.0, -1.0};
    double none[3] = {0.0, 0.0, 0.0}, normal[3] = {0.0, 0.0, 2.0}, up[3] = {0.0, 0.0, 1.0};
    kl_project_coulomb(0.0, below);
    assert_near_array(below, none, 3, 0.0);
    kl_project_coulomb(0.0, above);
    assert_near_array(above, normal, 3, 0.0);
    kl_project_coulomb(0.0, axis);
    assert_near_array(axis, none, 3, 0.0);
    kl_project_coulomb_dual(0.0, up);  // the dual is the half space: the point stays
    assert_near(up[2], 1.0, 0.0);
    double half_space[3] = {3.0, 4.0, -2.0}, plane[3] = {3.0, 4.0, 0.0};
    kl_project_coulomb_dual(0.0, half_space);
    assert_near_array(half_space, plane, 3, 1e-15);
}

static void hand_computed_projections(void **state) {
    (void)state;
    // mu = 1, x = (3, 4, 1): tangent 5, normal (5 + 1)/2 = 3, so (3, 4, 5) * 3/5.
    double x[3] = {3.0, 4.0, 1.0}, y[3] = {1.8, 2.4, 3.0};
    kl_project_coulomb(1.0, x);
    assert_near_array(x, y, 3, 1e-15);
    // mu = 1/2, dual: along = (5 + 1/2)/(5/4) = 4.4, so (3/5, 4/5) 4.4 and 2.2.
    double z[3] = {3.0, 4.0, 1.0}, w[3] = {2.64, 3.52, 2.2};
    kl_project_coulomb_dual(0.5, z);
    assert_near_array(z, w, 3, 1e-15);
    double d[2] = {3.0, 4.0}, inside[2] = {0.3, 0.4}, e[2] = {1.2, 1.6}, same[2] = {0.3, 0.4};
    kl_project_disk(2.0, d);
    assert_near_array(d, e, 2, 1e-15);
    kl_project_disk(2.0, inside);
    assert_near_array(inside, same, 2, 0.0);
    double zero[2] = {0.0, 0.0};
    kl_project_disk(0.0, d);
    assert_near_array(d, zero, 2, 0.0);
    double o[3] = {-1.0, 0.0, 2.0}, p[3] = {0.0, 0.0, 2.0};
    kl_project_orthant(o, 3);
    assert_near_array(o, p, 3, 0.0);
}

static void nan_is_never_hidden(void **state) {
    (void)state;
    double x[3] = {NAN, 1.0, 1.0}, y[3] = {1.0, NAN, -5.0}, o[1] = {NAN};
    kl_project_coulomb(0.5, x);
    kl_project_coulomb_dual(0.5, y);
    kl_project_orthant(o, 1);
    assert_true(isnan(x[0]) && isnan(y[1]) && isnan(o[0]));
}

// The generalised Jacobian against central differences, away from the seams between the cases.
static void check_jacobian(KlRng *rng, double mu, double scale, const double x[3]) {
    (void)rng;
    double t = sqrt(x[0] * x[0] + x[1] * x[1]), step = 1e-6 * scale;
    if (t < 0.01 * scale || fabs(mu * t + x[2]) < 0.01 * scale || fabs(t - mu * x[2]) < 0.01 * scale) {
        return;
    }
    double jacobian[9];
    kl_coulomb_jacobian(mu, x, jacobian);
    for (int j = 0; j < 3; j++) {
        double high[3], low[3];
        kl_copy3(x, high);
        kl_copy3(x, low);
        high[j] += step;
        low[j] -= step;
        kl_project_coulomb(mu, high);
        kl_project_coulomb(mu, low);
        for (int i = 0; i < 3; i++) {
            // third derivatives grow like (scale / t)^3 <= 10^6, times the squared step
            assert_near(jacobian[3 * i + j], (high[i] - low[i]) / (2.0 * step), 1e-5);
            assert_near(jacobian[3 * i + j], jacobian[3 * j + i], 0.0);
        }
    }
}

static void jacobian_equals_differences_of_the_projection(void **state) {
    (void)state;
    for_every_point(check_jacobian);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projecting_twice_changes_nothing),
        cmocka_unit_test(a_point_is_the_difference_of_its_two_projections),
        cmocka_unit_test(pairs_are_projected_as_single_points),
        cmocka_unit_test(many_contacts_are_projected_as_single_ones),
        cmocka_unit_test(three_cases_partition_the_space),
        cmocka_unit_test(no_point_of_the_cone_is_nearer),
        cmocka_unit_test(projection_commutes_with_powers_of_two),
        cmocka_unit_test(without_friction_only_the_normal_half_line_remains),
        cmocka_unit_test(hand_computed_projections),
        cmocka_unit_test(nan_is_never_hidden),
        cmocka_unit_test(jacobian_equals_differences_of_the_projection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
