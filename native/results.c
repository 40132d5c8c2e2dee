// Result files.
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "h5.h"

static KlStatus fail_format(const char *path, const char *what) {
    KlPlace place = {.file = path};
    return kl_fail_at(KL_ERR_FORMAT, &place, "%s", what);
}

KlStatus results_load(const char *path, json_t **rows) {
    char *text = NULL;
    size_t size;
    *rows = NULL;
    KL_TRY(cli_read_file(path, &text, &size));
    json_error_t error;
    json_t *root = json_loadb(text, size, 0, &error);
    kl_free(text);
    if (root == NULL) {
        KlPlace place = {.file = path, .line = error.line, .column = error.column};
        return kl_fail_at(KL_ERR_FORMAT, &place, "%s", error.text);
    }
    json_t *list = json_is_array(root) ? root : json_object_get(root, "results");
    if (!json_is_array(list)) {
        json_decref(root);
        return fail_format(path, "holds no results: neither a list nor an object with \"results\"");
    }
    *rows = json_incref(list);
    json_decref(root);
    return KL_OK;
}

static int by_id(const void *a, const void *b) {
    const char *x = json_string_value(json_object_get(*(json_t *const *)a, "id"));
    const char *y = json_string_value(json_object_get(*(json_t *const *)b, "id"));
    return strcmp(x != NULL ? x : "", y != NULL ? y : "");
}

KlStatus results_sort(json_t *rows) {
    size_t count = json_array_size(rows);
    json_t **list = kl_alloc((count + 1) * sizeof(json_t *));
    if (list == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = json_incref(json_array_get(rows, i));
    }
    qsort(list, count, sizeof(json_t *), by_id);
    json_array_clear(rows);
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(rows, list[i]);
    }
    kl_free(list);
    return KL_OK;
}

// --- export ---------------------------------------------------------------------------------------

static const char *const columns[] = {"id",         "median_s", "min_s",    "mad_s",  "repeats", "outcome",
                                      "iterations", "n",        "contacts", "r_dual", "r_ncp",   "r_nat",
                                      "r_nat_rel",  "machine",  "compiler", "commit", "build"};
enum { COLUMN_COUNT = sizeof columns / sizeof columns[0] };

static const json_t *cell(const json_t *row, const char *column) {
    const json_t *value = json_object_get(row, column);
    return value != NULL ? value : json_object_get(json_object_get(row, "residuals"), column);
}

static void write_cell(FILE *file, const json_t *value, bool quoted) {
    if (json_is_string(value)) {
        fprintf(file, quoted && strchr(json_string_value(value), ',') != NULL ? "\"%s\"" : "%s",
                json_string_value(value));
    } else if (json_is_number(value)) {
        fprintf(file, "%.9g", json_number_value(value));
    }
}

static void write_table(FILE *file, const json_t *rows, const char *before, const char *between, const char *after,
                        bool csv) {
    fputs(before, file);
    for (int k = 0; k < COLUMN_COUNT; k++) {
        fprintf(file, "%s%s", k > 0 ? between : "", columns[k]);
    }
    fprintf(file, "%s\n", after);
    if (!csv) {
        for (int k = 0; k < COLUMN_COUNT; k++) {
            fputs("|---", file);
        }
        fputs("|\n", file);
    }
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) {
        fputs(before, file);
        for (int k = 0; k < COLUMN_COUNT; k++) {
            fputs(k > 0 ? between : "", file);
            write_cell(file, cell(row, columns[k]), csv);
        }
        fprintf(file, "%s\n", after);
    }
}

static KlStatus export_text(const json_t *rows, const char *path, const char *kind, bool force) {
    CliOutput output;
    KL_TRY(cli_output_open(&output, path, force));
    if (strcmp(kind, "json") == 0) {
        json_dumpf(rows, output.file, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
        fputc('\n', output.file);
    } else if (strcmp(kind, "csv") == 0) {
        write_table(output.file, rows, "", ",", "", true);
    } else {
        write_table(output.file, rows, "| ", " | ", " |", false);
    }
    return cli_output_commit(&output);
}

// One group per case, "0", "1" ...: attributes as in the CSV, the samples as a dataset.
static KlStatus export_case(const H5File *file, const json_t *row, size_t index) {
    char group[32], path[64];
    snprintf(group, sizeof group, "/%05zu", index);
    KL_TRY(h5_make_group(file, group));
    for (int k = 0; k < COLUMN_COUNT; k++) {
        const json_t *value = cell(row, columns[k]);
        if (json_is_string(value)) {
            KL_TRY(h5_set_text(file, group, columns[k], json_string_value(value)));
        } else if (json_is_number(value)) {
            KL_TRY(h5_set_real(file, group, columns[k], json_number_value(value)));
        }
    }
    const json_t *samples = json_object_get(row, "samples_s");
    size_t count = json_array_size(samples);
    double *values = kl_alloc((count + 1) * sizeof *values);
    if (values == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        values[i] = json_number_value(json_array_get(samples, i));
    }
    snprintf(path, sizeof path, "%s/samples_s", group);
    KlStatus status = h5_write_reals(file, path, values, (int64_t)count, 0);
    kl_free(values);
    return status;
}

static KlStatus export_h5(const json_t *rows, const char *path, bool force) {
    CliOutput output;
    H5File file;
    KL_TRY(cli_output_reserve(&output, path, force));
    KlStatus status = h5_create(output.temporary, &file);
    bool open = status == KL_OK;
    if (open) {
        status = h5_set_text(&file, "/", "format", "kinloop-results");
    }
    for (size_t i = 0; i < json_array_size(rows) && status == KL_OK; i++) {
        status = export_case(&file, json_array_get(rows, i), i);
    }
    if (open) {
        KlStatus closed = h5_finish(&file);
        status = status == KL_OK ? closed : status;
    }
    if (status != KL_OK) {
        cli_output_discard(&output);
        return status;
    }
    return cli_output_commit(&output);
}

KlStatus results_export(const json_t *rows, const char *stem, const char *kinds, bool force) {
    for (const char *at = kinds; *at != '\0';) {
        size_t length = strcspn(at, ",");
        char kind[8] = "", path[1100];
        snprintf(kind, sizeof kind, "%.*s", length < 7 ? (int)length : 7, at);
        bool stdout_json = strcmp(stem, "-") == 0;
        snprintf(path, sizeof path, stdout_json ? "-" : "%s.%s", stem, kind);
        if (strcmp(kind, "h5") == 0) {
            KL_TRY(stdout_json ? kl_fail(KL_ERR_ARGUMENT, "h5 cannot go to standard output")
                               : export_h5(rows, path, force));
        } else if (strcmp(kind, "json") == 0 || strcmp(kind, "csv") == 0 || strcmp(kind, "md") == 0) {
            KL_TRY(export_text(rows, path, kind, force));
        } else {
            return kl_fail(KL_ERR_ARGUMENT, "--export takes json, csv, md and h5 (got %s)", kind);
        }
        at += length;
        at += *at == ',';
    }
    return KL_OK;
}
