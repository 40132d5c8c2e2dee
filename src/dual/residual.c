// Residuals of one reaction (paper, Sec. "Convergence", corrected): L-infinity norms of
//   r_p = lambda - P_K(lambda),  r_dual = v_hat - P_K*(v_hat),  r_ncp = lambda_i . v_hat_i,
//   r_nat = lambda - P_K(lambda - v_hat),  r_nat_rel: the same with S v_hat, over the size of lambda.
#include <float.h>
#include <math.h>

#include "cone/cone.h"
#include "dual/desaxce.h"
#include "dual/problem.h"
#include "dual/storage.h"
#include "math/lanes.h"

// max(|a|...) that keeps a NaN once it has seen one.
static double larger(double most, double x) {
    x = fabs(x);
    return most >= x || isnan(most) ? most : x;
}

static double limit_outside(double x) { return x < 0.0 ? -x : isnan(x) ? x : 0.0; }

static double limit_natural(double lambda, double s_v) {
    double y = lambda - s_v;
    return lambda - (y < 0.0 ? 0.0 : y);
}

static double contact_natural(double friction, const double lambda[3], const double s_v[3]) {
    double y[3] = {lambda[0] - s_v[0], lambda[1] - s_v[1], lambda[2] - s_v[2]};
    kl_project_coulomb(friction, y);
    return larger(larger(fabs(lambda[0] - y[0]), lambda[1] - y[1]), lambda[2] - y[2]);
}

// v_hat of contact k (or v+ itself when the De Saxce term is off).
static void contact_velocity(const KlProblem *p, int32_t k, const double *v, bool de_saxce, double v_hat[3]) {
    const double *own = v + kl_contact_row(p, k);
    v_hat[0] = own[0];
    v_hat[1] = own[1];
    v_hat[2] = own[2] + (de_saxce ? kl_desaxce_normal(p->friction[k], own) : 0.0);
}

// |lambda - P_K(lambda - S v)| of one block: for a joint row P_K is the identity, which leaves S v itself.
static double block_natural(const KlProblem *p, int32_t block, const double *lambda, const double *v,
                            const double *scale, bool de_saxce) {
    int32_t row = p->block_start[block], contact = block - p->joint_count - p->limit_count;
    double s = scale != NULL ? scale[row] : 1.0, most = 0.0;
    if (contact >= 0) {
        double v_hat[3];
        contact_velocity(p, contact, v, de_saxce, v_hat);
        double s_v[3] = {s * v_hat[0], s * v_hat[1], s * v_hat[2]};
        return contact_natural(p->friction[contact], lambda + row, s_v);
    }
    if (block >= p->joint_count) {
        return larger(most, limit_natural(lambda[row], s * v[row]));
    }
    for (int32_t i = row; i < p->block_start[block + 1]; i++) {
        most = larger(most, (scale != NULL ? scale[i] : 1.0) * v[i]);
    }
    return most;
}

// The largest of all blocks; joints' rows, whose P_K is the identity, at once.
static double natural(const KlProblem *p, const double *lambda, const double *v, const double *scale, bool de_saxce) {
    double most =
        scale != NULL ? kl_lanes_largest_product(scale, v, p->joint_rows) : kl_lanes_largest(v, p->joint_rows);
    for (int32_t block = p->joint_count; block < p->block_count; block++) {
        most = larger(most, block_natural(p, block, lambda, v, scale, de_saxce));
    }
    return most;
}

double kl_problem_given_size(const KlProblem *p) {
    return larger(DBL_MIN, kl_lanes_largest_product(kl_problem_prepare(p)->scale, p->free_velocity, p->dim));
}

// What r_nat_rel divides by.
static double natural_size(const KlProblem *p, const double *lambda, double given) {
    return larger(given, kl_lanes_largest(lambda, p->dim));
}

double kl_natural_relative(const KlProblem *p, const double *lambda, const double *velocity, double *strict) {
    double error = natural(p, lambda, velocity, kl_problem_prepare(p)->scale, true), given = kl_problem_given_size(p);
    *strict = error / given;
    return error / natural_size(p, lambda, given);
}

static void take_outside(KlLargest *most, const KlPair x[3], const KlPair projected[3]) {
    for (int32_t i = 0; i < 3; i++) {
        kl_largest_take(most, x[i] - projected[i]);
    }
}

