// The solvers that a command line names.
#include "solver_choice.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"

const char *solver_default(void) { return kl_solver_kind_find("admm-ncp-plus") >= 0 ? "admm-ncp-plus" : "admm-ncp-la"; }

static KlStatus fail_unknown(const char *id) {
    const char *names[256] = {NULL};
    for (int32_t i = 0; i < kl_solver_kind_count() && i < 255; i++) {
        names[i] = kl_solver_kind(i)->id;
    }
    const char *hint = cli_did_you_mean(id, names);
    return kl_fail(KL_ERR_NOT_FOUND, "no solver %s%s%s%s; kinloop list solvers names them", id,
                   hint != NULL ? "; did you mean " : "", hint != NULL ? hint : "", hint != NULL ? "?" : "");
}

static KlStatus add_kind(int32_t kind, SolverChoice *choice) {
    for (int32_t i = 0; i < choice->count; i++) {
        if (choice->kinds[i] == kind) {
            return KL_OK;
        }
    }
    if (choice->count == MAX_CHOSEN) {
        return kl_fail(KL_ERR_LIMIT, "at most %d solvers at once", (int)MAX_CHOSEN);
    }
    choice->kinds[choice->count++] = kind;
    return KL_OK;
}

static KlStatus add_list(const char *list, SolverChoice *choice) {
    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, ",");
        char id[64];
        if (length == 0 || length >= sizeof id) {
            return kl_fail(KL_ERR_ARGUMENT, "--solver takes ids parted by commas (got %s)", list);
        }
        memcpy(id, at, length);
        id[length] = '\0';
        if (strcmp(id, "all") == 0) {
            for (int32_t i = 0; i < kl_solver_kind_count(); i++) {
                KL_TRY(add_kind(i, choice));
            }
        } else if (kl_solver_kind_find(id) < 0) {
            return fail_unknown(id);
        } else {
            KL_TRY(add_kind(kl_solver_kind_find(id), choice));
        }
        at += length;
        at += *at == ',';
    }
    return choice->count > 0 ? KL_OK : kl_fail(KL_ERR_ARGUMENT, "--solver names no solver");
}

KlStatus solver_choice(const CliArgs *args, const char *fallback, SolverChoice *choice) {
    *choice = (SolverChoice){0};
    int given = cli_value_count(args, "solver");
    if (given == 0) {
        KL_TRY(add_list(fallback, choice));
    }
    for (int i = 0; i < given; i++) {
        KL_TRY(add_list(cli_value(args, "solver", i), choice));
    }
    return solver_choice_check(args, choice);
}

// --- --set ----------------------------------------------------------------------------------------

typedef struct Assignment {
    char solver[64];  // "" = any
    char param[64];
    const char *value;
} Assignment;

// "[solver.]param=value"; solver ids hold no dot.
static KlStatus parse_assignment(const char *text, Assignment *assignment) {
    const char *equals = strchr(text, '=');
    const char *dot = memchr(text, '.', equals != NULL ? (size_t)(equals - text) : 0);
    const char *param = dot != NULL ? dot + 1 : text;
    size_t solver_length = dot != NULL ? (size_t)(dot - text) : 0;
    size_t param_length = equals != NULL ? (size_t)(equals - param) : 0;
    if (equals == NULL || param_length == 0 || param_length >= sizeof assignment->param ||
        solver_length >= sizeof assignment->solver || equals[1] == '\0') {
        return kl_fail(KL_ERR_ARGUMENT, "--set takes [solver.]param=value (got %s)", text);
    }
    *assignment = (Assignment){.value = equals + 1};
    memcpy(assignment->solver, text, solver_length);
    memcpy(assignment->param, param, param_length);
    return KL_OK;
}

static bool has_param(const KlSolverInfo *info, const char *param) {
    for (int32_t i = 0; i < info->param_count; i++) {
        if (strcmp(info->params[i].id, param) == 0) {
            return true;
        }
    }
    return false;
}

static bool reaches(const Assignment *assignment, const KlSolverInfo *info) {
    return (assignment->solver[0] == '\0' || strcmp(assignment->solver, info->id) == 0) &&
           has_param(info, assignment->param);
}

KlStatus solver_choice_check(const CliArgs *args, const SolverChoice *choice) {
    for (int i = 0; i < cli_value_count(args, "set"); i++) {
        Assignment assignment;
        const char *text = cli_value(args, "set", i);
        KL_TRY(parse_assignment(text, &assignment));
        if (assignment.solver[0] != '\0' && kl_solver_kind_find(assignment.solver) < 0) {
            return fail_unknown(assignment.solver);
        }
        bool used = false;
        const char *names[256] = {NULL};
        int32_t known = 0;
        for (int32_t k = 0; k < choice->count; k++) {
            const KlSolverInfo *info = kl_solver_kind(choice->kinds[k]);
            used = used || reaches(&assignment, info);
            for (int32_t p = 0; p < info->param_count && known < 255; p++) {
                names[known++] = info->params[p].id;
            }
        }
        if (!used) {
            const char *hint = cli_did_you_mean(assignment.param, names);
            return kl_fail(KL_ERR_NOT_FOUND, "--set %s: no chosen solver has this parameter%s%s%s", text,
                           hint != NULL ? "; did you mean " : "", hint != NULL ? hint : "", hint != NULL ? "?" : "");
        }
    }
    return KL_OK;
}

// --- making ---------------------------------------------------------------------------------------

KlStatus solver_apply(const CliArgs *args, const SolverDefaults *defaults, KlSolver *solver) {
    bool own_preset = cli_has(args, "preset");
    KL_TRY(kl_solver_preset(solver, cli_text(args, "preset", defaults->preset)));
    double tolerance = cli_real(args, "tol", own_preset ? 0.0 : defaults->tolerance);
    if (tolerance > 0.0 || cli_has(args, "tol")) {
        KL_TRY(kl_solver_set(solver, "tolerance", tolerance));
    }
    int64_t iterations = cli_int(args, "max-iter", own_preset ? 0 : defaults->max_iterations);
    if (iterations > 0) {
        KL_TRY(kl_solver_set(solver, "max_iterations", (double)iterations));
    }
    for (int i = 0; i < cli_value_count(args, "set"); i++) {
        Assignment assignment;
        KL_TRY(parse_assignment(cli_value(args, "set", i), &assignment));
        if (reaches(&assignment, kl_solver_info(solver))) {
            KL_TRY(kl_solver_set_text(solver, assignment.param, assignment.value));
        }
    }
    return KL_OK;
}

KlStatus solver_make(const CliArgs *args, int32_t kind, const SolverDefaults *defaults, KlSolver **solver) {
    KL_TRY(kl_solver_create(kl_solver_kind(kind)->id, solver));
    KlStatus status = solver_apply(args, defaults, *solver);
    if (status != KL_OK) {
        kl_solver_destroy(*solver);
        *solver = NULL;
    }
    return status;
}
