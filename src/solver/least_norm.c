#include "solver/least_norm.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "cone/cone.h"
#include "dual/desaxce.h"

static const double EPSILON = 1e6;    // least shifts of the factorization
static const double FLOOR = 1e-5;     // of W, so that EPSILON * FLOOR stays above them
static const double REACHED = 1e-13;  // of |D x*|
enum { ROUNDS = 40 };

KlStatus kl_least_norm_reserve(KlLeastNorm *ln, const KlScaled *s) {
    size_t dim = (size_t)s->dim;
    if (!KL_ROOM(ln->memory, 5 * dim + 1)) {
        return KL_ERR_MEMORY;
    }
    double **vectors[] = {&ln->x, &ln->image, &ln->goal, &ln->right, &ln->step};
    for (size_t i = 0; i < 5; i++) {
        *vectors[i] = ln->memory.at + i * dim;
    }
    return KL_OK;
}

void kl_least_norm_release(KlLeastNorm *ln) {
    kl_free(ln->memory.at);
    *ln = (KlLeastNorm){0};
}

// ---- faces -------------------------------------------------------------------------------------

void kl_least_norm_shifts(const KlScaled *s, double *shift) {
    double epsilon = EPSILON * s->least_shift, largest = 0.0;
    for (int32_t i = 0; i < s->dim; i++) {
        shift[i] = s->scale[i] * s->scale[i];
        largest = shift[i] > largest ? shift[i] : largest;
    }
    double inverse = 1.0 / largest;
    for (int32_t i = 0; i < s->dim; i++) {
        double weight = shift[i] * inverse;
        shift[i] = epsilon * (weight > FLOOR ? weight : FLOOR);
    }
}

// Rows of an orthonormal frame: two across the ray, then the ray itself.
static void ray_frame(const double x[3], double frame[9]) {
    double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), tangent = sqrt(x[0] * x[0] + x[1] * x[1]);
    double along[2] = {tangent > 0.0 ? x[0] / tangent : 1.0, tangent > 0.0 ? x[1] / tangent : 0.0};
    double rise = x[2] / size, out = tangent / size;
    double rows[9] = {-along[1],      along[0],       0.0, along[0] * rise, along[1] * rise, -out,
                      along[0] * out, along[1] * out, rise};
    memcpy(frame, rows, sizeof rows);
}

static void contact_face(KlScaled *s, int32_t k, const double *x, const double *velocity, double shift) {
    int32_t row = s->first_contact + 3 * k;
    const double *l = x + row, *v = velocity + row;
    double *take = s->laws.contact_take + 9 * (size_t)k, *add = s->laws.contact_add + 9 * (size_t)k, frame[9];
    double y[3] = {l[0] - v[0], l[1] - v[1], l[2] - v[2] - kl_desaxce_normal(s->problem->friction[k], v)};
    KlConeRegion region = kl_coulomb_region(s->problem->friction[k], y);
    memset(take, 0, 9 * sizeof *take);
    memset(add, 0, 9 * sizeof *add);
    for (int32_t i = 0; i < 3; i++) {
        take[4 * i] = region == KL_CONE_INSIDE ? 1.0 : 0.0;
        add[4 * i] = region == KL_CONE_INSIDE ? shift : 1.0;
    }
    if (region == KL_CONE_SURFACE && l[2] > 0.0) {
        ray_frame(l, frame);
        memcpy(add, frame, sizeof frame);
        for (int32_t i = 0; i < 3; i++) {
            take[i] = take[3 + i] = 0.0;
            take[6 + i] = frame[6 + i];
            add[6 + i] = shift * frame[6 + i];
        }
    }
}

static void form_faces(KlScaled *s, const double *shift, const double *x, const double *velocity) {
    s->laws.inverse_given = false;
    for (int32_t i = 0; i < s->first_limit; i++) {
        s->laws.joint_shift[i] = shift[i];
    }
    for (int32_t k = 0; k < s->limits; k++) {
        int32_t row = s->first_limit + k;
        bool open = x[row] - velocity[row] <= 0.0;
        s->laws.limit_take[k] = open ? 0.0 : 1.0;
        s->laws.limit_add[k] = open ? 1.0 : shift[row];
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        contact_face(s, k, x, velocity, shift[s->first_contact + 3 * k]);
    }
}

