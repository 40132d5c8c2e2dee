// The report's experiments, run by run: scenes and experiment documents hold each of them with its duration,
// augmentation, forces and solver settings, and the documents named *_report bring the report's solvers.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { SOFT_JOINTS = 1, SOFT_LIMITS = 2, SOFT_CONTACTS = 4, SOFT_ALL = 7 };

typedef struct Experiment {
    const char *scene, *run;
    double duration;                    // [s]
    double stabilization[3];            // joints, limits, contacts
    int softening;                      // SOFT_*
    double peak, peak_start, peak_end;  // [N] along its axis, [s]; 0: no force
    int axis;
    const char *preset;
    int32_t max_iterations;  // 0: the preset's
    double tolerance;
} Experiment;

#define HARD \
    { 0.0, 0.0, 0.0 }
#define HELD \
    { 0.1, 0.1, 0.1 }
#define PRECISE "high-precision", 0, 0.0
#define FAST "high-throughput", 0, 0.0
#define STILL 0.0, 0.0, 0.0, 0

static const double box_peak = 2.0 * 0.7 * 1.0 * 9.81, boxes_peak = 1.01 * 0.7 * 1000.1 * 9.81;

static const Experiment *experiments(int32_t *count) {
    static Experiment list[] = {
        {"box_on_plane", "hard", 10.0, HARD, 0, 1.0, 2.0, 8.0, 0, PRECISE},
        {"box_on_plane", "softened", 10.0, HARD, SOFT_CONTACTS, 1.0, 2.0, 8.0, 0, PRECISE},
        {"boxes_fixed", "dragged", 12.0, HARD, 0, 1.0, 4.0, 10.0, 0, PRECISE},
        {"boxes_fixed", "dropped", 3.0, HARD, 0, STILL, PRECISE},
        {"boxes_fixed", "dropped_dragged_stabilized", 12.0, {0.1, 0.0, 0.1}, 0, 1.0, 4.0, 10.0, 0, PRECISE},
        {"boxes_fixed", "step_at_rest", 0.001, HARD, 0, STILL, "high-precision", 100000, 0.0},
        {"boxes_fixed", "step_pushed", 0.001, HARD, 0, 1.0, 0.0, 1.0, 0, "high-precision", 100000, 0.0},
        {"nunchaku", "hard", 6.0, HARD, 0, STILL, PRECISE},
        {"nunchaku", "stabilized", 6.0, HELD, 0, STILL, PRECISE},
        {"nunchaku", "softened", 6.0, HARD, SOFT_ALL, STILL, PRECISE},
        {"nunchaku", "softened_stabilized", 6.0, HELD, SOFT_ALL, STILL, PRECISE},
        {"fourbar_free", "hard", 15.0, HARD, 0, -4.0 * 9.81, 10.0, 10.1, 1, PRECISE},
        {"fourbar_free", "stabilized", 15.0, HELD, 0, -4.0 * 9.81, 10.0, 10.1, 1, PRECISE},
        {"fourbar_free", "softened", 15.0, HARD, SOFT_ALL, -4.0 * 9.81, 10.0, 10.1, 1, PRECISE},
        {"fourbar_free", "softened_stabilized", 15.0, HELD, SOFT_ALL, -4.0 * 9.81, 10.0, 10.1, 1, PRECISE},
        {"fourbar_free", "mass_ratio_stabilized", 15.0, HELD, 0, -1003.0 * 9.81, 10.0, 10.1, 1, PRECISE},
        {"walker", "floating", 23.0, HARD, 0, STILL, PRECISE},
        {"walker", "hard", 23.0, HARD, 0, STILL, PRECISE},
        {"walker", "stabilized", 23.0, HELD, 0, STILL, PRECISE},
        {"walker", "stabilized_soft_contacts", 23.0, HELD, SOFT_CONTACTS, STILL, PRECISE},
        {"walker", "high_throughput", 23.0, HELD, 0, STILL, "high-throughput", 500, 1e-4},
        {"experiments/walker_margin", "stabilized_margin", 23.0, HELD, 0, STILL, PRECISE},
        {"ironman", "ragdoll", 6.0, HARD, 0, STILL, FAST},
        {"ironman", "track", 12.0, HARD, 0, STILL, FAST},
        {"experiments/fourbar_foreseen", "foreseen", 15.0, HARD, 0, -4.0 * 9.81, 10.0, 10.1, 1, PRECISE},
        {"experiments/contact_margin", "margin_0", 1.0, HARD, 0, STILL, PRECISE},
        {"experiments/contact_margin", "margin_1e-6", 1.0, HARD, 0, STILL, PRECISE},
        {"experiments/boxes_fixed_short", "dragged", 0.6, HARD, 0, 1.0, 0.3, 10.0, 0, PRECISE},
        {"experiments/boxes_fixed_short",
         "dropped_dragged_stabilized",
         0.9,
         {0.1, 0.0, 0.1},
         0,
         1.0,
         0.6,
         10.0,
         0,
         PRECISE},
        {"experiments/boxes_fixed_short", "dragged_softened", 0.6, HARD, SOFT_ALL, 1.0, 0.3, 10.0, 0, PRECISE},
    };
    *count = sizeof list / sizeof list[0];
    for (int32_t i = 0; i < *count; i++) {  // the two peaks of the boxes, from their masses
        bool pulled = list[i].peak == 1.0;
        list[i].peak = !pulled ? list[i].peak : strcmp(list[i].scene, "box_on_plane") == 0 ? box_peak : boxes_peak;
    }
    return list;
}

