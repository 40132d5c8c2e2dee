#include "solver/newton.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/semismooth.h"
#include "solver/sweeps.h"

typedef KlNewton Newton;

static const double ETA_RAISE = 30.0, ETA_LOWER = 0.1;
static const double NEAR = 1e-2;        // r_nat_rel under which eta is raised to it at once
static const double REST_BELOW = 1e-7;  // r_nat_rel of a point that may be all the problem's rounding allows
static const double FIRST_PROXIMAL = 1e-2, LATER_PROXIMAL = 1.0;
static const double LOPSIDED = 1e-2;      // of the unit diagonal, in D - D^T
static const double ROUNDING = 1e-15;     // of |x|
static const double INSIDE = 1.0 - 1e-6;  // of friction: what slides is nearer to its cone
static const double HELD_SHARE = 0.1;     // of the tolerance, left in held rows
static const double ATTEMPT_DROP = 0.7;   // of r_nat_rel in each step of an attempt from the interior
static const double CHORD_DROP = 0.1;     // of |F|, by a step whose factor serves again
enum {
    HELD_TRIES = 3,
    CHORDS = 3,
    SWEEPS = 4,  // in one iteration
    MOST_SWEEPS = 20,
    WINDOW = 3,
    PATIENCE = 10,
    INTERIOR_STEPS = 60,
    REST_ROUNDS = 2,
    TOGGLES = 3,
    PROXIMAL_STEPS = 3000,
    ADMM_ROUND = 100
};

static double larger(double a, double b) { return a > b ? a : b; }

// ---- points ------------------------------------------------------------------------------------

// Remembers x, which lies in K, when its r_nat_rel is the least so far.
static void keep_best(Newton *n, const double *x, const double *velocity, double relative) {
    size_t bytes = (size_t)n->scaled.dim * sizeof *x;
    if (relative < n->best_relative) {
        n->best_relative = relative;
        memcpy(n->best, x, bytes);
        memcpy(n->best_velocity, velocity, bytes);
    }
}

// Remembers the projection of x on K, what is handed out; r_nat_rel is its own.
static void keep_projection(Newton *n, const double *x) {
    KlScaled *s = &n->scaled;
    memcpy(n->inside, x, (size_t)s->dim * sizeof *x);
    kl_scaled_project(s, n->inside);
    kl_scaled_velocity(s, n->inside, n->inside_velocity);
    (void)kl_scaled_natural(s, n->inside, n->inside_velocity, n->inside_natural);
    keep_best(n, n->inside, n->inside_velocity, kl_scaled_natural_relative(s, n->inside, n->inside_natural));
}

static double measure(Newton *n, const double *x, const double *velocity, double *natural, double *relative) {
    double merit = kl_scaled_natural(&n->scaled, x, velocity, natural);
    *relative = kl_scaled_natural_relative(&n->scaled, x, natural);
    return merit;
}

// The same when velocity and r_nat_rel of x are known: most points lie in K already, or so near to it that a
// product with D would give the same velocity to rounding.
static void keep_point(Newton *n, const double *x, const double *velocity, double relative) {
    KlScaled *s = &n->scaled;
    double moved = 0.0, size = 0.0;
    memcpy(n->inside, x, (size_t)s->dim * sizeof *x);
    kl_scaled_project(s, n->inside);
    for (int32_t i = s->first_limit; i < s->dim; i++) {
        moved = fabs(n->inside[i] - x[i]) > moved ? fabs(n->inside[i] - x[i]) : moved;
        size = fabs(x[i]) > size ? fabs(x[i]) : size;
    }
    if (moved == 0.0) {
        keep_best(n, x, velocity, relative);
    } else if (moved <= ROUNDING * size) {
        (void)measure(n, n->inside, velocity, n->inside_natural, &relative);
        keep_best(n, n->inside, velocity, relative);
    } else {
        keep_projection(n, x);
    }
}

// Of a point whose velocity is known.
static double weigh(Newton *n, const double *x, const double *velocity, double *natural, double *relative) {
    double merit = measure(n, x, velocity, natural, relative);
    if (*relative < n->best_relative) {
        keep_point(n, x, velocity, *relative);
    }
    return merit;
}

