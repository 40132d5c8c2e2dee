// kinloop report: one HTML page with tables, profiles, convergence and time series. Pictures are inline
// SVG; the page asks for nothing from elsewhere.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/statistics.h"
#include "build_info.h"
#include "h5.h"
#include "output.h"
#include "profiles.h"
#include "results.h"
#include "svg.h"

static const CliOption options[] = {
    {"output", 'o', CLI_TEXT, "FILE.html", "the page to write (default: standard output)", 0, 0, "file"},
    {"title", 0, CLI_TEXT, "TEXT", "heading of the page", 0, 0, NULL},
    CLI_OPTION_FORCE,
    CLI_COMMON,
};

enum { MAX_CURVES = 16, MAX_TRACED = 12, MAX_POINTS = 2000, MAX_GROUPS = 256 };

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 "
    "1rem;color:#222;background:#fff}"
    "h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid #ddd}table{border-collapse:collapse;"
    "font-variant-numeric:tabular-nums}th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #eee}"
    "th:first-child,td:first-child{text-align:left}figure{display:inline-block;margin:.3rem "
    "0;width:49%;min-width:22rem}svg{max-width:100%;"
    "height:auto}.scroll{overflow-x:auto}small{color:#666}summary{cursor:pointer}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}th,td{border-color:#333}h2{border-color:#444}"
    "small{color:#aaa}}";

static void put_text(FILE *file, const char *text) {
    for (; *text != '\0'; text++) {
        switch (*text) {
            case '<': fputs("&lt;", file); break;
            case '>': fputs("&gt;", file); break;
            case '&': fputs("&amp;", file); break;
            default: fputc(*text, file);
        }
    }
}

static void put_heading(FILE *file, const char *text) {
    fputs("<h2>", file);
    put_text(file, text);
    fputs("</h2>\n", file);
}

static void put_cell(FILE *file, const char *text) {
    fputs("<td>", file);
    put_text(file, text);
    fputs("</td>", file);
}

static void put_number(FILE *file, const char *format, double value) {
    char text[64];
    snprintf(text, sizeof text, format, value);
    put_cell(file, isnan(value) ? "-" : text);
}

static void put_head(FILE *file, const char *const *titles, int count) {
    fputs("<div class=scroll><table><thead><tr>", file);
    for (int i = 0; i < count; i++) {
        fprintf(file, "<th scope=col>%s</th>", titles[i]);
    }
    fputs("</tr></thead><tbody>\n", file);
}

static const char *text_of(const json_t *row, const char *key) {
    const char *text = json_string_value(json_object_get(row, key));
    return text != NULL ? text : "";
}