static KlScene *load(const char *id) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.json", KL_SCENES, id);
    KlScene *scene;
    assert_ok(kl_scene_load(path, NULL, &scene));
    return scene;
}

// The event with the largest force at its end.
static const KlForceEvent *strongest(const KlRunDef *run) {
    const KlForceEvent *best = NULL;
    double most = 0.0;
    for (int32_t i = 0; i < run->event_count; i++) {
        for (int k = 0; k < 3; k++) {
            if (fabs(run->events[i].to[k]) >= most) {
                most = fabs(run->events[i].to[k]);
                best = &run->events[i];
            }
        }
    }
    return best;
}

static void check_force(const Experiment *e, const KlRunDef *run) {
    const KlForceEvent *event = strongest(run);
    if (e->peak == 0.0) {
        assert_null(event);
        return;
    }
    assert_non_null(event);
    assert_near(event->to[e->axis], e->peak, 1e-6 * fabs(e->peak));  // six digits are written down
    assert_near(event->start, e->peak_start, 1e-12);
    assert_near(event->end, e->peak_end, 1e-12);
}

static void check_run(const Experiment *e, const KlRunDef *run) {
    const KlSettings *s = &run->settings;
    assert_near(run->duration, e->duration, 1e-12);
    assert_near(s->dt, 0.001, 0.0);
    assert_near(s->baumgarte_joint, e->stabilization[0], 0.0);
    assert_near(s->baumgarte_limit, e->stabilization[1], 0.0);
    assert_near(s->baumgarte_contact, e->stabilization[2], 0.0);
    int soft = s->soft_joint.on * SOFT_JOINTS + s->soft_limit.on * SOFT_LIMITS + s->soft_contact.on * SOFT_CONTACTS;
    assert_int_equal(soft, e->softening);
    assert_string_equal(run->preset, e->preset);
    assert_int_equal(run->max_iterations, e->max_iterations);
    assert_near(run->tolerance, e->tolerance, 0.0);
    check_force(e, run);
}

static void every_experiment_of_the_report_is_there_to_its_numbers(void **state) {
    (void)state;
    int32_t count;
    const Experiment *list = experiments(&count);
    for (int32_t i = 0; i < count; i++) {
        KlScene *scene = load(list[i].scene);
        int32_t run = kl_scene_find_run(scene, list[i].run);
        if (run < 0) {
            fail_msg("%s has no run %s", list[i].scene, list[i].run);
        }
        check_run(&list[i], kl_scene_run(scene, run));
        kl_scene_destroy(scene);
    }
}

static void gravity_acts_in_all_runs_but_the_floating_one(void **state) {
    (void)state;
    int32_t count;
    const Experiment *list = experiments(&count);
    for (int32_t i = 0; i < count; i++) {
        KlScene *scene = load(list[i].scene);
        const KlRunDef *run = kl_scene_run(scene, kl_scene_find_run(scene, list[i].run));
        assert_near(run->settings.gravity[2], strcmp(list[i].run, "floating") == 0 ? 0.0 : -9.81, 0.0);
        kl_scene_destroy(scene);
    }
}

static void margins_are_those_of_the_discussion(void **state) {
    (void)state;
    static const struct {
        const char *scene, *run;
        double margin;
    } list[] = {{"experiments/contact_margin", "margin_0", 0.0},
                {"experiments/contact_margin", "margin_1e-6", 1e-6},
                {"experiments/walker_margin", "stabilized_margin", 1e-5}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        KlScene *scene = load(list[i].scene);
        const KlRunDef *run = kl_scene_run(scene, kl_scene_find_run(scene, list[i].run));
        assert_near(run->settings.margin, list[i].margin, 0.0);
        kl_scene_destroy(scene);
    }
}

static double start_height(const KlScene *scene, const char *run, const char *body) {
    KlModel *model;
    assert_ok(kl_scene_model_for_run(scene, kl_scene_find_run(scene, run), &model));
    double height = kl_model_body(model, kl_model_find_body(model, body))->pose[2];
    kl_model_destroy(model);
    return height;
}

