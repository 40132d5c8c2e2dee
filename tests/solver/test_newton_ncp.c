// newton-ncp reaches r_nat_rel <= 1e-10, by the independent judge, where first-order solvers do
// not.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "families.h"
#include "judge.h"
#include "support.h"

static const double TOLERANCE = 1e-10;  // the solver's default

static void solve_and_free(KlProblem *p, const char *what) {
    judge_solver("newton-ncp", p, TOLERANCE, what, NULL);
    kl_problem_destroy(p);
}

static void converges_on_every_reference_problem(void **state) {
    (void)state;
    size_t size;
    char *text = kl_test_read(KL_TEST_DATA "/problems.json", &size);
    for (int32_t i = 0, count = 1; i < count; i++) {
        KlProblem *p;
        char what[64];
        assert_ok(kl_problem_parse_json(text, size, "problems.json", i, &count, &p));
        snprintf(what, sizeof what, "problems.json[%d]", (int)i);
        solve_and_free(p, what);
    }
    free(text);
}

static void converges_on_a_slice_of_the_mass_grid(void **state) {
    (void)state;
    for (int32_t bottom = -6; bottom <= 6; bottom += 4) {
        for (int32_t top = -6; top <= 6; top += 3) {
            for (int32_t pushed = 0; pushed < 2; pushed++) {
                char what[64];
                snprintf(what, sizeof what, "boxes 1e%d 1e%d%s", (int)bottom, (int)top, pushed ? " pushed" : "");
                solve_and_free(family_boxes_fixed(pow(10.0, bottom), pow(10.0, top), 1.01 * pushed), what);
            }
        }
    }
}

static void converges_on_the_four_bar_of_every_mass_ratio(void **state) {
    (void)state;
    static const double masses[][4] = {{1, 1, 1, 1},      {1, 1e3, 1, 1},    {1, 1e3, 1, 1e-3},
                                       {1, 1e6, 1, 1e-3}, {1e-6, 1e6, 1, 1}, {1e-6, 1, 1e6, 1e3}};
    static const double pushes[] = {0.0, 0.5, 1.01, 3.0};
    for (int32_t i = 0; i < 6; i++) {
        for (int32_t k = 0; k < 4; k++) {
            char what[64];
            snprintf(what, sizeof what, "four-bar %d push %g", (int)i, pushes[k]);
            solve_and_free(family_four_bar(masses[i], pushes[k]), what);
        }
    }
}

static void converges_on_a_wall_and_a_pile(void **state) {
    (void)state;
    solve_and_free(family_wall(4, 4), "wall");
    solve_and_free(family_spheres(3, 3, 1), "spheres");
    solve_and_free(family_spheres(5, 5, 1), "a jammed lattice of spheres");
}

// Where the contacts stick inside their cones, the solution nearest to 0 is the one in the range of
// D.
static void finds_the_reaction_of_least_norm_of_a_resting_box(void **state) {
    (void)state;
    KlProblem *p = family_boxes_fixed(1.0, 1.0, 0.0);
    double lambda[18], share;
    judge_solver("newton-ncp", p, TOLERANCE, "boxes at rest", lambda);
    assert_ok(kl_problem_internal_share(p, lambda, &share));
    assert_near(share, 0.0, 1e-6);
    kl_problem_destroy(p);
}

static double distance(const double *a, const double *b, int32_t count) {
    double gap = 0.0, size = 0.0;
    for (int32_t i = 0; i < count; i++) {
        gap += (a[i] - b[i]) * (a[i] - b[i]);
        size += b[i] * b[i];
    }
    return sqrt(gap / size);
}

