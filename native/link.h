// The page's shared links: an experiment in the fragment of an address, as words of `kinloop run`.
//   v=1  scene=ID@1 | scene=x & x=base64url(deflate-raw(JSON))  run=ID  mode=curated  drive=ID
//   pre=hp|ht  s=ID,ID  p=ID.param:number  set=path:JSON  T=seconds  h=step:hash,hash
#ifndef KINLOOP_LINK_H
#define KINLOOP_LINK_H

#include "options.h"

bool link_is(const char *text);  // has a fragment that names a scene

// Parses anew with what the link says where the command line does not: `words` owns the texts and
// outlives `expanded`. Own scenes are unpacked into a temporary file. KL_ERR_ARGUMENT for a bad link.
typedef struct LinkWords {
    char *words[160];
    int count;
    char scene_file[64];  // removed by link_words_free; "" = none
} LinkWords;
KlStatus link_expand(const CliArgs *args, const char *link, LinkWords *words, CliArgs **expanded);
void link_words_free(LinkWords *words);

// The fragment that opens this run in the page. KL_ERR_LIMIT above 32000 characters, as the page has it.
KlStatus link_print(const CliArgs *args, const char *scene_path, const char *scene_id, bool gallery);

#endif
