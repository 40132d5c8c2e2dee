// Alg. "CCP-Type Local Solver" P_CCP (Tasora): a projected gradient step with A = 1. The printed step
// 3 / tr(D) is the inverse of the mean diagonal; it contracts only while 3 / tr(D) < 2 / lambda_max(D)
// (diag(.1, .1, 1) cycles). 1 / lambda_max(D) always contracts.
#include "cone/cone.h"
#include "math/vec.h"
#include "solver/local/local.h"

void kl_local_ccp(const KlLocalProblem *local, double lambda[3]) {
    double z[3];
    kl_mat3_mul_vec(local->delassus, lambda, z);
    kl_add3(z, local->free_velocity, z);
    z[2] += local->desaxce;
    kl_axpy3(-local->step, z, lambda);
    kl_project_coulomb(local->friction, lambda);
}

// Cyclic Jacobi rotations; ten sweeps take any 3x3 matrix to rounding level.
static double eigen_max(const double matrix[9]) {
    static const int32_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    double a[9];
    for (int32_t i = 0; i < 9; i++) {
        a[i] = matrix[i];
    }
    for (int32_t turn = 0; turn < 30; turn++) {
        int32_t p = pairs[turn % 3][0], q = pairs[turn % 3][1], r = 3 - p - q;
        double off = a[3 * p + q];
        if (off == 0.0) {
            continue;
        }
        double theta = (a[4 * q] - a[4 * p]) / (2.0 * off);
        double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
        double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        double rp = a[3 * r + p], rq = a[3 * r + q];
        a[4 * p] -= t * off;
        a[4 * q] += t * off;
        a[3 * p + q] = a[3 * q + p] = 0.0;
        a[3 * r + p] = a[3 * p + r] = c * rp - s * rq;
        a[3 * r + q] = a[3 * q + r] = s * rp + c * rq;
    }
    double larger = a[0] > a[4] ? a[0] : a[4];
    return larger > a[8] ? larger : a[8];
}

double kl_local_ccp_step(const double delassus[9], bool safe) {
    return safe ? 1.0 / eigen_max(delassus) : 3.0 / (delassus[0] + delassus[4] + delassus[8]);
}
