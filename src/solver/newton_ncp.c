// newton-ncp: the cheapest way to solve a problem first.
//
//   loose   contacts of an explicit D that couple loosely: sweeps over the problem as given (loose.h). What they solve
//           is neither scaled nor factored.
//   held    joints that close no loop are taken out (dual/tree.h), and what the guess's contact states leave is
//           linear but for the directions in which contacts slide (slide.h): one small dense factorization gives the
//           rest's reactions (rest.h), in most steps of a warm-started run.
//           Where these states lead nowhere, those of some sweeps may.
//   rest    else Newton (newton.h) solves the rest, a small explicit problem.
//   whole   Newton on the whole problem, where there is no such rest, or where the natural map of the whole problem
//           does not accept what it led to.
//
// One iteration is all of `loose`, all of `held`, or one of Newton's. Where lambda is not unique the last one is moved
// to least norm.
#include <math.h>
#include <string.h>

#include "dual/storage.h"
#include "dual/tree.h"
#include "math/lanes.h"
#include "solver/loose.h"
#include "solver/newton.h"
#include "solver/rest.h"
#include "solver/semismooth.h"
#include "solver/slide.h"

static const KlParam params[] = {
    KL_COMMON_PARAMS_OF(1e-10, "The solve ends when r_nat_rel is at most this."),
    KL_FACTOR_PARAM(KL_FACTOR_BODIES, "auto|dense|sparse|bodies", ""),
    {"eta", "First proximal term", "",
     "Proximal term of the first Newton step, relative to the scaled D with unit diagonal. Without limits and contacts "
     "the least that the factorization bears is taken in its place.",
     KL_PARAM_REAL, 1e-8, 1e-13, 1.0, true, NULL},
    {"interior", "Interior point first", "",
     "Start with the interior point method instead of trying Newton steps from the first guess.", KL_PARAM_BOOL, 0.0,
     0.0, 1.0, false, NULL},
    {"least_norm", "Least norm", "",
     "Where lambda is not unique: end at the reaction of least norm that moves the bodies the same way, as far as the "
     "cones allow. Costs one factorization.",
     KL_PARAM_BOOL, 1.0, 0.0, 1.0, false, NULL},
    {"compliance", "Joint compliance", "",
     "Compliance of joints, in tolerances of the heavier body's mobility: rows that contradict each "
     "other by less than the tolerance, as those of loops that have drifted, then do not jam. 0: none.",
     KL_PARAM_REAL, 0.25, 0.0, 0.4, false, NULL},
    {"tree", "Joints taken out", "",
     "Take joints that close no loop out of the problem, as long as at most 64 rows are left: its coordinates are what "
     "they leave free then. Where that does not reach the tolerance the whole problem is solved.",
     KL_PARAM_BOOL, 1.0, 0.0, 1.0, false, NULL},
};

static const double NEAR = 1e-6;        // r_nat_rel that rounding may leave at most
static const double JAMMED = 1e3;       // of |S v_f|, and of what joints alone bear: reactions not taken from the rest
static const double SETTLED = 0.5;      // of the tolerance: what the rest's equations may leave
static const double CHORD_DROP = 0.03;  // of what is left, by a step whose factor serves again
static const double STALLED = 0.5;      // the same, by a new factor: less will not come of these states
static const double NEARLY = 1e-3;      // r_nat_rel of states that sweeps do not better
static const double GROWTH = 1e6;       // of |v_f|: velocities of the rest's iterates past which it has lost its way
enum { TRIES = 4, SWEEPS = 20 };        // states one after the other, sweeps before others are tried
enum { REST_PATIENCE = 20 };            // iterations of the rest's Newton that do not halve its r_nat_rel
enum { REST_ITERATIONS = 60 };          // of Newton on the rest of a tree, before the whole problem is solved

typedef enum Way { WAY_LOOSE, WAY_HELD, WAY_REST, WAY_WHOLE } Way;