static double evaluate(Newton *n, const double *x, double *velocity, double *natural, double *relative) {
    kl_scaled_velocity(&n->scaled, x, velocity);
    return weigh(n, x, velocity, natural, relative);
}

// |F| over |S v_f|: r_nat_rel can be small only because lambda is large.
static double strict_relative(const Newton *n, const double *natural) {
    const KlScaled *s = &n->scaled;
    double largest = 0.0;
    for (int32_t i = 0; i < s->dim; i++) {
        double error = fabs(s->weight[i] * natural[i]);
        largest = error > largest ? error : largest;
    }
    return largest * s->unit / s->report_size;
}

static bool is_strict(const Newton *n, double tolerance) {
    return n->best_relative <= tolerance && strict_relative(n, n->natural) <= KL_NEWTON_STRICT;
}

static void evaluate_present(Newton *n) {
    n->merit = evaluate(n, n->x, n->velocity, n->natural, &n->relative);
    n->window_relative = n->relative;
}

static void ensure_evaluated(Newton *n) {
    if (!(n->merit < INFINITY)) {
        evaluate_present(n);
    }
}

static void set_present(Newton *n, const double *from, double eta, bool attempt) {
    n->phase = KL_NEWTON_NEWTON;
    n->attempt = attempt;
    n->eta = larger(eta, n->scaled.least_shift);
    n->window = n->refusals = n->phase_steps = 0;
    memcpy(n->x, from, (size_t)n->scaled.dim * sizeof *n->x);
    n->merit = n->relative = n->window_relative = INFINITY;  // not evaluated yet
}

static void start_newton(Newton *n, const double *from, double eta, bool attempt) {
    set_present(n, from, eta, attempt);
    evaluate_present(n);
}

// From here on joints yield a little. (The held problem and the search for the least norm know no
// compliance: they take weak directions for null ones by themselves.)
static void soften_joints(Newton *n) {
    const KlScaled *s = &n->scaled;
    if (n->compliance > 0.0 && s->first_limit > 0) {
        for (int32_t i = 0; i < s->first_limit; i++) {
            n->velocity[i] -= s->compliance[i] * n->x[i];
        }
        kl_scaled_soften_joints(&n->scaled, n->compliance);
        for (int32_t i = 0; i < s->first_limit; i++) {
            n->velocity[i] += s->compliance[i] * n->x[i];
        }
        n->best_relative = INFINITY;
        n->merit = weigh(n, n->x, n->velocity, n->natural, &n->relative);
        n->window_relative = n->relative;
    }
}

// ---- handing over ------------------------------------------------------------------------------

static void start_interior(Newton *n) {
    n->phase = KL_NEWTON_INTERIOR;
    n->phase_steps = 0;
    if (!n->interior_started) {
        kl_interior_start(&n->interior, &n->scaled);
        n->interior_started = true;
        n->attempt_below = 1e-2;
    }
}

// First from the best point, where Newton was caught; then from 0; later from where ADMM has come to.
static void start_proximal(Newton *n) {
    int32_t round = n->proximal_rounds++;
    const double *from = round == 0 ? n->best : n->admm.y;
    if (round == 1) {
        memset(n->trial, 0, (size_t)n->scaled.dim * sizeof *n->trial);
        from = n->trial;
    }
    n->phase = KL_NEWTON_PROXIMAL;
    n->proximal_left = PROXIMAL_STEPS;
    keep_projection(n, from);
    kl_proximal_start(&n->proximal, &n->scaled, from, round == 0 ? FIRST_PROXIMAL : LATER_PROXIMAL);
}

// True when REST_ROUNDS rounds of ADMM, and the steps between them, have not halved r_nat_rel.
static bool rounds_are_spent(Newton *n) {
    if (n->admm_rounds % REST_ROUNDS != 0) {
        return false;
    }
    bool spent = n->admm_rounds > 0 && n->best_relative < REST_BELOW && n->best_relative > 0.5 * n->rounds_relative;
    n->rounds_relative = n->best_relative;
    return spent;
}

// Near the solution compliant and rigid joints lead different ways: each gets its turn from the best point.
static void toggle_compliance(Newton *n) {
    n->toggles++;
    kl_scaled_soften_joints(&n->scaled, n->toggles % 2 == 1 ? 0.0 : n->compliance);
    n->best_relative = INFINITY;
    n->interior_started = n->interior_dead = false;
    n->admm_rounds = n->proximal_rounds = 0;
    start_newton(n, n->best, 1e-8, false);
}

