// An independent judge of reactions. It shares no code and no types with src/: it takes D as a dense
// array, computes in long double, and writes its projections another way than the library does.
#ifndef KL_TESTS_KKT_CHECK_H
#define KL_TESTS_KKT_CHECK_H

typedef struct KktProblem {
    int joint_rows, limits, contacts;  // rows in this order, three a contact: t, o, n
    const double *delassus;            // (n x n) row-major, softening already on the diagonal
    const double *free_velocity;       // (n)
    const double *friction;            // (contacts)
    int joint_count;                   // 0: all joint rows are one block
    const int *joint_start;            // (joint_count + 1) first row of each joint
    int relaxed;                       // judge the CCP: v+ in the place of v_hat
} KktProblem;

typedef struct KktResiduals {      // all L-infinity, of the NCP (with the De Saxce term) unless relaxed
    long double primal;            // |lambda - P_K(lambda)|
    long double dual;              // |v_hat - P_K*(v_hat)|
    long double complementarity;   // max |lambda_i . v_hat_i|, limits and contacts
    long double natural;           // |lambda - P_K(lambda - v_hat)|
    long double natural_relative;  // |lambda - P_K(lambda - S v_hat)| / max(|lambda|, |S v_f|)
} KktResiduals;

// NaN in lambda gives NaN in every residual.
void kkt_check(const KktProblem *problem, const double *lambda, KktResiduals *residuals);

// v+ = D lambda + v_f (n).
void kkt_velocity(const KktProblem *problem, const double *lambda, long double *velocity);

#endif