typedef struct State {
    KlNewton whole, newton;  // of the whole problem, of the rest
    KlLoose loose;
    KlTree tree;
    KlRest rest;
    KlSlide slide;
    KlRun run;  // of the rest's Newton
    Way way;
    bool solved;                                             // but for `whole`
    double relative;                                         // r_nat_rel, where solved
    int32_t spent;                                           // factorizations before `whole`
    double kept[KL_TREE_ROWS], kept_velocity[KL_TREE_ROWS];  // the rest's reactions and v+
    double halved;                                           // r_nat_rel of the rest when it last was halved
    int32_t patience;                                        // iterations until then
    double param[KL_NEWTON_PARAM_COUNT];                     // of the rest's Newton
    uint8_t state[KL_TREE_ROWS];                             // of the rest's limits and contacts
    double *guess, *found, *least;                           // (dim) reactions: the first, a solution, of least norm
    KL_BUFFER(double) memory;
} State;

static bool lay_out(State *s, int32_t dim) {
    if (!KL_ROOM(s->memory, 3 * (size_t)dim)) {
        return false;
    }
    s->guess = s->memory.at;
    s->found = s->guess + dim;
    s->least = s->found + dim;
    return true;
}

// Where the whole problem's Newton is not asked for by name.
static bool may_choose(const double *param) {
    return param[KL_NEWTON_PARAM_INTERIOR] == 0.0 && param[KL_NEWTON_PARAM_FACTORIZATION] == KL_FACTOR_AUTO;
}
static bool may_take_out(const double *param) { return may_choose(param) && param[KL_NEWTON_PARAM_TREE] != 0.0; }

static void reserve(void *state, const KlCapacity *capacity, const double *param, KlArena *arena) {
    State *s = state;
    bool tree = may_take_out(param) && kl_tree_may_apply(&capacity->size);
    KlCapacity rest = {.size = kl_tree_rest_size(&capacity->size)};
    rest.dim = rest.block_count = rest.size.joint_rows;
    rest.joint_squares = 36 * (size_t)rest.size.joint_rows;
    int32_t most = KL_TREE_ROWS + 6 * capacity->size.body_count;  // rows of a problem that has such a rest
    most = most < capacity->dim ? most : capacity->dim;
    if (kl_newton_reserve(&s->whole, capacity, KL_FACTOR_AUTO) != KL_OK ||
        kl_loose_reserve(&s->loose, capacity) != KL_OK ||
        (tree && (kl_tree_reserve(&s->tree, &capacity->size) != KL_OK ||
                  kl_newton_reserve(&s->newton, &rest, KL_FACTOR_SMALL) != KL_OK ||
                  kl_rest_reserve(&s->rest, rest.dim, most) != KL_OK || !lay_out(s, most)))) {
        arena->failed = true;
    }
}

static void release(void *state) {
    State *s = state;
    kl_newton_release(&s->whole);
    kl_newton_release(&s->newton);
    kl_loose_release(&s->loose);
    kl_tree_release(&s->tree);
    kl_rest_release(&s->rest);
    kl_free(s->memory.at);
}

// ---- loose -----------------------------------------------------------------------------------------

// Solves a problem whose contacts couple loosely, into run->lambda; where that fails its end is a good guess.
static bool solve_loose(State *s, KlRun *run) {
    if (!kl_loose_begin(&s->loose, run->problem)) {
        return false;
    }
    KlLooseGoal goal = {KL_NEWTON_MARGIN * run->param[KL_PARAM_TOLERANCE], KL_NEWTON_STRICT};
    run->velocity_known = kl_loose_solve(&s->loose, &goal, run->lambda, run->velocity, &s->relative);
    return run->velocity_known;
}

// ---- the rest of a tree ------------------------------------------------------------------------------

