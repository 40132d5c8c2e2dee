// Where scenes lie: a path as given, or a name looked up in the scene folders.
#ifndef KINLOOP_SCENE_FIND_H
#define KINLOOP_SCENE_FIND_H

#include "kl.h"

// The folder of scenes: KINLOOP_SCENES, else beside the program (../share/kinloop/scenes of an
// installation, ../../scenes of a build tree), else ./scenes. KL_ERR_NOT_FOUND when there is none.
KlStatus scene_folder(char *folder, size_t size);

// The path of a scene or experiment: an existing file, or NAME.json in the scene folder or one of
// its subfolders. KL_ERR_NOT_FOUND with a hint at the nearest name.
KlStatus scene_find(const char *name, char *path, size_t size);

// The ids of all documents in the scene folder, sorted; free with scene_names_free.
typedef struct SceneNames {
    char **names;  // (count) ids, ends with NULL
    char **paths;  // (count)
    int count;
} SceneNames;
KlStatus scene_names(SceneNames *list);
void scene_names_free(SceneNames *list);

#endif
