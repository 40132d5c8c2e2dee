// Sine, cosine and arcus tangent from series, so that every compiler and target gives equal bits.
// Arguments of sin and cos are reduced by k pi/2 with pi/2 split in three (Cody and Waite);
// arcus tangents by the nearest c = i/8: atan(r) = atan(c) + atan((r - c)/(1 + r c)).
#include "math/trig.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "math/lanes.h"
#include "math/vec.h"

static const double PI = 0x1.921fb54442d18p+1;
static const double PI_LOW = 0x1.1a62633145c07p-53;  // pi - PI
static const double HALF_PI = 0x1.921fb54442d18p+0;
static const double HALF_PI_LOW = 0x1.1a62633145c07p-54;

// An argument as head + tail, |head| <= pi/4 and a bit, and the quadrant modulo 4.
typedef struct Reduced {
    double head, tail;
    int32_t quadrant;
} Reduced;

static Reduced reduce(double x) {
    static const double PART1 = 0x1.921fb544p+0;  // 33 bits each: k * PART is exact for |k| < 2^20
    static const double PART2 = 0x1.0b4611a6p-34;
    static const double PART3 = 0x1.3198a2e037073p-69;
    static const double LARGEST = 0x1p+20;
    if (fabs(x) > LARGEST) {
        x = fmod(x, 2.0 * PI);  // exact by definition; the period is rounded: the stated loss
    }
    double k = floor(x * (1.0 / HALF_PI) + 0.5);
    double first = x - k * PART1;  // exact
    double second = k * PART2;     // exact
    double high = first - second;
    double shed = high - first;  // two-sum: first - second = high + error
    double error = (first - (high - shed)) - (second + shed);
    double low = error - k * PART3;
    double head = high + low;
    return (Reduced){head, (high - head) + low, (int32_t)k & 3};
}

// Taylor series on |x| <= pi/4: the first term left out is below 2^-63 of the result.
static double sine_series(double x, double tail) {
    double z = x * x;
    double p = 1.0 / 355687428096000.0;
    p = -1.0 / 1307674368000.0 + z * p;
    p = 1.0 / 6227020800.0 + z * p;
    p = -1.0 / 39916800.0 + z * p;
    p = 1.0 / 362880.0 + z * p;
    p = -1.0 / 5040.0 + z * p;
    p = 1.0 / 120.0 + z * p;
    p = -1.0 / 6.0 + z * p;
    return x + (tail * (1.0 - 0.5 * z) + x * (z * p));  // sin(x + t) = sin x + t cos x
}

static double cosine_series(double x, double tail) {
    double z = x * x;
    double p = 1.0 / 20922789888000.0;
    p = -1.0 / 87178291200.0 + z * p;
    p = 1.0 / 479001600.0 + z * p;
    p = -1.0 / 3628800.0 + z * p;
    p = 1.0 / 40320.0 + z * p;
    p = -1.0 / 720.0 + z * p;
    p = 1.0 / 24.0 + z * p;
    double half = 0.5 * z;
    double head = 1.0 - half;
    return head + (((1.0 - head) - half) + (z * (z * p) - x * tail));
}

void kl_sincos(double x, double *sine, double *cosine) {
    if (!isfinite(x)) {
        *sine = *cosine = x - x;  // NaN
        return;
    }
    Reduced r = reduce(x);
    double s = sine_series(r.head, r.tail), c = cosine_series(r.head, r.tail);
    bool swapped = r.quadrant & 1;
    double a = swapped ? c : s, b = swapped ? s : c;
    *sine = r.quadrant >= 2 ? -a : a;
    *cosine = r.quadrant == 1 || r.quadrant == 2 ? -b : b;
}

double kl_sin(double x) {
    double s, c;
    kl_sincos(x, &s, &c);
    return x == 0.0 ? x : s;
}

double kl_cos(double x) {
    double s, c;
    kl_sincos(x, &s, &c);
    return c;
}

// Angle of a ratio in [0, 1] as head + tail, so that the caller's pi/2 - angle rounds once.
typedef struct Angle {
    double head, tail;
} Angle;

