// kinloop: subcommands over the public interface of the library.
#include <stdio.h>
#include <string.h>

#include "build_info.h"
#include "options.h"
#include "output.h"

static int finish(const CliArgs *args, int exit_code) {
    if (cli_flush_stdout() != KL_OK && exit_code == CLI_EXIT_OK) {
        return cli_report_as(args, CLI_EXIT_FAILED);
    }
    return exit_code;
}

static int run_command(const CliCommand *command, int argc, char **argv) {
    CliArgs *args = NULL;
    KlStatus status = cli_parse(command, argc, argv, &args);
    int exit_code;
    if (status != KL_OK) {
        exit_code = cli_report(args);
    } else if (cli_has(args, "help")) {
        cli_print_help(command);
        exit_code = CLI_EXIT_OK;
    } else {
        exit_code = command->run(args);
    }
    exit_code = finish(args, exit_code);
    cli_args_destroy(args);
    return exit_code;
}

static int fail_unknown_command(const char *name) {
    const char *names[64] = {NULL};
    for (int i = 0; i < cli_command_count(); i++) {
        names[i] = cli_command(i)->name;
    }
    const char *hint = cli_did_you_mean(name, names);
    if (hint != NULL) {
        kl_fail(KL_ERR_ARGUMENT, "unknown command %s; did you mean %s?", name, hint);
    } else {
        kl_fail(KL_ERR_ARGUMENT, "unknown command %s; kinloop --help lists them", name);
    }
    return cli_report(NULL);
}

static int help(const char *name) {
    const CliCommand *command = name != NULL ? cli_command_find(name) : NULL;
    if (name != NULL && command == NULL) {
        return fail_unknown_command(name);
    }
    cli_print_help(command);
    return CLI_EXIT_OK;
}

static int completion(const char *shell) {
    if (shell != NULL && strcmp(shell, "bash") == 0) {
        cli_print_bash();
    } else if (shell != NULL && strcmp(shell, "zsh") == 0) {
        cli_print_zsh();
    } else {
        kl_fail(KL_ERR_ARGUMENT, "--completion must be bash or zsh (got %s)", shell != NULL ? shell : "nothing");
        return cli_report(NULL);
    }
    return CLI_EXIT_OK;
}

int main(int argc, char **argv) {
    cli_catch_interrupt();
    const char *first = argc > 1 ? argv[1] : NULL;
    const char *second = argc > 2 ? argv[2] : NULL;
    if (first == NULL) {
        cli_print_help(NULL);
        return finish(NULL, CLI_EXIT_USAGE);
    }
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0) {
        return finish(NULL, help(second));
    }
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        printf("kinloop %s\ncore %s, build %s, commit %s, %s\n", KL_VERSION, core_name(), build_name(), commit_name(),
               compiler_name());
        return finish(NULL, CLI_EXIT_OK);
    }
    if (strcmp(first, "--man") == 0) {
        cli_print_man();
        return finish(NULL, CLI_EXIT_OK);
    }
    if (strcmp(first, "--completion") == 0) {
        return finish(NULL, completion(second));
    }
    const CliCommand *command = cli_command_find(first);
    if (command == NULL) {
        return finish(NULL, fail_unknown_command(first));
    }
    return run_command(command, argc - 1, argv + 1);
}
