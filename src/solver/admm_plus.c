#include "solver/admm_plus.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "dual/desaxce.h"
#include "math/lanes.h"

enum { FIRST_CHECK = 5, CHECK_INTERVAL = 10 };
enum { MOST_RESTARTS = 200 };  // of the acceleration: after so many it only disturbs (jammed contacts in loops)
// Penalty of joint rows, which no cone holds, in those of the others. A smaller one lets contradicting loops
// build up internal forces: measured on the walker without stabilisation.
static const double JOINT_SHARE = 0.1;
static const double IMBALANCE = 5.0, PENALTY_LEAST = 1e-6, PENALTY_MOST = 1e6;
enum { WINDOW = 50, FIRST_REST = 100, LONGEST_REST = 1600 };
static const double PAYS = 0.3;       // drop of the residual in a window that keeps the acceleration on
static const double ACCURACY = 0.03;  // of the last residual: error that a solution may have
static const double GUARD = 2.0;      // growth of the residual that restarts the acceleration

KlStatus kl_admm_plus_reserve(KlAdmmPlus *a, const KlScaled *s) {
    size_t dim = (size_t)s->dim;
    double **vectors[] = {&a->x, &a->y, &a->z, &a->q, &a->image, &a->base, &a->work, &a->last_image, &a->last_residual};
    size_t count = sizeof vectors / sizeof vectors[0];
    if (!KL_ROOM(a->memory, (count + 2 * KL_ANDERSON_MEMORY) * dim)) {
        return KL_ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        *vectors[i] = a->memory.at + i * dim;
    }
    a->differences = a->memory.at + count * dim;
    a->images = a->differences + KL_ANDERSON_MEMORY * dim;
    return KL_OK;
}

void kl_admm_plus_release(KlAdmmPlus *a) {
    kl_free(a->memory.at);
    *a = (KlAdmmPlus){0};
}

// A rest needs of its iterations the last ones alone; those before are forgotten by whole rounds of the memory, so
// that every difference has the slot that it would have had.
static void restart(KlAdmmPlus *a) {
    a->kept = a->next = 0;
    a->guard = INFINITY;
    a->iteration = 0;
    a->forgotten = a->resting > KL_ANDERSON_MEMORY ? (a->resting / KL_ANDERSON_MEMORY - 1) * KL_ANDERSON_MEMORY : 0;
}

void kl_admm_plus_start(KlAdmmPlus *a, KlScaled *s, const double *start, double penalty) {
    size_t bytes = (size_t)s->dim * sizeof *start;
    a->penalty = penalty;
    a->relaxation = 1.6;
    a->proximal = 1e-6;
    a->accelerate = a->adapt = true;
    a->factored = a->split = false;
    a->since_change = 0;
    a->restarts = 0;
    a->window = a->resting = 0;
    a->rest = FIRST_REST;
    a->window_residual = INFINITY;
    restart(a);
    memcpy(a->x, start, bytes);
    memcpy(a->y, start, bytes);
    kl_scaled_project(s, a->y);
    kl_scaled_velocity(s, a->y, a->z);
    kl_desaxce_augment(s->problem, a->z);
    for (int32_t i = 0; i < s->dim; i++) {
        a->q[i] = a->y[i] - a->z[i] / a->penalty;
    }
    memset(a->z, 0, (size_t)s->first_limit * sizeof *a->z);
    a->residual = sqrt(kl_lanes_dot(a->q, a->q, s->dim));
}

// y and z of q. All of space is the cone of joint rows: y is q there, and z stays 0.
static void split(KlAdmmPlus *a, const KlScaled *s) {
    memcpy(a->y, a->q, (size_t)s->dim * sizeof *a->y);
    kl_scaled_project(s, a->y);
    for (int32_t i = s->first_limit; i < s->dim; i++) {
        a->z[i] = a->penalty * (a->y[i] - a->q[i]);
    }
    a->split = true;
}

static void swap(double **a, double **b) {
    double *kept = *a;
    *a = *b;
    *b = kept;
}

// sum = a x + b y
static void combine(double a, const double *x, double b, const double *y, int32_t count, double *sum) {
    int32_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (int32_t k = 0; k < 8; k += 2) {
            kl_store(sum + i + k, kl_both(a) * kl_load(x + i + k) + kl_both(b) * kl_load(y + i + k));
        }
    }
    for (; i + 2 <= count; i += 2) {
        kl_store(sum + i, kl_both(a) * kl_load(x + i) + kl_both(b) * kl_load(y + i));
    }
    if (i < count) {
        sum[i] = a * x[i] + b * y[i];
    }
}

