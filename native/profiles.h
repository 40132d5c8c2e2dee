// Performance profiles from result rows.
#ifndef KINLOOP_PROFILES_H
#define KINLOOP_PROFILES_H

#include "output.h"
#include "svg.h"

// A measure of results: key of the row, and whether only converged runs have it.
typedef struct ProfileMeasure {
    const char *id, *title;
    bool needs_convergence;  // iterations, time: else stopping early would win
    bool residual;           // the Dingle-Higham floor applies
} ProfileMeasure;
extern const ProfileMeasure profile_measures[];
enum { PROFILE_MEASURE_COUNT = 7 };

// Problems x solvers of some rows: every problem by every solver, NaN where a run failed or is missing.
typedef struct ProfileTable {
    char **problems;                        // (problem_count) keys
    char solvers[64][64];                   // (solver_count)
    double *values[PROFILE_MEASURE_COUNT];  // each (problem_count x solver_count)
    int32_t problem_count, solver_count;
} ProfileTable;

// The groups that rows fall into: "all", "system:walker", "category:dense-constraints".
typedef enum ProfileGrouping { PROFILE_ALL, PROFILE_SYSTEM, PROFILE_CATEGORY } ProfileGrouping;

KlStatus profile_table(const json_t *rows, ProfileTable *table);
void profile_table_free(ProfileTable *table);
// Group of a problem key "system/category/name", "" when the key has no such part.
void profile_group(const char *problem, ProfileGrouping grouping, char *group, size_t size);
// Distinct groups in order of appearance; "all" for PROFILE_ALL. Returns how many, at most `most`.
int32_t profile_groups(const ProfileTable *table, ProfileGrouping grouping, char (*groups)[64], int32_t most);

enum { PROFILE_POINTS = 101 };
typedef struct Profile {
    double tau[PROFILE_POINTS];
    double *rho;            // (solver_count x PROFILE_POINTS)
    int32_t problem_count;  // n_p
} Profile;
KlStatus profile_of(const ProfileTable *table, ProfileGrouping grouping, const char *group, int32_t measure,
                    double tau_max, bool floor, Profile *profile);
void profile_free(Profile *profile);

void profile_svg(FILE *file, const ProfileTable *table, const Profile *profile, const char *title);

#endif
