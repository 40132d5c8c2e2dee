// kinloop check: is this file what it claims to be? Scenes, experiments, problems and data sets.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/json_place.h"
#include "base/memory.h"
#include "options.h"
#include "output.h"
#include "problem_file.h"
#include "scene_find.h"

static const CliOption options[] = {CLI_COMMON};

typedef struct Finding {
    const char *kind;  // "scene", "model", "problems"
    char detail[256];  // what is in there
    json_t *notes;     // texts
} Finding;

static void note(Finding *finding, const char *text) { json_array_append_new(finding->notes, json_string(text)); }

// --- scenes ---------------------------------------------------------------------------------------

// Every run must give a model, and the loops of the start pose must close.
static KlStatus check_run(const KlScene *scene, int32_t run, Finding *finding) {
    KlModel *model = NULL;
    KlSim *sim = NULL;
    KL_TRY(kl_scene_model_for_run(scene, run, &model));
    KlStatus status = kl_sim_create(model, &sim);
    KlAssembly assembly;
    if (status == KL_OK && kl_sim_assemble(sim, 1e-9, &assembly) != KL_OK) {
        note(finding, kl_last_error()->message);
    } else if (status == KL_OK && assembly.residual_before > 1e-6) {
        char text[160];
        snprintf(text, sizeof text, "run %.60s: joints are open by %.2g at the start; assembling closes them to %.2g",
                 kl_scene_run(scene, run)->id, assembly.residual_before, assembly.residual_after);
        note(finding, text);
    }
    kl_sim_destroy(sim);
    kl_model_destroy(model);
    return status;
}

// A document may suggest solvers; only here, above model and solvers, is known which there are.
static KlStatus check_solvers(const char *path, const KlScene *scene) {
    for (int32_t i = 0; i < kl_scene_solver_count(scene); i++) {
        KlSolver *solver = NULL;
        KlStatus status = kl_solver_create(kl_scene_solver(scene, i), &solver);
        kl_solver_destroy(solver);
        if (status == KL_ERR_NOT_FOUND) {
            char *text = NULL, place[32];
            size_t size = 0;
            snprintf(place, sizeof place, "solvers[%d]", (int)i);
            KL_TRY(cli_read_file(path, &text, &size));
            status = kl_json_fail(KL_ERR_SCENE, path, text, size, place, "%s", kl_last_error()->message);
            kl_free(text);
        }
        KL_TRY(status);
    }
    return KL_OK;
}

static KlStatus check_scene(const char *path, Finding *finding) {
    KlScene *scene = NULL;
    finding->kind = "scene";
    KL_TRY(kl_scene_load(path, kl_files_disk(), &scene));
    KlStatus status = check_solvers(path, scene);
    for (int32_t i = 0; i < kl_scene_note_count(scene); i++) {
        note(finding, kl_scene_note(scene, i));
    }
    for (int32_t i = 0; i < kl_scene_run_count(scene) && status == KL_OK; i++) {
        status = check_run(scene, i, finding);
    }
    KlModelInfo info;
    kl_model_info(kl_scene_model(scene), &info);
    snprintf(finding->detail, sizeof finding->detail, "%d bodies, %d joints, %d joint rows, %d loops, %d runs",
             (int)info.bodies, (int)info.joints, (int)info.joint_rows, (int)info.loops, (int)kl_scene_run_count(scene));
    kl_scene_destroy(scene);
    return status;
}

// --- models ---------------------------------------------------------------------------------------

// A URDF or MJCF model: can it be imported, and what would be lost?
static KlStatus check_model(const char *path, Finding *finding) {
    KlImportOptions chosen;
    KlScene *scene = NULL;
    KlImportReport *report = NULL;
    KlAssembly assembly;
    finding->kind = "model";
    kl_default_import_options(&chosen);
    KL_TRY(kl_import(path, kl_files_disk(), &chosen, &scene, &report));
    for (int32_t i = 0; i < kl_import_note_count(report); i++) {
        const KlImportNote *said = kl_import_note(report, i);
        char text[512];
        snprintf(text, sizeof text, "%s:%d: %s: %s%s", said->file, (int)said->line, said->element,
                 said->lost ? "lost: " : "", said->text);
        note(finding, text);
    }
    if (kl_scene_close_loops(scene, 1e-10, &assembly) != KL_OK) {
        note(finding, kl_last_error()->message);
    }
    KlModelInfo info;
    kl_model_info(kl_scene_model(scene), &info);
    snprintf(finding->detail, sizeof finding->detail, "%d bodies, %d joints, %d joint rows, %d loops", (int)info.bodies,
             (int)info.joints, (int)info.joint_rows, (int)info.loops);
    kl_import_report_destroy(report);
    kl_scene_destroy(scene);
    return KL_OK;
}