static double real_of(const json_t *row, const char *key) {
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

// --- solvers in numbers ---------------------------------------------------------------------------

// Median over the problems where the value is a number.
static double median_over(const ProfileTable *table, int measure, int32_t solver, double *scratch) {
    for (int32_t p = 0; p < table->problem_count; p++) {
        scratch[p] = table->values[measure][p * table->solver_count + solver];
    }
    return kl_median(scratch, kl_drop_nan(scratch, table->problem_count));
}

static double worst_over(const ProfileTable *table, int measure, int32_t solver) {
    double worst = (double)NAN;
    for (int32_t p = 0; p < table->problem_count; p++) {
        double value = table->values[measure][p * table->solver_count + solver];
        worst = isnan(value) || worst >= value ? worst : value;
    }
    return worst;
}

static int measure_index(const char *id) {
    for (int m = 0; m < PROFILE_MEASURE_COUNT; m++) {
        if (strcmp(profile_measures[m].id, id) == 0) {
            return m;
        }
    }
    return 0;
}

static KlStatus put_solvers(FILE *file, const ProfileTable *table) {
    static const char *const titles[] = {"solver",          "problems",         "converged",      "median iterations",
                                         "median time [s]", "median r_nat_rel", "worst r_nat_rel"};
    double *scratch = kl_alloc(((size_t)table->problem_count + 1) * sizeof *scratch);
    if (scratch == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    int iterations = measure_index("iterations"), time = measure_index("time_s"), natural = measure_index("r_nat_rel");
    put_heading(file, "Solvers");
    put_head(file, titles, 7);
    for (int32_t s = 0; s < table->solver_count; s++) {
        int32_t converged = 0;
        for (int32_t p = 0; p < table->problem_count; p++) {
            converged += !isnan(table->values[iterations][p * table->solver_count + s]);
        }
        fputs("<tr>", file);
        put_cell(file, table->solvers[s]);
        put_number(file, "%.0f", table->problem_count);
        put_number(file, "%.1f %%", 100.0 * converged / table->problem_count);
        put_number(file, "%.0f", median_over(table, iterations, s, scratch));
        put_number(file, "%.3g", median_over(table, time, s, scratch));
        put_number(file, "%.2e", median_over(table, natural, s, scratch));
        put_number(file, "%.2e", worst_over(table, natural, s));
        fputs("</tr>\n", file);
    }
    fputs("</tbody></table></div>\n<p><small>Iterations and time count only where the solver converged.</small></p>\n",
          file);
    kl_free(scratch);
    return KL_OK;
}

static bool has_values(const ProfileTable *table, int measure) {
    for (int32_t i = 0; i < table->problem_count * table->solver_count; i++) {
        if (!isnan(table->values[measure][i])) {
            return true;
        }
    }
    return false;
}

static KlStatus put_profile(FILE *file, const ProfileTable *table, ProfileGrouping grouping, const char *group,
                            int measure) {
    Profile profile;
    char title[128];
    KlStatus status = profile_of(table, grouping, group, measure, 1000.0, true, &profile);
    if (status == KL_OK) {
        snprintf(title, sizeof title, "%s (%d problems)", profile_measures[measure].title, (int)profile.problem_count);
        fputs("<figure>", file);
        profile_svg(file, table, &profile, title);
        fputs("</figure>\n", file);
    }
    profile_free(&profile);
    return status;
}

static KlStatus put_profiles_of(FILE *file, const ProfileTable *table, ProfileGrouping grouping, const char *group) {
    for (int m = 0; m < PROFILE_MEASURE_COUNT; m++) {
        if (has_values(table, m)) {
            KL_TRY(put_profile(file, table, grouping, group, m));
        }
    }
    return KL_OK;
}

// Folded: each system's, or each category's, where there is more than one.
static KlStatus put_grouped_profiles(FILE *file, const ProfileTable *table, ProfileGrouping grouping,
                                     const char *title) {
    static char groups[MAX_GROUPS][64];
    int32_t count = profile_groups(table, grouping, groups, MAX_GROUPS);
    if (count < 2) {
        return KL_OK;
    }
    fprintf(file, "<h3>%s</h3>\n", title);
    for (int32_t g = 0; g < count; g++) {
        fputs("<details><summary>", file);
        put_text(file, groups[g]);
        fputs("</summary>\n", file);
        KL_TRY(put_profiles_of(file, table, grouping, groups[g]));
        fputs("</details>\n", file);
    }
    return KL_OK;
}

static KlStatus put_profiles(FILE *file, const ProfileTable *table) {
    put_heading(file, "Performance profiles");
    fputs(
        "<p>Height at tau: the share of problems that a solver does within a factor tau of the best. Further left and "
        "higher is better; failed runs never count. Ranks beyond pairs of solvers can mislead.</p>\n",
        file);
    KL_TRY(put_profiles_of(file, table, PROFILE_ALL, "all"));
    KL_TRY(put_grouped_profiles(file, table, PROFILE_SYSTEM, "By system"));
    return put_grouped_profiles(file, table, PROFILE_CATEGORY, "By category");
}

// --- convergence ----------------------------------------------------------------------------------

static bool same_problem(const json_t *a, const json_t *b) {
    return strcmp(text_of(a, "file"), text_of(b, "file")) == 0 && strcmp(text_of(a, "name"), text_of(b, "name")) == 0 &&
           real_of(a, "index") == real_of(b, "index");
}

// Residual per iteration, thinned to MAX_POINTS.
static KlStatus trace_curve(const json_t *row, SvgCurve *curve) {
    const json_t *trace = json_object_get(row, "trace");
    size_t count = json_array_size(trace), stride = count / MAX_POINTS + 1, used = 0;
    double *x = kl_alloc((2 * (count / stride + 2)) * sizeof *x);
    if (x == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    double *y = x + count / stride + 2;
    for (size_t i = 0; i < count; i += stride) {
        const json_t *step = json_array_get(trace, i);
        double residual = real_of(step, "natural_relative");
        x[used] = real_of(step, "iteration");
        y[used++] = residual > 1e-17 ? residual : residual >= 0.0 ? 1e-17 : residual;  // zeros stay on the axis
    }
    *curve = (SvgCurve){.name = text_of(row, "solver"),
                        .style = svg_solver_style(text_of(row, "solver")),
                        .x = x,
                        .y = y,
                        .count = (int32_t)used};
    return KL_OK;
}

static KlStatus put_convergence_of(FILE *file, const json_t *rows, const json_t *first) {
    SvgCurve curves[MAX_CURVES];
    int32_t count = 0;
    KlStatus status = KL_OK;
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) {
        if (status == KL_OK && count < MAX_CURVES && same_problem(row, first) &&
            json_object_get(row, "trace") != NULL) {
            status = trace_curve(row, &curves[count]);
            count += status == KL_OK;
        }
    }
    if (status == KL_OK) {
        char title[160];
        snprintf(title, sizeof title, "%.120s (%d rows)", text_of(first, "name"), (int)real_of(first, "n"));
        SvgPlot plot = {.title = title,
                        .x_label = "iteration",
                        .y_label = "r_nat_rel",
                        .log_x = true,
                        .log_y = true,
                        .curves = curves,
                        .count = count};
        fputs("<figure>", file);
        svg_plot(file, &plot);
        fputs("</figure>\n", file);
    }
    for (int32_t k = 0; k < count; k++) {
        kl_free((void *)curves[k].x);
    }
    return status;
}

static KlStatus put_convergence(FILE *file, const json_t *rows) {
    const json_t *done[MAX_TRACED];
    int32_t count = 0;
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) {
        bool known = json_object_get(row, "trace") == NULL || count == MAX_TRACED;
        for (int32_t k = 0; k < count && !known; k++) {
            known = same_problem(done[k], row);
        }
        if (known) {
            continue;
        }
        if (count == 0) {
            put_heading(file, "Convergence");
        }
        done[count++] = row;
        KL_TRY(put_convergence_of(file, rows, row));
    }
    return KL_OK;
}

// --- runs -----------------------------------------------------------------------------------------

static void put_run(FILE *file, const json_t *result) {
    static const char *const titles[] = {"solver",   "outcome",     "steps",        "converged",       "iterations",
                                         "time [s]", "worst r_pen", "worst r_dual", "worst r_nat_rel", "hash"};
    char title[200];
    snprintf(title, sizeof title, "Run: %.80s, %.80s%s", text_of(result, "scene"), text_of(result, "run"),
             json_is_true(json_object_get(result, "surrogate")) ? " (surrogate mechanism)" : "");
    put_heading(file, title);
    put_head(file, titles, 10);
    size_t i;
    const json_t *run;
    json_array_foreach(json_object_get(result, "runs"), i, run) {
        const json_t *worst = json_object_get(run, "max");
        fputs("<tr>", file);
        put_cell(file, text_of(run, "solver"));
        put_cell(file, text_of(run, "outcome"));
        put_number(file, "%.0f", real_of(run, "steps"));
        put_number(file, "%.0f", real_of(run, "converged_steps"));
        put_number(file, "%.0f", real_of(json_object_get(run, "iterations"), "sum"));
        put_number(file, "%.3g", real_of(json_object_get(run, "time_s"), "total"));
        put_number(file, "%.2e", real_of(worst, "r_pen"));
        put_number(file, "%.2e", real_of(worst, "r_dual"));
        put_number(file, "%.2e", real_of(worst, "r_nat_rel"));
        put_cell(file, text_of(run, "hash"));
        fputs("</tr>\n", file);
    }
    fputs("</tbody></table></div>\n", file);
}

// --- time series ----------------------------------------------------------------------------------

// The recorded trajectories of one file: time and metrics of each solver.
typedef struct Series {
    char solver[64];
    double *time, *metrics;  // (count), (count x width)
    int64_t count, width;
} Series;

typedef struct Record {
    H5File file;
    Series series[MAX_CURVES];
    int32_t count;
} Record;

// Metrics may be NaN (not computed), so they are read without the check for finite values.
static KlStatus read_plain(const H5File *file, const char *object, int64_t count, double *values) {
    hid_t set = H5Dopen2(file->id, object, H5P_DEFAULT);
    herr_t result = set >= 0 ? H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) : -1;
    hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    bool fits = space >= 0 && H5Sget_simple_extent_npoints(space) == count;
    if (space >= 0) {
        H5Sclose(space);
    }
    if (set >= 0) {
        H5Dclose(set);
    }
    return result >= 0 && fits ? KL_OK : h5_fail(file, KL_ERR_FORMAT, object, "cannot be read");
}

