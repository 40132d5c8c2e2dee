// Constraint stabilisation after Baumgarte (paper, Sec. "Constraint Stabilization") and Newton's
// restitution: bias velocities along single rows, added to v_f. They act on joints and on normal
// directions only, which leaves Gamma(v) as it is (appendix "De Saxce invariance").
#include "sim/sim.h"

static double min0(double x) { return x < 0.0 ? x : 0.0; }
static double max0(double x) { return x > 0.0 ? x : 0.0; }

double kl_bias_joint(double alpha, double residual, double dt) { return alpha / dt * residual; }

double kl_bias_limit(double beta, double gap, double dt) { return beta / dt * min0(gap); }

// Two-sided rule of Preclik et al.: a share gamma of the penetration goes in one step, and a gap may
// close but not be crossed. residual = gap + margin.
double kl_bias_contact(double gamma, double residual, double dt) {
    return gamma * min0(residual / dt) + max0(residual / dt);
}

// eps v_N- while approaching. An open contact (residual > 0) rebounds in the step that would close
// it: its gap term would otherwise brake the impact before restitution sees its speed; the caller
// then uses this bias in place of that of the gap. 0 when the contact does not close.
double kl_bias_restitution(double restitution, double normal_velocity, double residual, double dt) {
    bool closes = residual + dt * normal_velocity <= 0.0;
    return closes ? restitution * min0(normal_velocity) : 0.0;
}
