// Joint limits (paper, Sec. "Limits"): a degree of freedom at or beyond a bound gives one unilateral
// row; of two violated bounds the worse one counts. The upper bound uses minus the DoF's row.
#include "sim/sim.h"

void kl_find_limits(KlSim *sim) {
    sim->limit_count = 0;
    for (int32_t f = 0; f < sim->limited_count; f++) {
        int32_t j = sim->limited[f].joint, i = sim->limited[f].dof;
        const KlJointDef *joint = &sim->model->joints[j];
        double q = sim->dof_position[sim->dof_start[j] + i];
        double lower = q - joint->lower[i], upper = joint->upper[i] - q;
        double gap = lower <= upper ? lower : upper;
        if (gap <= 0.0) {
            sim->limits[sim->limit_count++] = (KlLimit){.joint = j, .dof = i, .upper = !(lower <= upper), .gap = gap};
        }
    }
}
