// The problem in units of its own, for our second-order and preconditioned solvers: every row is
// scaled so that D has a unit diagonal (contacts and limits: by the largest entry of the block, so
// that cones stay cones), and v_f so that its largest entry is 1. One residual, one tolerance then
// fit all units.
//
//   lambda = unit p x      D <- p D p      v_f <- p v_f / unit      p_i = 1 / sqrt(diag D)
//
// The linear systems of all our solvers have the form (T D + A) dx = b with small blocks T, A on
// the diagonal (the laws of the contacts, linearised); they are factored sparsely
// (math/block_lu.h).
#ifndef KL_SOLVER_SCALED_H
#define KL_SOLVER_SCALED_H

#include "base/buffer.h"
#include "dual/problem.h"
#include "math/block_lu.h"
#include "solver/body_gradients.h"
#include "solver/body_system.h"
#include "solver/solver.h"

// Linearised laws: rows T D + A of each block. Joints: T = 1, A = diag(joint_shift).
typedef struct KlLaws {
    double *joint_shift;                 // (joint_rows)
    double *limit_take, *limit_add;      // (limit_count)
    double *contact_take, *contact_add;  // (contact_count x 9) row-major
    // For contacts with exact[k]: (A + R)^-1, where A is too ill-conditioned to be inverted as
    // numbers (R: softening).
    bool inverse_given;
    double *contact_inverse;  // (contact_count x 9)
    uint8_t *contact_exact;   // (contact_count)
} KlLaws;

// Where the systems are factored, or how they are solved without. Chosen by size unless asked for.
typedef enum KlFactorization {
    KL_FACTOR_AUTO = 0,
    KL_FACTOR_DENSE,
    KL_FACTOR_SPARSE,
    KL_FACTOR_BODIES,
    KL_FACTOR_ITERATIVE,  // shifted systems alone
    KL_FACTOR_SMALL       // of an explicit D without zeros and of few rows: dense, without blocks
} KlFactorization;
#define KL_FACTOR_PARAM(last, words, more)                                                                             \
    {                                                                                                                  \
        "factorization", "Factorization", "",                                                                          \
            "Of D + shift: dense, sparse on the graph of constraints, or in body space (six rows a body; explicit "    \
            "problems have no bodies and are sparse)" more ". auto: body space when constraints have many more rows.", \
            KL_PARAM_CHOICE, KL_FACTOR_AUTO, 0.0, last, false, words                                                   \
    }

typedef struct KlScaled {
    const KlProblem *problem;
    int32_t dim, first_limit, first_contact;  // rows
    int32_t limits, contacts;
    double unit;                       // of x
    bool symmetric;                    // D, to rounding
    double asymmetry;                  // largest entry of D - D^T, against the unit diagonal
    double *scale;                     // (dim) p
    double *velocity_unit;             // (dim) unit / p: of scaled velocities
    double *free_velocity;             // (dim) scaled v_f
    double *lambda;                    // (dim) scratch: unscaled
    double *product;                   // (dim) scratch
    double *residual;                  // (dim) scratch
    double *reply;                     // (dim) scratch of the body system
    double *inverse_scale;             // (dim) 1 / p
    const double *jacobian, *replies;  // (dim x 12) body form: J, J M^-1
    double *rows, *divided;            // (dim x 12) where systems are solved in body space: p J, p J M^-1
    double *compliance;                // (dim) of kl_scaled_soften_joints
    double *softness;                  // (dim) R in scaled units, compliance included
    double *weight;                    // (dim) S / p on joint rows, p on others: r_nat_rel from the scaled natural map
    bool bodies;                       // systems are solved in body space
    bool iterative;                    // and that by conjugate gradients
    bool small;                        // D is dense and explicit, with no blocks
    double *dense, *dense_system;      // (dim x dim) where small: D with softness, T D + A and its factor
    int32_t *exchange;                 // (dim) of that
    double least_pivot;                // of that
    double least_shift;                // smallest proximal term that this factorization bears
    double report_size;                // |S v_f| of r_nat_rel
    KlLaws laws;                       // of the next factorization
    KlBlockMatrix delassus;            // scaled D; from bodies: none of its numbers before kl_scaled_fill
    bool filled, mirrored;             // blocks on and above the diagonal are there; those below too
    bool cholesky;                     // cholesky: of lu, which then reads blocks on and above the diagonal alone
    KlBlockMatrix system;              // T D + A on the same pattern
    KlBlockLu *lu;
    KlBodySystem body_system;
    KlBodyGradients gradients;
    int32_t factorizations;
    bool factored;       // lu holds T D + A of this problem
    size_t value_count;  // of D

    KL_BUFFER(double) vectors;
    KL_BUFFER(double) block_laws;
    KL_BUFFER(int32_t) pattern;
    KL_BUFFER(size_t) offsets;
    KL_BUFFER(double) delassus_values;
    KL_BUFFER(double) system_values;
    KL_BUFFER(int32_t) graph;  // what the pattern was made from
    bool graph_bodies;         // that of a problem with bodies
    KL_BUFFER(double) twists;  // (6 bodies) scratch of products
    KL_BUFFER(double) numbers;
    KL_BUFFER(int32_t) work;
    KL_BUFFER(uint8_t) flags;
} KlScaled;

