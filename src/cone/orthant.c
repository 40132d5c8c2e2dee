// The nonnegative orthant: limits.
#include "cone/cone.h"

void kl_project_orthant(double *x, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        x[i] = x[i] < 0.0 ? 0.0 : x[i];  // keeps NaN visible
    }
}
