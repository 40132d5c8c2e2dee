// Help, man page and shell completions, all written from the command tables.
#include <stdio.h>
#include <string.h>

#include "options.h"

static const struct {
    int code;
    const char *text;
} exit_codes[] = {
    {CLI_EXIT_OK, "done; not converging alone is a result, not a failure"},
    {CLI_EXIT_FAILED, "a run failed or diverged (and --strict), or an output could not be written"},
    {CLI_EXIT_USAGE, "bad arguments"},
    {CLI_EXIT_REGRESSION, "slower than --fail-above allows"},
    {CLI_EXIT_INPUT, "unreadable or invalid input"},
    {CLI_EXIT_INTERRUPTED, "interrupted; what was finished is written"},
};
enum { EXIT_CODE_COUNT = sizeof exit_codes / sizeof exit_codes[0] };

// Prints `text` wrapped at 80 columns behind `indent` blanks.
static void print_wrapped(const char *text, int indent) {
    int column = 0;
    for (const char *word = text; *word != '\0';) {
        int length = (int)strcspn(word, " \n");
        if (column == 0 || column + 1 + length > 80) {
            printf("%s%*s", column == 0 ? "" : "\n", indent, "");
            column = indent;
        } else {
            putchar(' ');
            column++;
        }
        printf("%.*s", length, word);
        column += length;
        word += length;
        if (*word == '\n') {
            putchar('\n');
            column = 0;
        }
        word += *word != '\0';
    }
    putchar('\n');
}

static void format_option(const CliOption *option, char *text, size_t size) {
    char letter[8] = "    ";
    if (option->letter != 0) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    snprintf(text, size, "%s--%s%s%s", letter, option->name, option->value != NULL ? " " : "",
             option->value != NULL ? option->value : "");
}

static void print_program_help(void) {
    printf("kinloop " KL_VERSION " - mechanisms with kinematic loops, and the solvers that move them\n\n"
           "usage: kinloop COMMAND [options]\n\n");
    for (int i = 0; i < cli_command_count(); i++) {
        printf("  %-10s %s\n", cli_command(i)->name, cli_command(i)->summary);
    }
    printf("\nkinloop COMMAND --help shows the options and two examples; kinloop --version the build.\n"
           "\nexit codes\n");
    for (int i = 0; i < EXIT_CODE_COUNT; i++) {
        printf("  %-4d %s\n", exit_codes[i].code, exit_codes[i].text);
    }
}

void cli_print_help(const CliCommand *command) {
    if (command == NULL) {
        print_program_help();
        return;
    }
    printf("kinloop %s - %s\n\nusage: kinloop %s %s [options]\n\n", command->name, command->summary, command->name,
           command->operands);
    print_wrapped(command->text, 0);
    printf("\noptions\n");
    for (const CliOption *option = command->options; option->name != NULL; option++) {
        char text[80];
        format_option(option, text, sizeof text);
        if (strlen(text) <= 24) {
            printf("  %-24s  %s\n", text, option->text);
        } else {
            printf("  %s\n  %24s  %s\n", text, "", option->text);
        }
    }
    printf("\nexamples\n");
    for (int i = 0; i < 4; i += 2) {
        printf("  %s\n      %s\n", command->examples[i], command->examples[i + 1]);
    }
}

// Text for roff: escapes backslashes, hyphens that are typed, and leading dots.
static void print_roff(const char *text) {
    if (*text == '.' || *text == '\'') {
        fputs("\\&", stdout);
    }
    for (; *text != '\0'; text++) {
        switch (*text) {
            case '\\': fputs("\\\\", stdout); break;
            case '-': fputs("\\-", stdout); break;
            case '\n': fputs("\n.br\n", stdout); break;
            default: putchar(*text);
        }
    }
    putchar('\n');
}

static void print_man_option(const CliOption *option) {
    printf(".TP\n.B ");
    char text[80];
    format_option(option, text, sizeof text);
    print_roff(text + strspn(text, " "));
    print_roff(option->text);
}

void cli_print_man(void) {
    printf(".TH KINLOOP 1 \"\" \"kinloop " KL_VERSION "\" \"User Commands\"\n"
           ".SH NAME\nkinloop \\- simulate mechanisms with kinematic loops and compare dual solvers\n"
           ".SH SYNOPSIS\n.B kinloop\n.I COMMAND\n[options]\n.SH COMMANDS\n");
    for (int i = 0; i < cli_command_count(); i++) {
        const CliCommand *command = cli_command(i);
        printf(".SS ");
        char usage[160];
        snprintf(usage, sizeof usage, "kinloop %s %s", command->name, command->operands);
        print_roff(usage);
        print_roff(command->text);
        for (const CliOption *option = command->options; option->name != NULL; option++) {
            print_man_option(option);
        }
        for (int k = 0; k < 4; k += 2) {
            printf(".PP\nExample:\n.B ");
            print_roff(command->examples[k]);
            printf(".br\n");
            print_roff(command->examples[k + 1]);
        }
    }
    printf(".SH EXIT STATUS\n");
    for (int i = 0; i < EXIT_CODE_COUNT; i++) {
        printf(".TP\n.B %d\n", exit_codes[i].code);
        print_roff(exit_codes[i].text);
    }
    printf(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colour on a terminal\n"
           ".TP\n.B KINLOOP_SCENES\nfolder of scenes to look up names in\n");
}

// The words of "a|b|c" with blanks between; "file" among them is no word: it stands for files.
static bool print_words(const char *complete) {
    bool files = false;
    for (const char *word = complete; *word != '\0';) {
        int length = (int)strcspn(word, "|");
        if (length == 4 && strncmp(word, "file", 4) == 0) {
            files = true;
        } else {
            printf("%.*s ", length, word);
        }
        word += length + (word[length] != '\0');
    }
    return files;
}