// ADMM from 0 ends at the reaction of least norm where that lies in K; so does newton-ncp, in the
// units of lambda and not of the scaled problem: masses 1 and 10, closed loops, stacked bricks.
static void agrees_with_admm_where_reactions_are_not_unique(void **state) {
    (void)state;
    static const double mass[4] = {1, 10, 1, 1};
    KlProblem *problems[] = {family_four_bar(mass, 0.0), family_chain(5, true), family_wall(2, 2),
                             family_boxes_fixed(1.0, 1.0, 1.5)};
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        KlProblem *p = problems[i];
        double *ours = malloc((size_t)p->dim * sizeof *ours), *theirs = malloc((size_t)p->dim * sizeof *theirs);
        KlSolver *admm;
        KlSolution solution;
        judge_solver("newton-ncp", p, TOLERANCE, "a problem of many reactions", ours);
        assert_ok(kl_solver_create("admm-ncp-la", &admm));
        assert_ok(kl_solver_set(admm, "max_iterations", 20000));
        assert_ok(kl_solver_solve(admm, p, NULL, &solution));
        memcpy(theirs, solution.lambda, (size_t)p->dim * sizeof *theirs);
        assert_near(distance(ours, theirs, p->dim), 0.0, 1e-6);
        kl_solver_destroy(admm);
        kl_problem_destroy(p);
        free(ours);
        free(theirs);
    }
}

static void every_factorization_gives_the_same_reaction(void **state) {
    (void)state;
    static const char *const kinds[] = {"dense", "sparse", "bodies"};
    static const char *const ids[] = {"newton-ncp", "admm-ncp-plus"};
    KlProblem *p = family_boxes_fixed(2.0, 1.0, 1.5);
    for (int32_t s = 0; s < 2; s++) {
        double first[18];
        for (int32_t k = 0; k < 3; k++) {
            KlSolver *solver;
            KlSolution solution;
            assert_ok(kl_solver_create(ids[s], &solver));
            assert_ok(kl_solver_set_text(solver, "factorization", kinds[k]));
            assert_ok(kl_solver_solve(solver, p, NULL, &solution));
            assert_int_equal(solution.outcome, KL_OUTCOME_CONVERGED);
            assert_true((double)judge(p, solution.lambda).natural_relative <= TOLERANCE);
            if (k == 0) {
                memcpy(first, solution.lambda, sizeof first);
            }
            assert_near(distance(first, solution.lambda, 18), 0.0,
                        1e-7);  // a thousand times the tolerance: condition of D
            kl_solver_destroy(solver);
        }
    }
    kl_problem_destroy(p);
}

static void admm_plus_converges_on_four_bars_and_piles(void **state) {
    (void)state;
    static const double masses[][4] = {{1, 1, 1, 1}, {1, 1e3, 1, 1}, {1, 1e3, 1, 1e-3}};
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t k = 0; k < 3; k++) {
            KlProblem *p = family_four_bar(masses[i], 0.5 * k);
            judge_solver("admm-ncp-plus", p, TOLERANCE, "four-bar", NULL);
            kl_problem_destroy(p);
        }
    }
    KlProblem *p = family_wall(3, 3);
    judge_solver("admm-ncp-plus", p, TOLERANCE, "wall", NULL);
    kl_problem_destroy(p);
}

static void warm_start_needs_no_more_than_the_cold_one(void **state) {
    (void)state;
    KlProblem *p = family_spheres(3, 3, 1);
    static const char *const ids[] = {"newton-ncp", "admm-ncp-plus"};
    for (int32_t s = 0; s < 2; s++) {
        KlSolver *solver;
        KlSolution cold, warm;
        assert_ok(kl_solver_create(ids[s], &solver));
        assert_ok(kl_solver_set_text(solver, "warm_start", "previous"));
        assert_ok(kl_solver_solve(solver, p, NULL, &cold));
        assert_ok(kl_solver_solve(solver, p, NULL, &warm));
        assert_int_equal(warm.outcome, KL_OUTCOME_CONVERGED);
        assert_true(warm.iterations <= 3 && warm.iterations < cold.iterations);
        kl_solver_destroy(solver);
    }
    kl_problem_destroy(p);
}