// The residuals of contacts k and `next`, both in lanes.
static void take_contacts(const KlProblem *p, int32_t k, int32_t next, const double *lambda, const double *v,
                          bool de_saxce, KlLargest most[3]) {
    const double *l = lambda + kl_contact_row(p, k), *m = lambda + kl_contact_row(p, next);
    KlPair friction = {p->friction[k], p->friction[next]};
    KlPair x[3], y[3], v_hat[3], w[3];
    double one[3], two[3];
    contact_velocity(p, k, v, de_saxce, one);
    contact_velocity(p, next, v, de_saxce, two);
    for (int32_t i = 0; i < 3; i++) {
        x[i] = y[i] = (KlPair){l[i], m[i]};
        v_hat[i] = w[i] = (KlPair){one[i], two[i]};
    }
    kl_project_coulomb_pair(friction, y);
    kl_project_coulomb_dual_pair(friction, w);
    take_outside(&most[0], x, y);
    take_outside(&most[1], v_hat, w);
    kl_largest_take(&most[2], x[0] * v_hat[0] + x[1] * v_hat[1] + x[2] * v_hat[2]);
}

KlLoopResiduals kl_problem_loop_residuals(const KlProblem *p, const double *lambda, const double *v, bool de_saxce) {
    KlLoopResiduals r = {0.0, kl_lanes_largest(v, p->joint_rows), 0.0};
    for (int32_t i = p->joint_rows; i < kl_first_contact_row(p); i++) {
        r.primal = larger(r.primal, limit_outside(lambda[i]));
        r.dual = larger(r.dual, limit_outside(v[i]));
        r.complementarity = larger(r.complementarity, lambda[i] * v[i]);
    }
    KlLargest most[3] = {{{0.0}, {0}}};
    for (int32_t k = 0; k < p->contact_count; k += 2) {  // the last of an odd number twice
        take_contacts(p, k, k + 1 < p->contact_count ? k + 1 : k, lambda, v, de_saxce, most);
    }
    r.primal = larger(r.primal, kl_largest(&most[0]));
    r.dual = larger(r.dual, kl_largest(&most[1]));
    r.complementarity = larger(r.complementarity, kl_largest(&most[2]));
    return r;
}

// f = 1/2 lambda.D lambda + lambda.v_f = 1/2 lambda.(v+ + v_f)
static double objective(const KlProblem *p, const double *lambda, const double *v) {
    double sum = 0.0;
    for (int32_t i = 0; i < p->dim; i++) {
        sum += lambda[i] * (v[i] + p->free_velocity[i]);
    }
    return 0.5 * sum;
}

static double objective_desaxce(const KlProblem *p, const double *lambda, const double *v) {
    double sum = 0.0;
    for (int32_t k = 0; k < p->contact_count; k++) {
        int32_t row = kl_contact_row(p, k);
        sum += kl_desaxce_normal(p->friction[k], v + row) * lambda[row + 2];
    }
    return sum;
}

void kl_problem_residuals_at(const KlProblem *p, const double *lambda, const double *velocity, KlResiduals *residuals) {
    double strict;
    KlResiduals *r = residuals;
    KlLoopResiduals ncp = kl_problem_loop_residuals(p, lambda, velocity, true);
    KlLoopResiduals ccp = kl_problem_loop_residuals(p, lambda, velocity, false);
    r->primal = ncp.primal;
    r->dual = ncp.dual;
    r->complementarity = ncp.complementarity;
    r->natural = natural(p, lambda, velocity, NULL, true);
    r->natural_relative = kl_natural_relative(p, lambda, velocity, &strict);
    r->dual_ccp = ccp.dual;
    r->complementarity_ccp = ccp.complementarity;
    r->natural_ccp = natural(p, lambda, velocity, NULL, false);
    r->objective = objective(p, lambda, velocity);
    r->objective_desaxce = objective_desaxce(p, lambda, velocity);
    r->objective_ncp = r->objective + r->objective_desaxce;
}

void kl_problem_residuals(const KlProblem *problem, const double *lambda, KlResiduals *residuals) {
    double *velocity = kl_problem_storage(problem)->velocity;
    kl_problem_velocity(problem, lambda, velocity);
    kl_problem_residuals_at(problem, lambda, velocity, residuals);
}

void kl_problem_block_residuals(const KlProblem *problem, const double *lambda, double *natural_relative) {
    const KlProblemStorage *storage = kl_problem_prepare(problem);
    kl_problem_velocity(problem, lambda, storage->velocity);
    double size = natural_size(problem, lambda, kl_problem_given_size(problem));
    for (int32_t block = 0; block < problem->block_count; block++) {
        natural_relative[block] = block_natural(problem, block, lambda, storage->velocity, storage->scale, true) / size;
    }
}
