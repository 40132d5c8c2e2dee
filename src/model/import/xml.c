// XML as a tree with places, on expat.
#include "model/import/xml.h"

#include <errno.h>
#include <expat.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 64 << 20, MAX_DEPTH = 200, MAX_ELEMENTS = 1000000 };

typedef struct Reader {
    XML_Parser parser;
    KlArena *arena;
    const char *file;
    KlXmlNode *root, *open, *last_child[MAX_DEPTH + 1];
    int32_t depth, count;
    KlStatus status;
} Reader;

static void stop(Reader *reader, KlStatus status, const char *what) {
    KlPlace place = {.file = reader->file,
                     .line = (int32_t)XML_GetCurrentLineNumber(reader->parser),
                     .column = (int32_t)XML_GetCurrentColumnNumber(reader->parser) + 1};
    reader->status = kl_fail_at(status, &place, "%s", what);
    XML_StopParser(reader->parser, XML_FALSE);
}

static const char **copy_attributes(KlArena *arena, const char **attributes) {
    int32_t count = 0;
    while (attributes[count] != NULL) {
        count++;
    }
    const char **copy = KL_ARENA_ARRAY(arena, const char *, count + 1);
    for (int32_t i = 0; copy != NULL && i < count; i++) {
        copy[i] = kl_arena_text(arena, attributes[i]);
    }
    return copy;
}

static void on_start(void *context, const char *name, const char **attributes) {
    Reader *reader = context;
    if (reader->status != KL_OK) {
        return;
    }
    if (reader->depth >= MAX_DEPTH) {
        stop(reader, KL_ERR_LIMIT, "elements nest more than 200 levels deep");
        return;
    }
    if (++reader->count > MAX_ELEMENTS) {
        stop(reader, KL_ERR_LIMIT, "more than 1000000 elements");
        return;
    }
    KlXmlNode *node = kl_arena_alloc(reader->arena, 1, sizeof *node);
    if (node != NULL) {
        node->name = kl_arena_text(reader->arena, name);
        node->attributes = copy_attributes(reader->arena, attributes);
    }
    if (node == NULL || reader->arena->failed) {
        stop(reader, KL_ERR_MEMORY, "out of memory");
        return;
    }
    node->file = reader->file;
    node->line = (int32_t)XML_GetCurrentLineNumber(reader->parser);
    node->column = (int32_t)XML_GetCurrentColumnNumber(reader->parser) + 1;
    node->parent = reader->open;
    if (reader->open == NULL) {
        reader->root = node;
    } else if (reader->last_child[reader->depth] == NULL) {
        reader->open->child = node;
    } else {
        reader->last_child[reader->depth]->next = node;
    }
    reader->last_child[reader->depth] = node;
    reader->open = node;
    reader->last_child[++reader->depth] = NULL;
}

static void on_end(void *context, const char *name) {
    (void)name;
    Reader *reader = context;
    if (reader->status == KL_OK) {
        reader->open = reader->open->parent;
        reader->depth--;
    }
}

