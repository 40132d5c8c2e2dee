// Alg. "NCP-Type Local Projector" P_NCP: the normal as a scalar complementarity problem, then the
// tangents by one projected gradient step on the disk that the new normal reaction allows.
#include "cone/cone.h"
#include "math/vec.h"
#include "solver/local/local.h"

void kl_local_ncp(const KlLocalProblem *local, double lambda[3]) {
    double z[3];
    kl_mat3_mul_vec(local->delassus, lambda, z);
    kl_add3(z, local->free_velocity, z);
    z[2] += local->desaxce;
    double normal = lambda[2] - z[2] / local->delassus[8];
    lambda[2] = normal > 0.0 ? normal : 0.0;
    lambda[0] -= local->step * z[0];
    lambda[1] -= local->step * z[1];
    kl_project_disk(local->friction * lambda[2], lambda);
}

// Printed: 1 / min, which need not contract; stable: 1 / max.
double kl_local_ncp_step(const double delassus[9], bool safe) {
    double t = delassus[0], o = delassus[4];
    bool t_larger = t > o;
    return 1.0 / (t_larger == safe ? t : o);
}
