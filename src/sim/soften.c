#include "sim/soften.h"

#include <math.h>

#include "math/power.h"

double kl_softening_impedance(const KlSoftening *s, double residual) {
    if (s->d0 == s->dw || s->width <= 0.0) {
        return 0.5 * (s->d0 + s->dw);
    }
    double x = fabs(residual) / s->width;
    if (x >= 1.0) {
        return s->dw;
    }
    double m = s->midpoint, p = s->power, y = x;
    if (p > 1.0 && x > 0.0) {
        y = x <= m ? kl_pow(x, p) / kl_pow(m, p - 1.0) : 1.0 - kl_pow(1.0 - x, p) / kl_pow(1.0 - m, p - 1.0);
    }
    return s->d0 + y * (s->dw - s->d0);
}

KlSoftRow kl_soften_row(const KlSoftening *s, double residual) {
    double d = kl_softening_impedance(s, residual);
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
