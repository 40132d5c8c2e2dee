// The dual of the whole space is the origin: velocities of bilateral constraints.
#include "cone/cone.h"

void kl_project_zero(double *x, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        x[i] = 0.0;
    }
}
