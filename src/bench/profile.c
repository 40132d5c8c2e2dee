// Performance profiles (Dolan and More 2002; paper, Sec. "Performance Metrics", corrected): rho_s(tau) is
// the share of problems that solver s does within tau times the best. Residuals below the rounding unit
// are spread over [m_min, m_max] in their order (Dingle and Higham 2013), so that ratios of them mean little.
#include <float.h>
#include <math.h>

#include "base/status.h"
#include "kl.h"

static const double FLOOR_MAX = 0.5 * DBL_EPSILON;   // the rounding unit
static const double FLOOR_MIN = 1e-2 * DBL_EPSILON;  // what 0 becomes

static double floored(double m) { return m < FLOOR_MAX ? FLOOR_MIN + m * (FLOOR_MAX - FLOOR_MIN) / FLOOR_MAX : m; }

static double measure(const KlProfileDef *def, int32_t problem, int32_t solver) {
    double m = def->measure[(size_t)problem * (size_t)def->solvers + (size_t)solver];
    return def->floor ? floored(m) : m;
}

static KlStatus check(const KlProfileDef *def) {
    if (def->problems < 1 || def->solvers < 1 || def->points < 2 || !(def->tau_max > 1.0) || isinf(def->tau_max)) {
        return kl_fail(KL_ERR_ARGUMENT,
                       "a profile needs problems >= 1, solvers >= 1, points >= 2 and a finite tau_max > 1 "
                       "(got %d, %d, %d, %g)",
                       (int)def->problems, (int)def->solvers, (int)def->points, def->tau_max);
    }
    for (int32_t p = 0; p < def->problems; p++) {
        for (int32_t s = 0; s < def->solvers; s++) {
            double m = def->measure[(size_t)p * (size_t)def->solvers + (size_t)s];
            if (m < 0.0) {
                return kl_fail(KL_ERR_ARGUMENT, "measure[%d][%d] must be >= 0, or NaN for failed (got %g)", (int)p,
                               (int)s, m);
            }
        }
    }
    return KL_OK;
}

// Least measure of the solvers that did not fail; NaN when all did.
static double best_of(const KlProfileDef *def, int32_t problem) {
    double best = NAN;
    for (int32_t s = 0; s < def->solvers; s++) {
        double m = measure(def, problem, s);
        if (!isnan(m) && (isnan(best) || m < best)) {
            best = m;
        }
    }
    return best;
}

static void fill_tau(const KlProfileDef *def, double *tau) {
    double step = log(def->tau_max) / (def->points - 1);
    for (int32_t k = 0; k < def->points; k++) {
        tau[k] = exp(step * k);
    }
    tau[0] = 1.0;
    tau[def->points - 1] = def->tau_max;
}

// First sample with tau >= ratio; `points` when there is none (failed: the ratio is NaN).
static int32_t first_sample(const double *tau, int32_t points, double ratio) {
    int32_t low = 0, high = points;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (tau[middle] >= ratio) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

KlStatus kl_profile_compute(const KlProfileDef *def, double *tau, double *rho) {
    KL_TRY(check(def));
    fill_tau(def, tau);
    for (int32_t i = 0; i < def->solvers * def->points; i++) {
        rho[i] = 0.0;
    }
    for (int32_t p = 0; p < def->problems; p++) {
        double best = best_of(def, p);
        for (int32_t s = 0; s < def->solvers; s++) {
            double ratio = measure(def, p, s) / (best + DBL_MIN);  // DBL_MIN: the best may be 0
            int32_t first = first_sample(tau, def->points, ratio);
            if (first < def->points) {
                rho[(size_t)s * (size_t)def->points + (size_t)first] += 1.0;
            }
        }
    }
    for (int32_t s = 0; s < def->solvers; s++) {  // counts by first sample become shares up to it
        double *row = rho + (size_t)s * (size_t)def->points, sum = 0.0;
        for (int32_t k = 0; k < def->points; k++) {
            sum += row[k];
            row[k] = sum / def->problems;
        }
    }
    return KL_OK;
}
