#include "dataset_convert.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"
#include "dataset_file.h"
#include "fclib.h"
#include "problem_file.h"
#include "problem_json.h"

typedef enum Format { TO_OURS, TO_JSON, TO_FCLIB_LOCAL, TO_FCLIB_GLOBAL } Format;

typedef struct Target {
    const CliArgs *args;
    Format format;
    const char *folder;  // FCLIB: one file a problem; NULL for one file in all
    CliOutput output;    // that file
    H5File ours;
    int32_t met, written;
} Target;

// A name that HDF5 and people can live with.
static void clean_name(const char *from, char *to, size_t size) {
    size_t used = 0;
    for (; *from != '\0' && used + 1 < size; from++) {
        bool plain = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
                     (*from >= '0' && *from <= '9') || *from == '-' || *from == '_';
        to[used++] = plain ? *from : '_';
    }
    to[used] = '\0';
}

// The last part of a path, without the number that an earlier conversion gave it.
static const char *own_name(const char *name) {
    const char *slash = strrchr(name, '/');
    const char *last = slash != NULL && slash[1] != '\0' ? slash + 1 : name;
    size_t digits = strspn(last, "0123456789");
    return digits == 5 && last[digits] == '-' && last[digits + 1] != '\0' ? last + digits + 1 : last;
}

static KlStatus write_ours(Target *target, ProblemRecord *record, const char *name) {
    char path[256];
    KlCategory category;
    if (record->category[0] == '\0') {
        bool known = kl_problem_category(record->problem, &category) == KL_OK;
        snprintf(record->category, sizeof record->category, "%s", known ? kl_category_name(category) : "unknown");
    }
    snprintf(path, sizeof path, "/%s/%s/%05d-%s", record->scene[0] != '\0' ? record->scene : "converted",
             record->category, (int)target->met, name);
    target->written++;
    return dataset_write(&target->ours, path, record, true);
}

static KlStatus write_json(Target *target, const ProblemRecord *record) {
    fputs(target->written++ > 0 ? ",\n" : "[\n", target->output.file);
    return problem_json_write(record, target->output.file);
}

static KlStatus write_fclib_file(Target *target, const ProblemRecord *record, const char *name) {
    char path[1024];
    CliOutput output;
    snprintf(path, sizeof path, "%s/%05d-%s.hdf5", target->folder, (int)target->met, name);
    KL_TRY(cli_output_reserve(&output, path, cli_has(target->args, "force")));
    KlStatus status = fclib_write(output.temporary, target->format == TO_FCLIB_GLOBAL, record);
    if (status == KL_OK) {
        return cli_output_commit(&output);
    }
    cli_output_discard(&output);
    return status;
}

// In a folder, what FCLIB cannot hold is left out and told.
static KlStatus write_fclib(Target *target, const ProblemRecord *record, const char *name) {
    if (target->folder == NULL) {
        if (target->written++ > 0) {
            return kl_fail(KL_ERR_ARGUMENT,
                           "an FCLIB file holds one problem; choose it with FILE:INDEX, or name a folder: -o FOLDER/");
        }
        return fclib_write(target->output.temporary, target->format == TO_FCLIB_GLOBAL, record);
    }
    KlStatus status = write_fclib_file(target, record, name);
    if (status == KL_ERR_SCENE) {
        cli_note(target->args, "left out: %s", kl_last_error()->message);
        return KL_OK;
    }
    target->written += status == KL_OK;
    return status;
}

static KlStatus write_problem(Target *target, ProblemRecord *record) {
    char name[96];
    clean_name(own_name(record->name), name, sizeof name);
    KlStatus status = target->format == TO_OURS   ? write_ours(target, record, name)
                      : target->format == TO_JSON ? write_json(target, record)
                                                  : write_fclib(target, record, name);
    target->met++;
    return status;
}

static KlStatus convert_file(Target *target, const char *operand) {
    ProblemSelection selection;
    ProblemFile file;
    KL_TRY(problem_select(operand, &selection));
    KL_TRY(problem_file_open(selection.path, &file));
    KlStatus status = KL_OK;
    for (int32_t i = 0; i < file.count && status == KL_OK; i++) {
        if (!problem_selected(&file, &selection, i)) {
            continue;
        }
        ProblemRecord record;
        status = problem_file_read(&file, i, &record);
        if (status == KL_OK && record.note[0] != '\0') {
            cli_note(target->args, "%s: %s", file.path, record.note);
        }
        if (status == KL_OK) {
            status = write_problem(target, &record);
        }
        problem_record_free(&record);
    }
    problem_file_close(&file);
    return status;
}

// --- the target -----------------------------------------------------------------------------------

static Format format_of(const char *name) {
    static const char *const names[] = {"kinloop", "json", "fclib", "fclib-global"};
    int format = 0;
    while (strcmp(names[format], name) != 0) {  // the option table allows no other
        format++;
    }
    return (Format)format;
}

static bool names_folder(const char *path) {
    struct stat info;
    return cli_ends_with(path, "/") || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

static KlStatus target_open(const CliArgs *args, const char *path, Target *target) {
    bool force = cli_has(args, "force");
    *target = (Target){.args = args, .format = format_of(cli_text(args, "to", "kinloop")), .ours.id = -1};
    switch (target->format) {
        case TO_JSON: return cli_output_open(&target->output, path, force);
        case TO_OURS:
            KL_TRY(cli_output_reserve(&target->output, path, force));
            return dataset_create(target->output.temporary, &target->ours);
        default: break;
    }
    if (!names_folder(path)) {
        return cli_output_reserve(&target->output, path, force);
    }
    target->folder = path;
    return mkdir(path, 0777) == 0 || errno == EEXIST
               ? KL_OK
               : kl_fail(KL_ERR_IO, "%s: the folder cannot be made: %s", path, strerror(errno));
}

static KlStatus target_close(Target *target, KlStatus status) {
    if (target->ours.id >= 0) {
        KlStatus closed = h5_finish(&target->ours);
        status = status == KL_OK ? closed : status;
    }
    if (status == KL_OK && target->written == 0) {
        status =
            kl_fail(KL_ERR_ARGUMENT, target->met == 0 ? "nothing selected to convert" : "nothing could be converted");
    }
    if (status == KL_OK && target->format == TO_JSON) {
        fputs("\n]\n", target->output.file);
    }
    if (target->folder != NULL) {
        return status;
    }
    if (status == KL_OK) {
        return cli_output_commit(&target->output);
    }
    cli_output_discard(&target->output);
    return status;
}

KlStatus dataset_convert(const CliArgs *args) {
    const char *path = cli_text(args, "output", NULL);
    if (path == NULL) {
        return kl_fail(KL_ERR_ARGUMENT, "dataset: -o FILE is missing");
    }
    Target target;
    KlStatus status = target_open(args, path, &target);
    for (int i = 1; i < cli_operand_count(args) && status == KL_OK; i++) {
        status = convert_file(&target, cli_operand(args, i));
    }
    return target_close(&target, status);
}
