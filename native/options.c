// The parser: getopt_long fed from the option table, with our own messages.
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

#define COMMAND(name) extern const CliCommand cmd_##name;
#include "command_list.h"
#undef COMMAND

static const CliCommand *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "command_list.h"
#undef COMMAND
};

enum { MAX_OPTIONS = 64 };

// One given option: its row of the table and its text.
typedef struct Given {
    const CliOption *option;
    const char *value;
} Given;

struct CliArgs {
    const CliCommand *command;
    Given *given;  // (given_count) in the order given
    int given_count;
    char **operands;
    int operand_count;
};

int cli_command_count(void) { return (int)(sizeof commands / sizeof commands[0]); }

const CliCommand *cli_command(int index) { return commands[index]; }

const CliCommand *cli_command_find(const char *name) {
    for (int i = 0; i < cli_command_count(); i++) {
        if (strcmp(commands[i]->name, name) == 0) {
            return commands[i];
        }
    }
    return NULL;
}

// Levenshtein distance of two short words.
static int edit_distance(const char *a, const char *b) {
    enum { LONGEST = 64 };
    int row[LONGEST + 1];
    int length = (int)strlen(b);
    if (length > LONGEST) {
        return LONGEST;
    }
    for (int j = 0; j <= length; j++) {
        row[j] = j;
    }
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int replace = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int shift = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = replace < shift ? replace : shift;
        }
    }
    return row[length];
}

const char *cli_did_you_mean(const char *word, const char *const *names) {
    const char *best = NULL;
    int best_distance = (int)strlen(word) / 2 + 1;  // more than half of the letters wrong: no hint
    for (int i = 0; names[i] != NULL; i++) {
        int distance = edit_distance(word, names[i]);
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    return best;
}

static int option_count(const CliCommand *command) {
    int count = 0;
    while (command->options[count].name != NULL) {
        count++;
    }
    return count;
}

static KlStatus fail_unknown_option(const CliCommand *command, const char *given) {
    const char *names[MAX_OPTIONS + 1] = {NULL};
    for (int i = 0; command->options[i].name != NULL; i++) {
        names[i] = command->options[i].name;
    }
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)strcspn(given + strspn(given, "-"), "="), given + strspn(given, "-"));
    const char *hint = cli_did_you_mean(word, names);
    if (hint != NULL) {
        return kl_fail(KL_ERR_ARGUMENT, "%s: unknown or ambiguous option %s; did you mean --%s?", command->name, given,
                       hint);
    }
    return kl_fail(KL_ERR_ARGUMENT, "%s: unknown or ambiguous option %s; kinloop %s --help lists them", command->name,
                   given, command->name);
}

// Times may carry a unit: 250ms, 60s, 5min, 2h. 0 when the ending is none.
static double time_unit(const CliOption *option, const char *ending) {
    static const struct {
        const char *ending;
        double seconds;
    } units[] = {{"", 1.0}, {"s", 1.0}, {"ms", 1e-3}, {"min", 60.0}, {"h", 3600.0}};
    bool is_time = option->value != NULL && strcmp(option->value, "SECONDS") == 0;
    for (size_t i = 0; i < (is_time ? sizeof units / sizeof units[0] : 1); i++) {
        if (strcmp(units[i].ending, ending) == 0) {
            return units[i].seconds;
        }
    }
    return 0.0;
}

static KlStatus check_number(const CliOption *option, const char *text) {
    char *end = NULL;
    errno = 0;
    double value = option->kind == CLI_INT ? (double)strtoll(text, &end, 10) : strtod(text, &end);
    double unit = time_unit(option, end);
    bool whole = end != text && unit > 0.0 && errno == 0;
    value *= unit;
    if (!whole || !(value >= option->min && value <= option->max)) {
        return kl_fail(KL_ERR_ARGUMENT, "--%s must be %s in [%g, %g] (got %s)", option->name,
                       option->kind == CLI_INT ? "a whole number" : "a number", option->min, option->max, text);
    }
    return KL_OK;
}