// --- problems -------------------------------------------------------------------------------------

static KlStatus check_problems(const char *path, Finding *finding) {
    ProblemFile file;
    finding->kind = "problems";
    KL_TRY(problem_file_open(path, &file));
    KlStatus status = KL_OK;
    int32_t solved = 0;
    for (int32_t i = 0; i < file.count && status == KL_OK && !cli_interrupted(); i++) {
        ProblemRecord record;
        status = problem_file_read(&file, i, &record);
        if (status == KL_OK && record.note[0] != '\0' && json_array_size(finding->notes) < 20) {
            note(finding, record.note);
        }
        solved += record.lambda != NULL;
        problem_record_free(&record);
    }
    snprintf(finding->detail, sizeof finding->detail, "%s, %d problems, %d with a solution",
             problem_format_name(file.format), (int)file.count, (int)solved);
    problem_file_close(&file);
    return status;
}

// --- telling one from the other -------------------------------------------------------------------

// A problem document is a list, or an object with the free velocity v_f.
static bool is_problem_document(const char *path) {
    char *text = NULL;
    size_t size;
    if (cli_read_file(path, &text, &size) != KL_OK) {
        return false;
    }
    json_t *root = json_loadb(text, size, 0, NULL);
    bool is = json_is_array(root) || json_object_get(root, "v_f") != NULL;
    json_decref(root);
    kl_free(text);
    return is;
}

static KlStatus check_file(const char *operand, Finding *finding) {
    char path[1024];
    finding->kind = "unknown";
    KL_TRY(scene_find(operand, path, sizeof path));
    if (cli_ends_with(path, ".urdf") || cli_ends_with(path, ".xml")) {
        return check_model(path, finding);
    }
    if (h5_is_file(path) || cli_ends_with(path, ".h5") || cli_ends_with(path, ".hdf5") || is_problem_document(path)) {
        return check_problems(path, finding);
    }
    return check_scene(path, finding);
}

static void tell(const CliArgs *args, const char *operand, bool valid, Finding *finding, json_t *rows) {
    if (rows != NULL) {
        json_array_append_new(rows, json_pack("{s:s, s:s, s:b, s:s, s:O}", "file", operand, "kind", finding->kind,
                                              "valid", (int)valid, "detail", finding->detail, "notes", finding->notes));
    } else if (valid) {
        printf("%s: valid %s (%s)\n", operand, finding->kind, finding->detail);
        size_t i;
        json_t *text;
        json_array_foreach(finding->notes, i, text) { printf("  note: %s\n", json_string_value(text)); }
    }
    (void)args;
}

static int run(const CliArgs *args) {
    json_t *rows = cli_has(args, "json") ? json_array() : NULL;
    int code = CLI_EXIT_OK;
    for (int i = 0; i < cli_operand_count(args) && !cli_interrupted(); i++) {
        Finding finding = {.notes = json_array()};
        bool valid = check_file(cli_operand(args, i), &finding) == KL_OK;
        if (!valid) {
            code = cli_report_as(args, CLI_EXIT_INPUT);
        }
        tell(args, cli_operand(args, i), valid, &finding, rows);
        json_decref(finding.notes);
    }
    if (rows != NULL) {
        cli_print_json(json_pack("{s:o}", "files", rows));
    }
    return cli_interrupted() ? CLI_EXIT_INTERRUPTED : code;
}

const CliCommand cmd_check = {
    .name = "check",
    .operands = "FILE...",
    .summary = "validates scenes, experiments, models, problems and data sets",
    .text = "Reads each file as run or solve would and tells the first fault with file, line, path inside the "
            "document, what was found and what is allowed. For scenes every run is built and the joints of the "
            "start pose are measured; models are imported; for data sets every problem is read and checked.",
    .options = options,
    .examples = {"kinloop check scenes/walker.json", "validates a scene before running it",
                 "kinloop check scenes/experiments/*.json set.h5 --json",
                 "what a continuous-integration job would run"},
    .min_operands = 1,
    .max_operands = 1000000,
    .complete = "file",
    .run = run,
};
