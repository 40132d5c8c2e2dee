// One step: the stage table, and the loop that runs and times it (paper, Alg. of a simulation step).
#include "base/clock.h"
#include "sim/sim.h"
#include "solver/solver.h"

#include <string.h>

typedef struct Stage {
    const char *name;
    KlStatus (*run)(KlSim *sim);
} Stage;

enum {
    STAGE_PREDICT,
    STAGE_COLLIDE,
    STAGE_ASSEMBLE,
    STAGE_SOLVE,
    STAGE_REACT,
    STAGE_INTEGRATE,
    STAGE_MEASURE,
    STAGE_COUNT
};

static const Stage stages[STAGE_COUNT] = {
    [STAGE_PREDICT] = {"predict", kl_stage_predict},    [STAGE_COLLIDE] = {"collide", kl_stage_collide},
    [STAGE_ASSEMBLE] = {"assemble", kl_stage_assemble}, [STAGE_SOLVE] = {"solve", kl_stage_solve},
    [STAGE_REACT] = {"react", kl_stage_react},          [STAGE_INTEGRATE] = {"integrate", kl_stage_integrate},
    [STAGE_MEASURE] = {"measure", kl_stage_measure},
};
_Static_assert((int)STAGE_COUNT <= (int)KL_STAGE_CAPACITY, "stage_time has room for every stage");

int32_t kl_stage_count(void) { return STAGE_COUNT; }
const char *kl_stage_name(int32_t stage) { return stage >= 0 && stage < STAGE_COUNT ? stages[stage].name : ""; }

// Stages [first, end).
static KlStatus run_stages(KlSim *sim, int32_t first, int32_t end) {
    double clock = kl_clock();
    for (int32_t s = first; s < end; s++) {
        KL_TRY(stages[s].run(sim));
        double now = kl_clock();
        sim->stage_time[s] = now - clock;
        clock = now;
        if (s == STAGE_SOLVE) {
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
    return KL_OK;
}

KlStatus kl_sim_step(KlSim *sim) {
    sim->begun = false;
    return run_stages(sim, 0, STAGE_COUNT);
}

KlStatus kl_sim_begin_step(KlSim *sim) {
    sim->begun = false;
    KL_TRY(run_stages(sim, STAGE_PREDICT, STAGE_SOLVE));
    sim->begun = true;
    return KL_OK;
}

KlStatus kl_sim_end_step(KlSim *sim, const double *lambda) {
    if (!sim->begun) {
        return kl_fail(KL_ERR_ARGUMENT, "kl_sim_end_step: no step has begun");
    }
    sim->begun = false;
    sim->solution = (KlSolution){0};
    sim->stage_time[STAGE_SOLVE] = 0.0;
    take_reactions(sim, lambda);
    kl_problem_velocity(sim->problem, sim->lambda, sim->velocity);
    return run_stages(sim, STAGE_REACT, STAGE_COUNT);
}
