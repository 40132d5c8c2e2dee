// Running the command in a folder of its own, which must hold nothing but what is expected.
#ifndef KL_TESTS_SHELL_H
#define KL_TESTS_SHELL_H

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

static char shell_folder[64];

// A new empty folder; $K, $D and $S name the command, the tests' data and the scenes.
static inline void shell_start(void) {
    snprintf(shell_folder, sizeof shell_folder, "/tmp/kinloop-test-XXXXXX");
    assert_non_null(mkdtemp(shell_folder));
    setenv("K", KL_COMMAND, 1);
    setenv("D", KL_TEST_DATA, 1);
    setenv("S", KL_SCENES, 1);
}

// The exit code of a command line run in the folder; 128 + n after signal n.
static inline int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline int shell(const char *format, ...) {
    char words[2048], line[2300];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    snprintf(line, sizeof line, "cd %s && %s", shell_folder, words);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static inline void shell_end(void) {
    char line[128];
    snprintf(line, sizeof line, "rm -rf %s", shell_folder);
    assert_int_equal(system(line), 0);
}

static inline bool shell_has(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", shell_folder, name);
    return access(path, F_OK) == 0;
}

static inline long shell_size(const char *name) {
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", shell_folder, name);
    return stat(path, &info) == 0 ? (long)info.st_size : -1;
}

// Entries whose names begin with `prefix` ("" = all).
static inline int shell_count(const char *prefix) {
    DIR *folder = opendir(shell_folder);
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        count += entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    }
    closedir(folder);
    return count;
}

#endif
