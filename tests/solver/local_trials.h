// Random single-contact problems, and what must hold of their exact solutions. Included by the quick,
// the slow and the exhaustive suite, which differ in the number of trials.
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
// to the plane (parabola), the plane cutting the cone on both sides (hyperbola), v_f,n = 0 (degenerate),
// a De Saxce term.
static inline KlLocalProblem trial_problem(KlRng *rng, int trial) {
    KlLocalProblem p = {0};
    double scale = pow(10.0, kl_rng_range(rng, -8.0, 8.0)), speed = pow(10.0, kl_rng_range(rng, -8.0, 8.0));
    trial_delassus(rng, scale, p.delassus);
    for (int i = 0; i < 3; i++) {
        p.free_velocity[i] = speed * trial_normal(rng);
    }
    p.friction = trial % 2 == 0 ? kl_rng_range(rng, 0.0, 1.0) : kl_rng_range(rng, 0.0, 10.0);
    double *d = p.delassus, parallel = d[8] / hypot(d[2], d[5]);
    switch (trial % 16) {
        case 3: p.friction = 0.0; break;
        case 5: d[2] = d[5] = d[6] = d[7] = 0.0; break;
        case 7: p.friction = parallel; break;
        case 9: p.free_velocity[2] = 0.0; break;
        case 11: p.desaxce = speed * kl_rng_range(rng, 0.0, 3.0); break;
        case 13: p.friction = parallel < 10.0 ? kl_rng_range(rng, parallel, 10.0) : 10.0; break;
        case 15: p.friction = kl_rng_range(rng, 0.5, 2.0) * parallel; break;
        default: break;
    }
    p.friction = fmin(p.friction, 10.0);
    return p;
}

// ---- tally -------------------------------------------------------------------------------------

// The section of cone and plane, by mu |D_nT| against D_nn.
typedef enum TrialConic {
    TRIAL_FRICTIONLESS = 0,
    TRIAL_CIRCLE,
    TRIAL_ELLIPSE,
    TRIAL_PARABOLA,
    TRIAL_HYPERBOLA,
    TRIAL_CONICS
} TrialConic;
typedef enum TrialMode { TRIAL_OPEN = 0, TRIAL_TOUCHES, TRIAL_STICKS, TRIAL_SLIPS, TRIAL_MODES } TrialMode;

typedef struct TrialTally {
    long count[TRIAL_CONICS][TRIAL_MODES];
    double difference;  // worst |quartic - bisection| / |lambda|
    double natural;     // worst r_nat_rel of the Coulomb solver, by the judge
    double closing;     // worst |v_n| of a closed contact, of what its terms sum
    double objective;   // worst that a ray betters the objective, of its terms
} TrialTally;

static inline TrialConic trial_conic(const KlLocalProblem *p) {
    double coupled = p->friction * hypot(p->delassus[2], p->delassus[5]), normal = p->delassus[8];
    return p->friction == 0.0                        ? TRIAL_FRICTIONLESS
           : coupled == 0.0                          ? TRIAL_CIRCLE
           : fabs(coupled - normal) < 1e-12 * normal ? TRIAL_PARABOLA
           : coupled < normal                        ? TRIAL_ELLIPSE
                                                     : TRIAL_HYPERBOLA;
}

static inline TrialMode trial_mode(const KlLocalProblem *p, const double l[3]) {
    double rim = p->friction * l[2] - hypot(l[0], l[1]);
    return p->free_velocity[2] > 0.0    ? TRIAL_OPEN
           : p->free_velocity[2] == 0.0 ? TRIAL_TOUCHES
           : rim > 1e-9 * l[2]          ? TRIAL_STICKS
                                        : TRIAL_SLIPS;
}

static inline void trial_worst(double *worst, double value) { *worst = value > *worst ? value : *worst; }

