// The list of notes that an import gives back.
#include "model/import/report.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

struct KlImportReport {
    KlArena arena;
    KlImportNote *notes;
    int32_t count, capacity;
};

KlStatus kl_import_report_create(KlImportReport **report) {
    *report = kl_alloc(sizeof **report);
    return *report != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
}

void kl_import_report_destroy(KlImportReport *report) {
    if (report != NULL) {
        kl_arena_free(&report->arena);
        kl_free(report);
    }
}

void kl_import_report_add(KlImportReport *report, const char *file, int32_t line, const char *element, const char *text,
                          bool lost) {
    if (report->count == report->capacity) {
        int32_t larger = report->capacity > 0 ? 2 * report->capacity : 32;
        KlImportNote *notes = KL_ARENA_ARRAY(&report->arena, KlImportNote, larger);
        if (notes == NULL) {
            return;
        }
        if (report->count > 0) {
            memcpy(notes, report->notes, (size_t)report->count * sizeof *notes);
        }
        report->notes = notes;
        report->capacity = larger;
    }
    report->notes[report->count++] = (KlImportNote){
        .file = kl_arena_text(&report->arena, file),
        .line = line,
        .element = kl_arena_text(&report->arena, element),
        .text = kl_arena_text(&report->arena, text),
        .lost = lost,
    };
}

KlStatus kl_import_report_check(const KlImportReport *report) { return kl_arena_check(&report->arena); }

int32_t kl_import_note_count(const KlImportReport *report) { return report->count; }

const KlImportNote *kl_import_note(const KlImportReport *report, int32_t index) {
    return index >= 0 && index < report->count ? &report->notes[index] : NULL;
}
