// Every solver of the registry on dual problems of every scene and run: the first step, and one when bodies
// have met, as our Newton solver moved there. What a solver says of its solution is held against the judge
// (promise.h), and our two solvers converge on each of them.
#include <stdio.h>
#include <string.h>

#include "promise.h"
#include "scene_run.h"

static const char *const scenes[] = {"box_on_plane", "boxes_fixed", "nunchaku", "fourbar_fixed", "fourbar_free",
                                     "arm7d",        "quadruped",   "bdx",      "lima",          "misha",
                                     "walker",       "gazelle",     "ironman"};
enum { KINDS_MAX = 64, LATER = 100 };

static struct { int32_t problems, converged[KINDS_MAX]; } tally;

static bool ours(const KlSolverInfo *info) { return stop_of(info) == STOP_RELATIVE; }

static void conform(const KlProblem *problem, const char *what) {
    if (problem->dim == 0) {
        return;
    }
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        KlSolver *solver;
        assert_ok(kl_solver_create(kl_solver_kind(k)->id, &solver));
        assert_ok(kl_solver_set(solver, "max_iterations", ours(kl_solver_kind(k)) ? 10000 : 300));
        KlSolution s = solve_and_hold_to_promise(solver, problem, what);
        tally.converged[k] += s.outcome == KL_OUTCOME_CONVERGED;
        if (ours(kl_solver_kind(k)) && s.outcome != KL_OUTCOME_CONVERGED) {
            fail_msg("%s on %s: %s", kl_solver_kind(k)->id, what, kl_outcome_name(s.outcome));
        }
        kl_solver_destroy(solver);
    }
    tally.problems++;
}

static void conform_on_run(const char *scene, const KlRunDef *run) {
    char what[256];
    SceneRun r = scene_start(scene, run->id, "newton-ncp");
    for (int32_t step = 1; step <= LATER; step++) {
        assert_ok(kl_sim_step(r.sim));
        if (step == 1 || step == LATER) {
            snprintf(what, sizeof what, "%s, %s, step %d", scene, run->id, (int)step);
            conform(kl_sim_problem(r.sim), what);
        }
    }
    scene_end(&r);
}

static void solvers_keep_their_promise_on_steps_of_every_scene(void **state) {
    (void)state;
    assert_true(kl_solver_kind_count() <= KINDS_MAX);
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        char path[512];
        KlScene *scene;
        snprintf(path, sizeof path, "%s/%s.json", KL_SCENES, scenes[i]);
        assert_ok(kl_scene_load(path, kl_files_disk(), &scene));
        for (int32_t k = 0; k < kl_scene_run_count(scene); k++) {
            conform_on_run(scenes[i], kl_scene_run(scene, k));
        }
        kl_scene_destroy(scene);
    }
    assert_true(tally.problems > 13);
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        print_message("%-14s converged on %d of %d\n", kl_solver_kind(k)->id, (int)tally.converged[k],
                      (int)tally.problems);
        assert_true(tally.converged[k] > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(solvers_keep_their_promise_on_steps_of_every_scene)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