// A value from a closed list of words ("a|b|c").
static KlStatus check_word(const CliOption *option, const char *text) {
    const char *words = option->complete;
    if (words == NULL || strchr(words, '|') == NULL) {
        return KL_OK;
    }
    size_t length = strlen(text);
    for (const char *word = words; word != NULL; word = strchr(word, '|')) {
        word += *word == '|';
        if (strncmp(word, text, length) == 0 && (word[length] == '|' || word[length] == '\0')) {
            return KL_OK;
        }
    }
    return kl_fail(KL_ERR_ARGUMENT, "--%s must be one of %s (got %s)", option->name, words, text);
}

static KlStatus check_value(const CliOption *option, const char *text) {
    switch (option->kind) {
        case CLI_FLAG: return KL_OK;
        case CLI_TEXT: return check_word(option, text);
        case CLI_INT:
        case CLI_REAL: return check_number(option, text);
    }
    return KL_OK;
}

// The table in getopt's own form; val counts from 1000 so that it is no letter.
static void fill_getopt(const CliCommand *command, struct option *longs, char *shorts) {
    size_t at = 0;
    shorts[at++] = ':';
    for (int i = 0; command->options[i].name != NULL; i++) {
        const CliOption *option = &command->options[i];
        int has_value = option->kind == CLI_FLAG ? no_argument : required_argument;
        longs[i] = (struct option){option->name, has_value, NULL, 1000 + i};
        if (option->letter != 0) {
            shorts[at++] = option->letter;
            if (has_value == required_argument) {
                shorts[at++] = ':';
            }
        }
    }
    shorts[at] = '\0';
}

static const CliOption *option_of(const CliCommand *command, int code) {
    if (code >= 1000) {
        return &command->options[code - 1000];
    }
    for (int i = 0; command->options[i].name != NULL; i++) {
        if (command->options[i].letter == code) {
            return &command->options[i];
        }
    }
    return NULL;
}

static KlStatus parse_options(const CliCommand *command, int argc, char **argv, CliArgs *args) {
    struct option longs[MAX_OPTIONS + 1] = {{0}};
    char shorts[2 * MAX_OPTIONS + 2];
    KL_ASSERT(option_count(command) <= MAX_OPTIONS, "raise MAX_OPTIONS");
    fill_getopt(command, longs, shorts);
    opterr = 0;
    optind = 0;  // glibc: start afresh
    for (;;) {
        int at = optind > 0 ? optind : 1;
        int code = getopt_long(argc, argv, shorts, longs, NULL);
        if (code == -1) {
            return KL_OK;
        }
        if (code == ':') {
            return kl_fail(KL_ERR_ARGUMENT, "%s: %s needs a value", command->name, argv[optind - 1]);
        }
        if (code == '?') {
            return fail_unknown_option(command, argv[optind > at ? optind - 1 : at]);
        }
        const CliOption *option = option_of(command, code);
        if (option->kind != CLI_FLAG) {
            KL_TRY(check_value(option, optarg));
        }
        args->given[args->given_count++] = (Given){option, optarg};
    }
}

static KlStatus check_operands(const CliCommand *command, const CliArgs *args) {
    if (cli_has(args, "help")) {
        return KL_OK;
    }
    if (args->operand_count < command->min_operands) {
        return kl_fail(KL_ERR_ARGUMENT, "%s: %s is missing; usage: kinloop %s %s [options]", command->name,
                       command->operands, command->name, command->operands);
    }
    if (args->operand_count > command->max_operands) {
        return kl_fail(KL_ERR_ARGUMENT, "%s: too many operands (%s); usage: kinloop %s %s [options]", command->name,
                       args->operands[command->max_operands], command->name, command->operands);
    }
    return KL_OK;
}

// A word may hold as many options as letters ("-jjj").
static size_t most_options(int argc, char **argv) {
    size_t most = 1;
    for (int i = 0; i < argc; i++) {
        most += strlen(argv[i]);
    }
    return most;
}

