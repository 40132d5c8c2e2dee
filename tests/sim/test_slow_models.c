// Four public mechanisms with loops, held by implicit drives for seconds of simulated time with every ADMM
// and Newton solver: no step fails, and the joints stay closed within a bound.
//
// The bounds are twice to three times what was measured. Our two solvers converge in every step. The
// paper's four do not on 5bar_linkage (masses from 25 kg to 654 t in its file) and cassie_like within the
// 1000 iterations of high-throughput: there the bound says that nothing blows up, no more.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

typedef struct Model {
    const char *name;
    double ours, papers;     // bounds on the joint violation [m, rad]
    double papers_seconds;   // simulated; ours always hold 10 s
    double papers_penalty;   // rho where the default of 1 does not suit the masses; admm-ncp-sa has its own
    double papers_settling;  // of the adaptive ones
} Model;

static const Model models[] = {
    {"5bar_linkage", 0.05, 0.02, 10.0, 1e-3, 0.5},
    {"cassie_like", 2e-3, 2.0, 4.0, 1.0, 0.8},
    {"robot_delta", 1e-3, 1e-3, 10.0, 1.0, 0.8},
    {"disney_robot", 1e-3, 0.05, 1.0, 1.0, 0.8},
};

static KlScene *import(const char *name) {
    char path[1024];
    KlImportOptions options;
    KlScene *scene;
    KlImportReport *report;
    KlAssembly assembly;
    snprintf(path, sizeof path, "%s/models/%s/robot.urdf", KL_TEST_DATA, name);
    kl_default_import_options(&options);
    assert_ok(kl_import(path, kl_files_disk(), &options, &scene, &report));
    kl_import_report_destroy(report);
    assert_ok(kl_scene_close_loops(scene, 1e-12, &assembly));
    return scene;
}

static bool is_ours(const KlSolverInfo *info) {
    return strcmp(info->id, "newton-ncp") == 0 || strcmp(info->id, "admm-ncp-plus") == 0;
}

static void tune(const Model *model, KlSolver *solver) {
    const KlSolverInfo *info = kl_solver_info(solver);
    assert_ok(kl_solver_preset(solver, "high-throughput"));
    if (is_ours(info)) {
        return;
    }
    bool spectral = strcmp(info->id, "admm-ncp-sa") == 0;
    assert_ok(kl_solver_set(solver, "rho", spectral ? 1.0 : model->papers_penalty));
    if (!isnan(kl_solver_get(solver, "settle"))) {
        assert_ok(kl_solver_set(solver, "settle", model->papers_settling));
    }
}

// Runs and returns the largest joint violation; `converged` counts steps.
static double hold(const Model *model, const char *solver, double seconds, int32_t *converged, int32_t *steps) {
    KlScene *scene = import(model->name);
    KlSim *sim;
    double worst = 0.0;
    assert_ok(kl_sim_create(kl_scene_model(scene), &sim));
    assert_ok(kl_sim_set_solver(sim, solver));
    tune(model, kl_sim_solver(sim));
    for (*converged = *steps = 0; kl_sim_time(sim) < seconds - 1e-9; (*steps)++) {
        assert_ok(kl_sim_step(sim));
        *converged += kl_sim_solution(sim)->outcome == KL_OUTCOME_CONVERGED;
        double violation = kl_sim_metric(sim, "r_pen_joints");
        worst = violation > worst || violation != violation ? violation : worst;
    }
    kl_sim_destroy(sim);
    kl_scene_destroy(scene);
    return worst;
}

static void public_mechanisms_hold(void **state) {
    (void)state;
    for (int32_t k = 0; k < kl_solver_kind_count(); k++) {
        const KlSolverInfo *info = kl_solver_kind(k);
        if (strcmp(info->family, "splitting") == 0) {
            continue;
        }
        for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
            const Model *model = &models[m];
            bool ours = is_ours(info);
            int32_t converged, steps;
            double worst = hold(model, info->id, ours ? 10.0 : model->papers_seconds, &converged, &steps);
            print_message("%-14s %-14s %d of %d steps converged, joints open by %.2e\n", model->name, info->id,
                          (int)converged, (int)steps, worst);
            assert_true(worst <= (ours ? model->ours : model->papers));
            assert_true(!ours || converged == steps);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(public_mechanisms_hold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
