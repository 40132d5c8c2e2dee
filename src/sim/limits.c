// Joint limits (paper, Sec. "Limits"): a degree of freedom at or beyond a bound gives one unilateral
// row; of two violated bounds the worse one counts. The upper bound uses minus the DoF's row.
#include "sim/sim.h"

void kl_find_limits(KlSim *sim) {
    sim->limit_count = 0;
    for (int32_t j = 0; j < sim->joint_count; j++) {
        const KlJointDef *joint = &sim->model->joints[j];
        int32_t first = sim->dof_start[j];
        for (int32_t i = 0; i < sim->dof_start[j + 1] - first; i++) {
            double q = sim->dof_position[first + i];
            double lower = q - joint->lower[i], upper = joint->upper[i] - q;
            double gap = lower <= upper ? lower : upper;
            if (gap <= 0.0) {
                sim->limits[sim->limit_count++] =
                    (KlLimit){.joint = j, .dof = i, .upper = !(lower <= upper), .gap = gap};
            }
        }
    }
}
