// Performance profiles (Dolan and More 2002) with the floor of Dingle and Higham 2013 for residuals.
//
//   ratio_ps = m_ps / (min_s m_ps + eps)    rho_s(tau) = share of problems with ratio_ps <= tau
//
// A failed run (NaN, infinity) is taken out before the minimum and never counts; its problem does.
#include <float.h>
#include <math.h>

#include "base/status.h"
#include "kl.h"

// Values below half the unit roundoff are noise: they are mapped to [eps/100, eps/2], order kept.
static double floored(double m, bool floor) {
    const double high = 0.5 * DBL_EPSILON, low = 1e-2 * DBL_EPSILON;
    return floor && m < high ? low + m * (high - low) / high : m;
}

static KlStatus check(const KlProfileDef *def) {
    if (def->problems < 1 || def->solvers < 1 || def->points < 2 || !(def->tau_max > 1.0) ||
        !isfinite(def->tau_max)) {
        return kl_fail(KL_ERR_ARGUMENT,
                       "a profile needs problems, solvers >= 1, points >= 2, tau_max > 1 (got %d, %d, %d, %g)",
                       (int)def->problems, (int)def->solvers, (int)def->points, def->tau_max);
    }
    for (int64_t i = 0; i < (int64_t)def->problems * def->solvers; i++) {
        if (def->measure[i] < 0.0) {
            return kl_fail(KL_ERR_ARGUMENT, "measure[%lld] must be >= 0 or NaN (got %g)", (long long)i,
                           def->measure[i]);
        }
    }
    return KL_OK;
}

static double best_of(const double *measure, int32_t solvers, bool floor) {
    double best = INFINITY;
    for (int32_t s = 0; s < solvers; s++) {
        if (isfinite(measure[s]) && floored(measure[s], floor) < best) {
            best = floored(measure[s], floor);
        }
    }
    return best;
}

// The last sample is tau_max itself: the powers in between are for plots only, so libm may serve.
static void fill_tau(const KlProfileDef *def, double *tau) {
    for (int32_t k = 0; k < def->points; k++) {
        tau[k] = pow(def->tau_max, (double)k / (double)(def->points - 1));
    }
    tau[0] = 1.0;
    tau[def->points - 1] = def->tau_max;
}

KlStatus kl_profile_compute(const KlProfileDef *def, double *tau, double *rho) {
    KL_TRY(check(def));
    fill_tau(def, tau);
    for (int64_t i = 0; i < (int64_t)def->solvers * def->points; i++) {
        rho[i] = 0.0;
    }
    for (int32_t p = 0; p < def->problems; p++) {
        const double *measure = def->measure + (int64_t)p * def->solvers;
        double best = best_of(measure, def->solvers, def->floor);
        for (int32_t s = 0; s < def->solvers; s++) {
            if (!isfinite(measure[s])) {
                continue;
            }
            double ratio = floored(measure[s], def->floor) / (best + DBL_EPSILON);
            for (int32_t k = 0; k < def->points; k++) {
                rho[(int64_t)s * def->points + k] += ratio <= tau[k] ? 1.0 : 0.0;
            }
        }
    }
    for (int64_t i = 0; i < (int64_t)def->solvers * def->points; i++) {
        rho[i] /= (double)def->problems;
    }
    return KL_OK;
}