static inline void print_tally(const TrialTally *t) {
    static const char *const conics[] = {"frictionless", "circle", "ellipse", "parabola", "hyperbola"};
    print_message("%-12s %10s %10s %10s %10s\n", "", "open", "touching", "stick", "slip");
    for (int c = 0; c < TRIAL_CONICS; c++) {
        print_message("%-12s %10ld %10ld %10ld %10ld\n", conics[c], t->count[c][0], t->count[c][1], t->count[c][2],
                      t->count[c][3]);
    }
    print_message("worst: quartic - bisection %.1e, r_nat_rel %.1e, v_n %.1e, objective %.1e\n", t->difference,
                  t->natural, t->closing, t->objective);
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

static inline void assert_quartic_is_bisection(const KlLocalProblem *p, int trial, TrialTally *tally) {
    double a[3], b[3];
    kl_local_quartic(p, a);
    kl_local_bisection(p, b);
    double size = fmax(trial_max(a), trial_max(b));
    for (int i = 0; i < 3; i++) {
        if (!(fabs(a[i] - b[i]) <= 1e-10 * size)) {
            fail_msg("trial %d: quartic (%.15g %.15g %.15g), bisection (%.15g %.15g %.15g)", trial, a[0], a[1], a[2],
                     b[0], b[1], b[2]);
        }
        trial_worst(&tally->difference, size > 0.0 ? fabs(a[i] - b[i]) / size : 0.0);
    }
}

// In the cone, opening with 0, closed with v_n = 0.
static inline void assert_signorini(const KlLocalProblem *p, const double l[3], int trial, TrialTally *tally) {
    double v[3];
    trial_velocity(p, l, v);
    double speed = trial_max(p->free_velocity) + trial_max(p->delassus) * trial_max(l);
    bool in_cone = hypot(l[0], l[1]) <= p->friction * l[2] + 1e-10 * trial_max(l);
    bool normal = p->free_velocity[2] > 0.0 ? trial_max(l) == 0.0 : fabs(v[2]) <= 1e-12 * speed;
    if (!trial_finite(l) || !in_cone || !normal || !(l[2] >= 0.0)) {
        fail_msg("trial %d: lambda (%g %g %g), v_n %g", trial, l[0], l[1], l[2], v[2]);
    }
    trial_worst(&tally->closing, p->free_velocity[2] > 0.0 ? 0.0 : fabs(v[2]) / speed);
}

// Ray `index` to try: 32 around, and four beside the reaction's own at 1e-2 and 1e-4 rad.
static inline double trial_ray(const double l[3], int index) {
    static const double beside[] = {-1e-2, -1e-4, 1e-4, 1e-2};
    return index < 32 ? TRIAL_TURN * index / 32 : atan2(l[1], l[0]) + beside[index - 32];
}
enum { TRIAL_RAYS = 36 };

// No ray of the conic has a smaller objective.
static inline void assert_most_dissipative(const KlLocalProblem *p, const double l[3], int trial, TrialTally *tally) {
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
    for (int ray = 0; ray < TRIAL_RAYS; ray++) {
        double phi = trial_ray(l, ray), e[3] = {mu * cos(phi), mu * sin(phi), 1.0}, h = 0.0;
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
        trial_worst(&tally->objective, closing > 0.0 ? (value - h) / size : 0.0);
    }
}

static inline void assert_coulomb(const KlLocalProblem *p, int trial, TrialTally *tally) {
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
    trial_worst(&tally->natural, (double)r.natural_relative);
}

// Every section of cone and plane must have been met open, sticking and slipping.
static inline void run_local_trials(int count, uint64_t seed) {
    KlRng rng = {seed};
    TrialTally tally = {0};
    for (int trial = 0; trial < count; trial++) {
        KlLocalProblem p = trial_problem(&rng, trial);
        double l[3];
        assert_quartic_is_bisection(&p, trial, &tally);
        kl_local_bisection(&p, l);
        assert_signorini(&p, l, trial, &tally);
        if (p.desaxce == 0.0) {  // with s the minimum may lie inside the cone
            assert_most_dissipative(&p, l, trial, &tally);
        }
        assert_coulomb(&p, trial, &tally);
        tally.count[trial_conic(&p)][trial_mode(&p, l)]++;
    }
    print_tally(&tally);
    for (int c = TRIAL_CIRCLE; c < TRIAL_CONICS; c++) {
        assert_true(tally.count[c][TRIAL_OPEN] > 0 && tally.count[c][TRIAL_STICKS] > 0 &&
                    tally.count[c][TRIAL_SLIPS] > 0);
    }
}

#endif