// Far above the rows that are reserved as if dense, where the bodies have fewer freedoms than those.
static void allocates_nothing_after_reserve_up_to_66_bodies(void **state) {
    (void)state;
    static const char *const ids[] = {"newton-ncp", "admm-ncp-plus"};
    KlProblem *problems[] = {family_wall(8, 8), family_wall(3, 4), family_chain(66, true), family_chain(12, false)};
    enum { COUNT = sizeof problems / sizeof problems[0] };
    const KlProblemSize size = {
        .joint_rows = 400, .joint_count = 80, .limit_count = 20, .contact_count = 800, .body_count = 66};
    assert_true(problems[0]->dim > 1200 && problems[0]->body_count == 64);
    for (int32_t k = 0; k < 2; k++) {
        KlSolver *s;
        KlSolution solution;
        assert_ok(kl_solver_create(ids[k], &s));
        assert_ok(kl_solver_set(s, "max_iterations", 60));
        assert_ok(kl_solver_reserve(s, &size));
        uint64_t before = kl_alloc_count();
        for (int32_t i = 0; i < COUNT; i++) {
            assert_ok(kl_solver_solve(s, problems[i], NULL, &solution));
        }
        assert_int_equal(kl_alloc_count(), before);
        kl_solver_destroy(s);
    }
    for (int32_t i = 0; i < COUNT; i++) {
        kl_problem_destroy(problems[i]);
    }
}

static void allocates_nothing_once_it_has_seen_the_size(void **state) {
    (void)state;
    KlProblem *p = family_wall(3, 3);
    KlSolver *solver;
    KlSolution solution;
    assert_ok(kl_solver_create("newton-ncp", &solver));
    assert_ok(kl_solver_solve(solver, p, NULL, &solution));
    uint64_t before = kl_alloc_count();
    assert_ok(kl_solver_solve(solver, p, NULL, &solution));
    assert_int_equal(kl_alloc_count() - before, 0);
    kl_solver_destroy(solver);
    kl_problem_destroy(p);
}

static void gives_the_same_bits_twice(void **state) {
    (void)state;
    KlProblem *p = family_spheres(3, 3, 2);
    double *first = malloc((size_t)p->dim * sizeof *first), *second = malloc((size_t)p->dim * sizeof *second);
    judge_solver("newton-ncp", p, TOLERANCE, "spheres", first);
    judge_solver("newton-ncp", p, TOLERANCE, "spheres", second);
    assert_memory_equal(first, second, (size_t)p->dim * sizeof *first);
    free(first);
    free(second);
    kl_problem_destroy(p);
}

// A body held along x by two rows that drift has turned against each other by 1e-5 rad.
static KlProblem *drifted_twin(void) {
    KlProblemSize size = {.joint_rows = 2, .joint_count = 1, .body_count = 1};
    KlProblem *p;
    assert_ok(kl_problem_create(&size, &p));
    p->mass[0] = p->inverse_mass[0] = 1.0;
    for (int32_t k = 0; k < 9; k += 4) {
        p->inertia[k] = p->inverse_inertia[k] = 1.0;
    }
    static const double turn = 1e-5, velocity[2] = {0.01, 0.02};  // [rad], [m/s] along x and y
    p->block_start[1] = 2;
    p->block_id[0] = 1;
    p->block_body[0] = -1;
    p->block_body[1] = 0;
    p->jacobian[6] = p->jacobian[18] = 1.0;
    p->jacobian[19] = turn;
    p->free_velocity[0] = velocity[0];
    p->free_velocity[1] = velocity[0] + turn * velocity[1];
    return p;
}