// Numbers at the ends of the doubles have no r_nat_rel: then no point is the best, and 0 stands for it.
static void ensure_best(Newton *n) {
    if (!(n->best_relative < INFINITY)) {
        memset(n->best, 0, (size_t)n->scaled.dim * sizeof *n->best);
        kl_scaled_velocity(&n->scaled, n->best, n->best_velocity);
    }
}

// The state of ADMM lives on between its rounds.
static void start_admm(Newton *n) {
    bool spent = rounds_are_spent(n);
    bool softened = n->compliance > 0.0 && n->scaled.first_limit > 0;
    bool toggle = softened && n->toggles < TOGGLES && n->best_relative < REST_BELOW;
    if (toggle && (n->toggles == 0 || spent)) {
        toggle_compliance(n);
        return;
    }
    if (spent) {
        n->phase = KL_NEWTON_REST;
        return;
    }
    n->phase = KL_NEWTON_ADMM;
    if (n->admm_rounds == 0) {
        memset(n->trial, 0, (size_t)n->scaled.dim * sizeof *n->trial);
        kl_admm_plus_start(&n->admm, &n->scaled, n->trial, 1.0);
        kl_scaled_velocity(&n->scaled, n->admm.y, n->admm_velocity);
    }
    n->admm.factored = false;  // the factor was used for Newton meanwhile
    n->admm_rounds++;
    n->admm_left = ADMM_ROUND * (n->admm_rounds < 5 ? n->admm_rounds : 5);
}

static void newton_stalled(Newton *n, double tolerance) {
    if (n->best_relative <= tolerance) {
        n->settled = true;  // no step betters a point that already meets the tolerance
    } else if (!n->interior_dead) {
        start_interior(n);
    } else if (n->proximal_rounds == n->admm_rounds) {
        start_proximal(n);
    } else {
        start_admm(n);
    }
}

// ---- the iterations ----------------------------------------------------------------------

static void accept(Newton *n, double merit) {  // the trial becomes the present point
    double *x = n->x, *velocity = n->velocity, *natural = n->natural;
    n->x = n->trial;
    n->velocity = n->trial_velocity;
    n->natural = n->trial_natural;
    n->trial = x;
    n->trial_velocity = velocity;
    n->trial_natural = natural;
    n->merit = merit;
}

static void set_trial(Newton *n, double length) {
    for (int32_t i = 0; i < n->scaled.dim; i++) {
        n->trial[i] = n->x[i] + length * n->step[i];
    }
}

static bool take(Newton *n, double length) {
    double relative;
    set_trial(n, length);
    double merit = evaluate(n, n->trial, n->trial_velocity, n->trial_natural, &relative);
    if (!(merit <= (1.0 - 1e-4 * length) * n->merit)) {
        return false;
    }
    accept(n, merit);
    n->relative = relative;
    return true;
}

static bool slides(const Newton *n) {
    for (int32_t k = 0; k < n->scaled.limits + n->scaled.contacts; k++) {
        if (n->state[k] == KL_STATE_SLIP) {
            return true;
        }
    }
    return false;
}

// What knows symmetric systems alone, the held problem and each contact's own one, then solves a neighbour of
// the problem.
static bool is_lopsided(const Newton *n) { return n->scaled.asymmetry > LOPSIDED; }

static void start_sweeps(Newton *n) {
    n->phase = KL_NEWTON_NEWTON;
    if (n->start != KL_NEWTON_START_STEP && kl_sweeps_apply(&n->scaled)) {
        n->phase = KL_NEWTON_SWEEPS;
        double afford = SWEEPS * kl_block_lu_flops(n->scaled.lu) / kl_sweep_flops(&n->scaled);
        n->sweeps_left = afford > MOST_SWEEPS ? MOST_SWEEPS : (int32_t)afford;
        n->sweeps_left = is_lopsided(n) ? SWEEPS : n->sweeps_left;
        kl_scaled_mirror(&n->scaled);
        memcpy(n->step, n->x, (size_t)n->scaled.dim * sizeof *n->x);
    }
}

