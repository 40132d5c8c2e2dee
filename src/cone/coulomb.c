// The Coulomb cone K_mu (paper, eq. "coulomb-cone-projection"; the third case reads "otherwise").
#include "cone/cone.h"

// The polar case comes first: for mu = 0 the test of the inside case, |x_t| <= mu x_n, also holds
// for x = (0, 0, -1), which is outside.
static KlConeRegion region(double friction, double tangent, double normal) {
    if (friction * tangent <= -normal) {
        return KL_CONE_POLAR;
    }
    return tangent <= friction * normal ? KL_CONE_INSIDE : KL_CONE_SURFACE;
}

KlConeRegion kl_coulomb_region(double friction, const double x[3]) {
    return region(friction, sqrt(x[0] * x[0] + x[1] * x[1]), x[2]);
}

void kl_project_coulomb(double friction, double x[3]) {
    double tangent = sqrt(x[0] * x[0] + x[1] * x[1]);
    switch (region(friction, tangent, x[2])) {
        case KL_CONE_INSIDE: return;
        case KL_CONE_POLAR: x[0] = x[1] = x[2] = 0.0; return;
        case KL_CONE_SURFACE: {
            double normal = (friction * tangent + x[2]) / (friction * friction + 1.0);
            double s = friction * normal / tangent;
            x[0] *= s;
            x[1] *= s;
            x[2] = normal;
            return;
        }
    }
}

void kl_project_coulomb_all(const double *friction, double *x, int32_t contacts) {
    int32_t k = 0;
    for (; contacts < KL_MANY_CONTACTS && k < contacts; k++, x += 3) {
        kl_project_coulomb(friction[k], x);
    }
    for (; k + 2 <= contacts; k += 2, x += 6) {
        KlPair pair[3] = {{x[0], x[3]}, {x[1], x[4]}, {x[2], x[5]}};
        kl_project_coulomb_pair(kl_load(friction + k), pair);
        kl_store(x, (KlPair){pair[0][0], pair[1][0]});
        kl_store(x + 2, (KlPair){pair[2][0], pair[0][1]});
        kl_store(x + 4, (KlPair){pair[1][1], pair[2][1]});
    }
    if (k < contacts) {
        kl_project_coulomb(friction[k], x);
    }
}

void kl_coulomb_jacobian(double friction, const double x[3], double jacobian[9]) {
    for (int32_t i = 0; i < 9; i++) {
        jacobian[i] = 0.0;
    }
    double tangent = sqrt(x[0] * x[0] + x[1] * x[1]);
    KlConeRegion where = region(friction, tangent, x[2]);
    if (where == KL_CONE_POLAR) {
        return;
    }
    if (where == KL_CONE_INSIDE) {
        jacobian[0] = jacobian[4] = jacobian[8] = 1.0;
        return;
    }
    // P = c (mu e, 1), e = x_t/|x_t|, c = (mu|x_t| + x_n)/(1 + mu^2); dP = g g^T/(1 + mu^2) + turn,
    // g = (mu e, 1), turn = (mu c/|x_t|)(1 - e e^T) in the tangent plane.
    double e0 = x[0] / tangent, e1 = x[1] / tangent;
    double w = 1.0 / (friction * friction + 1.0);
    double turn = friction * (friction * tangent + x[2]) * w / tangent;
    double mm = friction * friction * w, mw = friction * w;
    jacobian[0] = mm * e0 * e0 + turn * e1 * e1;
    jacobian[1] = jacobian[3] = (mm - turn) * e0 * e1;
    jacobian[4] = mm * e1 * e1 + turn * e0 * e0;
    jacobian[2] = jacobian[6] = mw * e0;
    jacobian[5] = jacobian[7] = mw * e1;
    jacobian[8] = w;
}
