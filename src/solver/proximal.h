// The proximal point method (Rockafellar 1976) on the scaled problem, each subproblem
//   0 = F_eta(x; a) = x - P_K(x - v_hat(D x + v_f + eta (x - a)))
// solved by semismooth Newton steps of full length, active-set style, with no demand that |F| fall.
//
// It is for points where |F| has a valley: more rows than rank, and rows of v_f that contradict each
// other a little, as four sliding contacts of one face do. No x near by solves all of them; the
// solution lies where another contact opens or sticks, far along a direction that moves (nearly)
// nothing, and D x + v_f tells only the small slope towards it. ADMM walks that way by slope / rho an
// iteration. Here eta plays the step length of an implicit integrator: small as long as the contact
// states stand, larger where they change, so that the walk takes few steps.
#ifndef KL_SOLVER_PROXIMAL_H
#define KL_SOLVER_PROXIMAL_H

#include "solver/scaled.h"

typedef struct KlProximal {
    double *anchor;        // (dim) a, solution of the last subproblem
    double *x;             // (dim) iterate of this one
    double *velocity;      // (dim) D x + v_f + eta (x - a)
    double *natural;       // (dim) F_eta
    double *step, *right;  // (dim)
    uint8_t *state;        // (limits + contacts) branches, scratch
    double eta, refused;   // refused: the eta that last failed, fading
    int32_t inner;         // Newton steps of this subproblem
    KL_BUFFER(double) memory;
    KL_BUFFER(uint8_t) states;
} KlProximal;

typedef enum KlProximalOutcome {
    KL_PROXIMAL_ON,      // the subproblem goes on
    KL_PROXIMAL_ANCHOR,  // x solves it and is the new anchor
    KL_PROXIMAL_BACK,    // it was given up: back to the anchor with a larger eta
    KL_PROXIMAL_STUCK    // eta has grown beyond use
} KlProximalOutcome;

KlStatus kl_proximal_reserve(KlProximal *px, const KlScaled *s);
void kl_proximal_release(KlProximal *px);
void kl_proximal_start(KlProximal *px, const KlScaled *s, const double *from, double eta);
// One Newton step: one factorization, one solution.
KlProximalOutcome kl_proximal_step(KlProximal *px, KlScaled *s);

#endif
