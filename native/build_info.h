// What results must name to be compared: machine, compiler, commit, build.
#ifndef KINLOOP_BUILD_INFO_H
#define KINLOOP_BUILD_INFO_H

#include <stddef.h>

void machine_name(char *text, size_t size);  // model of the CPU and number of threads
const char *compiler_name(void);
const char *commit_name(void);  // "unknown" outside a repository
const char *core_name(void);    // names code and constants of the core: two programs of one name give the same numbers
const char *build_name(void);   // "native", "native-fast"

#endif