// Every limit and contact of the guess pushes from well inside its cone: it sticks, if it is as it was.
static bool guess_sticks(const Newton *n) {
    const KlScaled *s = &n->scaled;
    for (int32_t i = s->first_limit; i < s->first_contact; i++) {
        if (!(n->x[i] > 0.0)) {
            return false;
        }
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        const double *x = n->x + s->first_contact + 3 * k;
        double most = INSIDE * s->problem->friction[k] * x[2];
        if (!(x[2] > 0.0 && x[0] * x[0] + x[1] * x[1] < most * most)) {
            return false;
        }
    }
    return true;
}

// Where nothing slides the contact states make the problem linear. They are the guess's first, then
// those of what they led to. A guess that sticks tells them without its velocity, and so without a product.
static void start_held(Newton *n) {
    bool linear = !n->scaled.bodies && !is_lopsided(n);
    if (linear && guess_sticks(n)) {
        memset(n->state, KL_STATE_STICK, (size_t)n->scaled.limits + (size_t)n->scaled.contacts);
    } else {
        evaluate_present(n);
        (void)kl_semismooth_states(&n->scaled, n->x, n->velocity, n->state);
    }
    ensure_best(n);
    if (linear && !slides(n)) {
        n->phase = KL_NEWTON_HELD;
        n->held_tries = 0;
    } else {
        if (n->scaled.problem->joint_count > 0) {
            soften_joints(n);
        }
        start_sweeps(n);
    }
}

// From the present point. Sweeps need not lower |F|; Newton takes the better one of the two points.
static void iterate_sweeps(Newton *n, double tolerance) {
    KlScaled *s = &n->scaled;
    double relative, change = INFINITY;
    for (int32_t i = 0; i < SWEEPS && change > 0.0; i++) {
        change = kl_sweep_once(s, n->step);
    }
    n->sweeps_left -= SWEEPS;
    kl_scaled_velocity(s, n->step, n->trial_velocity);
    double merit = weigh(n, n->step, n->trial_velocity, n->trial_natural, &relative);
    if (merit < n->merit) {
        memcpy(n->trial, n->step, (size_t)s->dim * sizeof *n->x);
        accept(n, merit);
        n->relative = n->window_relative = relative;
    }
    n->settled = n->best_relative <= tolerance && strict_relative(n, n->natural) <= KL_NEWTON_STRICT;
    if (n->sweeps_left <= 0 || change <= 0.0) {
        n->phase = KL_NEWTON_NEWTON;
    }
}

static void try_held(Newton *n, double tolerance) {
    KlHeld *h = &n->held;
    size_t bytes = (size_t)n->scaled.dim * sizeof *n->x;
    if (!kl_held_solve(h, &n->scaled, n->state, HELD_SHARE * tolerance)) {
        ensure_evaluated(n);
        start_sweeps(n);
        return;
    }
    double relative, merit = measure(n, h->x, h->velocity, n->trial_natural, &relative);
    bool solved = relative <= tolerance && strict_relative(n, n->trial_natural) <= KL_NEWTON_STRICT;
    if (solved) {
        n->best_relative = INFINITY;  // the guess may be as good, but is not of least norm
    }
    if (relative < n->best_relative) {
        keep_point(n, h->x, h->velocity, relative);
    }
    n->settled = n->least = solved && n->best_relative <= tolerance;
    if (n->settled) {
        return;
    }
    if (kl_semismooth_states(&n->scaled, h->x, h->velocity, n->state) > 0 && !slides(n) &&
        ++n->held_tries < HELD_TRIES) {
        return;
    }
    ensure_evaluated(n);
    if (merit < n->merit) {
        memcpy(n->trial, h->x, bytes);
        memcpy(n->trial_velocity, h->velocity, bytes);
        accept(n, merit);
        n->relative = n->window_relative = relative;
    }
    start_sweeps(n);
}

static void iterate_held(Newton *n, double tolerance) {
    try_held(n, tolerance);
    if (n->phase != KL_NEWTON_HELD) {
        soften_joints(n);
    }
}

// Near the solution a step is refused where lambda is not unique on the faces of K: there a proximal term of the
// size of what is left holds it back, and from then on lets it converge.
static void raise_eta(Newton *n) {
    double eta = larger(n->eta * ETA_RAISE, 1e-8);
    eta = n->relative <= NEAR ? larger(eta, n->relative) : eta;
    n->eta = eta > 1.0 ? 1.0 : eta;
}

