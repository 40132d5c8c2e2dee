#include "solver/interior.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "math/vec.h"

// Below this distance to the boundary (relative) rounding decides on which side a point lies.
static const double BOUNDARY = 1e-15;
static const double TOLERATED = 1e-12;  // a step may cross the boundary by this much and is put back
static const double DAMPING = 0.99;     // share of the way to the boundary (Mehrotra)
static const double PROXIMAL = 10.0;    // least shifts of the factorization: keeps D regular on its null space

static const int32_t to_cone[3] = {1, 2, 0};  // place of t, o, n in cone coordinates

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

// ---- the Lorentz cone --------------------------------------------------------------------------

static double tangent(const double x[3]) { return sqrt(x[1] * x[1] + x[2] * x[2]); }

// (x_0 - |x_t|)(x_0 + |x_t|), kept positive
static double determinant(const double x[3]) {
    double t = tangent(x);
    return most(x[0] - t, BOUNDARY * x[0]) * (x[0] + t);
}

static double inner(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void jordan(const double a[3], const double b[3], double c[3]) {
    c[0] = inner(a, b);
    c[1] = a[0] * b[1] + b[0] * a[1];
    c[2] = a[0] * b[2] + b[0] * a[2];
}

static void jordan_solve(const double a[3], const double b[3], double c[3]) {  // a o c = b
    c[0] = (a[0] * b[0] - a[1] * b[1] - a[2] * b[2]) / determinant(a);
    c[1] = (b[1] - a[1] * c[0]) / a[0];
    c[2] = (b[2] - a[2] * c[0]) / a[0];
}

// Nesterov-Todd point: W x = W^-1 s with W = eta [w_0 w^T; w 1 + w w^T/(1 + w_0)].
static void scale_contact(const double x[3], const double s[3], double point[4]) {
    double dx = sqrt(determinant(x)), ds = sqrt(determinant(s));
    double half = 0.5 * (inner(x, s) / (dx * ds) + 1.0), g = 0.5 / sqrt(half);
    point[0] = g * (s[0] / ds + x[0] / dx);
    point[1] = g * (s[1] / ds - x[1] / dx);
    point[2] = g * (s[2] / ds - x[2] / dx);
    point[0] = sqrt(1.0 + point[1] * point[1] + point[2] * point[2]);
    point[3] = sqrt(ds / dx);
}

static void apply_scaling(const double point[4], const double a[3], double c[3]) {  // W a
    double along = point[1] * a[1] + point[2] * a[2], share = a[0] + along / (1.0 + point[0]);
    c[0] = point[3] * (point[0] * a[0] + along);
    c[1] = point[3] * (a[1] + point[1] * share);
    c[2] = point[3] * (a[2] + point[2] * share);
}

static void undo_scaling(const double point[4], const double a[3], double c[3]) {  // W^-1 a
    double mirrored[4] = {point[0], -point[1], -point[2], 1.0 / point[3]};
    apply_scaling(mirrored, a, c);
}

// W^2 = eta^2 (2 w w^T - diag(1, -1, -1))
static void square_scaling(const double point[4], double b[9]) {
    double factor = point[3] * point[3];
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            b[3 * i + j] = factor * (2.0 * point[i] * point[j] - (i != j ? 0.0 : i == 0 ? 1.0 : -1.0));
        }
    }
}

// Largest a <= 1 with x + a d in the cone.
static double length_in_cone(const double x[3], const double d[3]) {
    double a = d[0] * d[0] - d[1] * d[1] - d[2] * d[2], b = x[0] * d[0] - x[1] * d[1] - x[2] * d[2];
    double t = tangent(x), c = most(x[0] - t, TOLERATED * x[0]) * (x[0] + t), length = 1.0;
    double discriminant = b * b - a * c;
    if (discriminant >= 0.0) {
        double q = -(b + (b >= 0.0 ? sqrt(discriminant) : -sqrt(discriminant)));
        double first = a != 0.0 ? q / a : INFINITY, second = q != 0.0 ? c / q : INFINITY;
        length = first > 0.0 ? least(length, first) : length;
        length = second > 0.0 ? least(length, second) : length;
    }
    return d[0] < 0.0 ? least(length, -x[0] / d[0]) : length;
}

