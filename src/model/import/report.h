// The list of notes that an import gives back.
#ifndef KL_MODEL_IMPORT_REPORT_H
#define KL_MODEL_IMPORT_REPORT_H

#include "kl.h"

KlStatus kl_import_report_create(KlImportReport **report);
// A note that does not fit in memory is remembered by kl_import_report_check.
void kl_import_report_add(KlImportReport *report, const char *file, int32_t line, const char *element, const char *text,
                          bool lost);
KlStatus kl_import_report_check(const KlImportReport *report);

#endif
