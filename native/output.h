// What the command writes: data on stdout, words and progress on stderr, files that appear whole or
// not at all.
#ifndef KINLOOP_OUTPUT_H
#define KINLOOP_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "base/status.h"
#include "options.h"

// --- errors -------------------------------------------------------------------------------------

// Tells the last error on stderr (as JSON with --json) and returns the exit code of its status:
// argument, not-found -> 2; io, format, scene, limit -> 4; interrupted -> 130; others -> 1.
int cli_report(const CliArgs *args);
// The same with the exit code given.
int cli_report_as(const CliArgs *args, int exit_code);
// A fault of an output: KL_ERR_IO that cli_report answers with 1, for 4 means input.
KlStatus cli_fail_output(const char *path, const char *what);
// A remark on stderr; silent with --json.
void cli_note(const CliArgs *args, const char *format, ...) KL_PRINTF(2, 3);

// --- interruption -------------------------------------------------------------------------------

// Ctrl-C sets a mark, so that the current problem or step finishes; a second one kills.
void cli_catch_interrupt(void);
bool cli_interrupted(void);

// --- JSON ---------------------------------------------------------------------------------------

// A number, or null when it is not finite (JSON has no NaN).
json_t *cli_json_real(double value);
json_t *cli_json_reals(const double *values, int32_t count);
// Writes the value and a line end to stdout, and drops the reference.
void cli_print_json(json_t *value);

// --- tables -------------------------------------------------------------------------------------

// Cells are texts; the first column is aligned left, the others right. Out of memory is remembered
// and told by cli_table_print.
typedef struct CliTable {
    char **cells;  // (count)
    int columns, count, capacity;
    bool failed;
} CliTable;

void cli_table_begin(CliTable *table, int columns, const char *const *titles);
void cli_table_cell(CliTable *table, const char *format, ...) KL_PRINTF(2, 3);
void cli_table_residual(CliTable *table, double value);  // "1.2e-10", "-" for NaN
void cli_table_time(CliTable *table, double seconds);    // "12.3 us"
void cli_table_print(CliTable *table, FILE *to);
void cli_table_free(CliTable *table);
bool cli_colour(FILE *to);  // a terminal, and NO_COLOR is not set

// --- progress -----------------------------------------------------------------------------------

typedef struct CliProgress {
    const char *what;  // loan: e.g. "steps"
    double total;
    double start, last;  // [s]
    enum { CLI_PROGRESS_NONE, CLI_PROGRESS_BAR, CLI_PROGRESS_JSON } how;
    bool drawn;
} CliProgress;

void cli_progress_begin(CliProgress *progress, const CliArgs *args, const char *what, double total);
void cli_progress_update(CliProgress *progress, double done);  // draws at most ten times a second
void cli_progress_end(CliProgress *progress, double done);     // clears the bar

// --- files --------------------------------------------------------------------------------------

// An output that is written to a temporary name beside the target and renamed when whole.
typedef struct CliOutput {
    char path[1024];       // the target; "-" is stdout
    char temporary[1088];  // empty for stdout
    FILE *file;            // NULL when a library writes to `temporary` itself
} CliOutput;

// KL_ERR_ARGUMENT when the target exists and `force` is false; an output fault when it cannot be written.
KlStatus cli_output_open(CliOutput *output, const char *path, bool force);
KlStatus cli_output_reserve(CliOutput *output, const char *path, bool force);  // the name only
KlStatus cli_output_commit(CliOutput *output);  // KL_ERR_IO when a write has failed (full disk)
void cli_output_discard(CliOutput *output);     // removes the temporary file
// Flushes stdout; KL_ERR_IO when a write has failed.
KlStatus cli_flush_stdout(void);
// The whole of a file into memory that kl_free frees; KL_ERR_IO with the reason.
KlStatus cli_read_file(const char *path, char **text, size_t *size);
bool cli_ends_with(const char *text, const char *end);

#endif
