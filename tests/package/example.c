// A four-bar of one's own against the installed library: two bars on a wall joined by a third, falling.
#include <kl.h>
#include <stdio.h>

static int fail(void) {
    fprintf(stderr, "%s\n", kl_last_error()->message);
    return 1;
}

int main(void) {
    const char *names[3] = {"left", "coupler", "right"};
    const double poses[3][7] = {{0, 0, 0.5, 1}, {0.5, 0, 1, 1}, {1, 0, 0.5, 1}};
    const double pins[4][3] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 1}, {1, 0, 0}};
    const double about_y[4] = {0.70710678118654752, 0, 0, 0.70710678118654752};  // turns x to y
    const int ends[4][2] = {{-1, 0}, {0, 1}, {1, 2}, {2, -1}};
    KlBuilder *builder;
    KlModel *model;
    KlSim *sim;
    if (kl_builder_create(&builder) != KL_OK)
        return fail();
    for (int i = 0; i < 3; i++) {
        KlBodyDef body;
        kl_default_body_def(&body);
        body.name = names[i];
        for (int k = 0; k < 7; k++)
            body.pose[k] = poses[i][k];
        for (int k = 0; k < 9; k += 4)
            body.inertia[k] = 0.1;
        if (kl_builder_add_body(builder, &body, NULL) != KL_OK)
            return fail();
    }
    for (int j = 0; j < 4; j++) {
        KlJointDef joint;
        int base = j == 3 ? -1 : ends[j][0], follower = j == 3 ? 2 : ends[j][1];
        kl_default_joint_def(&joint);
        joint.name = (const char *[]){"a", "b", "c", "d"}[j];
        joint.kind = KL_JOINT_REVOLUTE;
        joint.base = base;
        joint.follower = follower;
        for (int k = 0; k < 3; k++)
            joint.base_frame[k] = pins[j][k] - (base < 0 ? 0 : poses[base][k]);
        for (int k = 0; k < 3; k++)
            joint.follower_frame[k] = pins[j][k] - poses[follower][k];
        for (int k = 0; k < 4; k++)
            joint.base_frame[3 + k] = joint.follower_frame[3 + k] = about_y[k];
        if (kl_builder_add_joint(builder, &joint, NULL) != KL_OK)
            return fail();
    }
    if (kl_builder_finish(builder, &model) != KL_OK || kl_sim_create(model, &sim) != KL_OK)
        return fail();
    for (int step = 0; step < 1000; step++) {
        if (kl_sim_step(sim) != KL_OK)
            return fail();
    }
    printf("t = %g s, violation %.1e, hash %016llx\n", kl_sim_time(sim), kl_sim_metric(sim, "r_pen"),
           (unsigned long long)kl_sim_hash(sim));
    kl_sim_destroy(sim);
    kl_model_destroy(model);
    kl_builder_destroy(builder);
    return 0;
}
