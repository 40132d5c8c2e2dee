// kinloop serve: the built page on this machine. Static files under one folder, GET and HEAD only,
// bound to 127.0.0.1.
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/memory.h"
#include "options.h"
#include "output.h"

static const CliOption options[] = {
    {"port", 'p', CLI_INT, "N", "port (8080); 0 takes a free one", 0, 65535, NULL},
    {"dir", 'd', CLI_TEXT, "FOLDER", "folder to serve (default: the built page)", 0, 0, "dir"},
    CLI_COMMON,
};

static const struct {
    const char *ending, *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".json", "application/json"},
    {".webmanifest", "application/manifest+json"},
    {".wasm", "application/wasm"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/x-icon"},
    {".woff2", "font/woff2"},
    {".stl", "model/stl"},
    {".txt", "text/plain; charset=utf-8"},
    {".map", "application/json"},
};

static const char *type_of(const char *path) {
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (cli_ends_with(path, types[i].ending)) {
            return types[i].type;
        }
    }
    return "application/octet-stream";
}

// --- the folder -----------------------------------------------------------------------------------

static bool page_folder(const char *relative, char *folder, size_t size) {
    char program[512], index[1200];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) {
        return false;
    }
    program[length] = '\0';
    *strrchr(program, '/') = '\0';
    snprintf(folder, size, "%s/%s", program, relative);
    snprintf(index, sizeof index, "%s/index.html", folder);
    return access(index, R_OK) == 0;
}

static KlStatus find_folder(const CliArgs *args, char *folder, size_t size) {
    const char *given = cli_text(args, "dir", NULL);
    char chosen[1024];
    if (given != NULL) {
        snprintf(chosen, sizeof chosen, "%s", given);
    } else if (!page_folder("../share/kinloop/web", chosen, sizeof chosen) &&
               !page_folder("../../web/dist", chosen, sizeof chosen)) {
        return kl_fail(KL_ERR_NOT_FOUND, "the page is not built beside this program; --dir names its folder");
    }
    char *real = realpath(chosen, NULL);
    struct stat info;
    if (real == NULL || stat(real, &info) != 0 || !S_ISDIR(info.st_mode) || strlen(real) >= size) {
        free(real);
        KlPlace place = {.file = chosen};
        return kl_fail_at(KL_ERR_IO, &place, "is not a folder");
    }
    snprintf(folder, size, "%s", real);
    free(real);
    return KL_OK;
}

// --- one request ----------------------------------------------------------------------------------

static void send_all(int peer, const char *data, size_t size) {
    while (size > 0) {
        ssize_t sent = send(peer, data, size, MSG_NOSIGNAL);
        if (sent <= 0) {
            return;
        }
        data += sent;
        size -= (size_t)sent;
    }
}

static void send_head(int peer, const char *status, const char *type, long long length) {
    char head[512];
    int size = snprintf(head, sizeof head,
                        "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %lld\r\nCache-Control: no-cache\r\n"
                        "X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
                        status, type, length);
    send_all(peer, head, (size_t)size);
}

static void send_error(int peer, const char *status) {
    send_head(peer, status, "text/plain; charset=utf-8", (long long)strlen(status) + 1);
    send_all(peer, status, strlen(status));
    send_all(peer, "\n", 1);
}

static bool decode(const char *from, char *to, size_t size) {
    size_t used = 0;
    for (; *from != '\0' && *from != '?' && *from != '#'; from++) {
        char c = *from;
        if (c == '%') {
            if (!isxdigit((unsigned char)from[1]) || !isxdigit((unsigned char)from[2])) {
                return false;
            }
            const char digits[3] = {from[1], from[2], '\0'};
            c = (char)strtol(digits, NULL, 16);
            from += 2;
        }
        if (c == '\0' || used + 1 >= size) {
            return false;
        }
        to[used++] = c;
    }
    to[used] = '\0';
    return true;
}

// The real path of a request, which must lie in the folder; links that lead out are refused too.
static bool resolve(const char *folder, const char *target, char *path, size_t size) {
    char decoded[1024], joined[2200];
    struct stat info;
    if (target[0] != '/' || !decode(target, decoded, sizeof decoded)) {
        return false;
    }
    snprintf(joined, sizeof joined, "%s%s", folder, decoded);
    if (stat(joined, &info) == 0 && S_ISDIR(info.st_mode)) {
        snprintf(joined, sizeof joined, "%s%s/index.html", folder, decoded);
    }
    char *real = realpath(joined, NULL);
    size_t length = strlen(folder);
    bool inside = real != NULL && strncmp(real, folder, length) == 0 && real[length] == '/' && strlen(real) < size;
    if (inside) {
        snprintf(path, size, "%s", real);
    }
    free(real);
    return inside;
}