static void put_inside(double x[3]) {
    double t = tangent(x);
    x[0] = most(most(x[0], t * (1.0 + BOUNDARY)), DBL_MIN);
}

// ---- memory and start --------------------------------------------------------------------------

static double cone_friction(const KlScaled *s,
                            int32_t k) {  // a contact without friction is a half line
    double friction = s->problem->friction[k];
    return friction > 0.0 ? friction : 1.0;
}

static bool frictionless(const KlScaled *s, int32_t k) { return !(s->problem->friction[k] > 0.0); }

KlStatus kl_interior_reserve(KlInterior *ip, const KlScaled *s) {
    size_t dim = (size_t)s->dim;
    if (!KL_ROOM(ip->memory, 9 * dim + 4 * (size_t)s->contacts)) {
        return KL_ERR_MEMORY;
    }
    double **vectors[] = {&ip->x,   &ip->s,     &ip->dx,       &ip->ds, &ip->velocity,
                          &ip->gap, &ip->right, &ip->solution, &ip->aim};
    double *at = ip->memory.at;
    for (size_t i = 0; i < 9; i++, at += dim) {
        *vectors[i] = at;
    }
    ip->scaling = at;
    return KL_OK;
}

void kl_interior_release(KlInterior *ip) {
    kl_free(ip->memory.at);
    *ip = (KlInterior){0};
}

void kl_interior_reaction(const KlInterior *ip, const KlScaled *s, double *x) {
    memcpy(x, ip->x, (size_t)s->first_contact * sizeof *x);
    for (int32_t k = 0; k < s->contacts; k++) {
        const double *from = ip->x + s->first_contact + 3 * k;
        double *to = x + s->first_contact + 3 * k;
        to[0] = from[1];
        to[1] = from[2];
        to[2] = from[0] / cone_friction(s, k);
    }
}

// ---- one iteration -----------------------------------------------------------------------------

static double complementarity(const KlScaled *s, const double *x, const double *dual) {
    double sum = 0.0;
    for (int32_t i = s->first_limit; i < s->dim; i++) {
        sum += x[i] * dual[i];
    }
    int32_t cones = s->limits + s->contacts;
    return cones > 0 ? sum / cones : 0.0;
}

// gap = v_hat(v) - s in cone coordinates (joints: v).
static void measure_gap(KlInterior *ip, KlScaled *s) {
    kl_interior_reaction(ip, s, ip->solution);
    kl_scaled_velocity(s, ip->solution, ip->velocity);
    for (int32_t i = 0; i < s->first_contact; i++) {
        ip->gap[i] = ip->velocity[i] - ip->s[i];  // s is 0 on joints
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t row = s->first_contact + 3 * k;
        const double *v = ip->velocity + row, *dual = ip->s + row;
        double slide = frictionless(s, k) ? 0.0 : tangent(dual);
        ip->gap[row] = v[2] / cone_friction(s, k) + slide - dual[0];
        ip->gap[row + 1] = v[0] - dual[1];
        ip->gap[row + 2] = v[1] - dual[2];
    }
}

void kl_interior_start(KlInterior *ip, KlScaled *s) {
    memset(ip->x, 0, (size_t)s->dim * sizeof *ip->x);
    memset(ip->s, 0, (size_t)s->dim * sizeof *ip->s);
    for (int32_t i = s->first_limit; i < s->first_contact; i++) {
        ip->x[i] = ip->s[i] = 1.0;
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        ip->x[s->first_contact + 3 * k] = ip->s[s->first_contact + 3 * k] = 1.0;
    }
    ip->step = 1.0;
    measure_gap(ip, s);
}

// c = (1 - E) a: the normal component loses the share of |s_t|.
static void without_slide(const double dual[3], const double a[3], double c[3]) {
    double t = tangent(dual);
    c[0] = a[0] - (t > 0.0 ? (dual[1] * a[1] + dual[2] * a[2]) / t : 0.0);
    c[1] = a[1];
    c[2] = a[2];
}