static void find_x(KlAdmmPlus *a, KlScaled *s) {
    int32_t joints = s->first_limit, others = s->dim - joints;
    combine(a->proximal, a->x, JOINT_SHARE * a->penalty, a->y, joints, a->work);
    combine(a->proximal, a->x + joints, a->penalty, a->y + joints, others, a->work + joints);
    for (int32_t i = joints; i < s->dim; i++) {
        a->work[i] += a->z[i];
    }
    kl_lanes_subtract(a->work, s->free_velocity, s->dim, a->work);
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t row = s->first_contact + 3 * k;
        a->work[row + 2] -= kl_desaxce_normal(s->problem->friction[k], a->z + row);
    }
    kl_scaled_solve_shifted(s, ACCURACY * a->residual, a->work);
    swap(&a->x, &a->work);
}

// |x_r - y| and |rho dy| for the balance; x_r is in base, but on joint rows, where it becomes y.
static void measure_balance(KlAdmmPlus *a, const KlScaled *s) {
    double primal = 0.0, dual = 0.0;
    memcpy(a->work, a->image, (size_t)s->dim * sizeof *a->work);
    kl_scaled_project(s, a->work);
    for (int32_t i = s->first_limit; i < s->dim; i++) {
        double p = a->base[i] - a->work[i];
        primal += p * p;
    }
    for (int32_t i = 0; i < s->dim; i++) {
        double d = a->penalty * (a->work[i] - a->y[i]);
        dual += d * d;
    }
    a->primal = sqrt(primal);
    a->dual = sqrt(dual);
}

static void plain_iteration(KlAdmmPlus *a, KlScaled *s) {
    find_x(a, s);
    combine(a->relaxation, a->x, 1.0 - a->relaxation, a->y, s->dim, a->image);
    for (int32_t i = s->first_limit; i < s->dim; i++) {
        a->base[i] = a->image[i];
        a->image[i] -= a->z[i] / a->penalty;
    }
    if (a->adapt && a->since_change + 1 >= FIRST_CHECK) {
        measure_balance(a, s);
    }
}

// Weights g of min |r - sum g_k dr_k| by Cholesky of the regularised normal equations.
static bool anderson_weights(const KlAdmmPlus *a, double *weights) {
    int32_t m = a->kept;
    double gram[KL_ANDERSON_MEMORY][KL_ANDERSON_MEMORY], trace = 0.0;
    for (int32_t i = 0; i < m; i++) {
        memcpy(gram[i], a->gram[i], ((size_t)i + 1) * sizeof gram[i][0]);
        weights[i] = a->pull[i];
        trace += gram[i][i];
    }
    for (int32_t i = 0; i < m; i++) {
        gram[i][i] += 1e-10 * trace;
        for (int32_t j = 0; j <= i; j++) {
            double sum = gram[i][j];
            for (int32_t k = 0; k < j; k++) {
                sum -= gram[i][k] * gram[j][k];
            }
            if (i == j && !(sum > 0.0)) {
                return false;
            }
            gram[i][j] = i == j ? sqrt(sum) : sum / gram[j][j];
        }
    }
    for (int32_t i = 0; i < m; i++) {
        for (int32_t k = 0; k < i; k++) {
            weights[i] -= gram[i][k] * weights[k];
        }
        weights[i] /= gram[i][i];
    }
    for (int32_t i = m - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < m; k++) {
            weights[i] -= gram[k][i] * weights[k];
        }
        weights[i] /= gram[i][i];
    }
    return true;
}

// The products of all differences with the one in this slot and with the residual: the rest of the Gram matrix stands.
static void update_gram(KlAdmmPlus *a, int32_t dim, const double *residual, int32_t slot) {
    const double *own = a->differences + (size_t)slot * (size_t)dim;
    for (int32_t k = 0; k < a->kept; k++) {
        KlPair products = kl_lanes_two_dots(a->differences + (size_t)k * (size_t)dim, own, residual, dim);
        a->gram[slot > k ? slot : k][slot > k ? k : slot] = products[0];
        a->pull[k] = products[1];
    }
}

// Takes the residual in `work` and the image as the last ones, and how they differ from those before.
static void remember(KlAdmmPlus *a, int32_t dim) {
    if (a->iteration > 0) {
        size_t at = (size_t)a->next * (size_t)dim;
        kl_lanes_subtract(a->work, a->last_residual, dim, a->differences + at);
        kl_lanes_subtract(a->image, a->last_image, dim, a->images + at);
        a->kept = a->kept < KL_ANDERSON_MEMORY ? a->kept + 1 : a->kept;
        update_gram(a, dim, a->work, a->next);
        a->next = (a->next + 1) % KL_ANDERSON_MEMORY;
    }
    swap(&a->work, &a->last_residual);
    swap(&a->image, &a->last_image);
}

