// Runs a scene with one solver, or several on the same problems, and keeps what is told afterwards.
#ifndef KINLOOP_RUNNER_H
#define KINLOOP_RUNNER_H

#include "kl.h"
#include "options.h"
#include "output.h"
#include "solver_choice.h"

#define CLI_OPTIONS_RUN                                                                                            \
    {"run", 0, CLI_TEXT, "ID", "the run of the scene (default: its first)", 0, 0, NULL},                           \
        {"steps", 'n', CLI_INT, "N", "steps (default: the run's duration)", 1, 100000000, NULL},                   \
        {"duration", 0, CLI_REAL, "SECONDS", "simulated time in place of --steps", 1e-9, 1e9, NULL},               \
        {"dt", 0, CLI_REAL, "SECONDS", "time step in place of the scene's", 1e-9, 10, NULL}, {                     \
        "edit", 'e', CLI_TEXT, "PATH=JSON", "changes the document, e.g. bodies.1.mass=0.1; may be repeated", 0, 0, \
            NULL                                                                                                   \
    }

// What is to be run: scene, run, length and solvers.
typedef struct RunPlan {
    KlScene *scene;
    KlModel *model;
    const KlRunDef *run;
    double dt;  // [s]
    int64_t steps;
    SolverDefaults defaults;
    SolverChoice choice;
    bool measure_last;              // metrics of the last step alone
    double push;                    // of the first body along x in every step: times mu m_total g, 0 = none
    int64_t expected_step;          // 0 = nothing is expected
    uint64_t expected[MAX_CHOSEN];  // state hash of each solver at that step, 0 = any
} RunPlan;

// From the operand (name, path or link) and the options. Fails with the exit code of `*exit_code`:
// an unknown name is a bad argument, an invalid document is invalid input.
KlStatus run_plan_load(const CliArgs *args, const char *operand, RunPlan *plan, int *exit_code);
void run_plan_free(RunPlan *plan);

// A scene document with --edit applied; for check, heatmap and dataset too.
KlStatus scene_load_edited(const char *path, const char *const *edits, int32_t edit_count, KlScene **scene);

enum { MAX_STAGES = 16, MAX_METRICS = 64, MOTION_COLUMNS = 13 };

// One solver's run in numbers.
typedef struct RunStats {
    const char *outcome;  // "finished", "diverged", "failed" or "interrupted"
    char error[384];      // why, when it did not finish
    int64_t steps;        // done
    int64_t converged_steps;
    double total;              // [s] wall, of the steps with what their metrics cost
    double stage[MAX_STAGES];  // [s] summed
    int32_t stages_field;      // where the simulation keeps them, found at its first step
    double *iterations;        // (plan steps) of each step
    double iterations_sum;
    double maximum[MAX_METRICS];  // over the steps measured; NaN when never a number
    int64_t maximum_step[MAX_METRICS];
    double final[MAX_METRICS];  // of the last step
    const KlModel *model;       // a loan of the plan; NULL: no motion of its own
    double *motion;             // (bodies x MOTION_COLUMNS): pose (7) now, lowest and highest x, y, z so far [m]
    json_t *contacts;           // of the last step; NULL: none taken
    uint64_t hash;
    uint64_t hash_at_step;  // at RunPlan.expected_step
} RunStats;

KlStatus run_stats_begin(const RunPlan *plan, RunStats *stats);
void run_stats_free(RunStats *stats);
void run_stats_step(RunStats *stats, const KlSim *sim, bool measured);  // after each step; with its metrics or without

// What one solver made of a step.
typedef struct RunStep {
    const KlSim *sim;       // after the step
    int32_t kind;           // the solver's
    bool guest;             // of a curated run: the step is the driver's
    const double *metrics;  // (kl_metric_count), NaN where a guest has none
    const KlSolution *solution;
} RunStep;

// Sees every finished step; a failure ends the run.
typedef struct RunWatcher {
    void *context;
    KlStatus (*step)(void *context, const RunStep *step);
} RunWatcher;

// Simulates to the end. A solver that fails or diverges is an outcome; a failing watcher an error.
KlStatus run_one(const CliArgs *args, const RunPlan *plan, int32_t kind, const RunWatcher *watcher,
                 CliProgress *progress, double *progress_done, RunStats *stats);
// The first solver drives; the others re-solve each of its problems. stats (choice.count).
KlStatus run_curated(const CliArgs *args, const RunPlan *plan, const RunWatcher *watcher, CliProgress *progress,
                     RunStats *stats);

json_t *run_stats_json(const RunStats *stats, const char *solver);

#endif
