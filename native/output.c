// Errors, tables, progress and whole-or-nothing files of the command.
#include "output.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

enum { MAX_FILE = 256 << 20 };

// --- errors -------------------------------------------------------------------------------------

static int exit_code_of(KlStatus status) {
    switch (status) {
        case KL_OK: return CLI_EXIT_OK;
        case KL_ERR_ARGUMENT:
        case KL_ERR_NOT_FOUND: return CLI_EXIT_USAGE;
        case KL_ERR_IO:
        case KL_ERR_FORMAT:
        case KL_ERR_SCENE:
        case KL_ERR_LIMIT: return CLI_EXIT_INPUT;
        case KL_ERR_INTERRUPTED: return CLI_EXIT_INTERRUPTED;
        case KL_ERR_MEMORY:
        case KL_ERR_NOT_IMPLEMENTED:
        case KL_ERR_DIVERGED: return CLI_EXIT_FAILED;
    }
    return CLI_EXIT_FAILED;
}

static bool wants_json(const CliArgs *args) { return args != NULL && cli_has(args, "json"); }

int cli_report_as(const CliArgs *args, int exit_code) {
    const KlError *error = kl_last_error();
    if (wants_json(args)) {
        json_t *body = json_pack("{s:{s:s, s:s, s:s, s:i, s:s, s:i}}", "error", "code", kl_status_name(error->status),
                                 "message", error->message, "file", error->file, "line", (int)error->line, "path",
                                 error->path, "exit", exit_code);
        if (body != NULL) {
            json_dumpf(body, stderr, JSON_COMPACT);
            fputc('\n', stderr);
            json_decref(body);
            return exit_code;
        }
    }
    const char *paint = cli_colour(stderr) ? "\033[1;31m" : "";
    fprintf(stderr, "kinloop: %serror:%s %s\n", paint, *paint != '\0' ? "\033[0m" : "", error->message);
    return exit_code;
}

static bool output_fault;  // the last KL_ERR_IO was an output's

KlStatus cli_fail_output(const char *path, const char *what) {
    KlPlace place = {.file = path};
    output_fault = true;
    return kl_fail_at(KL_ERR_IO, &place, "%s", what);
}

int cli_report(const CliArgs *args) {
    KlStatus status = kl_last_error()->status;
    return cli_report_as(args, status == KL_ERR_IO && output_fault ? CLI_EXIT_FAILED : exit_code_of(status));
}