static void send_file(int peer, const char *path, bool with_body) {
    struct stat info;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode)) {
        send_error(peer, "404 Not Found");
    } else {
        static char block[1 << 16];
        send_head(peer, "200 OK", type_of(path), (long long)info.st_size);
        for (size_t got; with_body && (got = fread(block, 1, sizeof block, file)) > 0;) {
            send_all(peer, block, got);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

// Reads up to the blank line; false when it does not come in time or is too long.
static bool read_request(int peer, char *request, size_t size) {
    size_t used = 0;
    while (used + 1 < size) {
        ssize_t got = recv(peer, request + used, size - 1 - used, 0);
        if (got <= 0) {
            return false;
        }
        used += (size_t)got;
        request[used] = '\0';
        if (strstr(request, "\r\n\r\n") != NULL) {
            return true;
        }
    }
    return false;
}

static void answer(int peer, const char *folder) {
    char request[8192], method[8], target[2048], path[1400];
    if (!read_request(peer, request, sizeof request) || sscanf(request, "%7s %2047s", method, target) != 2) {
        send_error(peer, "400 Bad Request");
    } else if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        send_error(peer, "405 Method Not Allowed");
    } else if (!resolve(folder, target, path, sizeof path)) {
        send_error(peer, "404 Not Found");
    } else {
        send_file(peer, path, strcmp(method, "GET") == 0);
    }
}

// --- the loop -------------------------------------------------------------------------------------

static KlStatus open_socket(int64_t port, int *listener, int *bound) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    int one = 1;
    *listener = socket(AF_INET, SOCK_STREAM, 0);
    if (*listener >= 0) {
        setsockopt(*listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    }
    if (*listener < 0 || bind(*listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(*listener, 64) != 0 || getsockname(*listener, (struct sockaddr *)&address, &length) != 0) {
        const char *reason = strerror(errno);
        if (*listener >= 0) {
            close(*listener);
        }
        return kl_fail(KL_ERR_ARGUMENT, "--port %lld cannot be used: %s", (long long)port, reason);
    }
    *bound = ntohs(address.sin_port);
    return KL_OK;
}

// Accepts until Ctrl-C; a silent peer is dropped after five seconds.
static void serve(int listener, const char *folder) {
    while (!cli_interrupted()) {
        struct pollfd wait = {.fd = listener, .events = POLLIN};
        if (poll(&wait, 1, 200) <= 0) {
            continue;
        }
        int peer = accept(listener, NULL, NULL);
        if (peer < 0) {
            continue;
        }
        struct timeval patience = {.tv_sec = 5};
        setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(peer, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        answer(peer, folder);
        shutdown(peer, SHUT_WR);
        close(peer);
    }
}

static int run(const CliArgs *args) {
    char folder[1024];
    int listener = -1, port = 0;
    if (find_folder(args, folder, sizeof folder) != KL_OK ||
        open_socket(cli_int(args, "port", 8080), &listener, &port) != KL_OK) {
        return cli_report(args);
    }
    if (cli_has(args, "json")) {
        char address[64];
        snprintf(address, sizeof address, "http://127.0.0.1:%d/", port);
        cli_print_json(json_pack("{s:s, s:i, s:s}", "address", address, "port", port, "folder", folder));
    } else {
        printf("http://127.0.0.1:%d/\n", port);
    }
    if (cli_flush_stdout() == KL_OK) {
        serve(listener, folder);
    }
    close(listener);
    return CLI_EXIT_OK;
}

const CliCommand cmd_serve = {
    .name = "serve",
    .operands = "",
    .summary = "the built page on localhost; prints the address",
    .text = "Serves static files to this machine alone until Ctrl-C. The page needs no special headers: any other "
            "host of static files does as well.",
    .options = options,
    .examples = {"kinloop serve", "the page at http://127.0.0.1:8080/", "kinloop serve --dir web/dist --port 0 --json",
                 "another folder on a free port, the address as JSON"},
    .min_operands = 0,
    .max_operands = 0,
    .complete = NULL,
    .run = run,
};
