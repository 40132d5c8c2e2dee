#include "solver/semismooth.h"

#include <math.h>
#include <string.h>

#include "cone/cone.h"
#include "dual/desaxce.h"

static double dot3(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void set_diagonal(double block[9], double value) {
    memset(block, 0, 9 * sizeof *block);
    block[0] = block[4] = block[8] = value;
}

static void set_row(double block[9], int32_t row, double factor, const double a[3]) {
    for (int32_t i = 0; i < 3; i++) {
        block[3 * row + i] = factor * a[i];
    }
}

// x - v_hat of a contact
static void natural_argument(double friction, const double x[3], const double v[3], double y[3]) {
    y[0] = x[0] - v[0];
    y[1] = x[1] - v[1];
    y[2] = x[2] - v[2] - kl_desaxce_normal(friction, v);
}

static KlContactState contact_state(double friction, const double y[3]) {
    static const KlContactState states[] = {
        [KL_CONE_INSIDE] = KL_STATE_STICK, [KL_CONE_SURFACE] = KL_STATE_SLIP, [KL_CONE_POLAR] = KL_STATE_OPEN};
    return states[kl_coulomb_region(friction, y)];
}

static void slip(double friction, const double x[3], const double v[3], const double y[3], double eta, double take[9],
                 double add[9], double right[3]) {
    double tangent = sqrt(y[0] * y[0] + y[1] * y[1]);
    double along[2] = {tangent > 0.0 ? y[0] / tangent : 1.0, tangent > 0.0 ? y[1] / tangent : 0.0};
    double length = sqrt(1.0 + friction * friction), height = (friction * tangent + y[2]) / (1.0 + friction * friction);
    double w[3] = {friction * along[0] / length, friction * along[1] / length, 1.0 / length};
    double across[3] = {-along[1], along[0], 0.0};
    double normal[3] = {along[0] / length, along[1] / length, -friction / length};
    double kappa = tangent > 0.0 ? friction * height / tangent : 0.0;
    double f[3] = {x[0] - height * friction * along[0], x[1] - height * friction * along[1], x[2] - height};
    double speed = sqrt(v[0] * v[0] + v[1] * v[1]);
    double ray[3] = {w[0], w[1], w[2]};  // w G: G adds mu v_t/|v_t| to the normal row
    if (speed > 0.0) {
        ray[0] += w[2] * friction * v[0] / speed;
        ray[1] += w[2] * friction * v[1] / speed;
    }
    memset(take, 0, 9 * sizeof *take);
    set_row(add, 0, 1.0, normal);
    set_row(take, 1, 1.0, ray);
    set_row(add, 1, eta, ray);
    set_row(take, 2, kappa, across);
    set_row(add, 2, 1.0 - kappa + eta * kappa, across);
    right[0] = -dot3(normal, f);
    right[1] = -dot3(w, f);
    right[2] = -dot3(across, f);
}

static void linearize_contact(KlScaled *s, int32_t k, const double *x, const double *velocity, double eta,
                              double *right, uint8_t *state) {
    int32_t row = s->first_contact + 3 * k;
    double friction = s->problem->friction[k], y[3];
    double *take = s->laws.contact_take + 9 * (size_t)k, *add = s->laws.contact_add + 9 * (size_t)k;
    natural_argument(friction, x + row, velocity + row, y);
    *state = (uint8_t)contact_state(friction, y);
    if (*state == KL_STATE_SLIP) {
        slip(friction, x + row, velocity + row, y, eta, take, add, right + row);
        return;
    }
    bool open = *state == KL_STATE_OPEN;
    set_diagonal(take, open ? 0.0 : 1.0);
    set_diagonal(add, open ? 1.0 : eta);
    for (int32_t i = 0; i < 3; i++) {
        right[row + i] = open ? -x[row + i] : -velocity[row + i];
    }
}

void kl_semismooth_linearize(KlScaled *s, const double *x, const double *velocity, double eta, double *right,
                             uint8_t *state) {
    s->laws.inverse_given = false;
    for (int32_t i = 0; i < s->first_limit; i++) {
        s->laws.joint_shift[i] = eta;
        right[i] = -velocity[i];
    }
    for (int32_t k = 0; k < s->limits; k++) {
        int32_t row = s->first_limit + k;
        bool open = x[row] - velocity[row] <= 0.0;
        state[k] = open ? KL_STATE_OPEN : KL_STATE_STICK;
        s->laws.limit_take[k] = open ? 0.0 : 1.0;
        s->laws.limit_add[k] = open ? 1.0 : eta;
        right[row] = open ? -x[row] : -velocity[row];
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        linearize_contact(s, k, x, velocity, eta, right, state + s->limits + k);
    }
}

void kl_semismooth_argument(double friction, double scale, const double x[3], const double v[3], double y[3]) {
    double scaled[3] = {scale * v[0], scale * v[1], scale * v[2]};
    natural_argument(friction, x, scaled, y);
}

uint8_t kl_semismooth_state(double friction, double scale, const double x[3], const double v[3]) {
    double y[3];
    kl_semismooth_argument(friction, scale, x, v, y);
    return (uint8_t)contact_state(friction, y);
}

int32_t kl_semismooth_states(const KlScaled *s, const double *x, const double *velocity, uint8_t *state) {
    int32_t changed = 0;
    for (int32_t k = 0; k < s->limits + s->contacts; k++) {
        uint8_t now;
        if (k < s->limits) {
            int32_t row = s->first_limit + k;
            now = x[row] - velocity[row] <= 0.0 ? KL_STATE_OPEN : KL_STATE_STICK;
        } else {
            int32_t row = s->first_contact + 3 * (k - s->limits);
            now = kl_semismooth_state(s->problem->friction[k - s->limits], 1.0, x + row, velocity + row);
        }
        changed += now != state[k];
        state[k] = now;
    }
    return changed;
}