static double start_mass(const KlScene *scene, const char *run, const char *body) {
    KlModel *model;
    assert_ok(kl_scene_model_for_run(scene, kl_scene_find_run(scene, run), &model));
    double mass = kl_model_body(model, kl_model_find_body(model, body))->mass;
    kl_model_destroy(model);
    return mass;
}

static void heights_and_masses_of_the_primitives_are_the_reports(void **state) {
    (void)state;
    KlScene *boxes = load("boxes_fixed"), *bar = load("fourbar_free");
    assert_near(start_height(boxes, "dragged", "bottom"), 0.1, 0.0);
    assert_near(start_height(boxes, "dropped", "bottom"), 0.5, 0.0);
    assert_near(start_height(boxes, "dropped_dragged_stabilized", "bottom"), 0.5, 0.0);
    assert_near(start_mass(boxes, "dragged", "bottom"), 0.1, 0.0);
    assert_near(start_mass(boxes, "dragged", "top"), 1000.0, 0.0);
    assert_near(start_height(bar, "hard", "base"), 0.1, 0.0);
    assert_near(start_mass(bar, "mass_ratio_stabilized", "left"), 1.0, 0.0);
    assert_near(start_mass(bar, "mass_ratio_stabilized", "right"), 1000.0, 0.0);
    kl_scene_destroy(boxes);
    kl_scene_destroy(bar);
}

// Which of the report's solvers each document compares; the first drives curated runs.
static void documents_of_the_report_bring_its_solvers(void **state) {
    (void)state;
    static const struct {
        const char *id, *solvers;
    } list[] = {
        {"box_on_plane_report", "admm-ncp-fp admm-ccp pgs-ccp pgs-ccp-nds pgs-ncp nbgs raisim raisim-ds"},
        {"boxes_fixed_report", "admm-ncp-fp pgs-ccp pgs-ncp nbgs raisim raisim-ds raisim-ds-es"},
        {"nunchaku_report", "admm-ncp-fp admm-ccp pgs-ccp pgs-ncp nbgs raisim raisim-ds raisim-ds-es"},
        {"fourbar_free_report", "admm-ncp-fp pgs-ccp nbgs raisim raisim-ds raisim-ds-es"},
        {"walker_report", "admm-ncp-fp pgs-ccp pgs-ncp nbgs raisim raisim-ds raisim-ds-es"},
        {"ironman_report", "admm-ncp-fp pgs-ccp pgs-ncp nbgs raisim raisim-ds raisim-ds-es"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        char path[128], found[512] = "";
        snprintf(path, sizeof path, "experiments/%s", list[i].id);
        KlScene *scene = load(path);
        for (int32_t k = 0; k < kl_scene_solver_count(scene); k++) {
            assert_true(kl_solver_kind_find(kl_scene_solver(scene, k)) >= 0);
            snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s", k > 0 ? " " : "",
                     kl_scene_solver(scene, k));
        }
        assert_string_equal(kl_scene_id(scene), list[i].id);
        assert_string_equal(found, list[i].solvers);
        kl_scene_destroy(scene);
    }
}

// The corners of the mass grid: 1e-6 and 1e6 kg on either side make a valid model of the single-step runs.
static void the_mass_grid_reaches_from_1e_minus_6_to_1e6_kg(void **state) {
    (void)state;
    size_t size;
    char *text = kl_test_read(KL_SCENES "/boxes_fixed.json", &size);
    static const char *const masses[] = {"1e-6", "1e6"};
    char *bottom = strstr(text, "\"mass\": 0.1"), *top = strstr(text, "\"mass\": 1000");
    assert_non_null(bottom);
    assert_non_null(top);
    for (int i = 0; i < 4; i++) {
        char edited[16384];
        assert_true(size < sizeof edited - 64);
        snprintf(edited, sizeof edited, "%.*s\"mass\": %s%.*s\"mass\": %s%s", (int)(bottom - text), text, masses[i % 2],
                 (int)(top - bottom) - 11, bottom + 11, masses[i / 2], top + 12);
        KlScene *scene;
        KlModel *model;
        KlModelInfo info;
        assert_ok(kl_scene_parse(edited, strlen(edited), "grid.json", NULL, &scene));
        assert_ok(kl_scene_model_for_run(scene, kl_scene_find_run(scene, "step_at_rest"), &model));
        kl_model_info(model, &info);
        assert_near(info.mass_ratio, i % 3 == 0 ? 1.0 : 1e12, 1.0);
        kl_model_destroy(model);
        kl_scene_destroy(scene);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_experiment_of_the_report_is_there_to_its_numbers),
        cmocka_unit_test(gravity_acts_in_all_runs_but_the_floating_one),
        cmocka_unit_test(margins_are_those_of_the_discussion),
        cmocka_unit_test(heights_and_masses_of_the_primitives_are_the_reports),
        cmocka_unit_test(documents_of_the_report_bring_its_solvers),
        cmocka_unit_test(the_mass_grid_reaches_from_1e_minus_6_to_1e6_kg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
