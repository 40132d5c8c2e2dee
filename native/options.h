// Subcommands and options as data: one table per subcommand makes the parser, --help, the man page
// and the bash and zsh completions (options.c, option_text.c).
#ifndef KINLOOP_OPTIONS_H
#define KINLOOP_OPTIONS_H

#include "kl.h"

typedef enum CliKind { CLI_FLAG, CLI_TEXT, CLI_INT, CLI_REAL } CliKind;

typedef struct CliOption {
    const char *name;  // long name, without the dashes
    char letter;       // short name, 0 = none
    CliKind kind;
    const char *value;     // placeholder in help, e.g. "N"; NULL for flags
    const char *text;      // one sentence, no full stop
    double min, max;       // CLI_INT, CLI_REAL: allowed range
    const char *complete;  // "file", "dir", a table of kinloop list, or words "a|b|file"; NULL = nothing
} CliOption;

#define CLI_END \
    { NULL, 0, CLI_FLAG, NULL, NULL, 0, 0, NULL }
#define CLI_OPTION_JSON \
    { "json", 'j', CLI_FLAG, NULL, "write JSON to stdout, errors as JSON to stderr", 0, 0, NULL }
#define CLI_OPTION_HELP \
    { "help", 'h', CLI_FLAG, NULL, "show this help", 0, 0, NULL }
#define CLI_OPTION_FORCE \
    { "force", 'f', CLI_FLAG, NULL, "overwrite an existing output file", 0, 0, NULL }
#define CLI_OPTION_PROGRESS                                                                                            \
    {                                                                                                                  \
        "progress", 0, CLI_TEXT, "HOW", "auto (a bar on a terminal), json (one object per line on stderr) or none", 0, \
            0, "auto|json|none"                                                                                        \
    }
// The options that every subcommand has; the last of a table.
#define CLI_COMMON CLI_OPTION_JSON, CLI_OPTION_PROGRESS, CLI_OPTION_HELP, CLI_END

typedef struct CliArgs CliArgs;

typedef struct CliCommand {
    const char *name;
    const char *operands;      // for the usage line, e.g. "FILE[:INDEX]..."
    const char *summary;       // one line
    const char *text;          // paragraphs for help and the man page
    const CliOption *options;  // ends with CLI_END
    const char *examples[4];   // command line, explanation, command line, explanation
    int min_operands, max_operands;
    const char *complete;             // operands: as CliOption.complete
    int (*run)(const CliArgs *args);  // returns the exit code
} CliCommand;

enum {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FAILED = 1,      // a run failed (with --strict: diverged), an output was not written
    CLI_EXIT_USAGE = 2,       // bad arguments
    CLI_EXIT_REGRESSION = 3,  // slower than the limit
    CLI_EXIT_INPUT = 4,       // unreadable or invalid input
    CLI_EXIT_INTERRUPTED = 130,
};

int cli_command_count(void);
const CliCommand *cli_command(int index);
const CliCommand *cli_command_find(const char *name);  // NULL when unknown

// Parses argv after the subcommand. KL_ERR_ARGUMENT names the option and what is allowed.
KlStatus cli_parse(const CliCommand *command, int argc, char **argv, CliArgs **args);
void cli_args_destroy(CliArgs *args);

const CliCommand *cli_args_command(const CliArgs *args);
int cli_operand_count(const CliArgs *args);
const char *cli_operand(const CliArgs *args, int index);
// Values of an option of the table; unknown names are our mistake. Loans for the life of args.
bool cli_has(const CliArgs *args, const char *option);
int cli_value_count(const CliArgs *args, const char *option);
const char *cli_value(const CliArgs *args, const char *option, int index);
// The index-th option as given, false past the last.
bool cli_given(const CliArgs *args, int index, const CliOption **option, const char **value);
const char *cli_text(const CliArgs *args, const char *option, const char *fallback);  // the last value
int64_t cli_int(const CliArgs *args, const char *option, int64_t fallback);
double cli_real(const CliArgs *args, const char *option, double fallback);

// The command line in words that run it again, without what only concerns its outputs.
KlStatus cli_command_text(const CliArgs *args, char *text, size_t size);

// The nearest of `names` (NULL-ended) when it is near enough to be meant, else NULL.
const char *cli_did_you_mean(const char *word, const char *const *names);

// Texts from the tables (option_text.c), to stdout.
void cli_print_help(const CliCommand *command);  // NULL: of the whole program
void cli_print_man(void);
void cli_print_bash(void);
void cli_print_zsh(void);

#endif
