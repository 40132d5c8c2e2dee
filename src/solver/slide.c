#include "solver/slide.h"

#include <math.h>

#include "dual/storage.h"
#include "math/lanes.h"
#include "math/lu.h"
#include "solver/semismooth.h"

static const double ON_CONE = 1e-9;        // of its square
static const double WITHIN = 1.0 - 4e-16;  // of the cone: rounding does not take a point out of it

// Whether a reaction lies on its cone, as those of the step before do that slid.
static bool lies_on_cone(double friction, const double x[3]) {
    double most = friction * x[2], square = x[0] * x[0] + x[1] * x[1];
    return x[2] > 0.0 && fabs(square - most * most) <= ON_CONE * most * most;
}

// The direction across that of its reaction.
static void turn_across(double *ray, const double x[3]) {
    double inverse = 1.0 / sqrt(x[0] * x[0] + x[1] * x[1]);
    ray[0] = -inverse * x[1];
    ray[1] = inverse * x[0];
}

// Where the natural map at kept and velocity (kept) projects what slides by `state`. Whether that has moved something.
static bool place_all(KlSlide *s, const KlProblem *p, const uint8_t *state, const double *velocity, double *kept) {
    const double *scale = kl_problem_prepare(p)->scale;
    bool moved = false;
    s->count = 0;
    for (int32_t k = 0; k < p->contact_count; k++) {
        int32_t row = kl_contact_row(p, k);
        if (state[p->limit_count + k] == KL_STATE_SLIP) {
            if (!lies_on_cone(p->friction[k], kept + row)) {
                kl_rest_place(p->friction[k], scale[row], velocity + row, kept + row);
                moved = true;
            }
            s->row[s->count] = row;
            s->friction[s->count++] = p->friction[k];
        }
    }
    return moved;
}

bool kl_slide_begin(KlSlide *s, KlRest *r, const KlTree *t, const uint8_t *state, const double *velocity,
                    double *kept) {
    bool moved = place_all(s, t->rest, state, velocity, kept);
    int32_t rubbing = 0;
    kl_rest_hold(r, t, state);
    for (int32_t k = 0; k < s->count; k++) {
        int32_t row = s->row[k];
        const double *x = kept + row;
        if (x[0] != 0.0 || x[1] != 0.0) {
            s->friction[rubbing] = s->friction[k];
            s->row[rubbing++] = row;
        } else {
            kl_rest_add_face(r, row + 2, 1, 1.0, 0.0, 0.0);
        }
    }
    s->count = rubbing;
    s->across = r->faces;
    for (int32_t k = 0; k < s->count; k++) {
        kl_rest_add_face(r, s->row[k], 2, 0.0, 0.0, s->friction[k]);
        turn_across(r->ray + 3 * (s->across + k), kept + s->row[k]);
    }
    for (int32_t k = 0; k < s->count; k++) {
        kl_rest_add_face(r, s->row[k] + 2, 1, 1.0, 0.0, 0.0);
    }
    return moved;
}

// Of y (rank) by pivots the normals' part of P U^-1 y, 0 where they depend on others: the end of y tells it.
static void find_normals(const KlSlide *s, const KlRest *r, const double *y, double *normal) {
    int32_t width = r->faces + r->columns, count = r->rank - s->first;
    double end[KL_TREE_ROWS];
    kl_lanes_copy(y + s->first, count, end);
    kl_upper_solve(r->factor + s->first * (width + 1), width, count, end);
    for (int32_t k = 0; k < s->count; k++) {
        normal[k] = s->place[k] < r->rank ? end[s->place[k] - s->first] : 0.0;
    }
}

// Where the normals are among the pivots, and the first of them.
static void find_places(KlSlide *s, const KlRest *r) {
    s->first = r->rank;
    for (int32_t i = 0; i < r->faces; i++) {
        int32_t k = r->order[i] - s->across - s->count;
        if (k >= 0) {
            s->place[k] = i;
            s->first = i < s->first ? i : s->first;
        }
    }
}

bool kl_slide_factor(KlSlide *s, KlRest *r, const KlTree *t, const double *velocity, const double *kept) {
    for (int32_t k = 0; k < s->count; k++) {
        const double *x = kept + s->row[k], *v = velocity + s->row[k];
        double power = -(x[0] * v[0] + x[1] * v[1]);  // |v_t| mu n where it slides as it rubs
        r->spring[s->across + k] = power > 0.0 ? power / (x[0] * x[0] + x[1] * x[1]) : 0.0;
    }
    if (!kl_rest_factor(r, t)) {
        return false;
    }
    find_places(s, r);
    for (int32_t c = 0; c < s->count; c++) {
        double column[KL_TREE_ROWS], normal[KL_SLIDE_CONTACTS];
        for (int32_t i = s->first; i < r->rank; i++) {
            column[i] = r->factor[i * (r->faces + r->columns) + r->faces + c];
        }
        find_normals(s, r, column, normal);
        for (int32_t k = 0; k < s->count; k++) {
            s->system[k * s->count + c] = normal[k] + (k == c);
        }
    }
    return s->count == 0 || kl_lu_factor(s->system, s->count, s->exchange) > 0.0;
}

void kl_slide_pull(KlSlide *s, const KlRest *r, const double *velocity) {
    kl_rest_pull(r, velocity, s->right);
    kl_lanes_negate(s->right, r->faces, s->right);
}

double kl_slide_left(const KlSlide *s, const KlRest *r, const KlTree *t) {
    const double *scale = kl_problem_prepare(t->rest)->scale;
    double most = 0.0;
    for (int32_t i = 0; i < r->faces; i++) {
        double own = fabs(s->right[i] * scale[r->row[i]]);
        most = own <= most ? most : own;
    }
    return most;
}

bool kl_slide_step(const KlSlide *s, KlRest *r, double *kept) {
    double x[KL_TREE_ROWS], y[KL_TREE_ROWS], normal[KL_SLIDE_CONTACTS];
    kl_rest_solve_lower(r, s->right, y);
    if (s->count > 0) {
        find_normals(s, r, y, normal);
        kl_lu_solve(s->system, s->count, s->exchange, normal);
        for (int32_t i = 0; i < r->rank; i++) {
            y[i] -= kl_lanes_dot(normal, r->factor + i * (r->faces + r->columns) + r->faces, s->count);
        }
    }
    kl_rest_solve_upper(r, y, x);
    kl_rest_push(r, x, kept);
    bool pushes = true;
    for (int32_t k = 0; k < s->count; k++) {
        double *own = kept + s->row[k], length = sqrt(own[0] * own[0] + own[1] * own[1]);
        if (!(own[2] > 0.0 && length > 0.0)) {
            own[0] = own[1] = own[2] = 0.0;
            pushes = false;
            continue;
        }
        double size = WITHIN * s->friction[k] * own[2] / length;
        own[0] *= size;
        own[1] *= size;
        turn_across(r->ray + 3 * (s->across + k), own);
    }
    return pushes;
}
