// Shared links of the page as the command reads them: a refusal with a reason, or words that parse.
#include "input.h"
#include "link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 40000 || memchr(data, 0, size) != NULL) {
        return 0;
    }
    char *link = malloc(size + 2);
    CLAIM(link != NULL);
    link[0] = '#';
    memcpy(link + 1, data, size);
    link[size + 1] = '\0';
    static char command[] = "run";
    char *arguments[] = {command, link, NULL};
    CliArgs *args, *expanded = NULL;
    LinkWords words;
    CLAIM(cli_parse(cli_command_find("run"), 2, arguments, &args) == KL_OK);
    if (link_is(link)) {
        KlStatus status = link_expand(args, link, &words, &expanded);
        if (status == KL_OK) {
            CLAIM(expanded != NULL && cli_operand_count(expanded) == 1);
        } else {
            claim_failure(status);
        }
        cli_args_destroy(expanded);
        link_words_free(&words);
    }
    cli_args_destroy(args);
    free(link);
    return 0;
}
