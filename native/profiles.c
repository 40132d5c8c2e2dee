// Performance profiles from result rows.
#include "profiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

const ProfileMeasure profile_measures[] = {
    {"iterations", "Iterations", true, false},
    {"time_s", "Time [s]", true, false},
    {"t_iter", "Time per iteration [s]", true, false},
    {"r_dual", "NCP dual residual", false, true},
    {"r_ncp", "NCP complementarity", false, true},
    {"r_nat", "NCP natural map", false, true},
    {"r_nat_rel", "Scale-free natural map", false, true},
};

// --- the table ------------------------------------------------------------------------------------

static const char *text_of(const json_t *row, const char *key) {
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

// A problem is known by file and name (solve), or by the case id without its solver (bench).
static void problem_key(const json_t *row, char *key, size_t size) {
    const char *name = text_of(row, "name"), *id = text_of(row, "id");
    if (*id != '\0') {
        const char *slash = strrchr(id, '/');
        snprintf(key, size, "%.*s", (int)(slash != NULL ? slash - id : (long)strlen(id)), id);
    } else if (strchr(name, '/') != NULL) {
        snprintf(key, size, "%s", name);
    } else {
        snprintf(key, size, "%s:%lld", text_of(row, "file"),
                 (long long)json_integer_value(json_object_get(row, "index")));
    }
}

static bool is_converged(const json_t *row) {
    const char *outcome = text_of(row, "outcome");
    return strcmp(outcome, "converged") == 0 || strcmp(outcome, "finished") == 0;
}

static bool is_lost(const json_t *row) {
    const char *outcome = text_of(row, "outcome");
    return strcmp(outcome, "failed") == 0 || strcmp(outcome, "diverged") == 0;
}

// A number of the row, of its residuals, or by the name that bench has for it; NaN when it has none.
static double number_of(const json_t *row, const char *id) {
    const json_t *value = json_object_get(row, id);
    if (value == NULL) {
        value = json_object_get(json_object_get(row, "residuals"), id);
    }
    if (value == NULL && strcmp(id, "time_s") == 0) {
        value = json_object_get(row, "median_s");
    }
    if (value == NULL && strcmp(id, "t_iter") == 0) {  // nothing to divide by: no such time
        double iterations = number_of(row, "iterations");
        return iterations > 0.0 ? number_of(row, "time_s") / iterations : (double)NAN;
    }
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static double measure_of(const json_t *row, const ProfileMeasure *measure) {
    bool counts = !is_lost(row) && (!measure->needs_convergence || is_converged(row));
    return counts ? number_of(row, measure->id) : (double)NAN;
}

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static KlStatus collect_problems(const json_t *rows, ProfileTable *table) {
    size_t count = json_array_size(rows);
    table->problems = kl_alloc((count + 1) * sizeof *table->problems);
    if (table->problems == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        char *key = kl_alloc(512);
        if (key == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory");
        }
        problem_key(json_array_get(rows, i), key, 512);
        table->problems[table->problem_count++] = key;
    }
    qsort(table->problems, count, sizeof *table->problems, by_text);
    int32_t kept = 0;
    for (int32_t i = 0; i < table->problem_count; i++) {
        if (kept > 0 && strcmp(table->problems[i], table->problems[kept - 1]) == 0) {
            kl_free(table->problems[i]);
        } else {
            table->problems[kept++] = table->problems[i];
        }
    }
    table->problem_count = kept;
    return KL_OK;
}

static int32_t find_problem(const ProfileTable *table, const char *key) {
    char *const *found = bsearch(&key, table->problems, (size_t)table->problem_count, sizeof *table->problems, by_text);
    return found != NULL ? (int32_t)(found - table->problems) : -1;
}

static int32_t find_solver(ProfileTable *table, const char *id, bool add) {
    for (int32_t i = 0; i < table->solver_count; i++) {
        if (strcmp(table->solvers[i], id) == 0) {
            return i;
        }
    }
    if (!add || table->solver_count == 64) {
        return -1;
    }
    snprintf(table->solvers[table->solver_count], sizeof table->solvers[0], "%.63s", id);
    return table->solver_count++;
}

static KlStatus reserve_values(ProfileTable *table) {
    size_t cells = (size_t)table->problem_count * (size_t)table->solver_count;
    for (int m = 0; m < PROFILE_MEASURE_COUNT; m++) {
        table->values[m] = kl_alloc((cells + 1) * sizeof(double));
        if (table->values[m] == NULL) {
            return kl_fail(KL_ERR_MEMORY, "out of memory");
        }
        for (size_t i = 0; i < cells; i++) {
            table->values[m][i] = (double)NAN;
        }
    }
    return KL_OK;
}

KlStatus profile_table(const json_t *rows, ProfileTable *table) {
    *table = (ProfileTable){0};
    KL_TRY(collect_problems(rows, table));
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) { find_solver(table, text_of(row, "solver"), true); }
    KL_TRY(reserve_values(table));
    json_array_foreach(rows, i, row) {
        char key[512];
        problem_key(row, key, sizeof key);
        int32_t problem = find_problem(table, key), solver = find_solver(table, text_of(row, "solver"), false);
        for (int m = 0; m < PROFILE_MEASURE_COUNT && problem >= 0 && solver >= 0; m++) {
            table->values[m][problem * table->solver_count + solver] = measure_of(row, &profile_measures[m]);
        }
    }
    return KL_OK;
}

void profile_table_free(ProfileTable *table) {
    for (int32_t i = 0; i < table->problem_count; i++) {
        kl_free(table->problems[i]);
    }
    kl_free(table->problems);
    for (int m = 0; m < PROFILE_MEASURE_COUNT; m++) {
        kl_free(table->values[m]);
    }
    *table = (ProfileTable){0};
}

// --- groups ---------------------------------------------------------------------------------------

void profile_group(const char *problem, ProfileGrouping grouping, char *group, size_t size) {
    if (grouping == PROFILE_ALL) {
        snprintf(group, size, "all");
        return;
    }
    const char *slash = strchr(problem, '/');
    if (slash == NULL) {
        snprintf(group, size, "%s", "");
    } else if (grouping == PROFILE_SYSTEM) {
        snprintf(group, size, "%.*s", (int)(slash - problem), problem);
    } else {
        snprintf(group, size, "%.*s", (int)strcspn(slash + 1, "/"), slash + 1);
    }
}

int32_t profile_groups(const ProfileTable *table, ProfileGrouping grouping, char (*groups)[64], int32_t most) {
    int32_t count = 0;
    for (int32_t i = 0; i < table->problem_count && count < most; i++) {
        char group[64];
        profile_group(table->problems[i], grouping, group, sizeof group);
        bool known = group[0] == '\0';
        for (int32_t k = 0; k < count && !known; k++) {
            known = strcmp(groups[k], group) == 0;
        }
        if (!known) {
            memcpy(groups[count++], group, sizeof group);
        }
    }
    return count;
}

// --- profiles -------------------------------------------------------------------------------------

KlStatus profile_of(const ProfileTable *table, ProfileGrouping grouping, const char *group, int32_t measure,
                    double tau_max, bool floor, Profile *profile) {
    size_t solvers = (size_t)table->solver_count;
    *profile = (Profile){0};
    double *values = kl_alloc(((size_t)table->problem_count * solvers + 1) * sizeof *values);
    profile->rho = kl_alloc((solvers * PROFILE_POINTS + 1) * sizeof *profile->rho);
    KlStatus status = values != NULL && profile->rho != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
    for (int32_t p = 0; p < table->problem_count && status == KL_OK; p++) {
        char own[64];
        profile_group(table->problems[p], grouping, own, sizeof own);
        if (strcmp(own, group) == 0) {
            memcpy(values + (size_t)profile->problem_count++ * solvers, table->values[measure] + (size_t)p * solvers,
                   solvers * sizeof *values);
        }
    }
    if (status == KL_OK) {
        KlProfileDef def = {.problems = profile->problem_count,
                            .solvers = table->solver_count,
                            .measure = values,
                            .floor = floor && profile_measures[measure].residual,
                            .points = PROFILE_POINTS,
                            .tau_max = tau_max};
        status = kl_profile_compute(&def, profile->tau, profile->rho);
    }
    kl_free(values);
    return status;
}

void profile_free(Profile *profile) {
    kl_free(profile->rho);
    profile->rho = NULL;
}

void profile_svg(FILE *file, const ProfileTable *table, const Profile *profile, const char *title) {
    SvgCurve curves[64];
    for (int32_t s = 0; s < table->solver_count; s++) {
        curves[s] = (SvgCurve){.name = table->solvers[s],
                               .style = svg_solver_style(table->solvers[s]),
                               .x = profile->tau,
                               .y = profile->rho + s * PROFILE_POINTS,
                               .count = PROFILE_POINTS};
    }
    SvgPlot plot = {.title = title,
                    .x_label = "ratio to the best, tau",
                    .y_label = "share of problems, rho",
                    .log_x = true,
                    .stairs = true,
                    .y_min = 0.0,
                    .y_max = 1.02,
                    .curves = curves,
                    .count = table->solver_count};
    svg_plot(file, &plot);
}