// Sends the acceleration to rest when a window of it has not paid.
static void detect_stall(KlAdmmPlus *a) {
    if (a->resting > 0) {
        a->resting--;
        a->window = 0;
        a->window_residual = a->residual;
        return;
    }
    if (++a->window < WINDOW) {
        return;
    }
    if (a->residual > PAYS * a->window_residual) {
        a->resting = a->rest;
        a->rest = a->rest < LONGEST_REST ? 2 * a->rest : a->rest;
        restart(a);
    }
    a->window = 0;
    a->window_residual = a->residual;
}

// q -= sum of weights[k] images[k], two at a time
static void extrapolate(const double *images, const double *weights, int32_t kept, int32_t dim, double *q) {
    for (int32_t k = 0; k < kept; k += 2) {
        const double *image = images + (size_t)k * (size_t)dim, *next = k + 1 < kept ? image + dim : image;
        double first = weights[k], second = k + 1 < kept ? weights[k + 1] : 0.0;
        int32_t i = 0;
        for (; i + 8 <= dim; i += 8) {
            for (int32_t j = 0; j < 8; j += 2) {
                KlPair left = kl_load(q + i + j) - kl_both(first) * kl_load(image + i + j);
                kl_store(q + i + j, left - kl_both(second) * kl_load(next + i + j));
            }
        }
        for (; i + 2 <= dim; i += 2) {
            KlPair left = kl_load(q + i) - kl_both(first) * kl_load(image + i);
            kl_store(q + i, left - kl_both(second) * kl_load(next + i));
        }
        if (i < dim) {
            q[i] = (q[i] - first * image[i]) - second * next[i];
        }
    }
}

// Anderson's extrapolation (type II), restarted when the fixed-point residual grows.
static void advance(KlAdmmPlus *a, int32_t dim) {
    double weights[KL_ANDERSON_MEMORY];
    kl_lanes_subtract(a->image, a->q, dim, a->work);
    a->residual = sqrt(kl_lanes_dot(a->work, a->work, dim));
    if (a->residual > GUARD * a->guard) {
        restart(a);
        a->restarts++;
        a->accelerate = a->accelerate && a->restarts < MOST_RESTARTS;
    }
    a->guard = a->residual < a->guard ? a->residual : a->guard;
    memcpy(a->q, a->image, (size_t)dim * sizeof *a->q);
    if (a->forgotten > 0) {
        a->forgotten--;
    } else if (a->accelerate) {
        remember(a, dim);
        if (a->resting == 0 && a->kept > 0 && anderson_weights(a, weights)) {
            extrapolate(a->images, weights, a->kept, dim, a->q);
        }
        a->iteration++;
    }
    detect_stall(a);
}

// Residual balancing (He, Yang, Wang 2000): rho by the root of the ratio, then q for the same y, z.
static void balance(KlAdmmPlus *a, const KlScaled *s) {
    if (!a->adapt || ++a->since_change < (a->restarts == 0 ? FIRST_CHECK : CHECK_INTERVAL)) {
        return;
    }
    double ratio = a->primal / (a->dual > 0.0 ? a->dual : 1e-300);
    if ((ratio > IMBALANCE && a->penalty < PENALTY_MOST) || (ratio < 1.0 / IMBALANCE && a->penalty > PENALTY_LEAST)) {
        double factor = sqrt(ratio);
        factor = factor > 10.0 ? 10.0 : factor < 0.1 ? 0.1 : factor;
        a->penalty *= factor;
        for (int32_t i = s->first_limit; i < s->dim; i++) {
            a->q[i] = a->y[i] - a->z[i] / a->penalty;
        }
        a->factored = a->split = false;
        restart(a);
    }
    a->since_change = 0;
}

bool kl_admm_plus_step(KlAdmmPlus *a, KlScaled *s) {
    if (!a->factored &&
        !kl_scaled_factor_shifted(s, a->proximal + JOINT_SHARE * a->penalty, a->proximal + a->penalty)) {
        return false;
    }
    a->factored = true;
    if (!a->split) {
        split(a, s);
    }
    plain_iteration(a, s);
    advance(a, s->dim);
    split(a, s);
    balance(a, s);
    return true;
}