// right = T (goal - image); returns the size of it.
static double pull(KlLeastNorm *ln, const KlScaled *s) {
    double largest = 0.0;
    for (int32_t i = 0; i < s->dim; i++) {
        ln->right[i] = ln->goal[i] - ln->image[i];
    }
    for (int32_t k = 0; k < s->limits; k++) {
        ln->right[s->first_limit + k] *= s->laws.limit_take[k];
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        const double *t = s->laws.contact_take + 9 * (size_t)k;
        double *r = ln->right + s->first_contact + 3 * k, d[3] = {r[0], r[1], r[2]};
        for (int32_t i = 0; i < 3; i++) {
            r[i] = t[3 * i] * d[0] + t[3 * i + 1] * d[1] + t[3 * i + 2] * d[2];
        }
    }
    for (int32_t i = 0; i < s->dim; i++) {
        largest = fabs(ln->right[i]) > largest ? fabs(ln->right[i]) : largest;
    }
    return largest;
}

// Iterated Tikhonov from 0 into ln->x; whether it reached D x*.
static bool approach(KlLeastNorm *ln, KlScaled *s) {
    memset(ln->x, 0, (size_t)s->dim * sizeof *ln->x);
    memset(ln->image, 0, (size_t)s->dim * sizeof *ln->image);
    double first = pull(ln, s), before = INFINITY;
    for (int32_t round = 0; round < ROUNDS; round++) {
        double left = pull(ln, s);
        if (left <= REACHED * first) {
            return true;
        }
        if (!(left < 0.9 * before)) {
            return left <= 1e3 * REACHED * first;  // rounding
        }
        before = left;
        kl_scaled_solve(s, ln->right, 0, ln->step);
        for (int32_t i = 0; i < s->dim; i++) {
            ln->x[i] += ln->step[i];
        }
        kl_scaled_multiply(s, ln->x, ln->image);
    }
    return false;
}

double kl_share_in_cone(double friction, const double x[3], const double d[3]) {
    double a = friction * friction * d[2] * d[2] - d[0] * d[0] - d[1] * d[1];
    double b = friction * friction * x[2] * d[2] - x[0] * d[0] - x[1] * d[1];
    double c = friction * friction * x[2] * x[2] - x[0] * x[0] - x[1] * x[1];
    double share = 1.0, discriminant = b * b - a * c;
    c = c > 0.0 ? c : 0.0;
    if (discriminant >= 0.0) {
        double q = -(b + (b >= 0.0 ? sqrt(discriminant) : -sqrt(discriminant)));
        double roots[2] = {a != 0.0 ? q / a : INFINITY, q != 0.0 ? c / q : INFINITY};
        for (int32_t i = 0; i < 2; i++) {
            share = roots[i] > 0.0 && roots[i] < share ? roots[i] : share;
        }
        share = c == 0.0 && b < 0.0 ? 0.0 : share;
    }
    return d[2] < 0.0 && -x[2] / d[2] < share ? -x[2] / d[2] : share;
}

static double share_in_cones(const KlLeastNorm *ln, const KlScaled *s, const double *x) {
    double share = 1.0;
    for (int32_t i = s->first_limit; i < s->first_contact; i++) {
        double d = ln->x[i] - x[i];
        share = d < 0.0 && -x[i] / d < share ? -x[i] / d : share;
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t row = s->first_contact + 3 * k;
        double y[3] = {ln->x[row], ln->x[row + 1], ln->x[row + 2]};
        if (kl_coulomb_region(s->problem->friction[k], y) != KL_CONE_INSIDE && s->laws.contact_take[9 * k] == 1.0 &&
            s->laws.contact_take[9 * k + 4] == 1.0) {  // sticking contacts alone can leave their cones
            double d[3] = {y[0] - x[row], y[1] - x[row + 1], y[2] - x[row + 2]};
            double most = kl_share_in_cone(s->problem->friction[k], x + row, d);
            share = most < share ? most : share;
        } else if (y[2] < 0.0) {
            share = x[row + 2] / (x[row + 2] - y[2]) < share ? x[row + 2] / (x[row + 2] - y[2]) : share;
        }
    }
    return share;
}

bool kl_least_norm(KlLeastNorm *ln, KlScaled *s, const double *x, const double *velocity) {
    kl_least_norm_shifts(s, ln->step);
    form_faces(s, ln->step, x, velocity);
    kl_scaled_multiply(s, x, ln->goal);
    if (!kl_scaled_factor(s) || !approach(ln, s)) {
        return false;
    }
    double share = share_in_cones(ln, s, x), moved = 0.0, size = 0.0;
    for (int32_t i = 0; i < s->dim; i++) {
        double d = share * (ln->x[i] - x[i]);
        ln->x[i] = x[i] + d;
        moved = fabs(s->scale[i] * d) > moved ? fabs(s->scale[i] * d) : moved;
        size = fabs(s->scale[i] * x[i]) > size ? fabs(s->scale[i] * x[i]) : size;
    }
    kl_scaled_project(s, ln->x);
    return moved > 1e-12 * size;
}
