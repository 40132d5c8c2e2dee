// x^p for x > 0 with + - * / alone (libm's pow differs between native and wasm). Relative error below
// 1e-13 for results in [1e-30, 1e30]: for penalty rules and impedance curves, not for tables.
#ifndef KL_MATH_POWER_H
#define KL_MATH_POWER_H

double kl_pow(double x, double p);

#endif