static bool newton_step(Newton *n) {
    KlScaled *s = &n->scaled;
    kl_semismooth_linearize(s, n->x, n->velocity, n->eta, n->right, n->state);
    if (kl_scaled_factor(s)) {
        kl_scaled_solve(s, n->right, kl_scaled_is_regular(s) ? 0 : 1, n->step);
        static const double lengths[] = {1.0, 0.5, 0.25, 0.1};
        for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
            if (take(n, lengths[i])) {
                n->eta *= i == 0 ? ETA_LOWER : 1.0;
                n->eta = larger(n->eta, n->scaled.least_shift);
                return true;
            }
        }
    }
    raise_eta(n);
    return false;
}

// The factor serves again while it takes the point near: states are the same, directions hardly other.
static void step_again(Newton *n, double tolerance, double before) {
    KlScaled *s = &n->scaled;
    for (int32_t i = 0; i < CHORDS && !s->bodies && n->merit <= CHORD_DROP * before && !is_strict(n, tolerance); i++) {
        before = n->merit;
        if (kl_semismooth_states(s, n->x, n->velocity, n->state) > 0) {
            return;
        }
        kl_semismooth_linearize(s, n->x, n->velocity, n->eta, n->right, n->state);
        kl_scaled_solve(s, n->right, 0, n->step);
        if (!take(n, 1.0)) {
            return;
        }
    }
}

static void iterate_newton(Newton *n, double tolerance) {
    double before = n->relative, merit = n->merit;
    bool accepted = newton_step(n);
    if (accepted) {
        step_again(n, tolerance, merit);
    }
    n->refusals = accepted ? 0 : n->refusals + 1;
    n->phase_steps++;
    if (n->best_relative <= tolerance && (is_strict(n, tolerance) || n->relative > 0.5 * before)) {
        n->settled = true;
        return;
    }
    if (n->attempt && (!accepted || n->relative > ATTEMPT_DROP * before)) {
        newton_stalled(n, tolerance);
        return;
    }
    if (++n->window == WINDOW) {
        bool slow = n->relative > 0.1 * n->window_relative;
        n->window = 0;
        n->window_relative = n->relative;
        bool patient = n->interior_dead && n->phase_steps < PATIENCE;
        if (slow && !patient) {
            newton_stalled(n, tolerance);
            return;
        }
    }
    if (n->refusals >= (n->interior_dead ? 6 : 2)) {
        newton_stalled(n, tolerance);
    }
}

static void interior_died(Newton *n) {
    n->interior_dead = true;
    start_newton(n, n->best, n->best_relative < 1e-3 ? n->best_relative : 1e-3, false);
}

static void iterate_interior(Newton *n, double tolerance) {
    n->phase_steps++;
    if (!kl_interior_step(&n->interior, &n->scaled) || n->interior.step < 1e-4 || n->phase_steps > INTERIOR_STEPS) {
        interior_died(n);
        return;
    }
    double relative;
    kl_interior_reaction(&n->interior, &n->scaled, n->trial);
    (void)measure(n, n->trial, n->interior.velocity, n->trial_natural, &relative);
    keep_best(n, n->trial, n->interior.velocity, relative);
    int32_t changed = kl_semismooth_states(&n->scaled, n->trial, n->interior.velocity, n->state);
    if (relative <= tolerance && strict_relative(n, n->trial_natural) <= KL_NEWTON_STRICT) {
        n->settled = true;
    } else if (relative <= tolerance || (changed == 0 && relative < n->attempt_below)) {
        n->attempt_below = 0.01 * relative;
        start_newton(n, n->trial, relative < 1e-2 ? 1e-3 * relative : 1e-5, true);
    }
}

static void iterate_proximal(Newton *n, double tolerance) {
    KlProximalOutcome outcome = kl_proximal_step(&n->proximal, &n->scaled);
    if (outcome == KL_PROXIMAL_ANCHOR) {
        keep_projection(n, n->proximal.x);
    }
    if (n->best_relative <= tolerance) {
        start_newton(n, n->best, n->best_relative, true);
    } else if (outcome == KL_PROXIMAL_STUCK || --n->proximal_left <= 0) {
        start_admm(n);
    }
}