static int64_t length_of(const H5File *file, const char *object) {
    hid_t set = h5_has(file, object) ? H5Dopen2(file->id, object, H5P_DEFAULT) : -1;
    hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    int64_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    if (space >= 0) {
        H5Sclose(space);
    }
    if (set >= 0) {
        H5Dclose(set);
    }
    return count;
}

static KlStatus read_series(void *context, const char *name) {
    Record *record = context;
    if (record->count == MAX_CURVES) {
        return KL_OK;
    }
    char time[160], metrics[160];
    snprintf(time, sizeof time, "/trajectory/%.100s/time", name);
    snprintf(metrics, sizeof metrics, "/trajectory/%.100s/metrics", name);
    Series *series = &record->series[record->count];
    int64_t values = length_of(&record->file, metrics);
    series->count = length_of(&record->file, time);
    if (series->count < 1 || values < series->count || values % series->count != 0 || values > 1 << 28) {
        return h5_fail(&record->file, KL_ERR_FORMAT, metrics, "does not fit the times");
    }
    series->width = values / series->count;
    snprintf(series->solver, sizeof series->solver, "%.63s", name);
    record->count++;
    series->time = kl_alloc((size_t)series->count * sizeof(double));
    series->metrics = kl_alloc((size_t)values * sizeof(double));
    if (series->time == NULL || series->metrics == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    KL_TRY(read_plain(&record->file, time, series->count, series->time));
    return read_plain(&record->file, metrics, values, series->metrics);
}

// Place of a metric in the file's own list, -1 when it has none.
static int64_t metric_place(const char *names, const char *metric) {
    int64_t place = 0;
    for (const char *at = names; *at != '\0'; place++) {
        size_t length = strcspn(at, ",");
        if (strlen(metric) == length && strncmp(at, metric, length) == 0) {
            return place;
        }
        at += length;
        at += *at == ',';
    }
    return -1;
}

static KlStatus put_series(FILE *file, const Record *record, const char *names, const char *metric) {
    int64_t place = metric_place(names, metric);
    int32_t known = kl_metric_find(metric);
    SvgCurve curves[MAX_CURVES];
    double *memory[MAX_CURVES] = {NULL};
    KlStatus status = KL_OK;
    int32_t count = 0;
    for (int32_t k = 0; k < record->count && place >= 0 && status == KL_OK; k++) {
        const Series *series = &record->series[k];
        int64_t stride = series->count / MAX_POINTS + 1, used = 0;
        memory[k] = kl_alloc((size_t)(2 * (series->count / stride + 2)) * sizeof(double));
        status = memory[k] != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
        double *x = memory[k], *y = memory[k] + series->count / stride + 2;
        for (int64_t i = 0; i < series->count && status == KL_OK && place < series->width; i += stride) {
            x[used] = series->time[i];
            y[used++] = series->metrics[i * series->width + place];
        }
        curves[count++] = (SvgCurve){
            .name = series->solver, .style = svg_solver_style(series->solver), .x = x, .y = y, .count = (int32_t)used};
    }
    if (status == KL_OK && count > 0) {
        const KlMetricInfo *info = known >= 0 ? kl_metric_kind(known) : NULL;
        char label[96];
        snprintf(label, sizeof label, "%s%s%s%s", metric, info != NULL && info->unit[0] != '\0' ? " [" : "",
                 info != NULL ? info->unit : "", info != NULL && info->unit[0] != '\0' ? "]" : "");
        SvgPlot plot = {.title = info != NULL ? info->title : metric,
                        .x_label = "time [s]",
                        .y_label = label,
                        .log_y = info != NULL && info->log_scale,
                        .curves = curves,
                        .count = count};
        fputs("<figure>", file);
        svg_plot(file, &plot);
        fputs("</figure>\n", file);
    }
    for (int32_t k = 0; k < MAX_CURVES; k++) {
        kl_free(memory[k]);
    }
    return status;
}

static KlStatus put_record(FILE *file, Record *record) {
    static const char *const shown[] = {"r_pen", "r_dual", "r_ncp", "r_nat_rel", "iterations", "total_energy"};
    char names[2048], scene[128], run[128], title[320];
    KL_TRY(h5_attribute_text(&record->file, "/trajectory", "metrics", names, sizeof names));
    KL_TRY(h5_attribute_text(&record->file, "/trajectory", "scene", scene, sizeof scene));
    KL_TRY(h5_attribute_text(&record->file, "/trajectory", "run", run, sizeof run));
    KL_TRY(h5_each(&record->file, "/trajectory", read_series, record));
    snprintf(title, sizeof title, "Time series: %s, %s", scene, run);
    put_heading(file, title);
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
        KL_TRY(put_series(file, record, names, shown[i]));
    }
    return KL_OK;
}

