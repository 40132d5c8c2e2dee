// x^p = 2^(p log2 x): the logarithm by the atanh series of the mantissa, the exponential by Taylor's.
#include "math/power.h"

#include <math.h>

static const double LN2 = 0.69314718055994530942;
static const double SQRT_HALF = 0.70710678118654752440;

// ln m for m in [1/sqrt 2, sqrt 2): 2 atanh(s), s = (m - 1)/(m + 1), |s| < 0.172, s^23 < 1e-17
static double log_mantissa(double m) {
    double s = (m - 1.0) / (m + 1.0), square = s * s, sum = 0.0;
    for (int k = 21; k >= 1; k -= 2) {
        sum = sum * square + 1.0 / k;
    }
    return 2.0 * s * sum;
}

// e^x for |x| <= ln 2 / 2: 16 terms leave 1e-18
static double exp_small(double x) {
    double sum = 1.0;
    for (int k = 16; k >= 1; k--) {
        sum = 1.0 + sum * x / k;
    }
    return sum;
}

double kl_pow(double x, double p) {
    int exponent = 0;
    double mantissa = frexp(x, &exponent);  // in [1/2, 1)
    if (mantissa < SQRT_HALF) {
        mantissa *= 2.0;
        exponent--;
    }
    double power = p * (exponent + log_mantissa(mantissa) / LN2);
    double whole = floor(power + 0.5);
    return ldexp(exp_small((power - whole) * LN2), (int)whole);
}
