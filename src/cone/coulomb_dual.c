// The dual Coulomb cone K_mu* = {mu |x_t| <= x_n} (paper, eq. "dual-coulomb-cone-projection").
#include "cone/cone.h"

// The inside case comes first: for mu = 0 the polar test, |x_t| <= -mu x_n, holds for (0, 0, 1) too.
void kl_project_coulomb_dual(double friction, double x[3]) {
    double tangent = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (friction * tangent <= x[2]) {
        return;
    }
    if (tangent <= -friction * x[2]) {
        x[0] = x[1] = x[2] = 0.0;
        return;
    }
    double along = (tangent + friction * x[2]) / (friction * friction + 1.0);
    double s = along / tangent;
    x[0] *= s;
    x[1] *= s;
    x[2] = friction * along;
}
