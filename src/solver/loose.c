#include "solver/loose.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cone/cone.h"
#include "dual/storage.h"
#include "math/lanes.h"
#include "math/vec.h"
#include "solver/local/local.h"

static const double DOMINATED = 0.9;  // of the diagonal: the most that the rest of a row may sum up to
static const double SLOW = 0.5;       // of the last change: sweeps that change more take too many
enum { MOST_SWEEPS = 30 };

KlStatus kl_loose_reserve(KlLoose *l, const KlCapacity *capacity) {
    return KL_ROOM(l->inverse, 9 * (size_t)capacity->size.contact_count) ? KL_OK : KL_ERR_MEMORY;
}

void kl_loose_release(KlLoose *l) {
    kl_free(l->inverse.at);
    *l = (KlLoose){0};
}

// ---- taking the problem in -----------------------------------------------------------------------

static double sum_sizes(const double *x, int32_t count) {
    const KlMask sign = {INT64_MAX, INT64_MAX};
    KlPair sum = {0.0, 0.0};
    int32_t i = 0;
    for (; i + 2 <= count; i += 2) {
        sum += (KlPair)((KlMask)kl_load(x + i) & sign);
    }
    return sum[0] + sum[1] + (i < count ? fabs(x[i]) : 0.0);
}

typedef struct Row {
    double diagonal, inside, outside;  // its own entry, and sizes of others: in the columns of its block, and outside
} Row;

static Row weigh_row(const KlProblem *p, int32_t row, int32_t first, int32_t end) {
    int32_t e = p->delassus_start[row], last = p->delassus_start[row + 1];
    const int32_t *index = p->delassus_index;
    int32_t left = e < last ? first - index[e] : 0;  // entries before the block, in a row without gaps
    Row r = {.diagonal = p->softening[row]};
    if (last - e > left && left > 0 && index[e + left] == first) {
        r.outside = sum_sizes(p->delassus_value + e, left);
        e += left;
    }
    for (; e < last && index[e] < end; e++) {
        double value = p->delassus_value[e];
        if (index[e] == row) {
            r.diagonal += value;
        } else if (index[e] < first) {
            r.outside += fabs(value);
        } else {
            r.inside += fabs(value);
        }
    }
    r.outside += sum_sizes(p->delassus_value + e, last - e);
    return r;
}

static bool couples_loosely(const KlProblem *p, double *coupling) {
    *coupling = 0.0;
    for (int32_t b = 0; b < p->block_count; b++) {
        int32_t first = p->block_start[b], end = p->block_start[b + 1];
        for (int32_t row = first; row < end; row++) {
            Row r = weigh_row(p, row, first, end);
            if (!(r.outside + r.inside <= DOMINATED * r.diagonal)) {
                return false;
            }
            *coupling = r.outside > *coupling * r.diagonal ? r.outside / r.diagonal : *coupling;
        }
    }
    return true;
}

bool kl_loose_begin(KlLoose *l, const KlProblem *p) {
    bool applies = !kl_problem_has_bodies(p) && p->joint_rows == 0;
    if (!applies || !couples_loosely(p, &l->coupling) || !KL_ROOM(l->inverse, 9 * (size_t)p->contact_count)) {
        return false;
    }
    l->problem = p;
    for (int32_t k = 0; k < p->contact_count; k++) {
        double own[9];
        kl_problem_block_delassus(p, kl_contact_block(p, k), own);
        kl_mat3_inverse(own, l->inverse.at + 9 * (size_t)k);  // zeros: never sticks
    }
    return true;
}

// ---- sweeps --------------------------------------------------------------------------------------

// The reaction that stops v; false when it lies outside the cone, or when numbers have over- or underflown.
static bool stick(const double inverse[9], double friction, const double v[3], double lambda[3]) {
    kl_mat3_mul_vec(inverse, v, lambda);
    kl_scale3(-1.0, lambda, lambda);
    double most = friction * lambda[2];
    return lambda[2] > 0.0 && lambda[0] * lambda[0] + lambda[1] * lambda[1] <= most * most;
}

// The reaction of a contact that has v without it.
static void solve_contact(const KlLoose *l, int32_t k, const double v[3], const double old[3], double fresh[3]) {
    double friction = l->problem->friction[k];
    if (v[2] > 0.0) {
        fresh[0] = fresh[1] = fresh[2] = 0.0;
    } else if (!stick(l->inverse.at + 9 * (size_t)k, friction, v, fresh)) {
        KlLocalProblem local = {
            .free_velocity = {v[0], v[1], v[2]}, .friction = friction, .lopsided = true, .last = old};
        kl_problem_block_delassus(l->problem, kl_contact_block(l->problem, k), local.delassus);
        kl_local_coulomb(&local, fresh);
        kl_project_coulomb(friction, fresh);
    }
}

// One sweep over lambda; returns its largest change, and in `size` the largest reaction.
static double sweep(const KlLoose *l, const double *diagonal, double *lambda, double *size) {
    const KlProblem *p = l->problem;
    double largest = 0.0;
    *size = 0.0;
    for (int32_t b = 0; b < p->block_count; b++) {
        int32_t first = p->block_start[b], rows = p->block_start[b + 1] - first;
        double *own = lambda + first, old[3], v[3], fresh[3] = {0.0};
        for (int32_t i = 0; i < rows; i++) {
            old[i] = own[i];
            own[i] = 0.0;
        }
        kl_sweep_velocity(p, b, lambda, NULL, v);
        if (rows == 3) {
            solve_contact(l, kl_block_contact(p, b), v, old, fresh);
        } else {
            fresh[0] = v[0] < 0.0 ? -v[0] / diagonal[first] : 0.0;
        }
        for (int32_t i = 0; i < rows; i++) {
            double change = fabs(fresh[i] - old[i]), reaction = fabs(fresh[i]);
            largest = largest >= change ? largest : change;
            *size = *size >= reaction ? *size : reaction;
            own[i] = fresh[i];
        }
    }
    return largest;
}

bool kl_loose_solve(const KlLoose *l, const KlLooseGoal *goal, double *lambda, double *velocity, double *relative) {
    const KlProblem *p = l->problem;
    const double *diagonal = kl_problem_prepare(p)->diagonal;
    double given = kl_problem_given_size(p), before = INFINITY;
    for (int32_t i = 0; i < MOST_SWEEPS; i++) {
        double size, change = sweep(l, diagonal, lambda, &size), rate = change / before;
        // About what the next sweep would change, and what this one has left.
        double left = change * (i > 0 && rate < l->coupling ? rate : l->coupling);
        size = size > given ? size : given;
        if (left <= goal->relative * size && left <= goal->strict * given) {
            kl_problem_velocity(p, lambda, velocity);
            double strict;
            *relative = kl_natural_relative(p, lambda, velocity, &strict);
            if (*relative <= goal->relative && strict <= goal->strict) {
                return true;
            }
        }
        if (i > 1 && !(rate <= SLOW)) {
            break;
        }
        before = change;
    }
    if (!isfinite(kl_lanes_largest(lambda, p->dim))) {
        memset(lambda, 0, (size_t)p->dim * sizeof *lambda);
    }
    return false;
}
