#include "solver/sweeps.h"

#include <math.h>

#include "dual/problem.h"
#include "solver/local/local.h"

bool kl_sweeps_apply(const KlScaled *s) { return !s->bodies && s->first_limit == 0 && s->contacts > 0; }

enum { LOCAL_FLOPS = 300 };  // of one contact's own problem: what its time is worth (measured)

double kl_sweep_flops(const KlScaled *s) { return (double)s->value_count + LOCAL_FLOPS * (double)s->contacts; }

// v of block b without its own reaction; `own` is where its diagonal block lies.
static const double *other_velocity(const KlScaled *s, int32_t b, const double *x, double v[3]) {
    const KlBlockMatrix *m = &s->delassus;
    const double *own = NULL;
    int32_t first = m->block_start[b], rows = m->block_start[b + 1] - first;
    for (int32_t i = 0; i < rows; i++) {
        v[i] = s->free_velocity[first + i];
    }
    for (int32_t e = m->row_start[b]; e < m->row_start[b + 1]; e++) {
        int32_t c = m->column[e], columns = m->block_start[c + 1] - m->block_start[c];
        const double *a = m->values + m->offset[e], *z = x + m->block_start[c];
        if (c == b) {
            own = a;
            continue;
        }
        for (int32_t i = 0; i < rows; i++, a += columns) {
            v[i] += columns == 3 ? a[0] * z[0] + a[1] * z[1] + a[2] * z[2] : a[0] * z[0];
        }
    }
    return own;
}

static void solve_contact(const KlScaled *s, int32_t b, const double *own, const double v[3], const double old[3],
                          double fresh[3]) {
    KlLocalProblem local = {
        .free_velocity = {v[0], v[1], v[2]}, .friction = kl_block_friction(s->problem, b), .last = old};
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            local.delassus[3 * i + j] = 0.5 * (own[3 * i + j] + own[3 * j + i]);
        }
    }
    kl_local_coulomb(&local, fresh);
}

double kl_sweep_once(const KlScaled *s, double *x) {
    double largest = 0.0;
    for (int32_t b = 0; b < s->delassus.block_count; b++) {
        double v[3] = {0.0}, fresh[3] = {0.0}, *old = x + s->delassus.block_start[b];
        int32_t rows = s->delassus.block_start[b + 1] - s->delassus.block_start[b];
        const double *own = other_velocity(s, b, x, v);
        if (rows == 3) {
            solve_contact(s, b, own, v, old, fresh);
        } else {
            fresh[0] = v[0] < 0.0 ? -v[0] / own[0] : 0.0;
        }
        for (int32_t i = 0; i < rows; i++) {
            double change = fabs(fresh[i] - old[i]);
            largest = change > largest ? change : largest;
            old[i] = fresh[i];
        }
    }
    return largest;
}
