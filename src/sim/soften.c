#include "sim/soften.h"

#include <math.h>

// Integer part by squaring, fraction by its binary digits: x^(1/2), x^(1/4), ...
double kl_power(double x, double p) {
    double whole = floor(p), fraction = p - whole;
    double result = 1.0;
    double square = x;
    while (whole >= 1.0) {
        double half = floor(0.5 * whole);
        if (whole - 2.0 * half > 0.5) {
            result *= square;
        }
        square *= square;
        whole = half;
    }
    double root = x;
    while (fraction > 0.0) {
        root = sqrt(root);
        fraction *= 2.0;
        if (fraction >= 1.0) {
            result *= root;
            fraction -= 1.0;
        }
    }
    return result;
}

double kl_soften_impedance(const KlSoftening *s, double residual) {
    if (s->d0 == s->dw || s->width <= 0.0) {
        return 0.5 * (s->d0 + s->dw);
    }
    double x = fabs(residual) / s->width;
    if (x >= 1.0) {
        return s->dw;
    }
    double m = s->midpoint, p = s->power, y = x;
    if (p > 1.0) {
        y = x <= m ? kl_power(x, p) / kl_power(m, p - 1.0)
                   : 1.0 - kl_power(1.0 - x, p) / kl_power(1.0 - m, p - 1.0);
    }
    return s->d0 + y * (s->dw - s->d0);
}

KlSoftRow kl_soften_row(const KlSoftening *s, double residual) {
    double d = kl_soften_impedance(s, residual);
    double rate = s->dw * s->time_const;
    return (KlSoftRow){
        .compliance = (1.0 - d) / d,
        .damping = 2.0 / rate,
        .stiffness = d / (rate * rate * s->damp_ratio * s->damp_ratio),
    };
}

double kl_soften_bias(const KlSoftRow *row, double velocity, double residual, double dt) {
    return dt * (row->damping * velocity + row->stiffness * residual) - velocity;
}