// Taken at its word the twin holds the body along y too, by 2 kN s against 2 kN s. Where the tolerance
// hides the contradiction, joints stay weak in that direction.
static void does_not_jam_joints_that_contradict_each_other_less_than_the_tolerance(void **state) {
    (void)state;
    KlProblem *p = drifted_twin();
    KlSolver *solver;
    KlSolution solution;
    assert_ok(kl_solver_create("newton-ncp", &solver));
    assert_ok(kl_solver_set(solver, "tolerance", 1e-6));
    assert_ok(kl_solver_solve(solver, p, NULL, &solution));
    assert_int_equal(solution.outcome, KL_OUTCOME_CONVERGED);
    assert_true((double)judge(p, solution.lambda).natural_relative <= 1e-6);
    // Along x the mean of both is met; along y 1e-5 of 0.8 N s brakes 0.02 m/s by less than a thousandth.
    assert_near(solution.lambda[0] + solution.lambda[1], -0.0100001, 1e-8);
    assert_near(solution.lambda[0] - solution.lambda[1], 0.8, 0.01);
    assert_ok(kl_solver_set(solver, "compliance", 0.0));
    assert_ok(kl_solver_solve(solver, p, NULL, &solution));
    assert_near(solution.lambda[0] - solution.lambda[1], 4e3, 1.0);
    kl_solver_destroy(solver);
    kl_problem_destroy(p);
}

// Limits and contacts in units of many sizes, D not symmetric, with gaps, in every row of which all other entries sum
// up to `share` of the diagonal.
static KlProblem *loose(uint64_t seed, double share) {
    enum { MOST = 2 + 3 * 12 };
    KlRng rng = {seed};
    int32_t limits = kl_rng_index(&rng, 3), contacts = 1 + kl_rng_index(&rng, 12), n = limits + 3 * contacts;
    double d[MOST * MOST] = {0.0}, v[MOST], mu[12], unit = pow(10.0, kl_rng_range(&rng, -6.0, 6.0));
    for (int32_t i = 0; i < n; i++) {
        double sum = 0.0, *row = d + (size_t)i * (size_t)n;
        for (int32_t j = 0; j < n; j++) {
            row[j] = j != i && kl_rng_unit(&rng) < 0.6 ? unit * kl_rng_range(&rng, -1.0, 1.0) : 0.0;
            sum += fabs(row[j]);
        }
        row[i] = sum > 0.0 ? sum / share : unit;
        v[i] = kl_rng_range(&rng, -1.0, 0.3);
    }
    for (int32_t k = 0; k < contacts; k++) {
        mu[k] = k % 4 == 3 ? 0.0 : kl_rng_range(&rng, 0.1, 0.6);
    }
    KlProblem *p;
    assert_ok(kl_problem_from_dense(0, limits, contacts, d, v, mu, 1e-3, &p));
    return p;
}

static void contacts_that_couple_loosely_need_no_factorization(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        KlProblem *p = loose(seed, 0.85);
        KlSolver *solver;
        KlSolution solution;
        double swept[64], factored[64];
        assert_true(p->dim <= 64);
        assert_ok(kl_solver_create("newton-ncp", &solver));
        assert_ok(kl_solver_solve(solver, p, NULL, &solution));
        assert_int_equal(solution.outcome, KL_OUTCOME_CONVERGED);
        assert_int_equal(solution.factorizations, 0);
        assert_true((double)judge(p, solution.lambda).natural_relative <= TOLERANCE);
        memcpy(swept, solution.lambda, (size_t)p->dim * sizeof *swept);
        assert_ok(kl_solver_set_text(solver, "factorization", "sparse"));
        assert_ok(kl_solver_solve(solver, p, NULL, &solution));
        assert_true(solution.factorizations > 0);
        memcpy(factored, solution.lambda, (size_t)p->dim * sizeof *factored);
        double size = 1e-300;
        for (int32_t i = 0; i < p->dim; i++) {
            size = fabs(factored[i]) > size ? fabs(factored[i]) : size;
        }
        assert_near_array(swept, factored, p->dim, 1e-9 * size);  // some ten tolerances: D is well conditioned
        kl_solver_destroy(solver);
        kl_problem_destroy(p);
    }
}

static void contacts_that_couple_more_are_solved_as_well(void **state) {
    (void)state;
    static const double shares[] = {0.89, 0.91, 1.5};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            char what[64];
            snprintf(what, sizeof what, "contacts %d of share %g", (int)seed, shares[i]);
            solve_and_free(loose(seed, shares[i]), what);
        }
    }
}