// Contact states of a point of the rest and its v+, by the natural map; how many are others than before. What does not
// push and closes is taken to stick.
static int32_t find_states(const KlTree *t, const double *kept, const double *velocity, uint8_t *state) {
    const KlProblem *p = t->rest;
    const double *x = kept + p->joint_rows, *v = velocity + p->joint_rows, *scale = kl_problem_prepare(p)->scale;
    int32_t changed = 0;
    scale += p->joint_rows;
    for (int32_t i = 0; i < p->limit_count; i++, x++, v++, scale++, state++) {
        uint8_t now = *x - *scale * *v > 0.0 ? KL_STATE_STICK : KL_STATE_OPEN;
        changed += now != *state;
        *state = now;
    }
    for (int32_t k = 0; k < p->contact_count; k++, x += 3, v += 3, scale += 3, state++) {
        bool rests = x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0;
        uint8_t now = !rests       ? kl_semismooth_state(p->friction[k], *scale, x, v)
                      : v[2] < 0.0 ? KL_STATE_STICK
                                   : KL_STATE_OPEN;
        changed += now != *state;
        *state = now;
    }
    return changed;
}

// Of what slides the normal alone: it lies on its cone to rounding.
static bool lies_in_cones(const State *s) {
    const KlProblem *p = s->tree.rest;
    const double *x = s->kept + p->joint_rows;
    for (int32_t i = 0; i < p->limit_count; i++, x++) {
        if (!(*x >= 0.0)) {
            return false;
        }
    }
    for (int32_t k = 0; k < p->contact_count; k++, x += 3) {
        double most = p->friction[k] * x[2];
        bool inside = s->state[p->limit_count + k] == KL_STATE_SLIP || x[0] * x[0] + x[1] * x[1] <= most * most;
        if (!(x[2] >= 0.0 && inside)) {
            return false;
        }
    }
    return true;
}

// Reactions out of all proportion to v_f and to what the joints bear where nothing else pushes. They are left to the
// whole problem, whose compliance keeps joints and contacts from jamming against each other.
static bool is_jammed(State *s, const KlRun *run, double strict) {
    static const double nothing[KL_TREE_ROWS] = {0.0};
    if (strict <= JAMMED * s->relative) {
        return false;
    }
    kl_tree_extend(&s->tree, nothing, s->least);
    int32_t dim = run->problem->dim;
    return kl_lanes_largest(run->lambda, dim) > JAMMED * kl_lanes_largest(s->least, dim);
}

// v+ and residuals of the run's lambda; whether it solves the whole problem. Joints alone leave no better one to find.
static bool judge(State *s, KlRun *run) {
    double strict;
    kl_problem_velocity(run->problem, run->lambda, run->velocity);
    run->velocity_known = true;
    kl_run_residuals(run, run->velocity, true);
    s->relative = kl_natural_relative(run->problem, run->lambda, run->velocity, &strict);
    bool solved = s->relative <= KL_NEWTON_MARGIN * run->param[KL_PARAM_TOLERANCE];
    return solved && (s->tree.kept == 0 || (strict <= KL_NEWTON_STRICT && !is_jammed(s, run, strict)));
}

static KlStatus begin_rest(State *s, KlRun *run) {
    memcpy(s->param, run->param, sizeof s->param);
    s->param[KL_NEWTON_PARAM_LEAST_NORM] = 0.0;  // which the whole problem's joints decide with
    s->run = (KlRun){
        .problem = s->tree.rest, .param = s->param, .lambda = s->kept, .velocity = s->kept_velocity, .silent = true};
    s->way = WAY_REST;
    s->patience = REST_PATIENCE;
    s->halved = INFINITY;
    return kl_newton_begin(&s->newton, &s->run, KL_NEWTON_START_STEP);
}

static KlStatus begin_whole(State *s, KlRun *run) {
    s->way = WAY_WHOLE;
    return kl_newton_begin(&s->whole, run, KL_NEWTON_START_HELD);
}

