// Local solvers: one contact, every other reaction held fixed (paper, Sec. "Projectors & Local
// Solvers" and the appendix "Solving of the Single-Contact Problem"). All vectors are (t, o, n).
//
//   lambda reaction [N s]   D local Delassus [1/kg]   v_f local free velocity [m/s]: the velocity of
//   the contact without its own reaction   s De Saxce correction of the normal row [m/s]   mu friction
#ifndef KL_SOLVER_LOCAL_LOCAL_H
#define KL_SOLVER_LOCAL_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct KlLocalProblem {
    double delassus[9];       // D, row-major, positive definite
    double free_velocity[3];  // v_f
    double desaxce;           // s >= 0; 0 without the correction
    double friction;          // mu >= 0
    double step;              // CCP, NCP: the step length of the method [kg]
    bool lopsided;            // Coulomb: D is not symmetric; otherwise its upper triangle counts
    const double *last;       // (t, o) Coulomb: near this reaction, a slipping one is sought first; or NULL
} KlLocalProblem;

// A local solver replaces the previous reaction by the new one.
typedef void (*KlLocalSolver)(const KlLocalProblem *local, double lambda[3]);

// Alg. "CCP-Type Local Solver": one projected gradient step on the cone.
void kl_local_ccp(const KlLocalProblem *local, double lambda[3]);
double kl_local_ccp_step(const double delassus[9], bool safe);  // 3 / tr D, or 1 / lambda_max(D)

// Alg. "NCP-Type Local Projector": normal first, then the tangents on the disk of radius mu lambda_n.
void kl_local_ncp(const KlLocalProblem *local, double lambda[3]);
double kl_local_ncp_step(const double delassus[9], bool safe);  // 1 / min, or 1 / max (D_tt, D_oo)

// Alg. "Nonlinear-Block Local Solver": the exact minimum of l.D l / 2 + l.(v_f + s) on the cone with
// v_n = 0 (closed contact), v_f,n > 0 opening. Both return the same point. `lambda` is output only.
void kl_local_quartic(const KlLocalProblem *local, double lambda[3]);    // P_MDP, NBGS
void kl_local_bisection(const KlLocalProblem *local, double lambda[3]);  // P_BS, RAISIM

// The single-contact NCP itself: the same decisions, but a slipping reaction opposes the slip velocity
// exactly, whatever the coupling of normal and tangents. local->desaxce is ignored.
void kl_local_coulomb(const KlLocalProblem *local, double lambda[3]);

#endif