// Takes the problem in. Allocates only when it is larger than every earlier one. KL_ERR_MEMORY.
KlStatus kl_scaled_begin(KlScaled *s, const KlProblem *problem, bool cholesky, KlFactorization where);
// Room for problems up to this capacity: up to KL_SCALED_DENSE rows whatever couples with whatever,
// and above where the bodies have no more freedoms than that (such problems are factored in body
// space). Only larger ones (67 bodies and more) take the room of their factor when they come.
enum { KL_SCALED_DENSE = 400 };
static inline int32_t kl_scaled_dense_rows(const KlCapacity *c) {
    return c->dim < KL_SCALED_DENSE ? c->dim : KL_SCALED_DENSE;
}
static inline int32_t kl_scaled_dense_blocks(const KlCapacity *c) {  // a block has a row at least
    return c->block_count < kl_scaled_dense_rows(c) ? c->block_count : kl_scaled_dense_rows(c);
}
KlStatus kl_scaled_reserve(KlScaled *s, const KlCapacity *capacity, KlFactorization where);
void kl_scaled_release(KlScaled *s);

static inline double kl_scaled_softness(const KlScaled *s, int32_t row) { return s->softness[row]; }
void kl_scaled_from_reaction(const KlScaled *s, const double *lambda, double *x);
void kl_scaled_to_reaction(const KlScaled *s, const double *x, double *lambda);
// Blocks that touch each body, in compressed rows: start (body_count + 1), list (2 block_count).
void kl_scaled_list_blocks(const KlProblem *problem, int32_t *start, int32_t *list);
// Adds to the diagonal of D, on joint rows, a share of the heavier body's reply (1/m and the like), in
// place of what was added before; 0 at first. Explicit problems know no bodies and stay as they are.
void kl_scaled_soften_joints(KlScaled *s, double share);
// D x and D x + v_f, compliance included; kl_scaled_natural_relative and kl_scaled_report leave it out.
void kl_scaled_multiply(KlScaled *s, const double *x, double *product);
void kl_scaled_velocity(KlScaled *s, const double *x, double *velocity);
void kl_scaled_project(const KlScaled *s, double *x);  // P_K in place

// natural = x - P_K(x - v_hat) (dim); returns its L2 norm. Velocity belongs to x.
double kl_scaled_natural(const KlScaled *s, const double *x, const double *velocity, double *natural);
// Hands x with its scaled velocity over to the run: lambda, v+, and the paper's residuals of them, which our
// solvers report but do not stop on.
void kl_scaled_report(const KlScaled *s, const double *x, const double *velocity, KlRun *run);
// r_nat_rel of lambda(x) from the scaled natural map.
double kl_scaled_natural_relative(const KlScaled *s, const double *x, const double *natural);

// A factor of the scaled system whose pivots are all this large is regular: its solution is unique and
// loses few digits.
#define KL_REGULAR_PIVOT 1e-4
bool kl_scaled_is_regular(const KlScaled *s);  // T D + A as last factored; false in body space and after others
// Fills the blocks of D on and above the diagonal, where that is still to do; and those below it too.
void kl_scaled_fill(KlScaled *s);
void kl_scaled_mirror(KlScaled *s);

// Block (b, c) of J M^-1 J^T as given, neither scaled nor softened, for a KlBlockSource of `scaled`. Of a diagonal one
// what lies above the diagonal, and on it.
void kl_scaled_give_block(const void *scaled, int32_t b, int32_t c, size_t stride, double *to);

// Factors T D + A of s->laws. False when it is singular to working precision.
bool kl_scaled_factor(KlScaled *s);
// Solves (T D + A) x = b; `refinements` times with the residual of the true operator.
void kl_scaled_solve(KlScaled *s, const double *b, int32_t refinements, double *x);
// Factors D + a shift, one for joint rows and one for all others (Cholesky where the problem was taken in so),
// and solves in place, with an error of `accuracy` (L2) where the solution is iterative.
bool kl_scaled_factor_shifted(KlScaled *s, double joint_shift, double shift);
void kl_scaled_solve_shifted(KlScaled *s, double accuracy, double *x);

#endif
