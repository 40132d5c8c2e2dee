// Our own sine, cosine, arcus functions: libm differs between native and wasm, these do not (only
// + - * / sqrt). Accurate to 2 ulp over |x| <= 2^20; beyond that the argument is reduced with loss.
#ifndef KL_MATH_TRIG_H
#define KL_MATH_TRIG_H

#include "math/lanes.h"

void kl_sincos(double x, double *sine, double *cosine);
double kl_sin(double x);
double kl_cos(double x);
double kl_atan(double x);
double kl_atan2(double y, double x);
KlPair kl_atan2_two(KlPair y, KlPair x);  // each as kl_atan2, in lanes
double kl_acos(double x);                 // clamped to [-1, 1]
double kl_asin(double x);

// Rotation vector <-> unit quaternion (w, x, y, z). The logarithm has an angle in [0, pi].
void kl_quat_exp(const double rotation[3], double q[4]);
void kl_quat_log(const double q[4], double rotation[3]);

#endif
