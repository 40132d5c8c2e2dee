// Contacts (paper, Sec. "Contacts", with corrections): the frame (t, o, n) and the rows of
// v = R^T (v_B - v_A) at the contact point, so that a positive normal velocity separates.
#include "math/vec.h"
#include "sim/sim.h"

// Tangents from the normal alone, without branches but for the sign of n_z, and continuous away from
// n_z = 0 (Duff et al., "Building an Orthonormal Basis, Revisited", 2017). n = z gives t = x, o = y.
void kl_contact_axes(const double n[3], double axes[9]) {
    double sign = n[2] >= 0.0 ? 1.0 : -1.0;
    double a = -1.0 / (sign + n[2]);
    double b = n[0] * n[1] * a;
    double t[3] = {1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0]};
    double o[3] = {b, sign + n[1] * n[1] * a, -n[1]};
    kl_copy3(t, axes);
    kl_copy3(o, axes + 3);
    kl_copy3(n, axes + 6);
}

// One body's share of a row: sign (axis, (r_k - r_i) x axis).
static void body_share(double sign, const double axis[3], const double point[3], const double *pose, double share[6]) {
    double arm[3], torque[3];
    kl_sub3(point, pose, arm);
    kl_cross3(arm, axis, torque);
    kl_scale3(sign, axis, share);
    kl_scale3(sign, torque, share + 3);
}

void kl_contact_rows(const KlContact *contact, const double axes[9], const double *pose, double *rows) {
    for (int32_t k = 0; k < 3; k++) {
        double *row = rows + k * KL_ROW;
        for (int32_t i = 0; i < KL_ROW; i++) {
            row[i] = 0.0;
        }
        if (contact->body_a >= 0) {
            body_share(-1.0, axes + 3 * k, contact->position, pose + 7 * contact->body_a, row);
        }
        if (contact->body_b >= 0) {
            body_share(1.0, axes + 3 * k, contact->position, pose + 7 * contact->body_b, row + 6);
        }
    }
}
