// Links of the page.
#include "link.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "output.h"

enum { MAX_LINK = 32000, MAX_SCENE = 1 << 20 };

bool link_is(const char *text) {
    const char *fragment = strchr(text, '#');
    return fragment != NULL && strstr(fragment, "scene=") != NULL;
}

// --- fields ---------------------------------------------------------------------------------------

static int hex_digit(char c) { return isdigit((unsigned char)c) ? c - '0' : (tolower((unsigned char)c) - 'a') + 10; }

// Percent-decodes a field in place; false when damaged.
static bool decode_percent(char *text) {
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (*from != '%') {
            *to++ = *from;
            continue;
        }
        if (!isxdigit((unsigned char)from[1]) || !isxdigit((unsigned char)from[2])) {
            return false;
        }
        char c = (char)(16 * hex_digit(from[1]) + hex_digit(from[2]));
        if (c == '\0') {
            return false;
        }
        *to++ = c;
        from += 2;
    }
    *to = '\0';
    return true;
}

static KlStatus add_word(LinkWords *words, const char *prefix, const char *text) {
    size_t size = strlen(prefix) + strlen(text) + 1;
    if (words->count == (int)(sizeof words->words / sizeof words->words[0])) {
        return kl_fail(KL_ERR_LIMIT, "the link holds too many fields");
    }
    char *word = kl_alloc(size);
    if (word == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    snprintf(word, size, "%s%s", prefix, text);
    words->words[words->count++] = word;
    return KL_OK;
}

// --- own scenes -----------------------------------------------------------------------------------

static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

static KlStatus decode_base64(const char *text, unsigned char *bytes, size_t *count) {
    uint32_t bits = 0;
    int have = 0;
    *count = 0;
    for (; *text != '\0' && *text != '='; text++) {
        int digit = base64_digit(*text);
        if (digit < 0) {
            return kl_fail(KL_ERR_ARGUMENT, "the link's scene is damaged: '%c' is no base64url digit", *text);
        }
        bits = (bits << 6) | (uint32_t)digit;
        have += 6;
        if (have >= 8) {
            have -= 8;
            bytes[(*count)++] = (unsigned char)(bits >> have);
        }
    }
    return KL_OK;
}

static KlStatus inflate_scene(unsigned char *packed, size_t size, unsigned char *scene, size_t *length) {
    z_stream stream = {.next_in = packed, .avail_in = (uInt)size, .next_out = scene, .avail_out = MAX_SCENE};
    if (inflateInit2(&stream, -15) != Z_OK) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    int result = inflate(&stream, Z_FINISH);
    *length = MAX_SCENE - stream.avail_out;
    inflateEnd(&stream);
    if (result != Z_STREAM_END) {
        return kl_fail(KL_ERR_ARGUMENT, "the link's scene is damaged, cut, or unpacks to more than %d bytes",
                       (int)MAX_SCENE);
    }
    return KL_OK;
}

static KlStatus write_scene(LinkWords *words, const unsigned char *scene, size_t length) {
    char path[] = "/tmp/kinloop-link-XXXXXX.json";
    int descriptor = mkstemps(path, 5);
    if (descriptor < 0) {
        return cli_fail_output(path, "cannot be created");
    }
    snprintf(words->scene_file, sizeof words->scene_file, "%s", path);
    bool written = write(descriptor, scene, length) == (ssize_t)length;
    bool closed = close(descriptor) == 0;
    return written && closed ? add_word(words, "", path) : cli_fail_output(path, "write error");
}

static KlStatus unpack_scene(LinkWords *words, const char *packed) {
    size_t size = strlen(packed), length = 0;
    unsigned char *bytes = kl_alloc(size + 1), *scene = kl_alloc(MAX_SCENE);
    KlStatus status = bytes != NULL && scene != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
    if (status == KL_OK) {
        status = decode_base64(packed, bytes, &size);
    }
    if (status == KL_OK) {
        status = inflate_scene(bytes, size, scene, &length);
    }
    if (status == KL_OK) {
        status = write_scene(words, scene, length);
    }
    kl_free(bytes);
    kl_free(scene);
    return status;
}

// --- expanding ------------------------------------------------------------------------------------

typedef struct LinkFields {
    char *scene, *packed, *solvers, *driver;
} LinkFields;

// "path:json" -> "--edit=path=json"; "ID.param:number" -> "--set=ID.param=number".
static KlStatus add_pair(LinkWords *words, const char *prefix, char *value) {
    char *colon = strchr(value, ':');
    if (colon == NULL) {
        return kl_fail(KL_ERR_ARGUMENT, "the link's field %.60s lacks a colon", value);
    }
    *colon = '=';
    return add_word(words, prefix, value);
}

static KlStatus add_preset(LinkWords *words, const char *code) {
    const char *preset = strcmp(code, "hp") == 0   ? "high-precision"
                         : strcmp(code, "ht") == 0 ? "high-throughput"
                                                   : NULL;
    return preset != NULL ? add_word(words, "--preset=", preset)
                          : kl_fail(KL_ERR_ARGUMENT, "the link's preset is %.20s; known are hp and ht", code);
}

static KlStatus add_field(const CliArgs *args, LinkWords *words, LinkFields *fields, const char *key, char *value) {
    if (strcmp(key, "v") == 0) {
        return strcmp(value, "1") == 0
                   ? KL_OK
                   : kl_fail(KL_ERR_ARGUMENT, "the link's version is %.20s; this build reads 1", value);
    }
    if (strcmp(key, "scene") == 0) {
        fields->scene = value;
    } else if (strcmp(key, "x") == 0) {
        fields->packed = value;
    } else if (strcmp(key, "s") == 0) {
        fields->solvers = value;
    } else if (strcmp(key, "drive") == 0) {
        fields->driver = value;
    } else if (strcmp(key, "run") == 0 && !cli_has(args, "run")) {
        return add_word(words, "--run=", value);
    } else if (strcmp(key, "mode") == 0 && strcmp(value, "curated") == 0 && !cli_has(args, "curated")) {
        return add_word(words, "--curated", "");
    } else if (strcmp(key, "pre") == 0 && !cli_has(args, "preset")) {
        return add_preset(words, value);
    } else if (strcmp(key, "T") == 0 && !cli_has(args, "duration") && !cli_has(args, "steps")) {
        return add_word(words, "--duration=", value);
    } else if (strcmp(key, "h") == 0 && !cli_has(args, "expect")) {
        return add_word(words, "--expect=", value);
    } else if (strcmp(key, "p") == 0) {
        return add_pair(words, "--set=", value);
    } else if (strcmp(key, "set") == 0) {
        return add_pair(words, "--edit=", value);
    }
    return KL_OK;  // camera, selection, plots ... concern the page alone
}

static KlStatus read_fields(const CliArgs *args, char *fragment, LinkWords *words, LinkFields *fields) {
    bool versioned = false;
    for (char *field = strtok(fragment, "&"); field != NULL; field = strtok(NULL, "&")) {
        char *equals = strchr(field, '=');
        if (equals == NULL) {
            continue;
        }
        *equals = '\0';
        if (!decode_percent(equals + 1)) {
            return kl_fail(KL_ERR_ARGUMENT, "the link's field %.20s is damaged", field);
        }
        versioned = versioned || strcmp(field, "v") == 0;
        KL_TRY(add_field(args, words, fields, field, equals + 1));
    }
    return versioned ? KL_OK : kl_fail(KL_ERR_ARGUMENT, "the link has no version; this build reads v=1");
}

// No path, and no option of the command ("-o...").
static bool is_gallery_name(const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return isalnum((unsigned char)name[0]) && name[strspn(name, letters)] == '\0';
}

static KlStatus add_scene(LinkWords *words, LinkFields *fields) {
    if (fields->scene == NULL) {
        return kl_fail(KL_ERR_ARGUMENT, "the link names no scene");
    }
    if (strcmp(fields->scene, "x") == 0) {
        return fields->packed != NULL ? unpack_scene(words, fields->packed)
                                      : kl_fail(KL_ERR_ARGUMENT, "the link's own scene is missing (x=...)");
    }
    if (strcmp(fields->scene, "url") == 0 || strcmp(fields->scene, "file") == 0) {
        return kl_fail(KL_ERR_ARGUMENT, "the link's scene lies %s: get it, then give the file in place of the link",
                       strcmp(fields->scene, "url") == 0 ? "at another address (u=...)" : "in a file of its sender");
    }
    char *version = strchr(fields->scene, '@');
    if (version != NULL) {
        *version = '\0';
    }
    if (!is_gallery_name(fields->scene)) {
        return kl_fail(KL_ERR_ARGUMENT, "the link's scene is no name of the gallery");
    }
    return add_word(words, "", fields->scene);
}

// The driver comes first: it is the one that a curated run follows.
static KlStatus add_solvers(const CliArgs *args, LinkWords *words, const LinkFields *fields) {
    if (cli_has(args, "solver") || fields->solvers == NULL) {
        return KL_OK;
    }
    if (fields->driver != NULL && *fields->driver != '\0') {
        KL_TRY(add_word(words, "--solver=", fields->driver));
    }
    return add_word(words, "--solver=", fields->solvers);
}

static KlStatus add_given(const CliArgs *args, LinkWords *words) {
    const CliOption *option;
    const char *value;
    for (int i = 0; cli_given(args, i, &option, &value); i++) {
        char prefix[80];
        snprintf(prefix, sizeof prefix, option->kind == CLI_FLAG ? "--%s" : "--%s=", option->name);
        KL_TRY(add_word(words, prefix, option->kind == CLI_FLAG ? "" : value));
    }
    return KL_OK;
}

KlStatus link_expand(const CliArgs *args, const char *link, LinkWords *words, CliArgs **expanded) {
    *words = (LinkWords){0};
    *expanded = NULL;
    const char *fragment = strchr(link, '#') + 1;
    size_t size = strlen(fragment) + 1;
    if (size - 1 > MAX_LINK) {
        return kl_fail(KL_ERR_ARGUMENT, "the link is longer than %d characters", (int)MAX_LINK);
    }
    char *copy = kl_alloc(size);
    if (copy == NULL) {
        return kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    memcpy(copy, fragment, size);
    LinkFields fields = {0};
    KlStatus status = add_word(words, "", cli_args_command(args)->name);
    status = status == KL_OK ? read_fields(args, copy, words, &fields) : status;
    status = status == KL_OK ? add_scene(words, &fields) : status;
    status = status == KL_OK ? add_solvers(args, words, &fields) : status;
    status = status == KL_OK ? add_given(args, words) : status;
    kl_free(copy);
    return status == KL_OK ? cli_parse(cli_args_command(args), words->count, words->words, expanded) : status;
}

void link_words_free(LinkWords *words) {
    for (int i = 0; i < words->count; i++) {
        kl_free(words->words[i]);
    }
    if (words->scene_file[0] != '\0') {
        unlink(words->scene_file);
    }
    *words = (LinkWords){0};
}

// --- printing -------------------------------------------------------------------------------------

typedef struct Link {
    char text[MAX_LINK + 8];
    size_t length;
    bool full;
} Link;

static void put(Link *link, char c) {
    if (link->length + 1 < sizeof link->text) {
        link->text[link->length++] = c;
    } else {
        link->full = true;
    }
}

static void put_text(Link *link, const char *text) {
    for (; *text != '\0'; text++) {
        put(link, *text);
    }
}

// Only what would break the fragment is escaped, as the page does it.
static void put_field(Link *link, const char *key, const char *value) {
    put(link, link->length == 0 ? '#' : '&');
    put_text(link, key);
    put(link, '=');
    for (; *value != '\0'; value++) {
        if (isalnum((unsigned char)*value) || strchr("-_.!*'():,@[]~/", *value) != NULL) {
            put(link, *value);
        } else {
            char code[4];
            snprintf(code, sizeof code, "%%%02X", (unsigned char)*value);
            put_text(link, code);
        }
    }
}

static void put_pair(Link *link, const char *key, const char *assignment) {
    char pair[1024];
    snprintf(pair, sizeof pair, "%s", assignment);
    char *equals = strchr(pair, '=');
    if (equals != NULL) {
        *equals = ':';
    }
    put_field(link, key, pair);
}

static KlStatus put_scene(Link *link, const char *path) {
    char *text = NULL;
    size_t size;
    KL_TRY(cli_read_file(path, &text, &size));
    json_t *root = json_loadb(text, size, 0, NULL);
    kl_free(text);
    char *compact = root != NULL ? json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    uLong bound = compact != NULL ? compressBound(strlen(compact)) + 64 : 0;
    unsigned char *packed = kl_alloc(bound + 1);
    char *digits = kl_alloc(2 * bound + 8);
    KlStatus status =
        compact != NULL && packed != NULL && digits != NULL ? KL_OK : kl_fail(KL_ERR_MEMORY, "out of memory");
    z_stream stream = {0};
    if (status == KL_OK && deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK) {
        static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        stream.next_in = (unsigned char *)compact;
        stream.avail_in = (uInt)strlen(compact);
        stream.next_out = packed;
        stream.avail_out = (uInt)bound;
        deflate(&stream, Z_FINISH);
        size_t length = bound - stream.avail_out, used = 0;
        deflateEnd(&stream);
        for (size_t i = 0; i < length; i += 3) {
            uint32_t bits = (uint32_t)packed[i] << 16 | (i + 1 < length ? (uint32_t)packed[i + 1] << 8 : 0) |
                            (i + 2 < length ? packed[i + 2] : 0u);
            size_t count = length - i >= 3 ? 4 : length - i + 1;
            for (size_t k = 0; k < count; k++) {
                digits[used++] = alphabet[(bits >> (18 - 6 * k)) & 63];
            }
        }
        put_field(link, "scene", "x");
        put_field(link, "x", digits);
    }
    free(compact);
    kl_free(packed);
    kl_free(digits);
    return status;
}

KlStatus link_print(const CliArgs *args, const char *scene_path, const char *scene_id, bool gallery) {
    static Link link;
    link.length = 0;
    put_field(&link, "v", "1");
    if (gallery) {
        char id[96];
        snprintf(id, sizeof id, "%.80s@1", scene_id);
        put_field(&link, "scene", id);
    } else {
        KL_TRY(put_scene(&link, scene_path));
    }
    if (cli_has(args, "run")) {
        put_field(&link, "run", cli_text(args, "run", ""));
    }
    if (cli_has(args, "curated")) {
        put_field(&link, "mode", "curated");
    }
    if (cli_has(args, "preset")) {
        put_field(&link, "pre", strcmp(cli_text(args, "preset", ""), "high-precision") == 0 ? "hp" : "ht");
    }
    if (cli_has(args, "solver")) {
        put_field(&link, "s", cli_text(args, "solver", ""));
    }
    for (int i = 0; i < cli_value_count(args, "set"); i++) {
        put_pair(&link, "p", cli_value(args, "set", i));
    }
    for (int i = 0; i < cli_value_count(args, "edit"); i++) {
        put_pair(&link, "set", cli_value(args, "edit", i));
    }
    if (cli_has(args, "duration")) {
        put_field(&link, "T", cli_text(args, "duration", ""));
    }
    if (link.full) {
        return kl_fail(KL_ERR_LIMIT, "the link would be longer than %d characters; share the file", (int)MAX_LINK);
    }
    link.text[link.length] = '\0';
    puts(link.text);
    return KL_OK;
}
