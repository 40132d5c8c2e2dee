// Order statistics of small samples.
#include "statistics.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median_of(double *values, int32_t count) {
    if (count == 0) {
        return (double)NAN;
    }
    qsort(values, (size_t)count, sizeof *values, ascending);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

double mad_of(double *values, int32_t count, double median) {
    for (int32_t i = 0; i < count; i++) {
        values[i] = fabs(values[i] - median);
    }
    return median_of(values, count);
}
