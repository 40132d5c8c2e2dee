// The reader of scene documents, in parts: scene_read.c documents, scene_read_bodies.c meshes to
// bodies, scene_read_joints.c joints to events, scene_read_runs.c settings and runs,
// scene_read_common.c what they share.
#ifndef KL_MODEL_SCENE_READ_H
#define KL_MODEL_SCENE_READ_H

#include "model/inertia.h"
#include "model/json_read.h"
#include "model/model.h"
#include "model/scene.h"

typedef struct KlSceneReader {
    KlScene *scene;
    KlBuilder *builder;
    const KlModel *model;  // what is built so far
    KlJson root;           // of the scene document
    double friction, restitution;
    KlMassProperties mass_properties;  // of the body being read
    bool use_visuals;                  // it has no collision geometry
    int32_t body, geom_number;
    const char *body_name;
    KlSceneRun *run;   // being read
    int32_t capacity;  // of the list being read
} KlSceneReader;

// A builder's call: its fault becomes one at this place.
#define KL_TRY_AT(at, call)                 \
    do {                                    \
        if ((call) != KL_OK) {              \
            return kl_json_adopt_error(at); \
        }                                   \
    } while (0)

// Shared. Absent members leave the value as it is, unless "required".
KlStatus kl_keep_text(KlSceneReader *reader, const char *text,
                      const char **kept);  // copies into the scene
KlStatus kl_add_note(KlSceneReader *reader, const char *text);
KlStatus kl_fail_name(const KlJson *at, const char *what, const char *name, const KlNames *known);
KlStatus kl_read_required_text(const KlJson *at, const char *key, const char **text);
KlStatus kl_read_kept_text(KlSceneReader *reader, const KlJson *at, const char *key, const char **text);
KlStatus kl_read_id(KlSceneReader *reader, const KlJson *at, const char **id);
KlStatus kl_read_body_name(const KlSceneReader *reader, const KlJson *at, const char *key, bool world_allowed,
                           int32_t *body);
KlStatus kl_read_pose(const KlJson *at, double pose[7]);  // "position" and "orientation"
KlStatus kl_read_material(const KlJson *at, double *friction, double *restitution);
KlStatus kl_count_entry(void *context, const KlJson *at);  // visitor: counts into an int32_t

// Visitors of lists (kl_json_each); the context is the reader.
KlStatus kl_read_mesh(void *context, const KlJson *at);
KlStatus kl_read_reference(void *context, const KlJson *at);
KlStatus kl_read_body(void *context, const KlJson *at);
KlStatus kl_read_geom(void *context, const KlJson *at);  // of reader->body
KlStatus kl_read_joint(void *context, const KlJson *at);
KlStatus kl_read_exclude(void *context, const KlJson *at);
KlStatus kl_read_pair(void *context, const KlJson *at);
KlStatus kl_add_event(void *context, const KlJson *at);

KlStatus kl_read_event(const KlSceneReader *reader, const KlJson *at, KlForceEvent *event);
// "settings" on top of what `settings` holds; "dt" and "gravity" may stand at `at` too.
KlStatus kl_read_settings(const KlJson *at, KlSettings *settings);
KlStatus kl_read_preset(const KlJson *at, const char **preset);
KlStatus kl_read_runs(KlSceneReader *reader, const KlJson *at);

#endif
