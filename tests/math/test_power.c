// x^p by our own means, against libm.
#include "math/power.h"

#include <math.h>

#include "base/rng.h"
#include "support.h"

static void powers_agree_with_libm(void **state) {
    (void)state;
    KlRng rng = {3};
    for (int i = 0; i < 200000; i++) {
        double exponent = kl_rng_range(&rng, -30.0, 30.0), p = kl_rng_range(&rng, -1.0, 1.0);
        double x = pow(10.0, exponent), expected = pow(x, p);
        assert_near(kl_pow(x, p) / expected, 1.0, 1e-13);
    }
}

static void whole_powers_of_two_are_exact(void **state) {
    (void)state;
    assert_near(kl_pow(1.0, 0.3), 1.0, 0.0);
    assert_near(kl_pow(1024.0, 0.5), 32.0, 0.0);
    assert_near(kl_pow(4.0, -1.0), 0.25, 0.0);
    assert_near(kl_pow(7.0, 0.0), 1.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_agree_with_libm),
        cmocka_unit_test(whole_powers_of_two_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