// Each of them by a new solver, and by one that has solved all before it, cold and warm.
static void what_was_solved_before_changes_no_bits(void **state) {
    (void)state;
    enum { COUNT = 24 };
    KlSolver *old, *fresh;
    KlSolution a, b;
    assert_ok(kl_solver_create("newton-ncp", &old));
    for (uint64_t seed = 0; seed < COUNT; seed++) {
        KlProblem *p = seed % 3 == 0   ? loose(seed + 1, 0.85)
                       : seed % 3 == 1 ? loose(seed + 1, 1.2)
                                       : family_spheres(2, 1 + (int32_t)(seed % 2), seed);
        assert_ok(kl_solver_create("newton-ncp", &fresh));
        assert_ok(kl_solver_solve(old, p, NULL, &a));
        assert_ok(kl_solver_solve(fresh, p, NULL, &b));
        assert_int_equal(a.outcome, b.outcome);
        assert_int_equal(a.iterations, b.iterations);
        assert_memory_equal(a.lambda, b.lambda, (size_t)p->dim * sizeof *a.lambda);
        assert_memory_equal(a.velocity, b.velocity, (size_t)p->dim * sizeof *a.velocity);
        kl_solver_destroy(fresh);
        kl_problem_destroy(p);
    }
    kl_solver_destroy(old);
}

// The velocity of the solution belongs to its reaction, and a warm start ends at the same.
static void a_warm_started_loose_problem_stays_solved(void **state) {
    (void)state;
    KlProblem *p = loose(7, 0.85);
    KlSolver *solver;
    KlSolution solution;
    double first[64], velocity[64];
    assert_ok(kl_solver_create("newton-ncp", &solver));
    assert_ok(kl_solver_set_text(solver, "warm_start", "previous"));
    assert_ok(kl_solver_solve(solver, p, NULL, &solution));
    memcpy(first, solution.lambda, (size_t)p->dim * sizeof *first);
    kl_problem_velocity(p, solution.lambda, velocity);
    assert_memory_equal(solution.velocity, velocity, (size_t)p->dim * sizeof *velocity);
    assert_ok(kl_solver_solve(solver, p, NULL, &solution));
    assert_near(distance(solution.lambda, first, p->dim), 0.0, 1e-10);
    assert_ok(kl_solver_begin(solver, p, NULL));
    assert_ok(kl_solver_finish(solver, &solution));  // before its first iteration
    kl_problem_velocity(p, solution.lambda, velocity);
    assert_memory_equal(solution.velocity, velocity, (size_t)p->dim * sizeof *velocity);
    kl_solver_destroy(solver);
    kl_problem_destroy(p);
}

// Robots without loops on their feet: with joints taken out and without, from 0 and from the last step's reactions, both
// solve every problem, and where the reaction of least norm lies in K both end there.
static void a_tree_and_the_whole_problem_agree(const char *path, const char *run, int32_t steps) {
    KlScene *scene;
    KlModel *model;
    KlSim *sim;
    KlSolver *tree, *whole;
    assert_ok(kl_scene_load(path, NULL, &scene));
    assert_ok(kl_scene_model_for_run(scene, kl_scene_find_run(scene, run), &model));
    assert_ok(kl_sim_create(model, &sim));
    assert_ok(kl_sim_set_solver(sim, "newton-ncp"));
    assert_ok(kl_solver_create("newton-ncp", &tree));
    assert_ok(kl_solver_create("newton-ncp", &whole));
    assert_ok(kl_solver_set(whole, "tree", 0.0));
    int32_t compared = 0;
    for (int32_t i = 0; i < steps; i++) {
        assert_ok(kl_solver_set(tree, "warm_start", i % 2));
        assert_ok(kl_sim_step(sim));
        const KlProblem *p = kl_sim_problem(sim);
        KlSolution ours, theirs;
        assert_ok(kl_solver_solve(tree, p, NULL, &ours));
        assert_ok(kl_solver_solve(whole, p, NULL, &theirs));
        assert_int_equal(ours.outcome, KL_OUTCOME_CONVERGED);
        assert_int_equal(theirs.outcome, KL_OUTCOME_CONVERGED);
        KlResiduals residuals;
        kl_problem_residuals(p, ours.lambda, &residuals);
        assert_true(residuals.natural_relative <= TOLERANCE);
        double share;
        assert_ok(kl_problem_internal_share(p, theirs.lambda, &share));
        if (share < 1e-7) {
            assert_near(distance(ours.lambda, theirs.lambda, p->dim), 0.0, 1e-6);
            compared++;
        }
    }
    assert_true(compared > 0);
    kl_solver_destroy(whole);
    kl_solver_destroy(tree);
    kl_sim_destroy(sim);
    kl_model_destroy(model);
    kl_scene_destroy(scene);
}

