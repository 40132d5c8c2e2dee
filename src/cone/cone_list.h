// Every cone a constraint block can have: CONE(block kind, name, function that projects on K, on K*).
// Functions take (friction, x, rows). A new kind of constraint is one line here and one file.
#ifndef KL_CONE_CONE_LIST_H
#define KL_CONE_CONE_LIST_H

#include "cone/cone.h"

#define KL_CONE_LIST(CONE)                                               \
    CONE(JOINT, "free", kl_cone_free_primal, kl_cone_free_dual)          \
    CONE(LIMIT, "orthant", kl_cone_orthant_primal, kl_cone_orthant_dual) \
    CONE(CONTACT, "coulomb", kl_cone_coulomb_primal, kl_cone_coulomb_dual)

static inline void kl_cone_free_primal(double friction, double *x, int32_t rows) {
    (void)friction;
    kl_project_free(x, rows);
}
static inline void kl_cone_free_dual(double friction, double *x, int32_t rows) {
    (void)friction;
    kl_project_zero(x, rows);
}
static inline void kl_cone_orthant_primal(double friction, double *x, int32_t rows) {
    (void)friction;
    kl_project_orthant(x, rows);
}
static inline void kl_cone_orthant_dual(double friction, double *x, int32_t rows) {
    (void)friction;
    kl_project_orthant(x, rows);
}
static inline void kl_cone_coulomb_primal(double friction, double *x, int32_t rows) {
    (void)rows;
    kl_project_coulomb(friction, x);
}
static inline void kl_cone_coulomb_dual(double friction, double *x, int32_t rows) {
    (void)rows;
    kl_project_coulomb_dual(friction, x);
}

#endif
