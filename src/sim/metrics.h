// What can be measured of a step, one line each: METRIC(id, group, title, unit, log scale, text). Menus, CSV
// columns and JSON keys follow from this list. A group is measured when somebody asks for one of its metrics.
#ifndef KL_SIM_METRICS_H
#define KL_SIM_METRICS_H

// In the order they are measured: the time of a step counts what the groups before have cost.
#define KL_METRIC_GROUP_LIST(GROUP) GROUP(violation) GROUP(motion) GROUP(residual) GROUP(force) GROUP(solve)

#define KL_METRIC_LIST(METRIC)                                                                                         \
    METRIC(r_pen, violation, "Penetration residual", "m, rad", true,                                                   \
           "r_pen: the largest violation of the position constraints of joints, limits and contacts")                  \
    METRIC(r_pen_joints, violation, "Joint violation", "m, rad", true,                                                 \
           "Largest |f_J| over all rows of all joints, after the step")                                                \
    METRIC(r_pen_limits, violation, "Limit violation", "m, rad", true,                                                 \
           "Largest excess over a joint limit, after the step")                                                        \
    METRIC(r_pen_contacts, violation, "Contact penetration", "m", true,                                                \
           "Deepest penetration among the contacts that the step has solved")                                          \
    METRIC(r_dual, residual, "NCP dual residual", "m/s", true,                                                         \
           "r_dual: |v_hat - P_K*(v_hat)|, velocity in directions that the constraints forbid")                        \
    METRIC(r_ncp, residual, "NCP complementarity", "J", true, "r_ncp: largest |lambda . v_hat| of a limit or contact") \
    METRIC(r_nat, residual, "NCP natural map", "N s", true,                                                            \
           "r_nat: |lambda - P_K(lambda - v_hat)|, 0 at a solution; mixes units as the paper does")                    \
    METRIC(r_nat_rel, residual, "Scale-free natural map", "", true,                                                    \
           "r_nat_rel: the natural map with S = 1/max diag D of each constraint, over the size of "                    \
           "lambda and S v_f; does not change with units")                                                             \
    METRIC(r_p, residual, "Primal residual", "N s", true, "r_p: |lambda - P_K(lambda)|, reactions outside their cone") \
    METRIC(r_dual_ccp, residual, "CCP dual residual", "m/s", true, "As r_dual, with v+ in place of v_hat")             \
    METRIC(r_ccp, residual, "CCP complementarity", "J", true, "As r_ncp, with v+ in place of v_hat")                   \
    METRIC(r_nat_ccp, residual, "CCP natural map", "N s", true, "As r_nat, with v+ in place of v_hat")                 \
    METRIC(f, residual, "Objective", "J", false, "f = 1/2 lambda . D lambda + lambda . v_f")                           \
    METRIC(f_ds, residual, "De Saxce objective", "J", false, "f_DS = Gamma(v+) . lambda")                              \
    METRIC(f_ncp, residual, "NCP objective", "J", false, "f_NCP = f + f_DS")                                           \
    METRIC(iterations, solve, "Iterations", "", true, "i_stop: iterations of the solver in this step")                 \
    METRIC(t_solve, solve, "Solve time", "s", true, "t_solve: wall time of the solve")                                 \
    METRIC(t_iter, solve, "Iteration time", "s", true, "t_iter: t_solve over the iterations")                          \
    METRIC(t_step, solve, "Step time", "s", true,                                                                      \
           "Wall time of the whole step, with what its other metrics have cost")                                       \
    METRIC(outcome, solve, "Solver outcome", "", false, "0 converged, 1 out of iterations, 2 stagnated, 3 diverged")   \
    METRIC(factorizations, solve, "Factorisations", "", false, "Matrix factorisations of this solve")                  \
    METRIC(penalty, solve, "Penalty", "", true, "Last rho (ADMM) or omega (splitting) of the solve")                   \
    METRIC(internal_share, solve, "Internal-force share", "", false,                                                   \
           "|lambda - lambda_min-norm| / |lambda|: the share of the reactions that moves nothing. "                    \
           "Costs O(n_d^3): computed only when asked by name, else not a number")                                      \
    METRIC(kinetic_energy, motion, "Kinetic energy", "J", false, "1/2 u . M u after the step")                         \
    METRIC(potential_energy, motion, "Potential energy", "J", false, "-sum m g . r after the step")                    \
    METRIC(total_energy, motion, "Total energy", "J", false, "Kinetic and potential energy")                           \
    METRIC(momentum_error, motion, "Momentum error", "N s", true,                                                      \
           "|change of linear momentum in the step - impulse from outside|")                                           \
    METRIC(angular_momentum_error, motion, "Angular momentum error", "N m s", true,                                    \
           "|change of angular momentum about the origin - angular impulse from outside|; the "                        \
           "integrator leaves O(dt^2)")                                                                                \
    METRIC(max_joint_force, force, "Largest joint force", "N", true, "Largest reaction force of a joint")              \
    METRIC(max_contact_force, force, "Largest contact force", "N", true, "Largest contact force")                      \
    METRIC(n_d, solve, "Constraint rows", "", false, "n_d: rows of the dual problem")                                  \
    METRIC(n_jd, solve, "Bilateral rows", "", false, "n_jd: rows of joints and of implicit drives")                    \
    METRIC(n_l, solve, "Active limits", "", false, "n_l: joint limits, and bounded implicit drives")                   \
    METRIC(n_c, solve, "Contacts", "", false, "n_c: contacts of the step, open ones included")

typedef enum KlMetric {
#define KL_METRIC_ENUM(id, ...) KL_METRIC_##id,
    KL_METRIC_LIST(KL_METRIC_ENUM)
#undef KL_METRIC_ENUM
        KL_METRIC_COUNT
} KlMetric;

typedef enum KlMetricGroup {
#define KL_METRIC_GROUP_ENUM(id) KL_METRIC_GROUP_##id,
    KL_METRIC_GROUP_LIST(KL_METRIC_GROUP_ENUM)
#undef KL_METRIC_GROUP_ENUM
        KL_METRIC_GROUP_COUNT
} KlMetricGroup;

#endif
