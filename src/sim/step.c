// One step: the stage table, and the loop that runs and times it (paper, Alg. of a simulation step).
#include "base/clock.h"
#include "sim/sim.h"
#include "solver/solver.h"

#include <math.h>
#include <string.h>

typedef struct Stage {
    const char *name;
    KlStatus (*run)(KlSim *sim);
} Stage;

static const Stage stages[KL_STAGE_COUNT] = {
    [KL_STAGE_PREDICT] = {"predict", kl_stage_predict},    [KL_STAGE_COLLIDE] = {"collide", kl_stage_collide},
    [KL_STAGE_ASSEMBLE] = {"assemble", kl_stage_assemble}, [KL_STAGE_SOLVE] = {"solve", kl_stage_solve},
    [KL_STAGE_REACT] = {"react", kl_stage_react},          [KL_STAGE_INTEGRATE] = {"integrate", kl_stage_integrate},
    [KL_STAGE_COMMIT] = {"commit", kl_stage_commit},       [KL_STAGE_MEASURE] = {"measure", NULL},
};

int32_t kl_stage_count(void) { return KL_STAGE_COUNT; }
const char *kl_stage_name(int32_t stage) { return stage >= 0 && stage < KL_STAGE_COUNT ? stages[stage].name : ""; }

void kl_sim_time_stages(KlSim *sim, bool on) { sim->solve_timed_alone = !on; }

// Stages [first, end).
static KlStatus run_stages(KlSim *sim, int32_t first, int32_t end) {
    bool each = !sim->solve_timed_alone;
    double clock = each ? kl_clock() : NAN;
    for (int32_t s = first; s < end; s++) {
        bool timed = each || s == KL_STAGE_SOLVE;
        clock = timed && !each ? kl_clock() : clock;
        KL_TRY(stages[s].run(sim));
        double now = timed ? kl_clock() : NAN;
        sim->stage_time[s] = now - clock;
        clock = now;
        if (s == KL_STAGE_SOLVE) {
            sim->solution.time = sim->stage_time[s];
        }
    }
    return KL_OK;
}

static void take_reactions(KlSim *sim, const double *lambda) {
    sim->dim = sim->problem->dim;
    if (sim->dim > 0) {
        memcpy(sim->lambda, lambda, (size_t)sim->dim * sizeof *lambda);
    }
}

static void take_velocities(KlSim *sim, const double *velocity) {
    if (sim->dim > 0) {
        memcpy(sim->velocity, velocity, (size_t)sim->dim * sizeof *velocity);
    }
}

KlStatus kl_stage_solve(KlSim *sim) {
    KL_TRY(kl_solver_run(sim->solver, sim->problem, sim->trace, &sim->solution));
    if (sim->solution.outcome == KL_OUTCOME_DIVERGED) {
        return kl_fail(KL_ERR_DIVERGED,
                       "step %lld: solver '%s' diverged after %d iterations; the state before the "
                       "step is kept",
                       (long long)sim->now.step, kl_solver_info(sim->solver)->id, (int)sim->solution.iterations);
    }
    take_reactions(sim, sim->solution.lambda);
    take_velocities(sim, sim->solution.velocity);
    sim->velocity_told = true;
    return KL_OK;
}

KlStatus kl_sim_step(KlSim *sim) {
    sim->begun = sim->stepped = false;
    return run_stages(sim, KL_STAGE_PREDICT, KL_STAGE_MEASURE);
}

KlStatus kl_sim_begin_step(KlSim *sim) {
    sim->begun = sim->stepped = false;
    KL_TRY(run_stages(sim, KL_STAGE_PREDICT, KL_STAGE_SOLVE));
    sim->begun = true;
    return KL_OK;
}

KlStatus kl_sim_end_step(KlSim *sim, const double *lambda) {
    if (!sim->begun) {
        return kl_fail(KL_ERR_ARGUMENT, "kl_sim_end_step: no step has begun");
    }
    sim->begun = false;
    sim->solution = (KlSolution){0};
    sim->stage_time[KL_STAGE_SOLVE] = 0.0;
    take_reactions(sim, lambda);
    kl_problem_velocity(sim->problem, sim->lambda, sim->velocity);
    sim->velocity_told = false;
    return run_stages(sim, KL_STAGE_REACT, KL_STAGE_MEASURE);
}
