// Random single-contact problems, and what must hold of their exact solutions. Included by the quick
// and the slow suite, which differ in the number of trials.
#ifndef KL_TESTS_SOLVER_LOCAL_TRIALS_H
#define KL_TESTS_SOLVER_LOCAL_TRIALS_H

#include <complex.h>
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "kkt_check.h"
#include "solver/local/local.h"
#include "support.h"

static const double TRIAL_TURN = 6.283185307179586;

static inline double trial_normal(KlRng *rng) {
    return sqrt(-2.0 * log(1.0 - kl_rng_unit(rng))) * cos(TRIAL_TURN * kl_rng_unit(rng));
}

// D = Q diag(e) Q^T with eigenvalues over three decades (uniform in the logarithm), Q random.
static inline void trial_delassus(KlRng *rng, double scale, double d[9]) {
    double q[9], e[3];
    for (int i = 0; i < 3; i++) {
        double *row = q + 3 * i, size;
        for (int j = 0; j < 3; j++) {
            row[j] = trial_normal(rng);
        }
        for (int k = 0; k < i; k++) {
            double along = row[0] * q[3 * k] + row[1] * q[3 * k + 1] + row[2] * q[3 * k + 2];
            for (int j = 0; j < 3; j++) {
                row[j] -= along * q[3 * k + j];
            }
        }
        size = sqrt(row[0] * row[0] + row[1] * row[1] + row[2] * row[2]);
        for (int j = 0; j < 3; j++) {
            row[j] /= size;
        }
        e[i] = scale * pow(10.0, kl_rng_range(rng, -3.0, 0.0));
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            d[3 * i + j] = q[i] * e[0] * q[j] + q[3 + i] * e[1] * q[3 + j] + q[6 + i] * e[2] * q[6 + j];
        }
    }
}

// Trials take turns: ordinary friction, friction up to 10, none, no coupling (circle), the cone parallel
// to the plane (parabola), v_f,n = 0 (degenerate), a De Saxce term.
static inline KlLocalProblem trial_problem(KlRng *rng, int trial) {
    KlLocalProblem p = {0};
    double scale = pow(10.0, kl_rng_range(rng, -8.0, 8.0)), speed = pow(10.0, kl_rng_range(rng, -8.0, 8.0));
    trial_delassus(rng, scale, p.delassus);
    for (int i = 0; i < 3; i++) {
        p.free_velocity[i] = speed * trial_normal(rng);
    }
    p.friction = trial % 2 == 0 ? kl_rng_range(rng, 0.0, 1.0) : kl_rng_range(rng, 0.0, 10.0);
    double *d = p.delassus;
    switch (trial % 16) {
        case 3: p.friction = 0.0; break;
        case 5: d[2] = d[5] = d[6] = d[7] = 0.0; break;
        case 7: p.friction = d[8] / hypot(d[2], d[5]); break;
        case 9: p.free_velocity[2] = 0.0; break;
        case 11: p.desaxce = speed * kl_rng_range(rng, 0.0, 3.0); break;
        default: break;
    }
    return p;
}

static inline double trial_max(const double x[3]) { return fmax(fmax(fabs(x[0]), fabs(x[1])), fabs(x[2])); }

static inline bool trial_finite(const double x[3]) { return isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]); }

static inline void trial_velocity(const KlLocalProblem *p, const double lambda[3], double v[3]) {
    for (int i = 0; i < 3; i++) {
        v[i] = p->free_velocity[i];
        for (int j = 0; j < 3; j++) {
            v[i] += p->delassus[3 * i + j] * lambda[j];
        }
    }
}

// ---- claims ------------------------------------------------------------------------------------

static inline void assert_quartic_is_bisection(const KlLocalProblem *p, int trial) {
    double a[3], b[3];
    kl_local_quartic(p, a);
    kl_local_bisection(p, b);
    double size = fmax(trial_max(a), trial_max(b));
    for (int i = 0; i < 3; i++) {
        if (!(fabs(a[i] - b[i]) <= 1e-10 * size)) {
            fail_msg("trial %d: quartic (%.15g %.15g %.15g), bisection (%.15g %.15g %.15g)", trial, a[0], a[1], a[2],
                     b[0], b[1], b[2]);
        }
    }
}

// In the cone, opening with 0, closed with v_n = 0.
static inline void assert_signorini(const KlLocalProblem *p, const double l[3], int trial) {
    double v[3];
    trial_velocity(p, l, v);
    double speed = trial_max(p->free_velocity) + trial_max(p->delassus) * trial_max(l);
    bool in_cone = hypot(l[0], l[1]) <= p->friction * l[2] + 1e-10 * trial_max(l);
    bool normal = p->free_velocity[2] > 0.0 ? trial_max(l) == 0.0 : fabs(v[2]) <= 1e-12 * speed;
    if (!trial_finite(l) || !in_cone || !normal || !(l[2] >= 0.0)) {
        fail_msg("trial %d: lambda (%g %g %g), v_n %g", trial, l[0], l[1], l[2], v[2]);
    }
}

// No ray of the conic has a smaller objective.
static inline void assert_most_dissipative(const KlLocalProblem *p, const double l[3], int trial) {
    if (!(p->free_velocity[2] < 0.0)) {
        return;
    }
    double v[3], w[3], value = 0.0, mu = p->friction;
    trial_velocity(p, l, v);
    for (int i = 0; i < 3; i++) {
        w[i] = p->free_velocity[i] + (i == 2 ? p->desaxce : 0.0);
        value += 0.5 * l[i] * (v[i] - p->free_velocity[i]) + l[i] * w[i];
    }
    double size = trial_max(l) * (trial_max(p->free_velocity) + trial_max(p->delassus) * trial_max(l));
    for (int ray = 0; ray < 32; ray++) {
        double phi = TRIAL_TURN * ray / 32, e[3] = {mu * cos(phi), mu * sin(phi), 1.0}, h = 0.0;
        double closing = p->delassus[6] * e[0] + p->delassus[7] * e[1] + p->delassus[8];
        double r = -p->free_velocity[2] / closing;
        for (int i = 0; i < 3 && closing > 0.0; i++) {
            h += r * e[i] * w[i];
            for (int j = 0; j < 3; j++) {
                h += 0.5 * r * r * e[i] * p->delassus[3 * i + j] * e[j];
            }
        }
        if (closing > 0.0 && !(h >= value - 1e-11 * size)) {
            fail_msg("trial %d: ray %d has %.15g < %.15g", trial, ray, h, value);
        }
    }
}

static inline void assert_coulomb(const KlLocalProblem *p, int trial) {
    double l[3];
    kl_local_coulomb(p, l);
    KktProblem judge = {
        .contacts = 1, .delassus = p->delassus, .free_velocity = p->free_velocity, .friction = &p->friction};
    KktResiduals r;
    kkt_check(&judge, l, &r);
    double limit = p->free_velocity[2] > 0.0 ? 0.0 : 1e-11;
    if (!((double)r.natural_relative <= limit)) {
        fail_msg("trial %d: natural map %g", trial, (double)r.natural_relative);
    }
}

static inline void run_local_trials(int count, uint64_t seed) {
    KlRng rng = {seed};
    for (int trial = 0; trial < count; trial++) {
        KlLocalProblem p = trial_problem(&rng, trial);
        double l[3];
        assert_quartic_is_bisection(&p, trial);
        kl_local_bisection(&p, l);
        assert_signorini(&p, l, trial);
        if (p.desaxce == 0.0) {  // with s the minimum may lie inside the cone
            assert_most_dissipative(&p, l, trial);
        }
        assert_coulomb(&p, trial);
    }
}

#endif
