// Looks scenes up by name.
#include "scene_find.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/status.h"
#include "options.h"
#include "output.h"

static bool is_folder(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool is_file(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

static bool beside_program(const char *relative, char *folder, size_t size) {
    char program[512];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) {
        return false;
    }
    program[length] = '\0';
    char *slash = strrchr(program, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return snprintf(folder, size, "%s/%s", program, relative) < (int)size && is_folder(folder);
}

KlStatus scene_folder(char *folder, size_t size) {
    const char *given = getenv("KINLOOP_SCENES");
    if (given != NULL && *given != '\0') {
        snprintf(folder, size, "%s", given);
        return is_folder(folder) ? KL_OK : kl_fail(KL_ERR_NOT_FOUND, "KINLOOP_SCENES=%s is not a folder", given);
    }
    if (beside_program("../share/kinloop/scenes", folder, size) || beside_program("../../scenes", folder, size)) {
        return KL_OK;
    }
    snprintf(folder, size, "scenes");
    return is_folder(folder) ? KL_OK
                             : kl_fail(KL_ERR_NOT_FOUND, "no folder of scenes found; KINLOOP_SCENES can name one");
}

static KlStatus add_name(SceneNames *list, const char *folder, const char *file) {
    size_t count = (size_t)list->count;
    char **names = kl_realloc(list->names, (count + 2) * sizeof *names);
    list->names = names != NULL ? names : list->names;
    char **paths = kl_realloc(list->paths, (count + 1) * sizeof *paths);
    list->paths = paths != NULL ? paths : list->paths;
    size_t stem = strlen(file) - strlen(".json");
    char *name = kl_alloc(stem + 1);
    size_t path_size = strlen(folder) + strlen(file) + 2;
    char *path = kl_alloc(path_size);
    if (names == NULL || paths == NULL || name == NULL || path == NULL) {
        kl_free(name);
        kl_free(path);
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    memcpy(name, file, stem);
    name[stem] = '\0';
    snprintf(path, path_size, "%s/%s", folder, file);
    list->names[count] = name;
    list->names[count + 1] = NULL;
    list->paths[count] = path;
    list->count++;
    return KL_OK;
}

static KlStatus read_folder(const char *folder, int depth, SceneNames *list) {
    DIR *directory = opendir(folder);
    if (directory == NULL) {
        return KL_OK;
    }
    KlStatus status = KL_OK;
    for (struct dirent *entry; status == KL_OK && (entry = readdir(directory)) != NULL;) {
        char path[1024];
        if (entry->d_name[0] == '.' ||
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path) {
            continue;
        }
        if (is_folder(path)) {
            status = depth > 0 ? read_folder(path, depth - 1, list) : KL_OK;
        } else if (cli_ends_with(entry->d_name, ".json") && !cli_ends_with(entry->d_name, "schema.json")) {
            status = add_name(list, folder, entry->d_name);
        }
    }
    closedir(directory);
    return status;
}

// Insertion sort of both lists by name: a few dozen entries.
static void sort_names(SceneNames *list) {
    for (int i = 1; i < list->count; i++) {
        char *name = list->names[i], *path = list->paths[i];
        int k = i;
        for (; k > 0 && strcmp(list->names[k - 1], name) > 0; k--) {
            list->names[k] = list->names[k - 1];
            list->paths[k] = list->paths[k - 1];
        }
        list->names[k] = name;
        list->paths[k] = path;
    }
}

KlStatus scene_names(SceneNames *list) {
    *list = (SceneNames){0};
    char folder[1024];
    KL_TRY(scene_folder(folder, sizeof folder));
    KlStatus status = read_folder(folder, 1, list);
    if (status != KL_OK) {
        scene_names_free(list);
        return status;
    }
    sort_names(list);
    return KL_OK;
}

void scene_names_free(SceneNames *list) {
    for (int i = 0; i < list->count; i++) {
        kl_free(list->names[i]);
        kl_free(list->paths[i]);
    }
    kl_free(list->names);
    kl_free(list->paths);
    *list = (SceneNames){0};
}

static KlStatus find_name(const SceneNames *list, const char *name, char *path, size_t size) {
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->names[i], name) == 0) {
            snprintf(path, size, "%s", list->paths[i]);
            return KL_OK;
        }
    }
    const char *hint = list->count > 0 ? cli_did_you_mean(name, (const char *const *)list->names) : NULL;
    return kl_fail(KL_ERR_NOT_FOUND, "no scene %s%s%s%s; kinloop list scenes names them", name,
                   hint != NULL ? "; did you mean " : "", hint != NULL ? hint : "", hint != NULL ? "?" : "");
}

KlStatus scene_find(const char *name, char *path, size_t size) {
    if (is_file(name)) {
        snprintf(path, size, "%s", name);
        return KL_OK;
    }
    if (strchr(name, '/') != NULL || cli_ends_with(name, ".json")) {
        KlPlace place = {.file = name};
        return kl_fail_at(KL_ERR_IO, &place, access(name, F_OK) == 0 ? "is not a file" : "no such file");
    }
    SceneNames list;
    KL_TRY(scene_names(&list));
    KlStatus status = find_name(&list, name, path, size);
    scene_names_free(&list);
    return status;
}