static bool begin_tree(State *s, KlRun *run) {
    int32_t dim = run->problem->dim;
    if (!kl_tree_begin(&s->tree, run->problem) || kl_rest_reserve(&s->rest, s->tree.rows, 0) != KL_OK ||
        !lay_out(s, dim)) {
        return false;
    }
    memcpy(s->guess, run->lambda, (size_t)run->problem->dim * sizeof *run->lambda);
    kl_tree_restrict(&s->tree, run->lambda, s->kept);
    kl_problem_velocity(s->tree.rest, s->kept, s->kept_velocity);
    if (kl_lanes_largest(s->kept, s->tree.kept) > 0.0) {
        (void)find_states(&s->tree, s->kept, s->kept_velocity, s->state);
    } else {  // bodies that nothing holds show best what closes
        double free[KL_TREE_ROWS];
        kl_tree_restrict(&s->tree, run->problem->free_velocity, free);
        (void)find_states(&s->tree, s->kept, free, s->state);
    }
    s->way = WAY_HELD;
    return true;
}

static KlStatus begin(KlRun *run) {
    State *s = run->state;
    s->solved = false;
    s->spent = 0;
    if (may_choose(run->param) && solve_loose(s, run)) {
        s->way = WAY_LOOSE;
        s->solved = true;
        return KL_OK;
    }
    if (may_take_out(run->param) && begin_tree(s, run)) {
        return KL_OK;
    }
    return begin_whole(s, run);
}

static void iterate_loose(State *s, KlRun *run) {
    (void)s;
    kl_run_residuals(run, run->velocity, true);
}

// What is open does not push; v+ with it.
static void clear_open(State *s) {
    const KlProblem *p = s->tree.rest;
    bool pushes = false;
    for (int32_t k = 0; k < p->limit_count + p->contact_count; k++) {
        int32_t first = p->block_start[p->joint_count + k], end = p->block_start[p->joint_count + k + 1];
        for (int32_t i = first; i < end && s->state[k] == KL_STATE_OPEN; i++) {
            pushes = pushes || s->kept[i] != 0.0;
            s->kept[i] = 0.0;
        }
    }
    if (pushes) {
        kl_problem_velocity(p, s->kept, s->kept_velocity);
    }
}

// Where the run's lambda is not unique: towards the one of least norm with the same motion, as far as the cones allow
// where it lies in them.
static bool move_to_least_norm(State *s, const KlRun *run, bool fresh) {
    int32_t dim = run->problem->dim;
    memcpy(s->least, run->lambda, (size_t)dim * sizeof *s->least);
    if (!kl_rest_least_norm(&s->rest, &s->tree, fresh, s->least)) {
        return false;
    }
    bool inside = lies_in_cones(s);
    double share = inside ? kl_rest_share(&s->tree, s->state, run->lambda, s->least) : 1.0;
    for (int32_t i = 0; i < dim; i++) {
        s->least[i] = run->lambda[i] + share * (s->least[i] - run->lambda[i]);
    }
    return true;
}

// Faces of what does not move, by the states of kept.
static bool factor_rays(State *s) {
    kl_rest_hold(&s->rest, &s->tree, s->state);
    kl_rest_add_rays(&s->rest, &s->tree, s->state, s->kept);
    return kl_rest_factor(&s->rest, &s->tree);
}

// Where the rest's reactions are not the only ones.
static void seek_least_norm(State *s, KlRun *run, bool fresh) {
    if (s->rest.rank == s->rest.faces || run->param[KL_NEWTON_PARAM_LEAST_NORM] == 0.0) {
        return;
    }
    bool slides = s->slide.count > 0;
    if ((!slides || factor_rays(s)) && move_to_least_norm(s, run, fresh || slides)) {
        memcpy(run->lambda, s->least, (size_t)run->problem->dim * sizeof *run->lambda);
        kl_tree_restrict(&s->tree, run->lambda, s->kept);
    }
}

static bool factor(State *s, KlRun *run) {
    run->factorizations++;
    return kl_slide_factor(&s->slide, &s->rest, &s->tree, s->kept_velocity, s->kept);
}

