// math/trig against long double libm over large random sets, and exact identities.
#include <math.h>

#include "base/rng.h"
#include "math/trig.h"
#include "math/vec.h"
#include "support.h"

enum { SAMPLES = 300000 };

// Distance in units of the last place of the true value.
static double ulps(double got, long double want) {
    double size = fabs((double)want);
    return (double)(fabsl(got - want) / (nextafter(size, INFINITY) - size));
}

static double worse(double most, double x) { return x > most || isnan(x) ? x : most; }

// Magnitudes spread over decades; every third lies close to a multiple of pi/2.
static double random_angle(KlRng *rng, int i) {
    double x = ldexp(kl_rng_range(rng, -1.0, 1.0), (int)kl_rng_range(rng, -30.0, 20.99));
    return i % 3 == 0 ? round(x) * 1.5707963267948966 * (1.0 + kl_rng_range(rng, -1e-10, 1e-10)) : x;
}

static void sine_and_cosine_are_within_one_ulp_up_to_2_to_the_20(void **state) {
    (void)state;
    KlRng rng = {1};
    double sine = 0.0, cosine = 0.0;
    for (int i = 0; i < SAMPLES; i++) {
        double x = random_angle(&rng, i), s, c;
        if (fabs(x) > 0x1p+20) {
            continue;
        }
        kl_sincos(x, &s, &c);
        sine = worse(sine, ulps(s, sinl(x)));
        cosine = worse(cosine, ulps(c, cosl(x)));
    }
    assert_near(sine, 0.0, 1.0);
    assert_near(cosine, 0.0, 1.0);
}

static void arcus_functions_are_within_three_ulp(void **state) {
    (void)state;
    KlRng rng = {2};
    double tangent = 0.0, tangent2 = 0.0, cosine = 0.0, sine = 0.0;
    for (int i = 0; i < SAMPLES; i++) {
        double x = random_angle(&rng, i), y = random_angle(&rng, i + 1);
        double u = kl_rng_range(&rng, -1.0, 1.0);
        u = i % 2 == 0 ? u : copysign(1.0 - ldexp(fabs(u), -(i % 50)), u);  // half of them near +-1
        tangent = worse(tangent, ulps(kl_atan(x), atanl(x)));
        tangent2 = worse(tangent2, ulps(kl_atan2(y, x), atan2l(y, x)));
        cosine = worse(cosine, ulps(kl_acos(u), acosl(u)));
        sine = worse(sine, ulps(kl_asin(u), asinl(u)));
    }
    assert_near(tangent, 0.0, 1.0);
    assert_near(tangent2, 0.0, 2.0);  // the quotient y/x is rounded once more
    assert_near(cosine, 0.0, 3.0);    // and here the square root
    assert_near(sine, 0.0, 3.0);
}

static void special_points_are_exact(void **state) {
    (void)state;
    double pi = 0x1.921fb54442d18p+1;
    assert_near(kl_sin(0.0), 0.0, 0.0);
    assert_true(signbit(kl_sin(-0.0)));
    assert_near(kl_cos(0.0), 1.0, 0.0);
    assert_near(kl_sin(0.5 * pi), 1.0, 0.0);
    assert_near(kl_cos(pi), -1.0, 0.0);
    assert_near(kl_sin(pi), 0x1.1a62633145c07p-53, 0.0);  // pi minus its double
    assert_near(kl_atan2(0.0, 1.0), 0.0, 0.0);
    assert_near(kl_atan2(0.0, -1.0), pi, 0.0);
    assert_near(kl_atan2(-0.0, -1.0), -pi, 0.0);
    assert_near(kl_atan2(1.0, 0.0), 0.5 * pi, 0.0);
    assert_near(kl_atan2(-2.0, 0.0), -0.5 * pi, 0.0);
    assert_near(kl_atan2(3.0, 3.0), 0.25 * pi, 0.0);
    assert_near(kl_atan2(0.0, 0.0), 0.0, 0.0);
    assert_near(kl_atan2(INFINITY, -INFINITY), 0.75 * pi, 0.0);
    assert_near(kl_atan(INFINITY), 0.5 * pi, 0.0);
    assert_near(kl_acos(1.0), 0.0, 0.0);
    assert_near(kl_acos(-1.0), pi, 0.0);
    assert_near(kl_acos(1.5), 0.0, 0.0);
    assert_near(kl_acos(-1.5), pi, 0.0);
    assert_near(kl_asin(1.0), 0.5 * pi, 0.0);
    assert_true(isnan(kl_sin(INFINITY)) && isnan(kl_cos(NAN)) && isnan(kl_atan2(NAN, 1.0)));
}

