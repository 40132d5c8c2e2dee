// Augmentations on every kind of constraint, a row at a time, where the outcome is known in closed form:
// Baumgarte's alpha, beta, gamma with the margin and the two-sided rule of contacts, MuJoCo's softening by each of
// its seven parameters, and both together.
//
// A body on one row, D = 1/m, free velocity v_f = v- + dt a, compliance R = D (1 - d)/d and biases v_B + v_r:
//   lambda = -d m (v_f + v_B + v_r),   v+ = v_f + lambda/m = (1 - d) v_f - d v_B + d (v- - dt (b v- + k r)).
#include "dual/desaxce.h"
#include "world.h"

static const double TURN_QUARTER = 1.57079632679489661923;  // [rad]
static const double dt = 1e-3, mass = 2.5, pull = -9.81;    // [s] [kg] [m/s^2] along the row

// The three kinds of rows, each on a body that moves along z alone. r: signed distance [m].
typedef enum Row { ROW_JOINT = 0, ROW_LIMIT, ROW_CONTACT, ROW_COUNT } Row;

static KlSoftening *soft_of(KlSettings *s, Row row) {
    return row == ROW_JOINT ? &s->soft_joint : row == ROW_LIMIT ? &s->soft_limit : &s->soft_contact;
}

static double *baumgarte_of(KlSettings *s, Row row) {
    return row == ROW_JOINT ? &s->baumgarte_joint : row == ROW_LIMIT ? &s->baumgarte_limit : &s->baumgarte_contact;
}

// Joint: fixed to the world at its centre. Limit: a slider along z with lower end 0. Contact: a sphere on a plane.
static World start_row(const KlSettings *settings, Row row, double r, double velocity) {
    World w = world_new();
    double origin[7], pose[7], twist[6] = {0, 0, velocity, 0, 0, 0};
    double along_z[3] = {0, -TURN_QUARTER, 0}, frame[7];  // turns x onto z
    rotation_pose(0, 0, 0, NULL, origin);
    rotation_pose(0, 0, 0, along_z, frame);
    w.settings = *settings;
    if (row == ROW_CONTACT) {
        rotation_pose(0, 0, 0.1, NULL, pose);
        world_plane(&w, origin);
        world_sphere(&w, mass, 0.1, pose, NULL, 0.0);
    } else {
        KlJointDef joint;
        memcpy(pose, origin, sizeof pose);
        int32_t body = world_sphere(&w, mass, 0.1, pose, NULL, 0.0);
        joint_at(&joint, "row", row == ROW_JOINT ? KL_JOINT_FIXED : KL_JOINT_PRISMATIC, -1, NULL, body, pose, frame);
        if (row == ROW_LIMIT) {
            joint.lower[0] = 0.0;
        }
        world_joint(&w, &joint);
    }
    world_start(&w, "admm-ncp-fp");
    pose[2] += r;
    assert_ok(kl_sim_set_pose(w.sim, 0, pose));
    assert_ok(kl_sim_set_twist(w.sim, 0, twist));
    return w;
}

static KlSettings bare_settings(void) {
    KlSettings s;
    kl_settings_default(&s);
    s.dt = dt;
    s.gravity[2] = pull;
    s.detection_distance = 0.01;
    return s;
}

static double velocity_after(const KlSettings *settings, Row row, double r, double velocity) {
    World w = start_row(settings, row, r, velocity);
    assert_ok(kl_sim_step(w.sim));
    double after = world_twist(&w, 0)[2];
    world_free(&w);
    return after;
}

static const double NEAR = 1e-11;  // [m/s] the solver's 1e-12, of r_d and of m r_p

// ---- Baumgarte ---------------------------------------------------------------------------------

static void a_share_of_the_violation_goes_in_one_step(void **state) {
    (void)state;
    const double r = -0.7e-3, share = 0.3;
    for (Row row = ROW_JOINT; row < ROW_COUNT; row++) {
        KlSettings s = bare_settings();
        assert_near(velocity_after(&s, row, r, -0.02), 0.0, NEAR);  // without it the row is closed, no more
        *baumgarte_of(&s, row) = share;
        assert_near(velocity_after(&s, row, r, -0.02), -share * r / dt, NEAR);
        for (Row other = ROW_JOINT; other < ROW_COUNT; other++) {  // each kind has its own
            if (other != row) {
                assert_near(velocity_after(&s, other, r, -0.02), 0.0, NEAR);
            }
        }
    }
}

// A joint is pulled back from either side.
static void a_joint_is_stabilised_from_both_sides(void **state) {
    (void)state;
    KlSettings s = bare_settings();
    s.baumgarte_joint = 0.25;
    assert_near(velocity_after(&s, ROW_JOINT, 0.4e-3, 0.0), -0.25 * 0.4e-3 / dt, NEAR);
}

// A gap may close but not be crossed; what would not close it meets no reaction.
static void a_gap_may_close_but_not_be_crossed(void **state) {
    (void)state;
    KlSettings s = bare_settings();
    s.baumgarte_contact = 0.2;
    const double gap = 0.5e-3;
    assert_near(velocity_after(&s, ROW_CONTACT, gap, -2.0), -gap / dt, NEAR);
    assert_near(velocity_after(&s, ROW_CONTACT, gap, -0.3), -0.3 + dt * pull, NEAR);
    s.margin = 0.2e-3;  // penetration that is tolerated: as much more may close
    assert_near(velocity_after(&s, ROW_CONTACT, gap, -2.0), -(gap + s.margin) / dt, NEAR);
    assert_near(velocity_after(&s, ROW_CONTACT, -0.3e-3, -2.0), 0.2 * 0.1e-3 / dt, NEAR);
    s.margin = -0.2e-3;  // inflation
    assert_near(velocity_after(&s, ROW_CONTACT, gap, -2.0), -(gap + s.margin) / dt, NEAR);
}