// atan(i/8), and what that lacks.
static const double TABLE[9] = {
    0.0,
    0x1.fd5ba9aac2f6ep-4,
    0x1.f5b75f92c80ddp-3,
    0x1.6f61941e4def1p-2,
    0x1.dac670561bb4fp-2,
    0x1.1e00babdefeb4p-1,
    0x1.4978fa3269ee1p-1,
    0x1.700a7c5784634p-1,
    0x1.921fb54442d18p-1,
};
static const double TABLE_LOW[9] = {
    0.0,
    -0x1.cd37686760c17p-59,
    0x1.8ab6e3cf7afbdp-57,
    -0x1.c63aae6f6e918p-56,
    0x1.a2b7f222f65e2p-56,
    -0x1.928df287a668fp-58,
    0x1.2419a87f2a458p-56,
    -0x1.8c34d25aadef6p-56,
    0x1.1a62633145c07p-55,
};

static inline int32_t nearest_eighth(double ratio) { return ratio < 0.125 ? 0 : (int32_t)(8.0 * ratio + 0.5); }

static Angle arc_tangent(double ratio) {
    int32_t i = nearest_eighth(ratio);
    double c = 0.125 * i;
    double t = (ratio - c) / (1.0 + ratio * c);
    double z = t * t;  // <= 2^-6: the first term left out is below 2^-64 of the result
    double p = -1.0 / 19.0;
    p = 1.0 / 17.0 + z * p;
    p = -1.0 / 15.0 + z * p;
    p = 1.0 / 13.0 + z * p;
    p = -1.0 / 11.0 + z * p;
    p = 1.0 / 9.0 + z * p;
    p = -1.0 / 7.0 + z * p;
    p = 1.0 / 5.0 + z * p;
    p = -1.0 / 3.0 + z * p;
    double rest = TABLE_LOW[i] + t * (z * p);
    if (i == 0) {
        return (Angle){t, rest};
    }
    double head = TABLE[i] + t;  // |t| < TABLE[i]: the error of the sum is exact
    return (Angle){head, (TABLE[i] - head) + t + rest};
}

double kl_atan2(double y, double x) {
    if (isnan(x) || isnan(y)) {
        return x + y;
    }
    double ay = fabs(y), ax = fabs(x);
    bool steep = ay > ax, left = signbit(x);
    double small = steep ? ax : ay, large = steep ? ay : ax;
    double ratio = large == 0.0 ? 0.0 : isinf(large) ? (isinf(small) ? 1.0 : 0.0) : small / large;
    Angle a = arc_tangent(ratio);
    if (steep) {
        a = (Angle){HALF_PI - a.head, ((HALF_PI - (HALF_PI - a.head)) - a.head) + (HALF_PI_LOW - a.tail)};
    }
    double angle = a.head + a.tail;
    if (left) {
        double turned = PI - a.head;
        angle = turned + (((PI - turned) - a.head) + (PI_LOW - a.tail));
    }
    return signbit(y) ? -angle : angle;
}

static inline KlPair choose(KlMask where, KlPair a, KlPair b) {
    return (KlPair)((where & (KlMask)a) | (~where & (KlMask)b));
}
static inline KlPair size_of(KlPair x) { return (KlPair)((KlMask)x & (KlMask){INT64_MAX, INT64_MAX}); }

// Neither on an axis of y nor without end.
static inline bool is_usual(double y, double x) { return x != 0.0 && fabs(y) + fabs(x) < INFINITY; }

