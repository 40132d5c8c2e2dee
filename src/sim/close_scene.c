// Closes the loops of a scene's start pose: what an imported mechanism needs before it can be written.
#include <string.h>

#include "base/status.h"
#include "model/model.h"
#include "model/scene.h"

KlStatus kl_scene_close_loops(KlScene *scene, double tolerance, KlAssembly *report) {
    KlSim *sim;
    KL_TRY(kl_sim_create(scene->model, &sim));
    KlStatus status = kl_sim_assemble(sim, tolerance, report);
    const double *poses = kl_sim_find_field(sim, "pose")->data;
    for (int32_t i = 0; status == KL_OK && i < scene->model->body_count; i++) {
        memcpy(scene->model->bodies[i].pose, poses + 7 * i, 7 * sizeof *poses);
    }
    kl_sim_destroy(sim);
    return status;
}