void cli_note(const CliArgs *args, const char *format, ...) {
    if (wants_json(args)) {
        return;
    }
    va_list list;
    va_start(list, format);
    fputs("kinloop: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

// --- interruption -------------------------------------------------------------------------------

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    interrupted = 1;
    signal(number, SIG_DFL);
}

void cli_catch_interrupt(void) {
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
}

bool cli_interrupted(void) { return interrupted != 0; }

// --- JSON ---------------------------------------------------------------------------------------

json_t *cli_json_real(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *cli_json_reals(const double *values, int32_t count) {
    json_t *array = json_array();
    for (int32_t i = 0; i < count; i++) {
        json_array_append_new(array, cli_json_real(values[i]));
    }
    return array;
}

void cli_print_json(json_t *value) {
    json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    putchar('\n');
    json_decref(value);
}

// --- tables -------------------------------------------------------------------------------------

static void add_cell(CliTable *table, const char *text) {
    if (table->count == table->capacity) {
        int capacity = table->capacity > 0 ? 2 * table->capacity : 64;
        char **cells = kl_realloc(table->cells, (size_t)capacity * sizeof *cells);
        if (cells == NULL) {
            table->failed = true;
            return;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    size_t size = strlen(text) + 1;
    char *copy = kl_alloc(size);
    if (copy == NULL) {
        table->failed = true;
        return;
    }
    memcpy(copy, text, size);
    table->cells[table->count++] = copy;
}

void cli_table_begin(CliTable *table, int columns, const char *const *titles) {
    *table = (CliTable){.columns = columns};
    for (int i = 0; i < columns; i++) {
        add_cell(table, titles[i]);
    }
}

void cli_table_cell(CliTable *table, const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    add_cell(table, text);
}

void cli_table_residual(CliTable *table, double value) {
    if (isnan(value)) {
        add_cell(table, "-");
    } else {
        cli_table_cell(table, "%.2e", value);
    }
}

void cli_table_time(CliTable *table, double seconds) {
    if (isnan(seconds)) {
        add_cell(table, "-");
    } else if (seconds < 1e-3) {
        cli_table_cell(table, "%.1f us", seconds * 1e6);
    } else if (seconds < 1.0) {
        cli_table_cell(table, "%.2f ms", seconds * 1e3);
    } else {
        cli_table_cell(table, "%.2f s", seconds);
    }
}

enum { MAX_COLUMNS = 32 };

static void measure_columns(const CliTable *table, int widths[MAX_COLUMNS]) {
    for (int i = 0; i < table->count; i++) {
        int length = (int)strlen(table->cells[i]), column = i % table->columns;
        widths[column] = length > widths[column] ? length : widths[column];
    }
}

void cli_table_print(CliTable *table, FILE *to) {
    int widths[MAX_COLUMNS] = {0};
    KL_ASSERT(table->columns <= MAX_COLUMNS, "raise MAX_COLUMNS");
    if (table->failed) {
        fprintf(stderr, "kinloop: out of memory, a table is cut\n");
    }
    measure_columns(table, widths);
    bool colour = cli_colour(to);
    for (int i = 0; i < table->count; i++) {
        int column = i % table->columns;
        fputs(colour && i == 0 ? "\033[1m" : "", to);
        fprintf(to, column == 0 ? "%-*s" : "  %*s", widths[column], table->cells[i]);
        fputs(colour && i == table->columns - 1 ? "\033[0m" : "", to);
        if (column == table->columns - 1) {
            fputc('\n', to);
        }
    }
}

void cli_table_free(CliTable *table) {
    for (int i = 0; i < table->count; i++) {
        kl_free(table->cells[i]);
    }
    kl_free(table->cells);
    *table = (CliTable){0};
}

bool cli_colour(FILE *to) {
    const char *no_colour = getenv("NO_COLOR");
    return isatty(fileno(to)) && (no_colour == NULL || *no_colour == '\0');
}

// --- progress -----------------------------------------------------------------------------------

void cli_progress_begin(CliProgress *progress, const CliArgs *args, const char *what, double total) {
    *progress = (CliProgress){.what = what, .total = total, .start = kl_clock()};
    progress->last = progress->start;
    const char *how = cli_text(args, "progress", "auto");
    if (strcmp(how, "json") == 0) {
        progress->how = CLI_PROGRESS_JSON;
    } else if (strcmp(how, "auto") == 0 && isatty(STDERR_FILENO)) {
        progress->how = CLI_PROGRESS_BAR;
    }
}

static void draw(CliProgress *progress, double done, double now) {
    double elapsed = now - progress->start;
    double rate = elapsed > 0.0 ? done / elapsed : 0.0;
    double left = rate > 0.0 ? (progress->total - done) / rate : 0.0;
    if (progress->how == CLI_PROGRESS_JSON) {
        fprintf(stderr,
                "{\"progress\": {\"what\": \"%s\", \"done\": %.0f, \"total\": %.0f, \"rate\": %.6g, "
                "\"left_s\": %.3g}}\n",
                progress->what, done, progress->total, rate, left);
        return;
    }
    enum { WIDTH = 24 };
    char bar[WIDTH + 1];
    int filled = progress->total > 0.0 ? (int)(WIDTH * done / progress->total) : 0;
    for (int i = 0; i < WIDTH; i++) {
        bar[i] = i < filled ? '#' : '.';
    }
    bar[WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %.0f/%.0f %s  %.3g/s  %.0f s left", bar, done, progress->total, progress->what, rate,
            left);
    fflush(stderr);
    progress->drawn = true;
}

void cli_progress_update(CliProgress *progress, double done) {
    if (progress->how == CLI_PROGRESS_NONE) {
        return;
    }
    double now = kl_clock();
    if (now - progress->last >= 0.1) {
        progress->last = now;
        draw(progress, done, now);
    }
}

void cli_progress_end(CliProgress *progress, double done) {
    if (progress->how == CLI_PROGRESS_JSON) {
        draw(progress, done, kl_clock());
    }
    if (progress->drawn) {
        fputs("\r\033[K", stderr);
    }
    progress->how = CLI_PROGRESS_NONE;
}

// --- files --------------------------------------------------------------------------------------

static KlStatus fail_path(const char *path, const char *what) {
    KlPlace place = {.file = path};
    return kl_fail_at(KL_ERR_IO, &place, "%s", what);
}

static KlStatus fail_argument(const char *path, const char *what) {
    KlPlace place = {.file = path};
    return kl_fail_at(KL_ERR_ARGUMENT, &place, "%s", what);
}

KlStatus cli_output_reserve(CliOutput *output, const char *path, bool force) {
    *output = (CliOutput){0};
    if (strlen(path) >= sizeof output->path) {
        return kl_fail(KL_ERR_ARGUMENT, "the output path is longer than %zu characters", sizeof output->path - 1);
    }
    snprintf(output->path, sizeof output->path, "%s", path);
    if (strcmp(path, "-") == 0) {
        return KL_OK;
    }
    struct stat info;
    if (stat(path, &info) == 0) {
        if (S_ISREG(info.st_mode) && !force) {
            return fail_argument(path, "exists already; -f overwrites it");
        }
        if (S_ISDIR(info.st_mode)) {
            return fail_argument(path, "is a folder");
        }
        if (!S_ISREG(info.st_mode)) {  // a device or pipe cannot be renamed onto: write through
            return KL_OK;
        }
    }
    snprintf(output->temporary, sizeof output->temporary, "%s.%ld.tmp", path, (long)getpid());
    return KL_OK;
}

KlStatus cli_output_open(CliOutput *output, const char *path, bool force) {
    KL_TRY(cli_output_reserve(output, path, force));
    if (strcmp(path, "-") == 0) {
        output->file = stdout;
        return KL_OK;
    }
    const char *name = output->temporary[0] != '\0' ? output->temporary : output->path;
    output->file = fopen(name, "wb");
    return output->file != NULL ? KL_OK : cli_fail_output(path, strerror(errno));
}

KlStatus cli_flush_stdout(void) {
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return cli_fail_output("standard output", errno != 0 ? strerror(errno) : "write error");
    }
    return KL_OK;
}

static KlStatus close_file(CliOutput *output) {
    errno = 0;
    bool failed = ferror(output->file) != 0 || fflush(output->file) != 0;
    if (output->temporary[0] != '\0') {
        failed = fsync(fileno(output->file)) != 0 || failed;
    }
    failed = fclose(output->file) != 0 || failed;
    output->file = NULL;
    return failed ? cli_fail_output(output->path, errno != 0 ? strerror(errno) : "write error") : KL_OK;
}

KlStatus cli_output_commit(CliOutput *output) {
    if (output->file == stdout) {
        return cli_flush_stdout();
    }
    KlStatus status = output->file != NULL ? close_file(output) : KL_OK;
    if (status == KL_OK && output->temporary[0] != '\0' && rename(output->temporary, output->path) != 0) {
        status = cli_fail_output(output->path, strerror(errno));
    }
    if (status != KL_OK) {
        cli_output_discard(output);
    }
    output->temporary[0] = '\0';
    return status;
}

void cli_output_discard(CliOutput *output) {
    if (output->file != NULL && output->file != stdout) {
        fclose(output->file);
    }
    output->file = NULL;
    if (output->temporary[0] != '\0') {
        unlink(output->temporary);
        output->temporary[0] = '\0';
    }
}

KlStatus cli_read_file(const char *path, char **text, size_t *size) {
    *text = NULL;
    struct stat info;
    if (stat(path, &info) != 0) {
        return fail_path(path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return fail_path(path, "is not a regular file");
    }
    if (info.st_size > MAX_FILE) {
        return fail_path(path, "is larger than 256 MiB");
    }
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return fail_path(path, strerror(errno));
    }
    *size = (size_t)info.st_size;
    *text = kl_alloc(*size + 1);
    bool whole = *text != NULL && fread(*text, 1, *size, file) == *size;
    fclose(file);
    if (whole) {
        return KL_OK;
    }
    bool no_memory = *text == NULL;
    kl_free(*text);
    *text = NULL;
    return no_memory ? kl_fail(KL_ERR_MEMORY, "%s: out of memory", path) : fail_path(path, "read error");
}

bool cli_ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}
