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
static const double PAYS = 0.3;   // drop of the residual in a window that keeps the acceleration on
static const double GUARD = 2.0;  // growth of the residual that restarts the acceleration

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

static void restart(KlAdmmPlus *a) {
    a->kept = a->next = 0;
    a->guard = INFINITY;
    a->iteration = 0;
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
}

// y and z of q
static void split(KlAdmmPlus *a, const KlScaled *s) {
    memcpy(a->y, a->q, (size_t)s->dim * sizeof *a->y);
    kl_scaled_project(s, a->y);
    for (int32_t i = 0; i < s->dim; i++) {
        a->z[i] = a->penalty * (a->y[i] - a->q[i]);
    }
    a->split = true;
}

static void plain_iteration(KlAdmmPlus *a, KlScaled *s) {
    double eta = a->proximal, rho = a->penalty, omega = a->relaxation, primal = 0.0, dual = 0.0;
    for (int32_t i = 0; i < s->first_limit; i++) {  // z is 0: all of space is their cone
        a->work[i] = eta * a->x[i] + JOINT_SHARE * rho * a->y[i] - s->free_velocity[i];
    }
    for (int32_t i = s->first_limit; i < s->dim; i++) {
        a->work[i] = eta * a->x[i] + rho * a->y[i] + a->z[i] - s->free_velocity[i];
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t row = s->first_contact + 3 * k;
        a->work[row + 2] -= kl_desaxce_normal(s->problem->friction[k], a->z + row);
    }
    kl_scaled_solve_shifted(s, a->work);
    for (int32_t i = 0; i < s->dim; i++) {
        double relaxed = omega * a->work[i] + (1.0 - omega) * a->y[i];
        a->image[i] = relaxed - a->z[i] / rho;
        a->base[i] = relaxed;
    }
    memcpy(a->x, a->work, (size_t)s->dim * sizeof *a->x);
    memcpy(a->work, a->image, (size_t)s->dim * sizeof *a->work);
    kl_scaled_project(s, a->work);
    for (int32_t i = 0; i < s->dim; i++) {
        double p = a->base[i] - a->work[i], d = rho * (a->work[i] - a->y[i]);
        primal += p * p;
        dual += d * d;
    }
    a->primal = sqrt(primal);
    a->dual = sqrt(dual);
}

// Weights g of min |r - sum g_k dr_k| by Cholesky of the regularised normal equations.
static bool anderson_weights(const KlAdmmPlus *a, int32_t dim, const double *residual, double *weights) {
    int32_t m = a->kept;
    double gram[KL_ANDERSON_MEMORY][KL_ANDERSON_MEMORY], trace = 0.0;
    for (int32_t i = 0; i < m; i++) {
        memcpy(gram[i], a->gram[i], ((size_t)i + 1) * sizeof gram[i][0]);
        weights[i] = kl_lanes_dot(a->differences + (size_t)i * (size_t)dim, residual, dim);
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

// The products of the difference in this slot with all others: the rest of the Gram matrix stands.
static void update_gram(KlAdmmPlus *a, int32_t dim, int32_t slot) {
    const double *own = a->differences + (size_t)slot * (size_t)dim;
    for (int32_t k = 0; k < a->kept; k++) {
        double product = kl_lanes_dot(own, a->differences + (size_t)k * (size_t)dim, dim);
        a->gram[slot > k ? slot : k][slot > k ? k : slot] = product;
    }
}

static void remember(KlAdmmPlus *a, int32_t dim, const double *residual) {
    if (a->iteration > 0) {
        double *difference = a->differences + (size_t)a->next * (size_t)dim;
        double *image = a->images + (size_t)a->next * (size_t)dim;
        for (int32_t i = 0; i < dim; i++) {
            difference[i] = residual[i] - a->last_residual[i];
            image[i] = a->image[i] - a->last_image[i];
        }
        a->kept = a->kept < KL_ANDERSON_MEMORY ? a->kept + 1 : a->kept;
        update_gram(a, dim, a->next);
        a->next = (a->next + 1) % KL_ANDERSON_MEMORY;
    }
    memcpy(a->last_residual, residual, (size_t)dim * sizeof *residual);
    memcpy(a->last_image, a->image, (size_t)dim * sizeof *a->image);
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

// Anderson's extrapolation (type II), restarted when the fixed-point residual grows.
static void advance(KlAdmmPlus *a, int32_t dim) {
    double *residual = a->work, weights[KL_ANDERSON_MEMORY];
    for (int32_t i = 0; i < dim; i++) {
        residual[i] = a->image[i] - a->q[i];
    }
    a->residual = sqrt(kl_lanes_dot(residual, residual, dim));
    if (a->residual > GUARD * a->guard) {
        restart(a);
        a->restarts++;
        a->accelerate = a->accelerate && a->restarts < MOST_RESTARTS;
    }
    a->guard = a->residual < a->guard ? a->residual : a->guard;
    remember(a, dim, residual);
    memcpy(a->q, a->image, (size_t)dim * sizeof *a->q);
    if (a->accelerate && a->resting == 0 && a->kept > 0 && anderson_weights(a, dim, residual, weights)) {
        for (int32_t k = 0; k < a->kept; k++) {
            const double *image = a->images + (size_t)k * (size_t)dim;
            for (int32_t i = 0; i < dim; i++) {
                a->q[i] -= weights[k] * image[i];
            }
        }
    }
    a->iteration++;
    detect_stall(a);
}

// Residual balancing (He, Yang, Wang 2000): rho by the root of the ratio, then q for the same y, z.
static void balance(KlAdmmPlus *a, int32_t dim) {
    if (!a->adapt || ++a->since_change < (a->restarts == 0 ? FIRST_CHECK : CHECK_INTERVAL)) {
        return;
    }
    double ratio = a->primal / (a->dual > 0.0 ? a->dual : 1e-300);
    if ((ratio > IMBALANCE && a->penalty < PENALTY_MOST) || (ratio < 1.0 / IMBALANCE && a->penalty > PENALTY_LEAST)) {
        double factor = sqrt(ratio);
        factor = factor > 10.0 ? 10.0 : factor < 0.1 ? 0.1 : factor;
        a->penalty *= factor;
        for (int32_t i = 0; i < dim; i++) {
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
    balance(a, s->dim);
    return true;
}