static double settled_goal(const State *s, const KlRun *run) {
    double tolerance = KL_NEWTON_MARGIN * run->param[KL_PARAM_TOLERANCE];
    double given = kl_problem_given_size(s->tree.rest), size = kl_lanes_largest(s->kept, s->tree.kept);
    double relative = tolerance * (size > given ? size : given), strict = KL_NEWTON_STRICT * given;
    return SETTLED * (relative < strict ? relative : strict);
}

// Newton's steps, whose factor serves again while they take what slides near.
static bool settle_sliding(State *s, KlRun *run) {
    enum { STEPS = 12 };
    double before = 0.0, goal = settled_goal(s, run);
    bool fresh = false;
    s->relative = INFINITY;
    for (int32_t step = 0; step < STEPS; step++) {
        kl_slide_pull(&s->slide, &s->rest, s->kept_velocity);
        double left = kl_slide_left(&s->slide, &s->rest, &s->tree);
        if (step > 0 && left <= goal) {
            return true;
        }
        if (fresh && left > STALLED * before) {
            s->relative = left / kl_problem_given_size(s->tree.rest);
            return false;
        }
        fresh = step == 0 || left > CHORD_DROP * before;
        if (fresh && !factor(s, run)) {
            return false;
        }
        bool pushes = kl_slide_step(&s->slide, &s->rest, s->kept);
        kl_problem_velocity(s->tree.rest, s->kept, s->kept_velocity);
        if (!pushes) {
            return false;
        }
        before = left;
    }
    return false;
}

// The rest's equations of the states, into kept: where nothing slides they are linear.
static bool settle(State *s, KlRun *run, bool fresh) {
    if (s->slide.count > 0) {
        return settle_sliding(s, run);
    }
    if (fresh && !factor(s, run)) {
        return false;
    }
    kl_slide_pull(&s->slide, &s->rest, s->kept_velocity);
    return kl_slide_step(&s->slide, &s->rest, s->kept);
}

// The problem of the states, from the point before; a second solution mends what rounding has left.
static bool solve_held(State *s, KlRun *run) {
    enum { ROUNDS = 2 };
    for (int32_t round = 0; round < ROUNDS; round++) {  // the search for the least norm leaves other faces
        if (kl_slide_begin(&s->slide, &s->rest, &s->tree, s->state, s->kept_velocity, s->kept)) {
            kl_problem_velocity(s->tree.rest, s->kept, s->kept_velocity);
        }
        clear_open(s);
        if (!settle(s, run, round == 0)) {
            return false;
        }
        kl_tree_extend(&s->tree, s->kept, run->lambda);
        seek_least_norm(s, run, round == 0);
        bool solved = judge(s, run);
        kl_tree_restrict(&s->tree, run->velocity, s->kept_velocity);
        if (solved || s->relative > NEAR) {
            return solved && lies_in_cones(s);
        }
    }
    return false;
}

// The states of kept, then those of what they lead to.
static bool try_states(State *s, KlRun *run) {
    for (int32_t turn = 0; turn < TRIES; turn++) {
        if (solve_held(s, run)) {
            return true;
        }
        if (find_states(&s->tree, s->kept, s->kept_velocity, s->state) == 0) {
            return false;
        }
    }
    return false;
}

// From the guess on.
static void sweep(State *s) {
    kl_tree_restrict(&s->tree, s->guess, s->kept);
    kl_problem_velocity(s->tree.rest, s->kept, s->kept_velocity);
    kl_rest_sweep(&s->tree, SWEEPS, s->kept, s->kept_velocity);
}

static bool try_swept_states(State *s, KlRun *run) {
    sweep(s);
    (void)find_states(&s->tree, s->kept, s->kept_velocity, s->state);
    return try_states(s, run);
}

static void iterate_held(State *s, KlRun *run) {
    s->solved = try_states(s, run) || (!(s->relative <= NEARLY) && try_swept_states(s, run));
    if (s->solved) {
        return;
    }
    kl_tree_restrict(&s->tree, s->guess, s->kept);
    kl_tree_extend(&s->tree, s->kept, run->lambda);
    (void)judge(s, run);
    run->broken = begin_rest(s, run) != KL_OK;
}

