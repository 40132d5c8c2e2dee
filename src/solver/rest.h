// The rest of a tree (dual/tree.h) as a linear problem, when it is known what each of its rows does: limits that push
// hold, contacts stick (hold) or slide (their reaction stays on its ray), the others have none. On these faces F
//   M x = -F^T v',  M = F^T (D' + R) F
// is solved by one small dense Cholesky factorization with pivots, which tells its rank: what it leaves out are
// stresses that move nothing. Of all reactions with the same motion the one of least norm, joints included, is a
// projection then.
#ifndef KL_SOLVER_REST_H
#define KL_SOLVER_REST_H

#include "dual/tree.h"

typedef struct KlRest {
    int32_t kept, faces, rank;
    int32_t row[KL_TREE_ROWS], rows[KL_TREE_ROWS];  // (faces) first kept row of a face, how many it has
    double ray[3 * KL_TREE_ROWS];                   // (faces x 3) the face in these rows; of two rows mu behind it
    double spring[KL_TREE_ROWS];                    // (faces) more on the diagonal
    int32_t mixed, mix[KL_TREE_ROWS / 2];           // (mixed) faces of more rows than one
    int32_t columns;                                // faces of two rows, which are all that is mixed then
    int32_t order[KL_TREE_ROWS];                    // (faces) by pivots
    double *factor;  // (rank x faces + columns) U of P^T M P = U^T U, inverse diagonal; U^-T P^T F^T (D' + R) mu d
    KL_BUFFER(double) stress;     // (faces - rank x dim) reactions that move nothing
    int32_t first[KL_TREE_ROWS];  // row of each where it begins to be other than 0
    double *products, *gram;      // of the stresses with each other, and their Cholesky factor
    KL_BUFFER(double) numbers;
} KlRest;

// Room for rests of up to `kept` rows of problems of up to `dim`; of more than 1024 stresses take theirs when they are
// found. KL_ERR_MEMORY.
KlStatus kl_rest_reserve(KlRest *r, int32_t kept, int32_t dim);
void kl_rest_release(KlRest *r);

// Where the natural map projects a contact's reaction: x = P_K(x - S v_hat).
void kl_rest_place(double friction, double scale, const double v[3], double x[3]);
// Each constraint there after the other (Gauss and Seidel), `sweeps` times; kept and its velocity (kept).
void kl_rest_sweep(const KlTree *t, int32_t sweeps, double *kept, double *velocity);

// Faces of what holds by `state` (limits, contacts of the rest), and one more; then rays of what slides along `kept`.
// One of two rows is across the direction d of what slides, (-d_o, d_t, mu): the factor has a column for it.
void kl_rest_hold(KlRest *r, const KlTree *t, const uint8_t *state);
void kl_rest_add_face(KlRest *r, int32_t row, int32_t rows, double x, double y, double z);
void kl_rest_add_rays(KlRest *r, const KlTree *t, const uint8_t *state, const double *kept);
// False when a number is not finite.
bool kl_rest_factor(KlRest *r, const KlTree *t);
// Along the faces: x (faces) = F^T v of velocities (kept); y (rank) = U^-T P^T x; x = P U^-1 y, 0 on dependent faces, y
// scratch then; kept (kept) += F x.
void kl_rest_pull(const KlRest *r, const double *velocity, double *x);
void kl_rest_solve_lower(const KlRest *r, const double *x, double *y);
void kl_rest_solve_upper(const KlRest *r, double *y, double *x);
void kl_rest_push(const KlRest *r, const double *x, double *kept);
// Takes out of the whole problem's lambda (dim) what moves nothing, on these faces; false where there is nothing.
// `fresh`: what that is has not been found since they were factored.
bool kl_rest_least_norm(KlRest *r, KlTree *t, bool fresh, double *lambda);
// How far the way from lambda to `least` (dim) stays in K where contacts have these states: 1 all of it.
double kl_rest_share(const KlTree *t, const uint8_t *state, const double *lambda, const double *least);

#endif
