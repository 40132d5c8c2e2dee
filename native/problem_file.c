// Opens files of dual problems by content.
#include "problem_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/status.h"
#include "dataset_file.h"
#include "fclib.h"
#include "output.h"
#include "problem_json.h"

void problem_record_init(ProblemRecord *record) {
    *record = (ProblemRecord){.lambda_natural = (double)NAN, .rank = -1};
}

void problem_record_free(ProblemRecord *record) {
    kl_problem_destroy(record->problem);
    kl_free(record->lambda);
    problem_record_init(record);
}

int32_t problem_soft_row(const KlProblem *problem) {
    int32_t row = 0;
    while (row < problem->dim && problem->softening[row] == 0.0) {
        row++;
    }
    return row < problem->dim ? row : -1;
}

const char *problem_format_name(ProblemFormat format) {
    static const char *const names[] = {"kinloop HDF5", "FCLIB local", "FCLIB global", "JSON"};
    return names[format];
}

// A stored solution that solves nothing (FCLIB files often hold zeros) is dropped, and said so.
static void check_solution(ProblemRecord *record) {
    if (record->lambda == NULL) {
        return;
    }
    KlResiduals residuals;
    kl_problem_residuals(record->problem, record->lambda, &residuals);
    if (!(residuals.natural_relative <= 1e-3)) {  // far above any solver's tolerance
        size_t used = strlen(record->note);
        snprintf(record->note + used, sizeof record->note - used,
                 "%sthe stored solution is none (r_nat_rel %.1e) and is ignored", used > 0 ? "; " : "",
                 residuals.natural_relative);
        kl_free(record->lambda);
        record->lambda = NULL;
    }
}

static KlStatus open_hdf5(ProblemFile *file) {
    KL_TRY(h5_open(file->path, &file->h5));
    file->count = 1;
    if (h5_has(&file->h5, "/fclib_local")) {
        file->format = PROBLEM_FCLIB_LOCAL;
    } else if (h5_has(&file->h5, "/fclib_global")) {
        file->format = PROBLEM_FCLIB_GLOBAL;
    } else if (dataset_is(&file->h5)) {
        file->format = PROBLEM_OURS;
        return dataset_names(&file->h5, &file->names, &file->count);
    } else {
        return h5_fail(&file->h5, KL_ERR_FORMAT, "/",
                       "holds no problem: neither fclib_local, fclib_global nor @format \"%s\"", DATASET_FORMAT);
    }
    return KL_OK;
}

static KlStatus open_json(ProblemFile *file) {
    file->format = PROBLEM_JSON;
    KL_TRY(cli_read_file(file->path, &file->text, &file->size));
    KlProblem *first = NULL;
    KL_TRY(kl_problem_parse_json(file->text, file->size, file->path, 0, &file->count, &first));
    kl_problem_destroy(first);
    return KL_OK;
}

KlStatus problem_file_open(const char *path, ProblemFile *file) {
    *file = (ProblemFile){.h5.id = -1};
    snprintf(file->path, sizeof file->path, "%s", path);
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0 && !h5_is_file(path) &&
        (cli_ends_with(path, ".h5") || cli_ends_with(path, ".hdf5"))) {
        KlPlace place = {.file = path};
        return kl_fail_at(KL_ERR_FORMAT, &place, "is not an HDF5 file (no signature)");
    }
    KlStatus status = h5_is_file(path) ? open_hdf5(file) : open_json(file);
    if (status != KL_OK) {
        problem_file_close(file);
    }
    return status;
}

void problem_file_close(ProblemFile *file) {
    h5_close(&file->h5);
    for (int32_t i = 0; file->names != NULL && i < file->count; i++) {
        kl_free(file->names[i]);
    }
    kl_free(file->names);
    kl_free(file->text);
    file->names = NULL;
    file->text = NULL;
}

static KlStatus read_record(ProblemFile *file, int32_t index, ProblemRecord *record) {
    switch (file->format) {
        case PROBLEM_OURS: return dataset_read(&file->h5, file->names[index], record);
        case PROBLEM_FCLIB_LOCAL: return fclib_read(&file->h5, false, record);
        case PROBLEM_FCLIB_GLOBAL: return fclib_read(&file->h5, true, record);
        case PROBLEM_JSON:
            KL_TRY(kl_problem_parse_json(file->text, file->size, file->path, index, NULL, &record->problem));
            return problem_json_remarks(file->text, file->size, file->path, index, record);
    }
    return KL_OK;
}

KlStatus problem_file_read(ProblemFile *file, int32_t index, ProblemRecord *record) {
    problem_record_init(record);
    if (index < 0 || index >= file->count) {
        KlPlace place = {.file = file->path};
        return kl_fail_at(KL_ERR_ARGUMENT, &place, "has no problem %d (it holds %d, from 0)", (int)index,
                          (int)file->count);
    }
    KL_TRY(read_record(file, index, record));
    if (record->name[0] == '\0') {
        snprintf(record->name, sizeof record->name, "%d", (int)index);
    }
    if (kl_problem_check(record->problem) != KL_OK) {
        char what[512];
        snprintf(what, sizeof what, "%.511s", kl_last_error()->message);
        KlPlace place = {.file = file->path, .path = record->name};
        return kl_fail_at(KL_ERR_SCENE, &place, "%s", what);
    }
    check_solution(record);
    return KL_OK;
}

// "12" or "3-9"; false for anything else.
static bool parse_range(const char *text, ProblemSelection *selection) {
    char *end;
    long first = strtol(text, &end, 10);
    if (end == text || first < 0 || first > INT32_MAX) {
        return false;
    }
    long last = first;
    if (*end == '-') {
        const char *from = end + 1;
        last = strtol(from, &end, 10);
        if (end == from) {
            last = INT32_MAX;
        }
    }
    if (*end != '\0' || last < first || last > INT32_MAX) {
        return false;
    }
    selection->first = (int32_t)first;
    selection->last = (int32_t)last;
    return true;
}

KlStatus problem_select(const char *text, ProblemSelection *selection) {
    *selection = (ProblemSelection){.last = -1};
    if (strlen(text) >= sizeof selection->path) {
        return kl_fail(KL_ERR_ARGUMENT, "the path is longer than %zu characters", sizeof selection->path - 1);
    }
    snprintf(selection->path, sizeof selection->path, "%s", text);
    struct stat info;
    char *colon = strrchr(selection->path, ':');
    if (stat(text, &info) == 0 || colon == NULL) {
        return KL_OK;
    }
    *colon = '\0';
    const char *chosen = colon + 1;
    if (!parse_range(chosen, selection)) {
        if (*chosen == '\0' || strlen(chosen) >= sizeof selection->prefix) {
            return kl_fail(KL_ERR_ARGUMENT, "%s: after the colon comes an index, a range like 3-9 or a name", text);
        }
        snprintf(selection->prefix, sizeof selection->prefix, "%s", chosen);
    }
    return KL_OK;
}

bool problem_file_is(const char *text) {
    ProblemSelection selection;
    ProblemFile file;
    if (problem_select(text, &selection) != KL_OK || problem_file_open(selection.path, &file) != KL_OK) {
        return false;
    }
    problem_file_close(&file);
    return true;
}

bool problem_selected(const ProblemFile *file, const ProblemSelection *selection, int32_t index) {
    if (index < selection->first || (selection->last >= 0 && index > selection->last)) {
        return false;
    }
    if (selection->prefix[0] == '\0') {
        return true;
    }
    return file->names != NULL && strncmp(file->names[index] + 1, selection->prefix, strlen(selection->prefix)) == 0;
}