static void frictionless_law(const double *x, const double *dual, double proximal, double take[9], double add[9]) {
    memset(take, 0, 9 * sizeof *take);
    memset(add, 0, 9 * sizeof *add);
    take[8] = 1.0;
    add[0] = add[4] = 1.0;
    add[8] = dual[0] / x[0] + proximal;
}

// A = (1 - E) W^2 in rows (t, o, n): the normal row and column carry mu.
static void contact_law(const double *point, const double *dual, double friction, double proximal, double take[9],
                        double add[9]) {
    double b[9];
    square_scaling(point, b);
    double t = tangent(dual), share[2] = {t > 0.0 ? dual[1] / t : 0.0, t > 0.0 ? dual[2] / t : 0.0};
    for (int32_t j = 0; j < 3; j++) {
        b[j] -= share[0] * b[3 + j] + share[1] * b[6 + j];
    }
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            double factor = (i == 2 ? friction : 1.0) * (j == 2 ? friction : 1.0);
            add[3 * i + j] = factor * b[3 * to_cone[i] + to_cone[j]] + (i == j ? proximal : 0.0);
            take[3 * i + j] = i == j ? 1.0 : 0.0;
        }
    }
}

// Columns: the eigenvectors of W^2, (1, u), (1, -u), (0, u turned), u along w; their eigenvalues.
static void scaling_frame(const double *point, double frame[9], double value[3]) {
    double t = sqrt(point[1] * point[1] + point[2] * point[2]), half = sqrt(0.5);
    double u[2] = {t > 0.0 ? point[1] / t : 1.0, t > 0.0 ? point[2] / t : 0.0};
    double columns[9] = {half, half, 0.0, half * u[0], -half * u[0], -u[1], half * u[1], -half * u[1], u[0]};
    memcpy(frame, columns, sizeof columns);
    double square = point[3] * point[3], grown = (point[0] + t) * (point[0] + t);
    value[0] = square * grown;
    value[1] = square / grown;
    value[2] = square;
}

// (A + S)^-1 = T [B + (1 + E) T^T S T]^-1 (1 + E) T^T, B = W^2 diagonal in its frame, T from cone
// coordinates to rows: nothing small is ever added to something large. shift (t, o, n) is S.
static void contact_inverse(const double *point, const double *dual, double friction, const double shift[3],
                            double inverse[9]) {
    double frame[9], value[3], turned[9], mixed[9], scale[3], undone[9], slide[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double soft[3] = {shift[2] / (friction * friction), shift[0], shift[1]}, t = tangent(dual);
    slide[1] = t > 0.0 ? dual[1] / t : 0.0;
    slide[2] = t > 0.0 ? dual[2] / t : 0.0;
    scaling_frame(point, frame, value);
    for (int32_t i = 0; i < 9; i++) {
        turned[i] = slide[i] * soft[i % 3];
    }
    kl_mat3_mul(turned, frame, mixed);
    kl_mat3_transpose(frame, turned);
    kl_mat3_mul(turned, mixed, undone);
    for (int32_t i = 0; i < 3; i++) {
        scale[i] = 1.0 / sqrt(value[i] + fabs(undone[4 * i]));
    }
    for (int32_t i = 0; i < 9; i++) {
        mixed[i] = scale[i / 3] * (undone[i] + (i % 4 == 0 ? value[i / 3] : 0.0)) * scale[i % 3];
    }
    (void)kl_mat3_inverse(mixed, undone);
    for (int32_t i = 0; i < 9; i++) {
        undone[i] *= scale[i / 3] * scale[i % 3];
    }
    kl_mat3_mul(undone, turned, mixed);
    kl_mat3_mul(frame, mixed, undone);
    kl_mat3_mul(undone, slide, mixed);
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            double factor = (i == 2 ? friction : 1.0) * (j == 2 ? friction : 1.0);
            inverse[3 * i + j] = mixed[3 * to_cone[i] + to_cone[j]] / factor;
        }
    }
}

