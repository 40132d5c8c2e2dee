// The engine of newton-ncp: a second-order solver of the NCP that hands over between methods on one scaled
// problem and one sparse factorization.
//
//   held      where the guess has no sliding contact: the linear problem of its contact states (held.h).
//             One factorization gives the reaction of least norm, in most steps of a warm-started run.
//   sweeps    contacts without joints: a few Gauss-Seidel sweeps (sweeps.h), for as much time as four
//             factorizations take. Solves loosely coupled contacts, starts Newton nearer to others.
//   newton    regularised semismooth Newton on the natural map (semismooth.h): a step is taken when it
//             lowers |F|; a refused one raises the proximal term eta, near the solution at once to
//             r_nat_rel; an accepted one lowers it.
//             A few factorizations from a good guess; from a bad one it may stall.
//   interior  primal-dual interior point (interior.h): from anywhere close in 10 to 20 factorizations.
//             When its contact states rest, Newton gets a try; if that stalls, the interior goes
//             on.
//   proximal  the proximal point method (proximal.h). It need not lower |F| and so leaves points where
//             Newton is caught, above all where rows of v_f contradict each other a little.
//   admm      rounds of preconditioned ADMM (admm_plus.h) from the best point, when all have
//             stalled.
//
// Joints are softened by less than the tolerance. Where all of these stall near the solution, rigid
// joints get their turn, from the best point and through all methods; then soft ones again.
//
// One iteration is one factorization (newton, interior) or one ADMM iteration. lambda is the best iterate by r_nat_rel.
// Where lambda is not unique the last one is moved to least norm (least_norm.h).
#ifndef KL_SOLVER_NEWTON_H
#define KL_SOLVER_NEWTON_H

#include "solver/admm_plus.h"
#include "solver/held.h"
#include "solver/interior.h"
#include "solver/least_norm.h"
#include "solver/proximal.h"
#include "solver/scaled.h"
#include "solver/solver.h"

// Places of its parameters, after the common ones.
enum {
    KL_NEWTON_PARAM_FACTORIZATION = KL_COMMON_PARAM_COUNT,
    KL_NEWTON_PARAM_ETA,
    KL_NEWTON_PARAM_INTERIOR,
    KL_NEWTON_PARAM_LEAST_NORM,
    KL_NEWTON_PARAM_COMPLIANCE,
    KL_NEWTON_PARAM_TREE,
    KL_NEWTON_PARAM_COUNT
};

// What comes first: the linear problem of the guess's states, then sweeps; or Newton's step at once.
typedef enum KlNewtonStart { KL_NEWTON_START_HELD, KL_NEWTON_START_STEP } KlNewtonStart;

typedef enum KlNewtonPhase {
    KL_NEWTON_HELD,
    KL_NEWTON_SWEEPS,
    KL_NEWTON_NEWTON,
    KL_NEWTON_INTERIOR,
    KL_NEWTON_PROXIMAL,
    KL_NEWTON_ADMM,
    KL_NEWTON_REST
} KlNewtonPhase;

typedef struct KlNewton {
    KlScaled scaled;
    KlHeld held;
    KlInterior interior;
    KlProximal proximal;
    KlAdmmPlus admm;
    KlLeastNorm least_norm;
    KL_BUFFER(double) memory;
    KL_BUFFER(uint8_t) states;
    double *x, *velocity, *natural;                     // (dim) present point of the Newton phase
    double *trial, *trial_velocity, *trial_natural;     // (dim)
    double *step, *right;                               // (dim)
    double *best;                                       // (dim) in K, least r_nat_rel
    double *best_velocity, *admm_velocity;              // (dim) of best, of admm.y
    double *inside, *inside_velocity, *inside_natural;  // (dim) scratch
    uint8_t *state;                                     // (limits + contacts) branches
    double merit, relative, best_relative;
    double compliance;  // of joints, share of the heavier body's reply
    double eta;
    KlNewtonStart start;
    KlNewtonPhase phase;
    bool interior_started, interior_dead;  // dead: it can go no further
    bool attempt;                          // Newton was called from a living interior phase
    double rounds_relative;                // best r_nat_rel when ADMM's rounds were last counted
    double attempt_below;                  // next attempt only under this r_nat_rel
    double window_relative;
    int32_t window, refusals, phase_steps, admm_left, admm_rounds, proximal_left;
    int32_t proximal_rounds, held_tries, sweeps_left;
    int32_t toggles;      // odd: joints are rigid
    bool settled, least;  // least: best is of least norm already
} KlNewton;

#define KL_NEWTON_MARGIN 0.5   // of the tolerance: the judge sums in another order
#define KL_NEWTON_STRICT 1e-8  // |F| over |S v_f| that ends the search for a better point

// Room for problems up to a capacity; KL_FACTOR_SMALL: that begin with Newton's step alone. KL_ERR_MEMORY.
KlStatus kl_newton_reserve(KlNewton *n, const KlCapacity *capacity, KlFactorization where);
void kl_newton_release(KlNewton *n);

// From run->lambda. A step at once is for a small explicit problem without zeros in D (KL_FACTOR_SMALL). KL_ERR_MEMORY
// and what the factorization says.
KlStatus kl_newton_begin(KlNewton *n, KlRun *run, KlNewtonStart start);
void kl_newton_iterate(KlNewton *n, KlRun *run);  // one iteration; fills the run's iterate and residuals
// Whether the best point is known to be the only reaction on its faces of K.
bool kl_newton_is_unique(KlNewton *n);
void kl_newton_states(const KlNewton *n, uint8_t *state);  // (limits, contacts) of the best point
bool kl_newton_converged(const KlNewton *n, const KlRun *run);

#endif