// Words of a completion: a closed list, or what a call of kinloop itself lists.
static void print_bash_words(const char *complete) {
    if (complete == NULL) {
        printf("COMPREPLY=()");
    } else if (strcmp(complete, "file") == 0) {
        printf("COMPREPLY=($(compgen -f -- \"$cur\"))");
    } else if (strcmp(complete, "dir") == 0) {
        printf("COMPREPLY=($(compgen -d -- \"$cur\"))");
    } else if (strchr(complete, '|') == NULL) {
        printf("_kinloop_ids %s", complete);
    } else {
        printf("COMPREPLY=($(compgen -W \"");
        bool files = print_words(complete);
        printf("\"%s -- \"$cur\"))", files ? " -f" : "");
    }
}

static void print_bash_case(const CliCommand *command) {
    printf("    %s)\n        case $prev in\n", command->name);
    for (const CliOption *option = command->options; option->name != NULL; option++) {
        if (option->kind != CLI_FLAG) {
            printf("        --%s%s%c) ", option->name, option->letter != 0 ? "|-" : "",
                   option->letter != 0 ? option->letter : ' ');
            print_bash_words(option->complete);
            printf("; return;;\n");
        }
    }
    printf("        esac\n        case $cur in\n        -*) COMPREPLY=($(compgen -W \"");
    for (const CliOption *option = command->options; option->name != NULL; option++) {
        printf("--%s ", option->name);
    }
    printf("\" -- \"$cur\"));;\n        *) ");
    print_bash_words(command->complete);
    printf(";;\n        esac;;\n");
}

void cli_print_bash(void) {
    printf("# bash completion of kinloop, made by: kinloop --completion bash\n"
           "# Ids of a table of kinloop list, the last one of a list with commas; of scenes, files too.\n"
           "_kinloop_ids() {\n"
           "    local done= files=\n"
           "    case $cur in *,*) done=${cur%%,*},;; esac\n"
           "    case $1 in scenes) files=-f;; params) compopt -o nospace 2>/dev/null; files='-S =';; esac\n"
           "    COMPREPLY=($(compgen $files -P \"$done\" -W \"$(kinloop list \"$1\" --ids 2>/dev/null)\" -- "
           "\"${cur##*,}\"))\n"
           "}\n"
           "_kinloop() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} commands='");
    for (int i = 0; i < cli_command_count(); i++) {
        printf("%s%s", i > 0 ? " " : "", cli_command(i)->name);
    }
    // bash takes the = of --option=value for a word.
    printf("'\n    [ \"$cur\" != = ] || cur=\n"
           "    [ \"$prev\" != = ] || prev=${COMP_WORDS[COMP_CWORD-2]}\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        COMPREPLY=($(compgen -W \"$commands help --help --version --man --completion\" -- \"$cur\"))\n"
           "        return\n    fi\n    case ${COMP_WORDS[1]} in\n"
           "    help) COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"));;\n"
           "    --completion) COMPREPLY=($(compgen -W 'bash zsh' -- \"$cur\"));;\n");
    for (int i = 0; i < cli_command_count(); i++) {
        print_bash_case(cli_command(i));
    }
    printf("    esac\n}\ncomplete -o filenames -F _kinloop kinloop\n");
}

static void print_zsh_words(const char *complete) {
    if (complete == NULL) {
        printf(" ");
    } else if (strcmp(complete, "file") == 0) {
        printf("_files");
    } else if (strcmp(complete, "dir") == 0) {
        printf("_files -/");
    } else if (strchr(complete, '|') == NULL) {
        printf("{_values -s , %s $(kinloop list %s --ids 2>/dev/null)}", complete, complete);
    } else {
        bool files = strstr(complete, "file") != NULL;
        fputs(files ? "{_alternative \"words\\:word\\:(" : "(", stdout);
        print_words(complete);
        fputs(files ? ")\" \"files\\:file\\:_files\"}" : ")", stdout);
    }
}

// Text within a single-quoted _arguments spec: brackets, colons and quotes have meanings there.
static void print_zsh_text(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            fputs("'\\''", stdout);
        } else {
            if (strchr("[]:\\", *text) != NULL) {
                putchar('\\');
            }
            putchar(*text);
        }
    }
}

void cli_print_zsh(void) {
    printf("#compdef kinloop\n# zsh completion of kinloop, made by: kinloop --completion zsh\n"
           "_kinloop() {\n    local -a commands\n    commands=(\n");
    for (int i = 0; i < cli_command_count(); i++) {
        printf("        '%s:", cli_command(i)->name);
        print_zsh_text(cli_command(i)->summary);
        printf("'\n");
    }
    printf("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n"
           "    fi\n    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n");
    for (int i = 0; i < cli_command_count(); i++) {
        const CliCommand *command = cli_command(i);
        printf("    %s)\n        _arguments", command->name);
        for (const CliOption *option = command->options; option->name != NULL; option++) {
            printf(" \\\n            '*--%s[", option->name);
            print_zsh_text(option->text);
            printf("]");
            if (option->kind != CLI_FLAG) {
                putchar(':');
                print_zsh_text(option->value);
                putchar(':');
                print_zsh_words(option->complete);
            }
            printf("'");
        }
        printf(" \\\n            '*:operand:");
        print_zsh_words(command->complete);
        printf("';;\n");
    }
    printf("    esac\n}\n_kinloop \"$@\"\n");
}
