// A long run in parts, a line each: step, state hash, worst joint violation and steps that did not converge in that part,
// allocations since the first step, resident memory [kB]. Not a test: wasm/long.mjs compares it with WebAssembly.
//
//   hours SCENE.json RUN SOLVER PARTS SECONDS      each of SECONDS of simulated time
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "kl.h"

static void check(KlStatus status) {
    if (status != KL_OK) {
        fprintf(stderr, "%s\n", kl_last_error()->message);
        exit(1);
    }
}

static long resident_kb(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%ld %ld", &pages, &resident) != 2) {
            resident = 0;
        }
        fclose(file);
    }
    return resident * 4;
}

static void part(KlSim *sim, int64_t until, uint64_t allocations) {
    double worst = 0.0;
    int64_t unconverged = 0;
    while (kl_sim_step_index(sim) < until) {
        check(kl_sim_step(sim));
        worst = fmax(worst, kl_sim_metric(sim, "r_pen_joints"));
        unconverged += kl_sim_solution(sim)->outcome != KL_OUTCOME_CONVERGED;
    }
    printf("%" PRId64 " %016" PRIx64 " %.3g %" PRId64 " %" PRIu64 " %ld\n", kl_sim_step_index(sim), kl_sim_hash(sim),
           worst, unconverged, kl_alloc_count() - allocations, resident_kb());
    fflush(stdout);
}

int main(int argc, char **argv) {
    if (argc != 6) {
        fprintf(stderr, "usage: hours SCENE.json RUN SOLVER PARTS SECONDS\n");
        return 2;
    }
    KlScene *scene;
    KlModel *model;
    KlSim *sim;
    check(kl_scene_load(argv[1], kl_files_disk(), &scene));
    check(kl_scene_model_for_run(scene, kl_scene_find_run(scene, argv[2]), &model));
    check(kl_sim_create(model, &sim));
    check(kl_sim_set_solver(sim, argv[3]));
    check(kl_solver_preset(kl_sim_solver(sim), "high-throughput"));
    double dt = kl_model_settings(model)->dt;
    check(kl_sim_step(sim));  // what is allocated after it is growth
    uint64_t allocations = kl_alloc_count();
    for (int k = 1; k <= atoi(argv[4]); k++) {
        part(sim, (int64_t)llround(atof(argv[5]) * k / dt), allocations);
    }
    kl_sim_destroy(sim);
    kl_model_destroy(model);
    kl_scene_destroy(scene);
    return 0;
}
