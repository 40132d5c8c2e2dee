// Reading JSON documents with good manners: every fault names file, line, column, path, what was
// found and what is allowed. A KlJson is a place in a document; includes are followed as they are
// met.
//   {"include": "part.json"} stands for the whole content of that file, found beside the including
//   one; inside a list, an included list puts its entries there.
#ifndef KL_MODEL_JSON_READ_H
#define KL_MODEL_JSON_READ_H

#include <jansson.h>

#include "base/status.h"
#include "kl.h"

typedef struct KlSource {
    const char *name, *text;
    size_t size;
    json_t *root;
    struct KlLoader *loader;
    struct KlSource *next;
} KlSource;

// Owns the documents of one load.
typedef struct KlLoader {
    const KlFiles *files;  // NULL: no file can be reached
    KlSource *sources;
    int32_t source_count;
} KlLoader;

typedef struct KlJson {
    const KlSource *source;
    const json_t *value;            // NULL: absent
    const struct KlJson *parent;    // NULL at the root of a document
    const struct KlJson *includer;  // at the root of an included document: who asked for it
    const char *key;                // in an object
    size_t index;                   // in a list
} KlJson;

KlStatus kl_loader_parse(KlLoader *loader, const char *text, size_t size, const char *name, KlJson *root);
KlStatus kl_loader_open(KlLoader *loader, const char *path, KlJson *root);
void kl_loader_free(KlLoader *loader);
// `file` as seen from the document of `at`; false when it does not fit.
bool kl_beside(const KlJson *at, const char *file, char *path, size_t size);
KlStatus kl_json_open_beside(const KlJson *at, const char *file,
                             KlJson *root);  // cycles are errors
KlStatus kl_json_read_file(const KlJson *at, const char *file, char **data,
                           size_t *size);  // files->release frees

// Fails at this value; `field` (NULL or a relative path such as "mass") narrows it down.
KlStatus kl_json_fault(const KlJson *at, const char *field, KlStatus status, const char *format, ...) KL_PRINTF(4, 5);
// Turns the builder's last error ("bodies[3].mass: ...") into one at `at` and the same field.
KlStatus kl_json_adopt_error(const KlJson *at);

// `known`: the allowed keys, ended by NULL. Fails for other types than objects, and for unknown
// keys.
KlStatus kl_json_check_keys(const KlJson *at, const char *const *known);
KlStatus kl_json_member(const KlJson *at, const char *key,
                        KlJson *member);                                       // value NULL when absent
KlStatus kl_json_required(const KlJson *at, const char *key, KlJson *member);  // absent is an error
typedef KlStatus (*KlJsonVisit)(void *context, const KlJson *entry);
KlStatus kl_json_each(const KlJson *at, const char *key, KlJsonVisit visit,
                      void *context);  // absent is empty

// The value of `at` itself.
KlStatus kl_json_as_real(const KlJson *at, double *value);
KlStatus kl_json_as_text(const KlJson *at, const char **value);
KlStatus kl_json_as_reals(const KlJson *at, double *values, int32_t count);

// A member; absent leaves `value` as it is.
KlStatus kl_json_real(const KlJson *at, const char *key, double *value);
KlStatus kl_json_int(const KlJson *at, const char *key, int64_t low, int64_t high, int64_t *value);
KlStatus kl_json_bool(const KlJson *at, const char *key, bool *value);
KlStatus kl_json_text(const KlJson *at, const char *key, const char **value);
KlStatus kl_json_reals(const KlJson *at, const char *key, double *values, int32_t count);
// One of `choices` (ended by NULL); the index.
KlStatus kl_json_choice(const KlJson *at, const char *key, const char *const *choices, int32_t *index);

#endif
