// Steps a model that the library accepted: every step ends well, or says that it did not.
#include "input.h"

enum { MOST_BODIES = 12, MOST_GEOMS = 24, MOST_TRIANGLES = 2000, MOST_ITERATIONS = 30 };

static bool small(const KlModel *model) {
    KlModelInfo info;
    kl_model_info(model, &info);
    int32_t triangles = 0;
    for (int32_t i = 0; i < info.meshes; i++) {
        triangles += kl_model_mesh(model, i)->triangle_count;
    }
    return info.bodies <= MOST_BODIES && info.geoms <= MOST_GEOMS && triangles <= MOST_TRIANGLES;
}

static void claim_finite_state(const KlSim *sim) {
    static const char *const fields[] = {"pose", "twist"};
    for (int f = 0; f < 2; f++) {
        const KlField *field = kl_sim_find_field(sim, fields[f]);
        const double *values = field->data;
        for (int32_t i = 0; i < field->rows * field->columns; i++) {
            CLAIM(isfinite(values[i]));
        }
    }
}

void fuzz_step(const KlModel *model, int32_t steps) {
    if (!small(model)) {
        return;
    }
    KlSim *sim;
    KlStatus status = kl_sim_create(model, &sim);
    if (status != KL_OK) {
        claim_failure(status);
        return;
    }
    CLAIM(kl_solver_set(kl_sim_solver(sim), "max_iterations", MOST_ITERATIONS) == KL_OK);
    for (int32_t i = 0; i < steps; i++) {
        uint64_t before = kl_sim_hash(sim);
        status = kl_sim_step(sim);
        if (status != KL_OK) {
            claim_failure(status);
            CLAIM(status == KL_ERR_DIVERGED || status == KL_ERR_LIMIT);
            CLAIM(kl_sim_hash(sim) == before);
            break;
        }
        claim_finite_state(sim);
    }
    kl_sim_destroy(sim);
}
