// What all readers of scene elements share: texts, names, poses, materials.
#include "model/scene_read.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/trig.h"
#include "math/vec.h"

KlStatus kl_keep_text(KlSceneReader *reader, const char *text, const char **kept) {
    *kept = kl_arena_text(&reader->scene->arena, text);
    return kl_arena_check(&reader->scene->arena);
}

KlStatus kl_add_note(KlSceneReader *reader, const char *text) {
    KlScene *scene = reader->scene;
    const char **notes = KL_ARENA_ARRAY(&scene->arena, const char *, scene->note_count + 1);
    KL_TRY(kl_arena_check(&scene->arena));
    if (scene->note_count > 0) {
        memcpy((void *)notes, (const void *)scene->notes, (size_t)scene->note_count * sizeof *notes);
    }
    scene->notes = notes;
    KL_TRY(kl_keep_text(reader, text, &notes[scene->note_count]));
    scene->note_count++;
    return KL_OK;
}

KlStatus kl_fail_name(const KlJson *at, const char *what, const char *name, const KlNames *known) {
    const char *nearest = kl_nearest_name(known->names, known->count < 1000 ? known->count : 1000, name);
    return kl_json_fault(at, NULL, KL_ERR_SCENE, "there is no %s \"%.60s\"%s%.60s%s", what, name,
                         nearest != NULL ? "; did you mean \"" : "", nearest != NULL ? nearest : "",
                         nearest != NULL ? "\"?" : "");
}

KlStatus kl_read_required_text(const KlJson *at, const char *key, const char **text) {
    KlJson member;
    KL_TRY(kl_json_required(at, key, &member));
    return kl_json_as_text(&member, text);
}

// A member that names a body; the world is -1 where it is allowed.
KlStatus kl_read_body_name(const KlSceneReader *reader, const KlJson *at, const char *key, bool world_allowed,
                           int32_t *body) {
    KlJson member;
    const char *name;
    KL_TRY(kl_json_required(at, key, &member));
    KL_TRY(kl_json_as_text(&member, &name));
    *body = kl_names_find(&reader->model->body_names, name);
    if (*body >= 0 || (world_allowed && strcmp(name, "world") == 0)) {
        return KL_OK;
    }
    return kl_fail_name(&member, "body", name, &reader->model->body_names);
}
KlStatus kl_read_id(KlSceneReader *reader, const KlJson *at, const char **id) {
    const char *text;
    KL_TRY(kl_read_required_text(at, "id", &text));
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    size_t length = strlen(text);
    if (length == 0 || length > 64 || strspn(text, allowed) != length) {
        return kl_json_fault(at, "id", KL_ERR_SCENE, "must be 1 to 64 letters, digits, '_', '-' or '.'");
    }
    return kl_keep_text(reader, text, id);
}

KlStatus kl_read_kept_text(KlSceneReader *reader, const KlJson *at, const char *key, const char **text) {
    const char *found = NULL;
    KL_TRY(kl_json_text(at, key, &found));
    return found != NULL ? kl_keep_text(reader, found, text) : KL_OK;
}

KlStatus kl_read_material(const KlJson *at, double *friction, double *restitution) {
    KL_TRY(kl_json_real(at, "friction", friction));
    return kl_json_real(at, "restitution", restitution);
}

KlStatus kl_count_entry(void *context, const KlJson *at) {
    (void)at;
    ++*(int32_t *)context;
    return KL_OK;
}

// [w, x, y, z], or {"axis": [x, y, z], "angle": radians}.
static KlStatus read_orientation(const KlJson *at, double q[4]) {
    KlJson member;
    KL_TRY(kl_json_member(at, "orientation", &member));
    if (member.value == NULL) {
        return KL_OK;
    }
    if (!json_is_object(member.value)) {
        return kl_json_as_reals(&member, q, 4);
    }
    static const char *const keys[] = {"axis", "angle", NULL};
    KL_TRY(kl_json_check_keys(&member, keys));
    double axis[3], angle = 0.0;
    KlJson axis_member;
    KL_TRY(kl_json_required(&member, "axis", &axis_member));
    KL_TRY(kl_json_as_reals(&axis_member, axis, 3));
    KL_TRY(kl_json_real(&member, "angle", &angle));
    double length = kl_norm3(axis);
    if (!(length > 0.0) || !isfinite(length)) {
        return kl_json_fault(&axis_member, NULL, KL_ERR_SCENE, "must not be zero");
    }
    kl_scale3(angle / length, axis, axis);
    kl_quat_exp(axis, q);
    return KL_OK;
}

KlStatus kl_read_pose(const KlJson *at, double pose[7]) {
    KL_TRY(kl_json_reals(at, "position", pose, 3));
    return read_orientation(at, pose + 3);
}