static void iterate_admm(Newton *n, double tolerance) {
    double relative;
    bool ok = kl_admm_plus_step(&n->admm, &n->scaled);
    kl_scaled_velocity(&n->scaled, n->admm.y, n->admm_velocity);
    (void)measure(n, n->admm.y, n->admm_velocity, n->trial_natural, &relative);
    keep_best(n, n->admm.y, n->admm_velocity, relative);
    if (n->best_relative <= tolerance) {
        n->settled = true;
    } else if (!ok || --n->admm_left <= 0) {
        start_newton(n, n->admm.y, relative < 1e-3 ? relative : 1e-3, false);
    }
}

static void iterate_rest(Newton *n, double tolerance) {
    (void)n;
    (void)tolerance;
}

// ---- the method --------------------------------------------------------------------------------

static KlStatus lay_out(Newton *n) {
    size_t dim = (size_t)n->scaled.dim;
    size_t branches = (size_t)n->scaled.limits + (size_t)n->scaled.contacts;
    double **vectors[] = {&n->x,
                          &n->velocity,
                          &n->natural,
                          &n->trial,
                          &n->trial_velocity,
                          &n->trial_natural,
                          &n->step,
                          &n->right,
                          &n->best,
                          &n->best_velocity,
                          &n->admm_velocity,
                          &n->inside,
                          &n->inside_velocity,
                          &n->inside_natural};
    size_t count = sizeof vectors / sizeof vectors[0];
    if (!KL_ROOM(n->memory, count * dim) || !KL_ROOM(n->states, branches)) {
        return KL_ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        *vectors[i] = n->memory.at + i * dim;
    }
    n->state = n->states.at;
    memset(n->state, 0, branches);
    KL_TRY(kl_interior_reserve(&n->interior, &n->scaled));
    KL_TRY(kl_proximal_reserve(&n->proximal, &n->scaled));
    KL_TRY(kl_least_norm_reserve(&n->least_norm, &n->scaled));
    return kl_admm_plus_reserve(&n->admm, &n->scaled);
}

KlStatus kl_newton_reserve(Newton *n, const KlCapacity *capacity, KlFactorization where) {
    KL_TRY(kl_scaled_reserve(&n->scaled, capacity, where));
    if (where != KL_FACTOR_SMALL) {
        KL_TRY(kl_held_reserve(&n->held, capacity));
    }
    return lay_out(n);
}

KlStatus kl_newton_begin(Newton *n, KlRun *run, KlNewtonStart start) {
    bool small = start == KL_NEWTON_START_STEP;
    KlFactorization where = (KlFactorization)kl_param_int(run, KL_NEWTON_PARAM_FACTORIZATION);
    KL_TRY(kl_scaled_begin(&n->scaled, run->problem, false, small ? KL_FACTOR_SMALL : where));
    if (!small) {
        KL_TRY(kl_held_begin(&n->held, &n->scaled));
    }
    KL_TRY(lay_out(n));
    n->start = start;
    n->interior_started = n->interior_dead = n->settled = n->least = false;
    n->admm_rounds = n->proximal_rounds = n->toggles = 0;
    n->best_relative = INFINITY;
    n->compliance = run->param[KL_NEWTON_PARAM_COMPLIANCE] * run->param[KL_PARAM_TOLERANCE];
    kl_scaled_from_reaction(&n->scaled, run->lambda, n->trial);
    bool linear = n->scaled.limits + n->scaled.contacts == 0;  // no step is too long: mostly the first one solves it
    set_present(n, n->trial, linear ? n->scaled.least_shift : kl_param(run, KL_NEWTON_PARAM_ETA), false);
    if (run->param[KL_NEWTON_PARAM_INTERIOR] != 0.0) {
        evaluate_present(n);
        ensure_best(n);
        soften_joints(n);
        start_interior(n);
    } else if (start == KL_NEWTON_START_HELD) {
        start_held(n);
    } else {
        evaluate_present(n);
        ensure_best(n);
        soften_joints(n);
        start_sweeps(n);
    }
    return KL_OK;
}