static void form_laws(KlInterior *ip, KlScaled *s) {
    double proximal = PROXIMAL * s->least_shift;
    for (int32_t i = 0; i < s->first_limit; i++) {
        s->laws.joint_shift[i] = proximal;
    }
    s->laws.inverse_given = true;
    for (int32_t k = 0; k < s->limits; k++) {
        int32_t row = s->first_limit + k;
        s->laws.limit_take[k] = 1.0;
        s->laws.limit_add[k] = ip->s[row] / ip->x[row] + proximal;
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t row = s->first_contact + 3 * k;
        double *point = ip->scaling + 4 * (size_t)k;
        double *take = s->laws.contact_take + 9 * (size_t)k, *add = s->laws.contact_add + 9 * (size_t)k;
        s->laws.contact_exact[k] = !frictionless(s, k);
        if (frictionless(s, k)) {
            frictionless_law(ip->x + row, ip->s + row, proximal, take, add);
            continue;
        }
        scale_contact(ip->x + row, ip->s + row, point);
        double friction = s->problem->friction[k], shift[3];
        contact_law(point, ip->s + row, friction, proximal, take, add);
        if (s->bodies) {
            for (int32_t i = 0; i < 3; i++) {
                shift[i] = proximal + kl_scaled_softness(s, row + i);
            }
            contact_inverse(point, ip->s + row, friction, shift, s->laws.contact_inverse + 9 * (size_t)k);
        }
    }
}

// w of ds = w - B dx for the target x o s = sigma tau - (second-order terms of the predictor, if
// any).
static void aim_contact(KlInterior *ip, const KlScaled *s, int32_t k, double target, bool corrector) {
    int32_t row = s->first_contact + 3 * k;
    double *w = ip->aim + row;
    const double *dx = ip->dx + row, *ds = ip->ds + row;
    if (frictionless(s, k)) {
        w[0] = -ip->s[row] + (target - (corrector ? dx[0] * ds[0] : 0.0)) / ip->x[row];
        w[1] = w[2] = 0.0;
        return;
    }
    const double *point = ip->scaling + 4 * (size_t)k;
    double middle[3], scaled_dx[3], scaled_ds[3], product[3] = {0.0, 0.0, 0.0}, turned[3];
    undo_scaling(point, ip->s + row, middle);
    if (corrector) {
        apply_scaling(point, dx, scaled_dx);
        undo_scaling(point, ds, scaled_ds);
        jordan(scaled_dx, scaled_ds, product);
    }
    double goal[3] = {target - product[0], -product[1], -product[2]};
    jordan_solve(middle, goal, turned);
    apply_scaling(point, turned, w);
    for (int32_t i = 0; i < 3; i++) {
        w[i] -= ip->s[row + i];
    }
}

static void aim(KlInterior *ip, const KlScaled *s, double target, bool corrector) {
    for (int32_t i = s->first_limit; i < s->first_contact; i++) {
        double second = corrector ? ip->dx[i] * ip->ds[i] : 0.0;
        ip->aim[i] = -ip->s[i] + (target - second) / ip->x[i];
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        aim_contact(ip, s, k, target, corrector);
    }
}

// Right-hand side -gap + (1 - E) w, in rows (t, o, n).
static void form_right(KlInterior *ip, const KlScaled *s) {
    for (int32_t i = 0; i < s->first_contact; i++) {
        ip->right[i] = -ip->gap[i] + (i >= s->first_limit ? ip->aim[i] : 0.0);
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t row = s->first_contact + 3 * k;
        double turned[3], *right = ip->right + row;
        const double *w = ip->aim + row, *gap = ip->gap + row;
        if (frictionless(s, k)) {
            right[0] = right[1] = 0.0;
            right[2] = w[0] - gap[0];
            continue;
        }
        without_slide(ip->s + row, w, turned);
        right[0] = turned[1] - gap[1];
        right[1] = turned[2] - gap[2];
        right[2] = s->problem->friction[k] * (turned[0] - gap[0]);
    }
}

