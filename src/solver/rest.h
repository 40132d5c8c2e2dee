// The rest of a tree (dual/tree.h) as a linear problem, when it is known what each of its rows does: limits that push
// hold, contacts stick (hold) or slide (their reaction stays on its ray), the others have none. On these faces F
//   F^T (D' + R) F x = -F^T v'
// is solved by one small dense Cholesky factorization with pivots, which tells its rank: what it leaves out are
// stresses that move nothing. Of all reactions with the same motion the one of least norm, joints included, is a
// projection then.
#ifndef KL_SOLVER_REST_H
#define KL_SOLVER_REST_H

#include "dual/tree.h"

typedef struct KlRest {
    int32_t faces, rank;
    int32_t row[KL_TREE_ROWS], rows[KL_TREE_ROWS];  // (faces) first kept row of a face, how many it has
    double ray[3 * KL_TREE_ROWS];                   // (faces x 3) the face in these rows
    int32_t order[KL_TREE_ROWS];                    // (faces) by pivots
    double *factor;                                 // (rank x faces) U of P^T M P = U^T U, inverse diagonal
    KL_BUFFER(double) stress;                       // (faces - rank x dim) reactions that move nothing
    int32_t first[KL_TREE_ROWS];                    // row of each where it begins to be other than 0
    double *products, *gram;                        // of the stresses with each other, and their Cholesky factor
    KL_BUFFER(double) numbers;
} KlRest;

// Room for rests of up to `kept` rows of problems of up to `dim`; of more than 1024 stresses take theirs when they are
// found. KL_ERR_MEMORY.
KlStatus kl_rest_reserve(KlRest *r, int32_t kept, int32_t dim);
void kl_rest_release(KlRest *r);

// Faces by `state` (limits, contacts of the rest), rays along `kept`.
void kl_rest_face(KlRest *r, const KlTree *t, const uint8_t *state, const double *kept);
// False when a number is not finite.
bool kl_rest_factor(KlRest *r, const KlTree *t);
// kept (kept): += a solution for the velocities (kept); rows of dependent faces stay.
void kl_rest_solve(const KlRest *r, const double *velocity, double *kept);
// Takes out of the whole problem's lambda (dim) what moves nothing, on these faces; false where there is nothing.
// `fresh`: what that is has not been found since they were factored.
bool kl_rest_least_norm(KlRest *r, KlTree *t, bool fresh, double *lambda);
// How far the way from lambda to `least` (dim) stays in K where contacts have these states: 1 all of it.
double kl_rest_share(const KlTree *t, const uint8_t *state, const double *lambda, const double *least);

#endif