// The walks of ADMM and of the proximal method move on while the best point rests: their own point is
// shown then. The last word is the best point's.
static const double *shown(const Newton *n, bool last, const double **velocity) {
    bool walks = !last && (n->phase == KL_NEWTON_ADMM || n->phase == KL_NEWTON_PROXIMAL);
    *velocity = !walks ? n->best_velocity : n->phase == KL_NEWTON_ADMM ? n->admm_velocity : n->inside_velocity;
    return !walks ? n->best : n->phase == KL_NEWTON_ADMM ? n->admm.y : n->inside;
}

static double penalty(const Newton *n) {
    const double by_phase[] = {[KL_NEWTON_HELD] = n->eta,
                               [KL_NEWTON_SWEEPS] = n->eta,
                               [KL_NEWTON_NEWTON] = n->eta,
                               [KL_NEWTON_INTERIOR] = n->interior.tau,
                               [KL_NEWTON_PROXIMAL] = n->proximal.eta,
                               [KL_NEWTON_ADMM] = n->admm.penalty,
                               [KL_NEWTON_REST] = n->eta};
    return by_phase[n->phase];
}

static void report(KlRun *run, Newton *n) {
    const double *velocity;
    bool last = n->settled || run->iteration >= kl_param_int(run, KL_PARAM_MAX_ITERATIONS);
    const double *x = shown(n, last, &velocity);
    kl_scaled_report(&n->scaled, x, velocity, run);
    run->penalty = penalty(n);
}

// Whether lambda is the only reaction on its faces of K: the system of the last Newton step, which
// has their states, is regular. (A null vector of D on the faces would be one of the system.)
bool kl_newton_is_unique(Newton *n) {
    return n->phase == KL_NEWTON_NEWTON && kl_scaled_is_regular(&n->scaled) &&
           kl_semismooth_states(&n->scaled, n->best, n->best_velocity, n->state) == 0;
}

static void move_to_least_norm(Newton *n, double tolerance) {
    double relative;
    if (n->compliance > 0.0) {
        kl_scaled_soften_joints(&n->scaled, 0.0);
        kl_scaled_velocity(&n->scaled, n->best, n->best_velocity);
    }
    if (!kl_least_norm(&n->least_norm, &n->scaled, n->best, n->best_velocity)) {
        return;
    }
    kl_scaled_velocity(&n->scaled, n->least_norm.x, n->inside_velocity);
    (void)measure(n, n->least_norm.x, n->inside_velocity, n->inside_natural, &relative);
    if (relative <= tolerance) {
        n->best_relative = INFINITY;
        keep_best(n, n->least_norm.x, n->inside_velocity, relative);
    }
}

void kl_newton_iterate(Newton *n, KlRun *run) {
    double tolerance = KL_NEWTON_MARGIN * run->param[KL_PARAM_TOLERANCE];
    static void (*const phases[])(Newton *, double) = {
        [KL_NEWTON_HELD] = iterate_held,         [KL_NEWTON_SWEEPS] = iterate_sweeps,
        [KL_NEWTON_NEWTON] = iterate_newton,     [KL_NEWTON_INTERIOR] = iterate_interior,
        [KL_NEWTON_PROXIMAL] = iterate_proximal, [KL_NEWTON_ADMM] = iterate_admm,
        [KL_NEWTON_REST] = iterate_rest};
    phases[n->phase](n, tolerance);
    if (n->settled && run->param[KL_NEWTON_PARAM_LEAST_NORM] != 0.0 && !n->least && !kl_newton_is_unique(n)) {
        move_to_least_norm(n, tolerance);
    }
    report(run, n);
}

void kl_newton_states(const Newton *n, uint8_t *state) {
    (void)kl_semismooth_states(&n->scaled, n->best, n->best_velocity, state);
}

bool kl_newton_converged(const Newton *n, const KlRun *run) {
    return n->settled && n->best_relative <= run->param[KL_PARAM_TOLERANCE];
}

void kl_newton_release(Newton *n) {
    kl_scaled_release(&n->scaled);
    kl_held_release(&n->held);
    kl_interior_release(&n->interior);
    kl_proximal_release(&n->proximal);
    kl_admm_plus_release(&n->admm);
    kl_least_norm_release(&n->least_norm);
    kl_free(n->memory.at);
    kl_free(n->states.at);
    *n = (Newton){0};
}
