// The disk of a friction bound that is known already (decoupled normal, `pgs-ncp`).
#include "cone/cone.h"

void kl_project_disk(double radius, double x[2]) {
    double norm = sqrt(x[0] * x[0] + x[1] * x[1]);
    if (norm > radius) {
        double s = radius / norm;
        x[0] *= s;
        x[1] *= s;
    }
}