KlPair kl_atan2_two(KlPair y, KlPair x) {
    if (!is_usual(y[0], x[0]) || !is_usual(y[1], x[1])) {
        return (KlPair){kl_atan2(y[0], x[0]), kl_atan2(y[1], x[1])};
    }
    KlPair one = kl_both(1.0), ay = size_of(y), ax = size_of(x);
    KlMask steep = ay > ax, left = x < kl_both(0.0), sign = (KlMask)y & (KlMask){INT64_MIN, INT64_MIN};
    KlPair ratio = choose(steep, ax, ay) / choose(steep, ay, ax);
    int32_t i = nearest_eighth(ratio[0]), j = nearest_eighth(ratio[1]);
    KlPair c = {0.125 * i, 0.125 * j}, table = {TABLE[i], TABLE[j]}, low = {TABLE_LOW[i], TABLE_LOW[j]};
    KlPair t = (ratio - c) / (one + ratio * c), z = t * t, p = kl_both(-1.0 / 19.0);
    p = kl_both(1.0 / 17.0) + z * p;
    p = kl_both(-1.0 / 15.0) + z * p;
    p = kl_both(1.0 / 13.0) + z * p;
    p = kl_both(-1.0 / 11.0) + z * p;
    p = kl_both(1.0 / 9.0) + z * p;
    p = kl_both(-1.0 / 7.0) + z * p;
    p = kl_both(1.0 / 5.0) + z * p;
    p = kl_both(-1.0 / 3.0) + z * p;
    KlPair head = table + t, tail = (table - head) + t + (low + t * (z * p));
    KlPair half_pi = kl_both(HALF_PI), pi = kl_both(PI), up = half_pi - head;
    KlPair up_tail = ((half_pi - up) - head) + (kl_both(HALF_PI_LOW) - tail);
    head = choose(steep, up, head);
    tail = choose(steep, up_tail, tail);
    KlPair turned = pi - head, back = turned + (((pi - turned) - head) + (kl_both(PI_LOW) - tail));
    return (KlPair)((KlMask)choose(left, back, head + tail) ^ sign);
}

double kl_atan(double x) { return kl_atan2(x, 1.0); }

static double clamp_unit(double x) { return x > 1.0 ? 1.0 : x < -1.0 ? -1.0 : x; }

double kl_acos(double x) {
    x = clamp_unit(x);
    return kl_atan2(sqrt((1.0 - x) * (1.0 + x)), x);
}

double kl_asin(double x) {
    x = clamp_unit(x);
    return kl_atan2(x, sqrt((1.0 - x) * (1.0 + x)));
}

// cos x and sin x / x from z = x^2 <= 2^-4: the first terms left out are below 2^-63.
static double cosine_of_square(double z) {
    double p = 1.0 / 479001600.0;
    p = -1.0 / 3628800.0 + z * p;
    p = 1.0 / 40320.0 + z * p;
    p = -1.0 / 720.0 + z * p;
    p = 1.0 / 24.0 + z * p;
    p = -0.5 + z * p;
    return 1.0 + z * p;
}

static double sine_over_angle(double z) {
    double p = 1.0 / 6227020800.0;
    p = -1.0 / 39916800.0 + z * p;
    p = 1.0 / 362880.0 + z * p;
    p = -1.0 / 5040.0 + z * p;
    p = 1.0 / 120.0 + z * p;
    p = -1.0 / 6.0 + z * p;
    return 1.0 + z * p;
}

// exp(theta / 2) as a quaternion: (cos |theta|/2, theta sin(|theta|/2) / |theta|). Half a radian and less, as a step
// turns bodies, needs no root.
void kl_quat_exp(const double rotation[3], double q[4]) {
    double square = kl_dot3(rotation, rotation), factor;
    if (square <= 0.25) {
        q[0] = cosine_of_square(0.25 * square);
        factor = 0.5 * sine_over_angle(0.25 * square);
    } else {
        double angle = sqrt(square), sine;
        kl_sincos(0.5 * angle, &sine, &q[0]);
        factor = sine / angle;
    }
    kl_scale3(factor, rotation, q + 1);
}

void kl_quat_log(const double q[4], double rotation[3]) {
    double sign = q[0] < 0.0 ? -1.0 : 1.0;
    double w = sign * q[0];
    double square = kl_dot3(q + 1, q + 1);
    double factor;
    if (square < 0x1p-40 * w * w) {  // atan(n/w)/n = (1 - n^2/3w^2)/w and below 2^-80
        factor = 2.0 * (1.0 - square / (3.0 * w * w)) / w;
    } else {
        double n = sqrt(square);
        factor = n > 0.0 ? 2.0 * kl_atan2(n, w) / n : 0.0;
    }
    kl_scale3(sign * factor, q + 1, rotation);
}
