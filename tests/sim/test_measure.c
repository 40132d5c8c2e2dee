// Metrics are measured when somebody asks: whenever that is, they are those that an always asking twin sees.
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/vec.h"
#include "scene_run.h"

enum { MOST = 64, STEPS = 60 };

// By the clock: no twin has the same.
static bool is_time(int32_t metric) { return strncmp(kl_metric_kind(metric)->id, "t_", 2) == 0; }

static void assert_same_metrics(const double *one, const double *other) {
    for (int32_t i = 0; i < kl_metric_count(); i++) {
        if (!is_time(i) && memcmp(one + i, other + i, sizeof *one) != 0 && !(isnan(one[i]) && isnan(other[i]))) {
            fail_msg("%s: %.17g and %.17g", kl_metric_kind(i)->id, one[i], other[i]);
        }
    }
}

static void copy_metrics(const KlSim *sim, double copy[MOST]) {
    assert_true(kl_metric_count() <= MOST);
    memcpy(copy, kl_sim_metrics(sim), (size_t)kl_metric_count() * sizeof *copy);
}

// Metrics that a state has by itself, whatever led to it.
static bool of_state(int32_t metric) {
    static const char *const ids[] = {"r_pen_joints", "r_pen_limits", "kinetic_energy", "potential_energy",
                                      "total_energy"};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        if (strcmp(kl_metric_kind(metric)->id, ids[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void assert_state_alone_known(const KlSim *sim) {
    const double *metrics = kl_sim_metrics(sim);
    for (int32_t i = 0; i < kl_metric_count(); i++) {
        assert_int_equal(isfinite(metrics[i]) != 0, of_state(i));
    }
}

typedef struct Case {
    const char *scene, *run;
    KlIntegrator integrator;
} Case;

// Loops, limits, joints to the world, contacts, motors.
static const Case cases[] = {
    {"fourbar_fixed", "driven_stabilized", KL_INTEGRATOR_EULER},
    {"fourbar_free", "hard", KL_INTEGRATOR_MOREAU},
    {"quadruped", "limp", KL_INTEGRATOR_EULER},
    {"boxes_fixed", "dragged", KL_INTEGRATOR_MOREAU},
    {"walker", "stabilized", KL_INTEGRATOR_EULER},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static SceneRun start(const Case *c) {
    SceneRun r = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s.json", KL_SCENES, c->scene);
    assert_ok(kl_scene_load(path, kl_files_disk(), &r.scene));
    int32_t run = kl_scene_find_run(r.scene, c->run);
    assert_true(run >= 0);
    KlSettings settings = kl_scene_run(r.scene, run)->settings;
    settings.integrator = c->integrator;
    assert_ok(kl_scene_model_with(r.scene, run, &settings, &r.model));
    assert_ok(kl_sim_create(r.model, &r.sim));
    assert_ok(kl_sim_set_solver(r.sim, "newton-ncp"));
    assert_ok(kl_solver_set_text(kl_sim_solver(r.sim), "warm_start", "previous"));
    return r;
}

static void asked_late_metrics_are_those_of_an_always_asking_twin(void **state) {
    (void)state;
    for (int32_t c = 0; c < CASES; c++) {
        SceneRun always = start(&cases[c]), seldom = start(&cases[c]);
        double known[MOST];
        for (int32_t i = 1; i <= STEPS; i++) {
            assert_ok(kl_sim_step(always.sim));
            assert_ok(kl_sim_step(seldom.sim));
            copy_metrics(always.sim, known);
            if (i % 7 == 0 || i % 7 == 1) {  // after a step that was not asked, and after one that was
                assert_same_metrics(known, kl_sim_metrics(seldom.sim));
                assert_same_metrics(known, kl_sim_metrics(seldom.sim));  // asked twice
                assert_same_metrics(known, kl_sim_metrics(always.sim));
            }
        }
        assert_true(kl_sim_hash(always.sim) == kl_sim_hash(seldom.sim));
        scene_end(&always);
        scene_end(&seldom);
    }
}

static void one_metric_asked_by_its_name_is_that_of_all(void **state) {
    (void)state;
    for (int32_t c = 0; c < CASES; c++) {
        SceneRun all = start(&cases[c]), single = start(&cases[c]);
        for (int32_t i = 0; i < STEPS; i++) {
            const char *id = kl_metric_kind((7 * i) % kl_metric_count())->id;
            assert_ok(kl_sim_step(all.sim));
            assert_ok(kl_sim_step(single.sim));
            double known = kl_sim_metrics(all.sim)[(7 * i) % kl_metric_count()], found = kl_sim_metric(single.sim, id);
            bool counts = strcmp(id, "internal_share") != 0 && !is_time((7 * i) % kl_metric_count());
            assert_true(!counts || memcmp(&known, &found, sizeof known) == 0);
        }
        scene_end(&all);
        scene_end(&single);
    }
}

static void steps_in_halves_have_the_metrics_of_whole_ones(void **state) {
    (void)state;
    SceneRun whole = start(&cases[2]), split = start(&cases[2]);
    for (int32_t i = 0; i < STEPS; i++) {
        KlSolution solution;
        assert_ok(kl_sim_step(whole.sim));
        assert_ok(kl_sim_begin_step(split.sim));
        assert_ok(kl_solver_solve(kl_sim_solver(split.sim), kl_sim_problem(split.sim), NULL, &solution));
        assert_ok(kl_sim_end_step(split.sim, solution.lambda));
    }
    double known[MOST], halves[MOST];
    copy_metrics(whole.sim, known);
    copy_metrics(split.sim, halves);
    static const char *const solve[] = {"iterations", "outcome", "factorizations", "penalty"};  // nobody told these
    for (size_t i = 0; i < sizeof solve / sizeof solve[0]; i++) {
        int32_t metric = kl_metric_find(solve[i]);
        assert_near(halves[metric], 0.0, 0.0);
        halves[metric] = known[metric];
    }
    assert_same_metrics(known, halves);
    scene_end(&whole);
    scene_end(&split);
}

static void a_begun_step_leaves_what_was_asked_and_what_the_state_has(void **state) {
    (void)state;
    SceneRun asked = start(&cases[2]), unasked = start(&cases[2]);
    scene_run_until(&asked, 0.05);
    scene_run_until(&unasked, 0.05);
    double known[MOST];
    copy_metrics(asked.sim, known);
    assert_ok(kl_sim_begin_step(asked.sim));
    assert_ok(kl_sim_begin_step(unasked.sim));
    assert_same_metrics(known, kl_sim_metrics(asked.sim));
    assert_state_alone_known(unasked.sim);
    for (int32_t i = 0; i < kl_metric_count(); i++) {
        assert_true(!of_state(i) || memcmp(known + i, kl_sim_metrics(unasked.sim) + i, sizeof *known) == 0);
    }
    assert_true(isnan(kl_sim_metric(asked.sim, "internal_share")));  // its problem is gone
    scene_end(&asked);
    scene_end(&unasked);
}

static void a_failed_step_leaves_what_the_state_has(void **state) {
    (void)state;
    SceneRun r = start(&cases[2]);
    scene_run_until(&r, 0.05);
    double energy = kl_sim_metric(r.sim, "total_energy");
    const double wrench[6] = {1e308, 0, 0, 0, 0, 0};
    assert_ok(kl_sim_apply_wrench(r.sim, 0, wrench));
    assert_ok(kl_sim_apply_wrench(r.sim, 0, wrench));
    assert_int_equal(kl_sim_step(r.sim), KL_ERR_DIVERGED);
    assert_near(kl_sim_metric(r.sim, "total_energy"), energy, 0.0);
    assert_true(isnan(kl_sim_metric(r.sim, "r_nat_rel")));
    scene_end(&r);
}

// Reset, a loaded checkpoint, a pose or twist set from outside.
static void a_state_that_no_step_led_to_has_its_own_metrics_alone(void **state) {
    (void)state;
    SceneRun r = start(&cases[2]), twin = start(&cases[2]);
    assert_state_alone_known(r.sim);
    double first = kl_sim_metric(r.sim, "total_energy");
    scene_run_until(&r, 0.05);
    scene_run_until(&twin, 0.05);
    size_t size = kl_sim_state_size(r.sim);
    void *saved = malloc(size);
    kl_sim_save(r.sim, saved);
    double energy = kl_sim_metric(twin.sim, "total_energy");
    kl_sim_reset(r.sim);
    assert_state_alone_known(r.sim);
    assert_near(kl_sim_metric(r.sim, "total_energy"), first, 0.0);
    assert_ok(kl_sim_load(r.sim, saved, size));
    assert_state_alone_known(r.sim);
    assert_near(kl_sim_metric(r.sim, "total_energy"), energy, 0.0);
    free(saved);
    assert_ok(kl_sim_step(r.sim));
    assert_ok(kl_sim_step(twin.sim));
    assert_same_metrics(kl_sim_metrics(twin.sim), kl_sim_metrics(r.sim));
    // What is set from outside is no change that the next step has made.
    double pose[7];
    memcpy(pose, scene_field(&r, "pose"), sizeof pose);
    pose[2] += 0.5;
    const double twist[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    assert_ok(kl_sim_set_pose(r.sim, 0, pose));
    assert_ok(kl_sim_set_twist(r.sim, 0, twist));
    assert_state_alone_known(r.sim);
    assert_true(kl_sim_metric(r.sim, "total_energy") > energy);
    assert_ok(kl_sim_set_pose(twin.sim, 0, pose));
    assert_ok(kl_sim_set_twist(twin.sim, 0, twist));
    assert_ok(kl_sim_step(r.sim));
    assert_ok(kl_sim_step(twin.sim));
    assert_same_metrics(kl_sim_metrics(twin.sim), kl_sim_metrics(r.sim));
    scene_end(&r);
    scene_end(&twin);
}

static void the_time_of_measuring_is_told_beside_the_stages(void **state) {
    (void)state;
    SceneRun r = start(&cases[4]);
    int32_t last = kl_stage_count() - 1;
    assert_string_equal(kl_stage_name(last), "measure");
    const double *time = scene_field(&r, "stage_time");
    for (int32_t i = 0; i < 20; i++) {
        assert_ok(kl_sim_step(r.sim));
        assert_near(time[last], 0.0, 0.0);
        double total = kl_sim_metrics(r.sim)[kl_metric_find("t_step")], sum = 0.0;
        assert_true(time[last] > 0.0);
        for (int32_t s = 0; s <= last; s++) {
            sum += time[s];
        }
        assert_near(total, sum, 0.0);
        double once = time[last];
        (void)kl_sim_metrics(r.sim);
        assert_near(time[last], once, 0.0);
    }
    scene_end(&r);
}

static void stages_left_untimed_are_unknown_and_change_nothing(void **state) {
    (void)state;
    SceneRun r = start(&cases[4]), twin = start(&cases[4]);
    const double *time = scene_field(&r, "stage_time");
    kl_sim_time_stages(r.sim, false);
    for (int32_t i = 0; i < 5; i++) {
        assert_ok(kl_sim_step(r.sim));
        assert_ok(kl_sim_step(twin.sim));
    }
    for (int32_t s = 0; s < kl_stage_count() - 1; s++) {
        bool solve = strcmp(kl_stage_name(s), "solve") == 0;
        assert_true(solve ? time[s] > 0.0 && time[s] == kl_sim_solution(r.sim)->time : isnan(time[s]));
    }
    assert_true(isnan(kl_sim_metric(r.sim, "t_step")));
    assert_true(kl_sim_hash(r.sim) == kl_sim_hash(twin.sim));
    kl_sim_time_stages(r.sim, true);
    assert_ok(kl_sim_step(r.sim));
    assert_true(kl_sim_metric(r.sim, "t_step") > 0.0);
    scene_end(&r);
    scene_end(&twin);
}

static void neither_an_unasked_step_nor_asking_allocates(void **state) {
    (void)state;
    for (int32_t c = 0; c < CASES; c++) {
        SceneRun r = start(&cases[c]);
        for (int32_t i = 0; i < STEPS; i++) {  // the collider's lists grow with the first contacts
            assert_ok(kl_sim_step(r.sim));
        }
        uint64_t before = kl_alloc_count();
        for (int32_t i = 0; i < STEPS; i++) {
            assert_ok(kl_sim_step(r.sim));
        }
        assert_int_equal(kl_alloc_count(), before);
        (void)kl_sim_metrics(r.sim);
        (void)kl_sim_metric(r.sim, "r_nat_rel");
        assert_int_equal(kl_alloc_count(), before);
        scene_end(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_late_metrics_are_those_of_an_always_asking_twin),
        cmocka_unit_test(one_metric_asked_by_its_name_is_that_of_all),
        cmocka_unit_test(steps_in_halves_have_the_metrics_of_whole_ones),
        cmocka_unit_test(a_begun_step_leaves_what_was_asked_and_what_the_state_has),
        cmocka_unit_test(a_failed_step_leaves_what_the_state_has),
        cmocka_unit_test(a_state_that_no_step_led_to_has_its_own_metrics_alone),
        cmocka_unit_test(the_time_of_measuring_is_told_beside_the_stages),
        cmocka_unit_test(stages_left_untimed_are_unknown_and_change_nothing),
        cmocka_unit_test(neither_an_unasked_step_nor_asking_allocates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
