// A cursor that walks valid JSON along a path, without building values.
#include "base/json_place.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Cursor {
    const char *at, *end;
} Cursor;

static void skip_space(Cursor *c) {
    while (c->at < c->end && strchr(" \t\r\n", *c->at) != NULL && *c->at != '\0') {
        c->at++;
    }
}

static void skip_string(Cursor *c) {
    c->at++;
    while (c->at < c->end && *c->at != '"') {
        c->at += *c->at == '\\' ? 2 : 1;
    }
    c->at = c->at < c->end ? c->at + 1 : c->end;
}

// Containers are skipped by counting brackets, so that depth costs no stack.
static void skip_value(Cursor *c) {
    skip_space(c);
    int depth = 0;
    do {
        if (c->at >= c->end) {
            return;
        }
        char ch = *c->at;
        if (ch == '"') {
            skip_string(c);
        } else {
            depth += ch == '{' || ch == '[';
            depth -= ch == '}' || ch == ']';
            c->at++;
            if (depth == 0 && ch != '}' && ch != ']') {  // a number, true, false or null
                while (c->at < c->end && strchr(",]} \t\r\n", *c->at) == NULL) {
                    c->at++;
                }
            }
        }
    } while (depth > 0);
}

static bool step_over(Cursor *c, char ch) {
    skip_space(c);
    if (c->at < c->end && *c->at == ch) {
        c->at++;
        return true;
    }
    return false;
}

// Moves to the named member of the object at the cursor; false leaves the cursor where it was.
static bool enter_member(Cursor *c, const char *name, size_t length) {
    Cursor start = *c;
    if (step_over(c, '{')) {
        do {
            skip_space(c);
            const char *key = c->at;
            if (key >= c->end || *key != '"') {
                break;
            }
            skip_string(c);
            size_t key_length = (size_t)(c->at - key) - 2;
            if (!step_over(c, ':')) {
                break;
            }
            if (key_length == length && memcmp(key + 1, name, length) == 0) {
                skip_space(c);
                return true;
            }
            skip_value(c);
        } while (step_over(c, ','));
    }
    *c = start;
    return false;
}

static bool enter_element(Cursor *c, long index) {
    Cursor start = *c;
    if (step_over(c, '[')) {
        for (long i = 0; i < index; i++) {
            skip_value(c);
            if (!step_over(c, ',')) {
                *c = start;
                return false;
            }
        }
        skip_space(c);
        if (c->at < c->end && *c->at != ']') {
            return true;
        }
    }
    *c = start;
    return false;
}

void kl_json_locate(const char *text, size_t size, const char *path, int32_t *line, int32_t *column) {
    Cursor c = {text, text + size};
    skip_space(&c);
    bool found = true;
    while (*path != '\0' && found) {
        if (*path == '[') {
            char *after;
            found = enter_element(&c, strtol(path + 1, &after, 10));
            path = *after == ']' ? after + 1 : after;
        } else {
            path += *path == '.';
            size_t length = strcspn(path, ".[");
            found = enter_member(&c, path, length);
            path += length;
        }
    }
    *line = 1;
    *column = 1;
    for (const char *at = text; at < c.at && at < c.end; at++) {
        *line += *at == '\n';
        *column = *at == '\n' ? 1 : *column + 1;
    }
}

KlStatus kl_json_fail(KlStatus status, const char *file, const char *text, size_t size, const char *path,
                      const char *format, ...) {
    KlPlace place = {.file = file, .path = path};
    kl_json_locate(text, size, path, &place.line, &place.column);
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return kl_fail_at(status, &place, "%s", message);
}
