// Hostile words and links: as many options as letters, links that smuggle options or paths.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "support.h"

static void a_word_of_many_flags_is_parsed(void **state) {
    (void)state;
    static char command[] = "run", scene[] = "box_on_plane", flags[302] = "-";
    memset(flags + 1, 'j', 300);
    char *arguments[] = {command, flags, scene, NULL};
    CliArgs *args;
    assert_ok(cli_parse(cli_command_find("run"), 3, arguments, &args));
    assert_int_equal(cli_value_count(args, "json"), 300);
    cli_args_destroy(args);
}

static KlStatus expand(const char *link) {
    static char command[] = "run";
    char *copy = malloc(strlen(link) + 1);
    strcpy(copy, link);
    char *arguments[] = {command, copy, NULL};
    CliArgs *args, *expanded = NULL;
    LinkWords words;
    assert_ok(cli_parse(cli_command_find("run"), 2, arguments, &args));
    assert_true(link_is(link));
    KlStatus status = link_expand(args, link, &words, &expanded);
    cli_args_destroy(expanded);
    link_words_free(&words);
    cli_args_destroy(args);
    free(copy);
    return status;
}

static void a_link_names_a_scene_and_nothing_else(void **state) {
    (void)state;
    static const char *const hostile[] = {
        "#v=1&scene=-ofile",
        "#v=1&scene=--record%3Dfile",
        "#v=1&scene=-jjjjjjjjjjjjjjjj",
        "#v=1&scene=../x",
        "#v=1&scene=%2Fetc%2Fpasswd",
        "#v=1&scene=a%20b",
        "#v=1&scene=",
        "#v=1&scene=.",
    };
    assert_ok(expand("#v=1&scene=fourbar_free@1&run=hard"));
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        if (expand(hostile[i]) != KL_ERR_ARGUMENT) {
            fail_msg("%s was accepted", hostile[i]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_of_many_flags_is_parsed),
        cmocka_unit_test(a_link_names_a_scene_and_nothing_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
