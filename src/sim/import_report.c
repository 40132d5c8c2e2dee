// What an import did, as JSON: the same text for the command and for the page.
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "kl.h"

static json_t *real(double x) { return isfinite(x) ? json_real(x) : json_null(); }

static json_t *notes_of(const KlImportReport *report) {
    json_t *notes = json_array();
    for (int32_t i = 0; i < kl_import_note_count(report); i++) {
        const KlImportNote *note = kl_import_note(report, i);
        json_array_append_new(notes, json_pack("{s:s, s:i, s:s, s:s, s:b}", "file", note->file, "line", (int)note->line,
                                               "element", note->element, "text", note->text, "lost", (int)note->lost));
    }
    return notes;
}

static json_t *table_of(const KlScene *scene, const KlImportReport *report, const KlAssembly *assembly,
                        const char *open) {
    KlModelInfo info;
    kl_model_info(kl_scene_model(scene), &info);
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:i, s:i, s:s?, s:o}", "scene", kl_scene_id(scene),
                     "bodies", (int)info.bodies, "joints", (int)info.joints, "joint_rows", (int)info.joint_rows,
                     "loops", (int)info.loops, "actuated_dofs", (int)info.actuated_dofs, "residual_before",
                     real(assembly->residual_before), "residual_after", real(assembly->residual_after), "rank",
                     (int)assembly->rank, "mobility", (int)assembly->mobility, "open", open, "notes", notes_of(report));
}

KlStatus kl_import_report_write_json(const KlScene *scene, const KlImportReport *report, const KlAssembly *assembly,
                                     const char *open, char **text) {
    json_t *table = table_of(scene, report, assembly, open);
    size_t size = table != NULL ? json_dumpb(table, NULL, 0, 0) : 0;
    *text = size > 0 ? kl_alloc(size + 1) : NULL;
    if (*text != NULL) {
        json_dumpb(table, *text, size, 0);
    }
    json_decref(table);
    return *text != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
}