static void symmetries_hold_in_every_bit(void **state) {
    (void)state;
    KlRng rng = {3};
    for (int i = 0; i < 10000; i++) {
        double x = random_angle(&rng, i), y = random_angle(&rng, i + 1);
        assert_near(kl_sin(-x), -kl_sin(x), 0.0);
        assert_near(kl_cos(-x), kl_cos(x), 0.0);
        assert_near(kl_atan2(-y, x), -kl_atan2(y, x), 0.0);
        double s, c;
        kl_sincos(x, &s, &c);
        assert_near(s * s + c * c, 1.0, 4e-16);  // two roundings of squares near one
    }
}

static void assert_two_angles(const double y[2], const double x[2]) {
    double angle[2], want[2] = {kl_atan2(y[0], x[0]), kl_atan2(y[1], x[1])};
    kl_store(angle, kl_atan2_two(kl_load(y), kl_load(x)));
    assert_memory_equal(angle, want, sizeof want);
}

static void two_angles_at_once_have_the_bits_of_one(void **state) {
    (void)state;
    static const double special[] = {0.0,     -0.0,  1.0,      -1.0,     0.125,    5e-324,
                                     -1e-310, 1e308, -1.7e308, INFINITY, -INFINITY};
    enum { COUNT = sizeof special / sizeof special[0] };
    for (int i = 0; i < COUNT * COUNT; i++) {
        double y[2] = {special[i % COUNT], special[i / COUNT]}, x[2] = {special[i / COUNT], special[(i + 1) % COUNT]};
        assert_two_angles(y, x);
    }
    KlRng rng = {6};
    for (int i = 0; i < SAMPLES; i++) {
        double y[2] = {kl_rng_range(&rng, -1.0, 1.0), random_angle(&rng, i)};
        double x[2] = {kl_rng_range(&rng, -1.0, 1.0), random_angle(&rng, i + 1)};
        assert_two_angles(y, x);
    }
}

static void far_arguments_stay_on_the_circle(void **state) {
    (void)state;
    for (int e = 21; e < 1023; e += 13) {
        double s, c;
        kl_sincos(ldexp(1.2345, e), &s, &c);
        assert_near(s * s + c * c, 1.0, 4e-16);
    }
}

static void quaternion_logarithm_undoes_the_exponential(void **state) {
    (void)state;
    KlRng rng = {4};
    for (int i = 0; i < 20000; i++) {
        double angle = ldexp(kl_rng_unit(&rng), -(i % 60)) * 3.14;
        double axis[3] = {kl_rng_range(&rng, -1, 1), kl_rng_range(&rng, -1, 1), kl_rng_range(&rng, -1, 1)};
        kl_scale3(angle / kl_norm3(axis), axis, axis);
        double q[4], back[3];
        kl_quat_exp(axis, q);
        assert_near(q[0] * q[0] + kl_dot3(q + 1, q + 1), 1.0, 5e-16);
        kl_quat_log(q, back);
        assert_near_array(back, axis, 3, 2e-15 * angle);
        for (int k = 0; k < 4; k++) {
            q[k] = -q[k];  // the same rotation
        }
        kl_quat_log(q, back);
        assert_near_array(back, axis, 3, 2e-15 * angle);
    }
    double q[4], none[3] = {0.0, 0.0, 0.0}, back[3];
    kl_quat_exp(none, q);
    assert_near(q[0], 1.0, 0.0);
    kl_quat_log(q, back);
    assert_near_array(back, none, 3, 0.0);
    double half_turn[4] = {0.0, 0.0, 1.0, 0.0};
    kl_quat_log(half_turn, back);
    assert_near(back[1], 0x1.921fb54442d18p+1, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sine_and_cosine_are_within_one_ulp_up_to_2_to_the_20),
        cmocka_unit_test(arcus_functions_are_within_three_ulp),
        cmocka_unit_test(special_points_are_exact),
        cmocka_unit_test(symmetries_hold_in_every_bit),
        cmocka_unit_test(two_angles_at_once_have_the_bits_of_one),
        cmocka_unit_test(far_arguments_stay_on_the_circle),
        cmocka_unit_test(quaternion_logarithm_undoes_the_exponential),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