static KlStatus report_record(FILE *file, const char *path) {
    Record *record = kl_alloc(sizeof *record);
    if (record == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    KlStatus status = h5_open(path, &record->file);
    if (status == KL_OK) {
        status = h5_has(&record->file, "/trajectory")
                     ? put_record(file, record)
                     : h5_fail(&record->file, KL_ERR_FORMAT, "/trajectory", "is missing: this is no recorded run");
        h5_close(&record->file);
    }
    for (int32_t k = 0; k < record->count; k++) {
        kl_free(record->series[k].time);
        kl_free(record->series[k].metrics);
    }
    kl_free(record);
    return status;
}

// --- the page -------------------------------------------------------------------------------------

// JSON of kinloop run has "runs"; what solve and bench write goes to the common rows.
static KlStatus add_json(FILE *file, const char *path, json_t *rows) {
    char *text = NULL;
    size_t size;
    KL_TRY(cli_read_file(path, &text, &size));
    json_t *root = json_loadb(text, size, 0, NULL);
    kl_free(text);
    bool is_run = json_is_array(json_object_get(root, "runs"));
    if (is_run) {
        put_run(file, root);
    }
    json_decref(root);
    if (is_run) {
        return KL_OK;
    }
    json_t *part = NULL;
    KL_TRY(results_load(path, &part));
    json_array_extend(rows, part);
    json_decref(part);
    return KL_OK;
}

static KlStatus put_rows(FILE *file, const json_t *rows) {
    if (json_array_size(rows) == 0) {
        return KL_OK;
    }
    ProfileTable table;
    KlStatus status = profile_table(rows, &table);
    status = status == KL_OK ? put_solvers(file, &table) : status;
    status = status == KL_OK ? put_profiles(file, &table) : status;
    profile_table_free(&table);
    return status == KL_OK ? put_convergence(file, rows) : status;
}

static KlStatus put_page(const CliArgs *args, FILE *file) {
    char machine[256];
    const char *title = cli_text(args, "title", "kinloop report");
    machine_name(machine, sizeof machine);
    fputs("<!doctype html>\n<html lang=en><head><meta charset=utf-8><meta name=viewport "
          "content=\"width=device-width\"><title>",
          file);
    put_text(file, title);
    fprintf(file, "</title><style>%s</style></head><body>\n<h1>", style);
    put_text(file, title);
    fputs("</h1>\n<p><small>kinloop " KL_VERSION ", ", file);
    put_text(file, machine);
    fputs("</small></p>\n", file);
    json_t *rows = json_array();
    KlStatus status = KL_OK;
    for (int i = 0; i < cli_operand_count(args) && status == KL_OK; i++) {
        const char *path = cli_operand(args, i);
        status = h5_is_file(path) ? report_record(file, path) : add_json(file, path, rows);
    }
    status = status == KL_OK ? put_rows(file, rows) : status;
    json_decref(rows);
    fputs("</body></html>\n", file);
    return status;
}

static int run(const CliArgs *args) {
    CliOutput output;
    if (cli_output_open(&output, cli_text(args, "output", "-"), cli_has(args, "force")) != KL_OK) {
        return cli_report(args);
    }
    if (put_page(args, output.file) != KL_OK) {
        cli_output_discard(&output);
        return cli_report(args);
    }
    return cli_output_commit(&output) == KL_OK ? CLI_EXIT_OK : cli_report(args);
}

const CliCommand cmd_report = {
    .name = "report",
    .operands = "RESULTS...",
    .summary = "one self-contained HTML page of results",
    .text = "Takes JSON of solve (with --trace: convergence plots), bench and run, and files of run --record (time "
            "series). "
            "Colours and dashes of solvers are those of the page.",
    .options = options,
    .examples = {"kinloop solve set.h5 -s pgs-ncp,newton-ncp --max-iter 1000 --trace --json > t.json && kinloop report "
                 "t.json -o report.html",
                 "tables, profiles and convergence of a data set",
                 "kinloop run walker -s newton-ncp --steps 50 --record walk.h5 --json > walk.json && kinloop report "
                 "walk.json walk.h5 -o walk.html",
                 "a run with its time series"},
    .min_operands = 1,
    .max_operands = 100000,
    .complete = "file",
    .run = run,
};