KlStatus kl_xml_parse(const char *data, size_t size, const char *file, KlArena *arena, KlXmlNode **root) {
    if (size > MAX_BYTES) {
        return kl_fail_at(KL_ERR_LIMIT, &(KlPlace){.file = file}, "is larger than 64 MiB");
    }
    static const XML_Memory_Handling_Suite memory = {kl_alloc, kl_realloc, kl_free};
    Reader reader = {
        .arena = arena, .file = kl_arena_text(arena, file), .parser = XML_ParserCreate_MM(NULL, &memory, NULL)};
    if (reader.parser == NULL || arena->failed) {
        XML_ParserFree(reader.parser);
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    XML_SetUserData(reader.parser, &reader);
    XML_SetElementHandler(reader.parser, on_start, on_end);
    enum XML_Status parsed = XML_Parse(reader.parser, data, (int)size, 1);
    if (parsed != XML_STATUS_OK && reader.status == KL_OK) {
        KlPlace place = {.file = file,
                         .line = (int32_t)XML_GetCurrentLineNumber(reader.parser),
                         .column = (int32_t)XML_GetCurrentColumnNumber(reader.parser) + 1};
        enum XML_Error error = XML_GetErrorCode(reader.parser);
        reader.status = error == XML_ERROR_NO_MEMORY
                            ? kl_fail_at(KL_ERR_MEMORY, &place, "out of memory")
                            : kl_fail_at(KL_ERR_FORMAT, &place, "not well-formed XML: %s", XML_ErrorString(error));
    }
    XML_ParserFree(reader.parser);
    *root = reader.root;
    return reader.status;
}

const KlXmlNode *kl_xml_sibling(const KlXmlNode *node, const char *name) {
    for (node = node->next; node != NULL; node = node->next) {
        if (strcmp(node->name, name) == 0) {
            return node;
        }
    }
    return NULL;
}

const KlXmlNode *kl_xml_child(const KlXmlNode *node, const char *name) {
    if (node == NULL || node->child == NULL || strcmp(node->child->name, name) == 0) {
        return node != NULL ? node->child : NULL;
    }
    return kl_xml_sibling(node->child, name);
}

const char *kl_xml_get(const KlXmlNode *node, const char *attribute) {
    for (int32_t i = 0; node != NULL && node->attributes[i] != NULL; i += 2) {
        if (strcmp(node->attributes[i], attribute) == 0) {
            return node->attributes[i + 1];
        }
    }
    return NULL;
}

KlStatus kl_xml_fail(const KlXmlNode *node, const char *format, ...) {
    char what[400], path[100];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    const char *name = kl_xml_get(node, "name");
    snprintf(path, sizeof path, name != NULL ? "%.30s[%.60s]" : "%.30s", node->name, name);
    KlPlace place = {.file = node->file, .line = node->line, .column = node->column, .path = path};
    return kl_fail_at(KL_ERR_SCENE, &place, "%s", what);
}

KlStatus kl_xml_numbers(const KlXmlNode *node, const char *attribute, int32_t minimum, int32_t count, double *values,
                        int32_t *read) {
    const char *text = kl_xml_get(node, attribute);
    if (read != NULL) {
        *read = 0;
    }
    if (text == NULL) {
        return KL_OK;
    }
    int32_t found = 0;
    for (const char *at = text; *(at += strspn(at, " \t\r\n")) != '\0'; found++) {
        char *end;
        double value = strtod(at, &end);
        if (end == at || !isfinite(value) || found >= count) {
            found = -1;
            break;
        }
        values[found] = value;
        at = end;
    }
    if (found < minimum) {
        return kl_xml_fail(node, "%s=\"%.60s\": must be %d%s finite number%s", attribute, text, (int)count,
                           minimum < count ? " or fewer" : "", count > 1 ? "s" : "");
    }
    if (read != NULL) {
        *read = found;
    }
    return KL_OK;
}

KlStatus kl_xml_bool(const KlXmlNode *node, const char *attribute, bool automatic, bool *value) {
    const char *text = kl_xml_get(node, attribute);
    if (text == NULL) {
        return KL_OK;
    }
    if (strcmp(text, "auto") == 0) {
        *value = automatic;
    } else if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0) {
        *value = true;
    } else if (strcmp(text, "false") == 0 || strcmp(text, "0") == 0) {
        *value = false;
    } else {
        return kl_xml_fail(node, "%s=\"%.60s\": must be true, false or auto", attribute, text);
    }
    return KL_OK;
}

KlStatus kl_xml_need(const KlXmlNode *node, const char *attribute, const char **value) {
    *value = kl_xml_get(node, attribute);
    return *value != NULL ? KL_OK : kl_xml_fail(node, "lacks the attribute \"%s\"", attribute);
}