static void take_step_apart(KlInterior *ip, const KlScaled *s) {  // solution -> dx, ds
    memcpy(ip->dx, ip->solution, (size_t)s->first_contact * sizeof *ip->dx);
    memset(ip->ds, 0, (size_t)s->first_limit * sizeof *ip->ds);
    for (int32_t i = s->first_limit; i < s->first_contact; i++) {
        ip->ds[i] = ip->aim[i] - ip->s[i] / ip->x[i] * ip->dx[i];
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t row = s->first_contact + 3 * k;
        const double *solved = ip->solution + row, *point = ip->scaling + 4 * (size_t)k;
        double *dx = ip->dx + row, *ds = ip->ds + row;
        dx[0] = cone_friction(s, k) * solved[2];
        dx[1] = solved[0];
        dx[2] = solved[1];
        if (frictionless(s, k)) {
            dx[1] = dx[2] = ds[1] = ds[2] = 0.0;
            ds[0] = ip->aim[row] - ip->s[row] / ip->x[row] * dx[0];
            continue;
        }
        double once[3], twice[3];
        apply_scaling(point, dx, once);
        apply_scaling(point, once, twice);
        for (int32_t i = 0; i < 3; i++) {
            ds[i] = ip->aim[row + i] - twice[i];
        }
    }
}

static double step_length(const KlInterior *ip, const KlScaled *s, const double *x, const double *dx) {
    (void)ip;
    double length = 1.0;
    for (int32_t i = s->first_limit; i < s->first_contact; i++) {
        length = dx[i] < 0.0 ? least(length, -x[i] / dx[i]) : length;
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        int32_t row = s->first_contact + 3 * k;
        length = least(length, length_in_cone(x + row, dx + row));
    }
    return length;
}

// The predictor only measures how far one can go: it needs no refinement.
static void solve_for(KlInterior *ip, KlScaled *s, double target, bool corrector) {
    aim(ip, s, target, corrector);
    form_right(ip, s);
    kl_scaled_solve(s, ip->right, corrector ? 1 : 0, ip->solution);
    take_step_apart(ip, s);
}

// Mehrotra's centring: how little complementarity the predictor alone would leave.
static double centring(const KlInterior *ip, const KlScaled *s, double length) {
    double sum = 0.0;
    for (int32_t i = s->first_limit; i < s->dim; i++) {
        sum += (ip->x[i] + length * ip->dx[i]) * (ip->s[i] + length * ip->ds[i]);
    }
    double ratio = most(sum / (s->limits + s->contacts) / ip->tau, 0.0);
    return ratio < 1.0 ? ratio * ratio * ratio : 1.0;
}

static void move(KlInterior *ip, const KlScaled *s, double length) {
    for (int32_t i = 0; i < s->dim; i++) {
        ip->x[i] += length * ip->dx[i];
        ip->s[i] += length * ip->ds[i];
    }
    for (int32_t i = s->first_limit; i < s->first_contact; i++) {
        ip->x[i] = most(ip->x[i], DBL_MIN);
        ip->s[i] = most(ip->s[i], DBL_MIN);
    }
    for (int32_t k = 0; k < s->contacts; k++) {
        put_inside(ip->x + s->first_contact + 3 * k);
        put_inside(ip->s + s->first_contact + 3 * k);
    }
}

static bool finite_step(const KlInterior *ip, const KlScaled *s) {
    double sum = 0.0;
    for (int32_t i = 0; i < s->dim; i++) {
        sum += 0.0 * ip->dx[i] + 0.0 * ip->ds[i];
    }
    return sum == 0.0;
}

bool kl_interior_step(KlInterior *ip, KlScaled *s) {
    form_laws(ip, s);
    if (!kl_scaled_factor(s)) {
        return false;
    }
    ip->tau = complementarity(s, ip->x, ip->s);
    solve_for(ip, s, 0.0, false);
    double length = 1.0;
    if (s->limits + s->contacts > 0) {
        length = least(step_length(ip, s, ip->x, ip->dx), step_length(ip, s, ip->s, ip->ds));
        solve_for(ip, s, centring(ip, s, length) * ip->tau, true);
        length = DAMPING * least(step_length(ip, s, ip->x, ip->dx), step_length(ip, s, ip->s, ip->ds));
    }
    if (!(length > 0.0) || !finite_step(ip, s)) {
        return false;
    }
    move(ip, s, length);
    measure_gap(ip, s);
    ip->step = length;
    return true;
}
