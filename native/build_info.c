#include "build_info.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if __has_include("core_hash.h")
#include "core_hash.h"
#else
#define KL_CORE_HASH "unknown"
#endif

#ifndef KL_COMMIT
#define KL_COMMIT "unknown"
#endif

void machine_name(char *text, size_t size) {
    char line[256], model[200] = "unknown CPU";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            snprintf(model, sizeof model, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    snprintf(text, size, "%s, %ld threads", model, sysconf(_SC_NPROCESSORS_ONLN));
}

const char *compiler_name(void) {
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown compiler";
#endif
}

const char *commit_name(void) { return KL_COMMIT; }
const char *core_name(void) { return KL_CORE_HASH; }
const char *build_name(void) { return KL_BUILD_NAME; }
