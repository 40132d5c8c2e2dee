// A loaded scene: the model of the document, and what its runs change.
#ifndef KL_MODEL_SCENE_H
#define KL_MODEL_SCENE_H

#include "base/memory.h"
#include "kl.h"

// What a run changes about one body at the start. A changed mass scales the inertia with it.
typedef struct KlBodyChange {
    int32_t body;
    bool has_mass, has_position, has_orientation, has_twist;
    double mass, pose[7], twist[6];
} KlBodyChange;

typedef struct KlSceneRun {
    KlRunDef def;
    bool own_events;         // else def.events are the scene's
    bool unactuated;         // all joints passive (rag-doll)
    const char *own_preset;  // NULL: the scene's
    KlBodyChange *changes;   // (change_count)
    int32_t change_count;
} KlSceneRun;

struct KlScene {
    KlArena arena;  // owns everything but the model
    const char *id, *title, *text;
    bool surrogate;
    const char *preset;
    KlModel *model;
    KlSettings settings;   // as written: max_contacts may be 0
    KlForceEvent *events;  // (event_count) the scene's
    int32_t event_count;
    KlSceneRun *runs;
    int32_t run_count;
    const char **solvers;
    int32_t solver_count;
    bool has_camera;
    double camera_position[3], camera_target[3];
    const char **notes;
    int32_t note_count;
};

#endif
