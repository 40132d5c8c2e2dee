// XML as a tree with places: expat reads, this keeps elements, attributes and where they stood.
#ifndef KL_MODEL_IMPORT_XML_H
#define KL_MODEL_IMPORT_XML_H

#include "base/memory.h"
#include "base/status.h"

typedef struct KlXmlNode KlXmlNode;
struct KlXmlNode {
    const char *name;
    const char **attributes;  // name, value, name, value, ..., NULL
    KlXmlNode *parent, *child, *next;
    const char *file;
    int32_t line, column;
};

// KL_ERR_FORMAT with line and column for what is not well-formed; KL_ERR_LIMIT above 64 MiB, 200 levels
// or 10^6 elements. Everything lives in `arena`. Entities of a document type are refused by expat's
// amplification limit.
KlStatus kl_xml_parse(const char *data, size_t size, const char *file, KlArena *arena, KlXmlNode **root);

const KlXmlNode *kl_xml_child(const KlXmlNode *node, const char *name);    // first of that name; NULL
const KlXmlNode *kl_xml_sibling(const KlXmlNode *node, const char *name);  // next of that name; NULL
const char *kl_xml_get(const KlXmlNode *node, const char *attribute);      // NULL when absent

// Reads `minimum` to `count` finite numbers into `values`; leaves them alone when the attribute is absent.
// `read` may be NULL. KL_ERR_FORMAT with the place when the text is something else.
KlStatus kl_xml_numbers(const KlXmlNode *node, const char *attribute, int32_t minimum, int32_t count, double *values,
                        int32_t *read);
// "true"/"false", MuJoCo's "auto" as `automatic`.
KlStatus kl_xml_bool(const KlXmlNode *node, const char *attribute, bool automatic, bool *value);
// An attribute that must be there.
KlStatus kl_xml_need(const KlXmlNode *node, const char *attribute, const char **value);
KlStatus kl_xml_fail(const KlXmlNode *node, const char *format, ...) KL_PRINTF(2, 3);  // KL_ERR_SCENE

#endif
