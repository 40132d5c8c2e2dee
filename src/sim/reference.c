// Reference trajectories: cubic Hermite through the samples with the tangents of a non-uniform
// Catmull-Rom spline (second order); a loop has the tangents of a closed curve.
#include "math/vec.h"
#include "sim/sim.h"

// The last k in [0, samples - 2] with times[k] <= t.
static int32_t find_interval(const double *times, int32_t samples, double t) {
    int32_t low = 0, high = samples - 1;
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (times[middle] <= t) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static double slope(const KlReferenceDef *r, int32_t k, int32_t dof) {
    return (r->values[(k + 1) * r->dofs + dof] - r->values[k * r->dofs + dof]) / (r->times[k + 1] - r->times[k]);
}

// Derivative at sample k: of the parabola through it and its neighbours. At the ends a loop goes
// round; an open curve takes the slope of its first or last piece.
static double tangent(const KlReferenceDef *r, int32_t k, int32_t dof) {
    int32_t last = r->samples - 1;
    bool end = k == 0 || k == last;
    if (end && !r->loop) {
        return slope(r, k == 0 ? 0 : last - 1, dof);
    }
    int32_t before = end ? last - 1 : k - 1, after = end ? 0 : k;
    double h0 = r->times[before + 1] - r->times[before], h1 = r->times[after + 1] - r->times[after];
    return (h1 * slope(r, before, dof) + h0 * slope(r, after, dof)) / (h0 + h1);
}

void kl_reference_sample(const KlReferenceDef *r, double t, double *value, double *rate) {
    double first = r->times[0], last = r->times[r->samples - 1], period = last - first;
    if (r->samples == 1 || (!r->loop && (t < first || t > last))) {
        const double *held = r->values + (r->samples > 1 && t > last ? r->samples - 1 : 0) * r->dofs;
        for (int32_t i = 0; i < r->dofs; i++) {
            value[i] = held[i];
            rate[i] = 0.0;
        }
        return;
    }
    if (r->loop) {
        t -= period * floor((t - first) / period);
    }
    int32_t k = find_interval(r->times, r->samples, t);
    double h = r->times[k + 1] - r->times[k], s = (t - r->times[k]) / h;
    double s2 = s * s, s3 = s2 * s;
    for (int32_t i = 0; i < r->dofs; i++) {
        double a = r->values[k * r->dofs + i], b = r->values[(k + 1) * r->dofs + i];
        double ta = h * tangent(r, k, i), tb = h * tangent(r, k + 1, i);
        value[i] =
            (2.0 * s3 - 3.0 * s2 + 1.0) * a + (s3 - 2.0 * s2 + s) * ta + (3.0 * s2 - 2.0 * s3) * b + (s3 - s2) * tb;
        rate[i] = (6.0 * (s2 - s) * (a - b) + (3.0 * s2 - 4.0 * s + 1.0) * ta + (3.0 * s2 - 2.0 * s) * tb) / h;
    }
}