static void the_two_sided_rule_has_its_hand_values(void **state) {
    (void)state;
    assert_near(kl_bias_contact(0.2, -1e-3, dt), -0.2, 1e-15);
    assert_near(kl_bias_contact(0.2, 0.5e-3, dt), 0.5, 1e-15);
    assert_near(kl_bias_contact(0.2, 0.0, dt), 0.0, 0.0);
    assert_near(kl_bias_limit(0.1, -2e-3, dt), -0.2, 1e-15);
    assert_near(kl_bias_limit(0.1, 2e-3, dt), 0.0, 0.0);
    assert_near(kl_bias_joint(0.1, 2e-3, dt), 0.2, 1e-15);
}

// ---- softening ---------------------------------------------------------------------------------

// The law above from the definitions, with libm: d(r) by the sigmoid, b = 2/(dw T), k = d/(dw T beta)^2.
static double soft_velocity(const KlSoftening *s, double r, double before, double bias) {
    double x = fmin(fabs(r) / s->width, 1.0), m = s->midpoint, p = s->power;
    double y = x <= m ? pow(x, p) / pow(m, p - 1.0) : 1.0 - pow(1.0 - x, p) / pow(1.0 - m, p - 1.0);
    double d = s->d0 + y * (s->dw - s->d0);
    double damping = 2.0 / (s->dw * s->time_const), rate = s->dw * s->time_const * s->damp_ratio;
    double reference = before - dt * (damping * before + d / (rate * rate) * r);
    return (1.0 - d) * (before + dt * pull) - d * bias + d * reference;
}

// Deeper than the width (clamped), between midpoint and width, and below the midpoint.
static const double depths[] = {-2.5e-3, -0.8e-3, -0.3e-3};

static void assert_soft(const KlSettings *s, Row row, const char *what) {
    KlSettings copy = *s;
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        double bias = *baumgarte_of(&copy, row) * depths[i] / dt;
        double expected = soft_velocity(soft_of(&copy, row), depths[i], -0.05, bias);
        double found = velocity_after(s, row, depths[i], -0.05);
        if (!(fabs(found - expected) <= NEAR)) {
            fail_msg("row %d, %s, r = %g: v+ = %.15g, not %.15g", (int)row, what, depths[i], found, expected);
        }
    }
}

static void each_of_the_seven_parameters_shapes_each_kind_of_row(void **state) {
    (void)state;
    for (Row row = ROW_JOINT; row < ROW_COUNT; row++) {
        KlSettings base = bare_settings();
        soft_of(&base, row)->on = true;
        assert_soft(&base, row, "defaults");
        const double hard = velocity_after(&base, row, -0.8e-3, -0.05);
        const double values[] = {0.5, 0.99, 4e-3, 0.3, 1.0, 0.05, 0.6};
        static const char *const names[] = {"d0", "dw", "width", "midpoint", "power", "time_const", "damp_ratio"};
        for (int k = 0; k < 7; k++) {
            KlSettings s = base;
            KlSoftening *soft = soft_of(&s, row);
            double *const fields[] = {&soft->d0,    &soft->dw,         &soft->width,     &soft->midpoint,
                                      &soft->power, &soft->time_const, &soft->damp_ratio};
            *fields[k] = values[k];
            assert_soft(&s, row, names[k]);
            assert_true(fabs(velocity_after(&s, row, -0.8e-3, -0.05) - hard) > 1e-6);  // and it does matter
        }
    }
}

static void softness_of_one_kind_leaves_the_others_hard(void **state) {
    (void)state;
    for (Row row = ROW_JOINT; row < ROW_COUNT; row++) {
        KlSettings s = bare_settings();
        soft_of(&s, row)->on = true;
        for (Row other = ROW_JOINT; other < ROW_COUNT; other++) {
            if (other != row) {
                assert_near(velocity_after(&s, other, -0.8e-3, -0.05), 0.0, NEAR);
            }
        }
    }
}

static void both_together_add_their_biases(void **state) {
    (void)state;
    for (Row row = ROW_JOINT; row < ROW_COUNT; row++) {
        KlSettings s = bare_settings();
        soft_of(&s, row)->on = true;
        *baumgarte_of(&s, row) = 0.15;
        assert_soft(&s, row, "softened and stabilised");
    }
}

// ---- De Saxce ----------------------------------------------------------------------------------

// Gamma(v + a n) = Gamma(v) whatever a: biases of normal rows, of any size, cannot change it.
static void the_de_saxce_term_does_not_see_the_normal(void **state) {
    (void)state;
    static const double normals[] = {-1e6, -0.3, 0.0, 1e-9, 42.0};
    for (size_t i = 0; i < sizeof normals / sizeof normals[0]; i++) {
        const double v[3] = {0.3, -0.4, normals[i]};
        assert_near(kl_desaxce_normal(0.7, v), 0.7 * 0.5, 1e-15);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_of_the_violation_goes_in_one_step),
        cmocka_unit_test(a_joint_is_stabilised_from_both_sides),
        cmocka_unit_test(a_gap_may_close_but_not_be_crossed),
        cmocka_unit_test(the_two_sided_rule_has_its_hand_values),
        cmocka_unit_test(each_of_the_seven_parameters_shapes_each_kind_of_row),
        cmocka_unit_test(softness_of_one_kind_leaves_the_others_hard),
        cmocka_unit_test(both_together_add_their_biases),
        cmocka_unit_test(the_de_saxce_term_does_not_see_the_normal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
