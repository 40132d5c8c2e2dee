#include "solver/proximal.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/semismooth.h"

enum { INNER = 8, EASY = 4 };        // Newton steps of a subproblem; so few allow a longer step next
static const double LOWER = 0.1;     // of eta after an easy subproblem
static const double APPROACH = 0.5;  // the same where LOWER would lead back to the eta that failed
static const double RAISE = 4.0;     // of eta after a failure
static const double ETA_LEAST = 1e-12, ETA_MOST = 1e3;
static const double ACCURACY = 0.5;    // |F_eta| over |eta (x - a)| that ends a subproblem
static const double ROUNDING = 1e-15;  // |F_eta| of which no more can be asked

KlStatus kl_proximal_reserve(KlProximal *px, const KlScaled *s) {
    size_t dim = (size_t)s->dim, branches = (size_t)s->limits + (size_t)s->contacts;
    double **vectors[] = {&px->anchor, &px->x, &px->velocity, &px->natural, &px->step, &px->right};
    size_t count = sizeof vectors / sizeof vectors[0];
    if (!KL_ROOM(px->memory, count * dim) || !KL_ROOM(px->states, branches)) {
        return KL_ERR_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        *vectors[i] = px->memory.at + i * dim;
    }
    px->state = px->states.at;
    return KL_OK;
}

void kl_proximal_release(KlProximal *px) {
    kl_free(px->memory.at);
    kl_free(px->states.at);
    *px = (KlProximal){0};
}

void kl_proximal_start(KlProximal *px, const KlScaled *s, const double *from, double eta) {
    memcpy(px->anchor, from, (size_t)s->dim * sizeof *from);
    memcpy(px->x, from, (size_t)s->dim * sizeof *from);
    px->eta = eta;
    px->refused = 0.0;
    px->inner = 0;
}

static double evaluate(KlProximal *px, KlScaled *s) {
    kl_scaled_velocity(s, px->x, px->velocity);
    for (int32_t i = 0; i < s->dim; i++) {
        px->velocity[i] += px->eta * (px->x[i] - px->anchor[i]);
    }
    return kl_scaled_natural(s, px->x, px->velocity, px->natural);
}

static double pull(const KlProximal *px, int32_t dim) {
    double sum = 0.0;
    for (int32_t i = 0; i < dim; i++) {
        sum += (px->x[i] - px->anchor[i]) * (px->x[i] - px->anchor[i]);
    }
    return px->eta * sqrt(sum);
}

static void lengthen(KlProximal *px) {
    if (px->inner <= EASY) {
        px->eta *= px->eta * LOWER > px->refused ? LOWER : APPROACH;
        px->eta = px->eta > ETA_LEAST ? px->eta : ETA_LEAST;
    }
    px->refused *= APPROACH;
}

static KlProximalOutcome give_up(KlProximal *px, const KlScaled *s) {
    memcpy(px->x, px->anchor, (size_t)s->dim * sizeof *px->x);
    px->refused = px->eta;
    px->eta *= RAISE;
    px->inner = 0;
    return px->eta > ETA_MOST ? KL_PROXIMAL_STUCK : KL_PROXIMAL_BACK;
}

KlProximalOutcome kl_proximal_step(KlProximal *px, KlScaled *s) {
    if (px->inner == 0) {
        (void)evaluate(px, s);
    }
    kl_semismooth_linearize(s, px->x, px->velocity, px->eta, px->right, px->state);
    if (!kl_scaled_factor(s)) {
        return give_up(px, s);
    }
    kl_scaled_solve(s, px->right, 1, px->step);
    for (int32_t i = 0; i < s->dim; i++) {
        px->x[i] += px->step[i];
    }
    px->inner++;
    double merit = evaluate(px, s);
    if (merit <= ACCURACY * pull(px, s->dim) || merit <= ROUNDING) {
        lengthen(px);
        memcpy(px->anchor, px->x, (size_t)s->dim * sizeof *px->x);
        px->inner = 0;
        return KL_PROXIMAL_ANCHOR;
    }
    return isfinite(merit) && px->inner < INNER ? KL_PROXIMAL_ON : give_up(px, s);
}
