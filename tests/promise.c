// The promises, by what a method stops on (epsilon: its tolerance).
//
// Splitting: r_p, r_d and r_cp of the very lambda it hands out, each below epsilon, of v_hat, or of v+
// where it solves the CCP.
//
// ADMM: its own residuals r_p = |x - y|, r_d = |eta (x - x-) + rho (y - y-)| and r_cp = |x.z|, where y is
// handed out. z lies in K* and is orthogonal to y by construction, and the linear solve says
//   D x + v_f + Gamma(z-) = z - (eta (x - x-) + rho (y - y-)),   z = z- - rho (x - y),
// so that the judge's v_hat = D y + v_f + Gamma(v) differs from z by no more than
//   delta = (1 + sqrt(2) mu) (r_d + |D| r_p) + sqrt(2) mu rho r_p      (mu = 0 for the CCP),
// its distance from K* by sqrt(3) delta, and |y.v_hat| = |y.(v_hat - z)| by 3 |y| delta. This is linear in
// epsilon: nothing here is the square root of a bound.
//
// Ours: r_nat_rel below epsilon.
//
// The judge sums in another order and in long double, which moves v by ROUNDING below.
#include "promise.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "support.h"

Stop stop_of(const KlSolverInfo *info) {
    const char *text = info->params[1].text;
    assert_string_equal(info->params[1].id, "tolerance");
    return strstr(text, "r_nat_rel") != NULL                ? STOP_RELATIVE
           : strstr(text, "each stopping residual") != NULL ? STOP_RESIDUALS
                                                            : STOP_PLATEAU;
}

static double max_abs(const double *x, int32_t count) {
    double largest = 0.0;
    for (int32_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(x[i]));
    }
    return largest;
}

static double infinity_norm(const double *a, int32_t n) {
    double largest = 0.0;
    for (int32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int32_t j = 0; j < n; j++) {
            sum += fabs(a[(size_t)i * (size_t)n + (size_t)j]);
        }
        largest = fmax(largest, sum);
    }
    return largest;
}

// ADMM solves the symmetric part of a measured D.
static void symmetrise(double *a, int32_t count) {
    size_t n = (size_t)count;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            a[i * n + j] = a[j * n + i] = 0.5 * (a[i * n + j] + a[j * n + i]);
        }
    }
}

static void hold(const char *id, const char *what, const char *residual, double found, double promised) {
    if (!(found <= promised)) {
        fail_msg("%s on %s says converged: %s is %.2e, promised %.2e", id, what, residual, found, promised);
    }
}

typedef struct Bounds {
    double primal, dual, complementarity;
} Bounds;

static Bounds promised_residuals(const KlSolverInfo *info, const KktProblem *view, const KlSolution *s, double epsilon,
                                 int32_t n) {
    double norm = infinity_norm(view->delassus, n), size = max_abs(s->lambda, n);
    double rounding = n * DBL_EPSILON * (norm * size + max_abs(view->free_velocity, n));
    Bounds b = {epsilon, epsilon, epsilon};
    if (strcmp(info->family, "admm") == 0) {
        double mu = view->relaxed ? 0.0 : sqrt(2.0) * max_abs(view->friction, view->contacts);
        double delta = (1.0 + mu) * (epsilon + norm * epsilon) + mu * s->penalty * epsilon;
        b.primal = 0.0;
        b.dual = sqrt(3.0) * delta;
        b.complementarity = 3.0 * size * delta;
    }
    b.primal += 4.0 * DBL_EPSILON * size;
    b.dual += rounding;
    b.complementarity += 3.0 * size * rounding;
    return b;
}

static void hold_to_promise(const KlSolver *solver, const KktProblem *view, const KlSolution *s, const char *what,
                            int32_t n) {
    const KlSolverInfo *info = kl_solver_info(solver);
    double epsilon = kl_solver_get(solver, "tolerance");
    KktResiduals r;
    kkt_check(view, s->lambda, &r);
    if (!((double)r.primal <= 1e-12 * (DBL_MIN + max_abs(s->lambda, n)))) {  // roundings of one projection
        fail_msg("%s on %s (%s): out of the cone by %.2e", info->id, what, kl_outcome_name(s->outcome),
                 (double)r.primal);
    }
    if (s->outcome != KL_OUTCOME_CONVERGED || stop_of(info) == STOP_PLATEAU) {
        return;
    }
    if (stop_of(info) == STOP_RELATIVE) {
        hold(info->id, what, "r_nat_rel", (double)r.natural_relative, epsilon + n * DBL_EPSILON);
        return;
    }
    Bounds b = promised_residuals(info, view, s, epsilon, n);
    hold(info->id, what, "r_p", (double)r.primal, b.primal);
    hold(info->id, what, "r_d", (double)r.dual, b.dual);
    hold(info->id, what, "r_cp", (double)r.complementarity, b.complementarity);
}

KlSolution solve_and_hold_to_promise(KlSolver *solver, const KlProblem *p, const char *what) {
    const KlSolverInfo *info = kl_solver_info(solver);
    double *delassus = malloc((size_t)p->dim * (size_t)p->dim * sizeof *delassus);
    assert_non_null(delassus);
    KktProblem view = judge_view(p, delassus);
    view.relaxed = strcmp(info->solves, "ccp") == 0;
    if (strcmp(info->family, "admm") == 0 && stop_of(info) == STOP_RESIDUALS) {
        symmetrise(delassus, p->dim);
    }
    KlSolution s;
    assert_ok(kl_solver_solve(solver, p, NULL, &s));
    hold_to_promise(solver, &view, &s, what, p->dim);
    free(delassus);
    return s;
}