// Those of the best point of the rest's Newton.
static bool find_faces(State *s) {
    kl_newton_states(&s->newton, s->state);
    return factor_rays(s);
}

static bool has_lost_its_way(State *s, const KlRun *run) {
    const KlProblem *p = run->problem;
    s->patience--;
    if (s->newton.best_relative <= 0.5 * s->halved) {
        s->halved = s->newton.best_relative;
        s->patience = REST_PATIENCE;
    }
    double most = GROWTH * kl_lanes_largest(p->free_velocity, p->dim);
    bool grows = !(run->primal <= most && run->dual <= most && isfinite(run->complementarity));
    return grows || s->patience <= 0 || s->run.iteration >= REST_ITERATIONS;
}

// Reactions of the rest out of all proportion to those of sweeps.
static bool is_inflated(State *s) {
    double size = kl_lanes_largest(s->kept, s->tree.kept);
    sweep(s);
    return size > JAMMED * kl_lanes_largest(s->kept, s->tree.kept);
}

static void leave_rest(State *s, KlRun *run) {
    memcpy(run->lambda, s->guess, (size_t)run->problem->dim * sizeof *run->lambda);
    (void)judge(s, run);
    s->spent = run->factorizations;
    run->broken = begin_whole(s, run) != KL_OK;
}

static void iterate_rest(State *s, KlRun *run) {
    KlRun *rest = &s->run;
    int32_t before = rest->factorizations;
    size_t bytes = (size_t)run->problem->dim * sizeof *run->lambda;
    rest->iteration++;
    kl_newton_iterate(&s->newton, rest);
    run->factorizations += rest->factorizations - before;
    run->penalty = rest->penalty;
    bool done = kl_newton_converged(&s->newton, rest), least = done && run->param[KL_NEWTON_PARAM_LEAST_NORM] != 0.0;
    kl_tree_extend(&s->tree, s->kept, run->lambda);
    if (least && !kl_newton_is_unique(&s->newton) && find_faces(s) && move_to_least_norm(s, run, true)) {
        memcpy(s->found, run->lambda, bytes);
        memcpy(run->lambda, s->least, bytes);
        s->solved = judge(s, run);
        if (!s->solved) {
            memcpy(run->lambda, s->found, bytes);
        }
    }
    s->solved = s->solved || (judge(s, run) && done);
    s->solved = s->solved && !is_inflated(s);
    if (!s->solved && (done || has_lost_its_way(s, run))) {
        leave_rest(s, run);
    }
}

static void iterate_whole(State *s, KlRun *run) {
    kl_newton_iterate(&s->whole, run);
    run->factorizations += s->spent;
}

static void iterate(KlRun *run) {
    static void (*const ways[])(State *, KlRun *) = {
        [WAY_LOOSE] = iterate_loose, [WAY_HELD] = iterate_held, [WAY_REST] = iterate_rest, [WAY_WHOLE] = iterate_whole};
    State *s = run->state;
    ways[s->way](s, run);
}

static bool converged(const KlRun *run) {
    const State *s = run->state;
    return s->way == WAY_WHOLE ? kl_newton_converged(&s->whole, run)
                               : s->solved && s->relative <= run->param[KL_PARAM_TOLERANCE];
}

const KlMethod kl_method_newton_ncp = {
    .info = {.id = "newton-ncp",
             .title = "Newton-NCP",
             .text =
                 "Semismooth Newton on the natural map with proximal steps, globalised by an interior point method and "
                 "by ADMM, on one sparse factorization; joints that close no loop are taken out first.",
             .source = "Alart and Curnier 1991; Acary et al. 2022; Featherstone 1983; this project",
             .family = "newton",
             .solves = "ncp",
             .de_saxce = true,
             KL_PARAM_TABLE(params)},
    .state_size = sizeof(State),
    .reserve = reserve,
    .begin = begin,
    .iterate = iterate,
    .converged = converged,
    .release = release,
};