KlStatus cli_parse(const CliCommand *command, int argc, char **argv, CliArgs **result) {
    CliArgs *args = kl_alloc(sizeof *args);
    Given *given = kl_alloc(most_options(argc, argv) * sizeof *given);
    *result = args;
    if (args == NULL || given == NULL) {
        kl_free(given);
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    args->command = command;
    args->given = given;
    KL_TRY(parse_options(command, argc, argv, args));
    args->operands = argv + optind;
    args->operand_count = argc - optind;
    return check_operands(command, args);
}

void cli_args_destroy(CliArgs *args) {
    if (args != NULL) {
        kl_free(args->given);
        kl_free(args);
    }
}

const CliCommand *cli_args_command(const CliArgs *args) { return args->command; }
int cli_operand_count(const CliArgs *args) { return args->operand_count; }
const char *cli_operand(const CliArgs *args, int index) { return args->operands[index]; }

static bool is_option(const CliArgs *args, const char *name) {
    for (int i = 0; args->command->options[i].name != NULL; i++) {
        if (strcmp(args->command->options[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

int cli_value_count(const CliArgs *args, const char *name) {
    int count = 0;
    for (int i = 0; i < args->given_count; i++) {
        count += strcmp(args->given[i].option->name, name) == 0;
    }
    return count;
}

bool cli_has(const CliArgs *args, const char *name) { return cli_value_count(args, name) > 0; }

const char *cli_value(const CliArgs *args, const char *name, int index) {
    for (int i = 0; i < args->given_count; i++) {
        if (strcmp(args->given[i].option->name, name) == 0 && index-- == 0) {
            return args->given[i].value;
        }
    }
    return NULL;
}

bool cli_given(const CliArgs *args, int index, const CliOption **option, const char **value) {
    if (index >= args->given_count) {
        return false;
    }
    *option = args->given[index].option;
    *value = args->given[index].value;
    return true;
}

const char *cli_text(const CliArgs *args, const char *name, const char *fallback) {
    KL_ASSERT(is_option(args, name), name);
    int count = cli_value_count(args, name);
    return count > 0 ? cli_value(args, name, count - 1) : fallback;
}

int64_t cli_int(const CliArgs *args, const char *name, int64_t fallback) {
    const char *text = cli_text(args, name, NULL);
    return text != NULL ? strtoll(text, NULL, 10) : fallback;
}

double cli_real(const CliArgs *args, const char *name, double fallback) {
    const char *text = cli_text(args, name, NULL);
    if (text == NULL) {
        return fallback;
    }
    const CliOption *option = args->command->options;
    while (strcmp(option->name, name) != 0) {
        option++;
    }
    char *end;
    double value = strtod(text, &end);
    return value * time_unit(option, end);
}

// Options that say where results go, not what is computed.
static bool concerns_outputs(const char *name) {
    static const char *const names[] = {"json",  "progress", "record", "every", "delassus", "hash",
                                        "force", "strict",   "lambda", "trace", "expect",   "print-link"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

// One word per line: values may hold blanks.
static bool add_word(char *text, size_t size, const char *format, const char *a, const char *b) {
    size_t used = strlen(text);
    int length = snprintf(text + used, size - used, format, a, b);
    return length >= 0 && (size_t)length < size - used;
}

KlStatus cli_command_text(const CliArgs *args, char *text, size_t size) {
    text[0] = '\0';
    bool fits = add_word(text, size, "%s%s", args->command->name, "");
    for (int i = 0; i < args->operand_count; i++) {
        fits = fits && add_word(text, size, "\n%s%s", args->operands[i], "");
    }
    for (int i = 0; i < args->given_count; i++) {
        const Given *given = &args->given[i];
        if (concerns_outputs(given->option->name)) {
            continue;
        }
        fits = fits &&
               (given->option->kind == CLI_FLAG ? add_word(text, size, "\n--%s%s", given->option->name, "")
                                                : add_word(text, size, "\n--%s=%s", given->option->name, given->value));
    }
    return fits ? KL_OK : kl_fail(KL_ERR_LIMIT, "the command line is longer than %zu characters", size - 1);
}
