// The walker walks in open loop: its joint controllers follow a looped reference and nothing
// measures balance. The torso stays up and level, the feet leave the ground in turn, and each
// stride of two steps advances it by 0.28 m.
#ifndef KL_TESTS_SIM_WALK_H
#define KL_TESTS_SIM_WALK_H

#include "scene_run.h"

#define PERIOD 2.3    // [s] of a stride
#define ADVANCE 0.28  // [m] of a stride

typedef struct Foot {
    int32_t sole, toe;  // bodies
    int32_t aloft;      // steps since the last contact
    int32_t swings;     // times it was off the ground for long
    double highest;     // [m] its centre, ever
} Foot;

typedef struct Walk {
    Foot feet[2];
    int32_t last_swing;      // the foot that swung last, -1 at the start
    int32_t contacts[2];     // of this step
    double tilt, low, high;  // of the pelvis, ever [rad], [m]
    double gap;              // worst joint violation [m, rad]
} Walk;

static inline void count_contacts(const SceneRun *r, Walk *w) {
    const int32_t *bodies = kl_sim_find_field(r->sim, "contact_bodies")->data;
    w->contacts[0] = w->contacts[1] = 0;
    for (int32_t i = 0; i < 2 * (int32_t)kl_sim_metric(r->sim, "n_c"); i++) {
        for (int32_t f = 0; f < 2; f++) {
            w->contacts[f] += bodies[i] == w->feet[f].sole || bodies[i] == w->feet[f].toe;
        }
    }
}

// A swing is 0.3 s without a contact. The feet take turns; both are off the ground for rounding's
// sake at most (a contact that opens by a micrometre is none for a step).
static inline void watch_feet(const SceneRun *r, Walk *w) {
    count_contacts(r, w);
    for (int32_t f = 0; f < 2; f++) {
        Foot *foot = &w->feet[f];
        foot->aloft = w->contacts[f] > 0 ? 0 : foot->aloft + 1;
        foot->highest = fmax(foot->highest, scene_field(r, "pose")[7 * foot->sole + 2]);
        if (foot->aloft == 300) {
            assert_int_not_equal(w->last_swing, f);
            w->last_swing = f;
            foot->swings++;
        }
    }
    assert_true(w->feet[0].aloft < 10 || w->feet[1].aloft < 10);
}

static inline void watch_pelvis(const SceneRun *r, Walk *w) {
    const double *pose = scene_field(r, "pose");  // body 0
    double up = 1.0 - 2.0 * (pose[4] * pose[4] + pose[5] * pose[5]);
    w->tilt = fmax(w->tilt, acos(fmin(up, 1.0)));
    w->low = fmin(w->low, pose[2]);
    w->high = fmax(w->high, pose[2]);
    w->gap = fmax(w->gap, kl_sim_metric(r->sim, "r_pen_joints"));
}

static inline Walk start_watch(const SceneRun *r) {
    static const char *const names[2][2] = {{"left_foot", "left_toe"}, {"right_foot", "right_toe"}};
    Walk w = {.last_swing = -1, .low = 1.0};
    for (int32_t f = 0; f < 2; f++) {
        w.feet[f].sole = kl_model_find_body(r->model, names[f][0]);
        w.feet[f].toe = kl_model_find_body(r->model, names[f][1]);
    }
    return w;
}

static inline void walk(const char *run, const char *solver, int32_t strides, double gap) {
    SceneRun r = scene_start("walker", run, solver);
    assert_ok(kl_solver_preset(kl_sim_solver(r.sim), "high-throughput"));
    Walk w = start_watch(&r);
    while (kl_sim_time(r.sim) < strides * PERIOD - 1e-9) {
        assert_ok(kl_sim_step(r.sim));
        watch_feet(&r, &w);
        watch_pelvis(&r, &w);
    }
    const double *pose = scene_field(&r, "pose");
    print_message("walker %s, %s: %.1f s, %.3f m ahead, %.3f m aside, tilt %.3f rad, height %.3f "
                  "to %.3f m, swings %d and %d "
                  "to %.3f and %.3f m, joints open by %.2g\n",
                  run, solver, kl_sim_time(r.sim), pose[0], pose[1], w.tilt, w.low, w.high, w.feet[0].swings,
                  w.feet[1].swings, w.feet[0].highest, w.feet[1].highest, w.gap);
    assert_near(pose[0], strides * ADVANCE, 0.05 * strides * ADVANCE);  // soles slip a little
    assert_true(fabs(pose[1]) < 0.02 * strides);
    assert_true(w.tilt < 0.03 && w.low > 0.82 && w.high < 0.84);
    assert_true(w.gap < gap);
    for (int32_t f = 0; f < 2; f++) {
        assert_int_equal(w.feet[f].swings, strides);
        assert_true(w.feet[f].highest > 0.015 + 0.03);  // 3 cm of the planned 4 above where it rests
    }
    scene_end(&r);
}

#endif