static void trees_and_whole_problems_agree(void **state) {
    (void)state;
    a_tree_and_the_whole_problem_agree(KL_SCENES "/quadruped.json", "limp", 400);
    a_tree_and_the_whole_problem_agree(KL_SCENES "/bdx.json", "bob", 60);
    a_tree_and_the_whole_problem_agree(KL_SCENES "/arm7d.json", "limp", 100);
    a_tree_and_the_whole_problem_agree(KL_SCENES "/lima.json", "squat", 40);
}

static double largest(const double *x, int32_t count) {
    double most = 0.0;
    for (int32_t i = 0; i < count; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// Parts that touch though joints hold them together: rows that nothing moves, and v_f that contradicts them a little. The
// rest of such a tree leads astray, to forces that jam joints and contacts against each other; the whole problem, whose
// joints yield by less than the tolerance, is solved then.
static void a_tree_does_not_end_what_the_whole_problem_solves(void **state) {
    (void)state;
    static const char *const scenes[] = {"touching", "welded", "jammed", "pressed"};
    KlSolver *whole;
    assert_ok(kl_solver_create("newton-ncp", &whole));
    assert_ok(kl_solver_set(whole, "tree", 0.0));
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        char path[512];
        snprintf(path, sizeof path, KL_TEST_DATA "/trees/%s.json", scenes[k]);
        KlScene *scene;
        KlSim *sim;
        assert_ok(kl_scene_load(path, NULL, &scene));
        assert_ok(kl_sim_create(kl_scene_model(scene), &sim));
        assert_ok(kl_sim_set_solver(sim, "newton-ncp"));
        for (int32_t i = 0; i < 12; i++) {
            KlSolution theirs;
            assert_ok(kl_sim_step(sim));
            const KlProblem *p = kl_sim_problem(sim);
            const KlSolution *ours = kl_sim_solution(sim);
            assert_int_equal(ours->outcome, KL_OUTCOME_CONVERGED);
            assert_ok(kl_solver_solve(whole, p, NULL, &theirs));
            assert_int_equal(theirs.outcome, KL_OUTCOME_CONVERGED);
            assert_true(largest(ours->lambda, p->dim) <= 10.0 * largest(theirs.lambda, p->dim));
        }
        kl_sim_destroy(sim);
        kl_scene_destroy(scene);
    }
    kl_solver_destroy(whole);
}

static int32_t sliding_contacts(const KlProblem *p, const double *lambda) {
    int32_t count = 0;
    for (int32_t k = 0; k < p->contact_count; k++) {
        const double *x = lambda + p->joint_rows + p->limit_count + 3 * k;
        double tangent = hypot(x[0], x[1]), most = p->friction[k] * x[2];
        count += x[2] > 0.0 && fabs(tangent - most) <= 1e-9 * most;
    }
    return count;
}

// A robot without loops that has fallen and slides on feet and body: from the last step's reactions a step takes one
// iteration, of which what slides needs no more than what sticks.
static void contacts_of_a_tree_that_slide_take_one_iteration(void **state) {
    (void)state;
    KlScene *scene;
    KlModel *model;
    KlSim *sim;
    int32_t sliding = 0, more = 0;
    assert_ok(kl_scene_load(KL_SCENES "/quadruped.json", NULL, &scene));
    assert_ok(kl_scene_model_for_run(scene, kl_scene_find_run(scene, "limp"), &model));
    assert_ok(kl_sim_create(model, &sim));
    assert_ok(kl_sim_set_solver(sim, "newton-ncp"));
    assert_ok(kl_solver_set_text(kl_sim_solver(sim), "warm_start", "previous"));
    for (int32_t i = 0; i < 1000; i++) {
        assert_ok(kl_sim_step(sim));
        const KlSolution *solution = kl_sim_solution(sim);
        assert_int_equal(solution->outcome, KL_OUTCOME_CONVERGED);
        if (sliding_contacts(kl_sim_problem(sim), solution->lambda) > 0) {
            sliding++;
            more += solution->iterations > 1;
        }
    }
    assert_true(sliding > 300);
    assert_true(more <= sliding / 20);
    kl_sim_destroy(sim);
    kl_model_destroy(model);
    kl_scene_destroy(scene);
}

// A chain of thin links whose axes stand upright: what is past a joint loads it with its weight and that weight's
// moment. Reactions are large beside S v_f though nothing jams, and one passage over the bodies finds them.
static void an_open_chain_takes_one_iteration(void **state) {
    (void)state;
    static const int32_t links[] = {5, 100, 1000};
    const double weight = 9.81e-3, reach = 0.05;  // of a link, N s; from its joint to its centre, m
    for (size_t k = 0; k < sizeof links / sizeof links[0]; k++) {
        KlProblem *p = family_chain(links[k], false);
        KlSolver *solver;
        KlSolution solution;
        assert_ok(kl_solver_create("newton-ncp", &solver));
        assert_ok(kl_solver_solve(solver, p, NULL, &solution));
        assert_int_equal(solution.outcome, KL_OUTCOME_CONVERGED);
        assert_int_equal(solution.iterations, 1);
        for (int32_t i = 0; i < links[k]; i++) {
            const double *x = solution.lambda + 5 * i;
            double hanging = links[k] - i, force = weight * hanging, moment = reach * weight * hanging * hanging;
            assert_near(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) / force, 1.0, 1e-9);
            assert_near(hypot(x[3], x[4]) / moment, 1.0, 1e-9);
        }
        kl_solver_destroy(solver);
        kl_problem_destroy(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(converges_on_every_reference_problem),
        cmocka_unit_test(converges_on_a_slice_of_the_mass_grid),
        cmocka_unit_test(converges_on_the_four_bar_of_every_mass_ratio),
        cmocka_unit_test(converges_on_a_wall_and_a_pile),
        cmocka_unit_test(finds_the_reaction_of_least_norm_of_a_resting_box),
        cmocka_unit_test(agrees_with_admm_where_reactions_are_not_unique),
        cmocka_unit_test(trees_and_whole_problems_agree),
        cmocka_unit_test(a_tree_does_not_end_what_the_whole_problem_solves),
        cmocka_unit_test(contacts_of_a_tree_that_slide_take_one_iteration),
        cmocka_unit_test(an_open_chain_takes_one_iteration),
        cmocka_unit_test(every_factorization_gives_the_same_reaction),
        cmocka_unit_test(admm_plus_converges_on_four_bars_and_piles),
        cmocka_unit_test(warm_start_needs_no_more_than_the_cold_one),
        cmocka_unit_test(allocates_nothing_once_it_has_seen_the_size),
        cmocka_unit_test(allocates_nothing_after_reserve_up_to_66_bodies),
        cmocka_unit_test(does_not_jam_joints_that_contradict_each_other_less_than_the_tolerance),
        cmocka_unit_test(gives_the_same_bits_twice),
        cmocka_unit_test(contacts_that_couple_loosely_need_no_factorization),
        cmocka_unit_test(contacts_that_couple_more_are_solved_as_well),
        cmocka_unit_test(what_was_solved_before_changes_no_bits),
        cmocka_unit_test(a_warm_started_loose_problem_stays_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
