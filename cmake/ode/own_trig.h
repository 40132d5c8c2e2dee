// Included before every source of ODE: the trigonometric functions come from math/trig.h in place
// of libm's, which differ between native and WebAssembly in the last bits.
#ifndef KL_ODE_OWN_TRIG_H
#define KL_ODE_OWN_TRIG_H

#ifdef __cplusplus
#include <cmath>
extern "C" {
#endif
#include <math.h>

double kl_sin(double x);
double kl_cos(double x);
double kl_atan2(double y, double x);
double kl_acos(double x);
double kl_asin(double x);

#ifdef __cplusplus
}
#endif

#define sin kl_sin
#define cos kl_cos
#define atan2 kl_atan2
#define acos kl_acos
#define asin kl_asin

#endif
