// kinloop import: a URDF or MJCF model as a scene of ours.
#include <stdio.h>
#include <string.h>

#include "options.h"
#include "output.h"

static const CliOption options[] = {
    {"output", 'o', CLI_TEXT, "FILE", "the scene to write (default: standard output)", 0, 0, "file"},
    {"loops", 0, CLI_TEXT, "FILE", "loop closures of a URDF (default: robot.yaml beside it)", 0, 0, "file"},
    {"base", 0, CLI_TEXT, "KIND", "how the model is held", 0, 0, "auto|fixed|free"},
    {"motors", 0, CLI_TEXT, "KIND", "driven joints hold the start pose, take efforts, or are passive", 0, 0,
     "hold|force|passive"},
    {"missing-mesh", 0, CLI_TEXT, "KIND", "what stands in for a mesh that is not there", 0, 0, "none|box"},
    {"keep-fixed", 0, CLI_FLAG, NULL, "keep fixed joints instead of merging their links", 0, 0, NULL},
    {"self-collision", 0, CLI_FLAG, NULL, "let the model collide with itself", 0, 0, NULL},
    {"mesh-collision", 0, CLI_FLAG, NULL, "collide meshes as they are, not their convex hulls", 0, 0, NULL},
    {"ground", 0, CLI_FLAG, NULL, "add a plane just below the model", 0, 0, NULL},
    {"decimate", 0, CLI_INT, "N", "thin meshes out to at most N triangles (0: none)", 0, 2e6, NULL},
    {"keyframe", 0, CLI_INT, "N", "MJCF: the key to start in (1); 0 is the file's own pose", 0, 1000, NULL},
    {"density", 0, CLI_REAL, "KG/M3", "for inertia from geometry (1000)", 1e-9, 1e9, NULL},
    {"placeholder-mass", 0, CLI_REAL, "KG", "given to moving links without mass (1e-3)", 1e-12, 1e9, NULL},
    {"tolerance", 0, CLI_REAL, "EPS", "to which loops are closed (1e-10)", 1e-15, 1, NULL},
    CLI_OPTION_FORCE,
    CLI_COMMON,
};

// Place of a word in "a|b|c".
static double choice_of(const char *chosen, const char *words) {
    double place = 0.0;
    for (const char *word = words; *word != '\0'; place++) {
        size_t length = strcspn(word, "|");
        if (strlen(chosen) == length && strncmp(word, chosen, length) == 0) {
            return place;
        }
        word += length + (word[length] == '|' ? 1 : 0);
    }
    return -1.0;  // options were checked: not reached
}

// Each of the core's choices is an option of the same name, with hyphens.
static KlStatus read_options(const CliArgs *args, KlImportOptions *chosen) {
    kl_default_import_options(chosen);
    chosen->loops = cli_text(args, "loops", NULL);
    for (int32_t i = 0; i < kl_import_param_count(); i++) {
        const KlParam *param = kl_import_param(i);
        char name[40];
        size_t length = strlen(param->id);
        for (size_t k = 0; k <= length && length < sizeof name; k++) {
            name[k] = param->id[k] == '_' ? '-' : param->id[k];
        }
        if (!cli_has(args, name)) {
            continue;
        }
        double value = param->kind == KL_PARAM_BOOL     ? 1.0
                       : param->kind == KL_PARAM_CHOICE ? choice_of(cli_text(args, name, ""), param->choices)
                       : param->kind == KL_PARAM_INT    ? (double)cli_int(args, name, 0)
                                                        : cli_real(args, name, param->initial);
        KL_TRY(kl_import_options_set(chosen, param->id, value));
    }
    return KL_OK;
}

static void tell(const CliArgs *args, const KlScene *scene, const KlImportReport *report, const KlAssembly *assembly) {
    KlModelInfo info;
    kl_model_info(kl_scene_model(scene), &info);
    for (int32_t i = 0; i < kl_import_note_count(report); i++) {
        const KlImportNote *note = kl_import_note(report, i);
        cli_note(args, "%s:%d: %s: %s%s", note->file, (int)note->line, note->element, note->lost ? "LOST: " : "",
                 note->text);
    }
    cli_note(args, "%d bodies, %d joints, %d joint rows, %d loops closed from %.2g to %.2g, mobility %d",
             (int)info.bodies, (int)info.joints, (int)info.joint_rows, (int)info.loops, assembly->residual_before,
             assembly->residual_after, (int)assembly->mobility);
}

static KlStatus print_report(const KlScene *scene, const KlImportReport *report, const KlAssembly *assembly,
                             const char *open) {
    char *text;
    KL_TRY(kl_import_report_write_json(scene, report, assembly, open, &text));
    cli_print_json(json_loads(text, 0, NULL));
    kl_free(text);
    return KL_OK;
}

static KlStatus write_scene(const CliArgs *args, const KlScene *scene) {
    char *text = NULL;
    size_t size;
    CliOutput output;
    const char *path = cli_text(args, "output", cli_has(args, "json") ? NULL : "-");
    if (path == NULL) {
        return KL_OK;  // --json without -o: the report alone
    }
    KL_TRY(kl_scene_write_json(scene, &text, &size));
    KlStatus status = cli_output_open(&output, path, cli_has(args, "force"));
    if (status == KL_OK) {
        fwrite(text, 1, size, output.file);
        status = cli_output_commit(&output);
    }
    kl_free(text);
    return status;
}

// Closes the loops, writes and tells. A scene whose loops stay open is still of use: said, and written.
static KlStatus finish(const CliArgs *args, KlScene *scene, const KlImportReport *report) {
    KlAssembly assembly = {0};
    KlStatus status = kl_scene_close_loops(scene, cli_real(args, "tolerance", 1e-10), &assembly);
    bool open = status == KL_ERR_SCENE && assembly.residual_after > 0.0;
    if (status != KL_OK && !open) {
        return status;
    }
    char reason[sizeof kl_last_error()->message];
    snprintf(reason, sizeof reason, "%s", kl_last_error()->message);
    if (open) {
        cli_note(args, "loops stay open: %s", reason);
    }
    KL_TRY(write_scene(args, scene));
    tell(args, scene, report, &assembly);
    return cli_has(args, "json") ? print_report(scene, report, &assembly, open ? reason : NULL) : KL_OK;
}

static int run(const CliArgs *args) {
    KlImportOptions chosen;
    KlScene *scene = NULL;
    KlImportReport *report = NULL;
    KlStatus status = read_options(args, &chosen);
    status = status != KL_OK ? status : kl_import(cli_operand(args, 0), kl_files_disk(), &chosen, &scene, &report);
    int code = status == KL_OK ? CLI_EXIT_OK : cli_report_as(args, CLI_EXIT_INPUT);
    if (status == KL_OK && finish(args, scene, report) != KL_OK) {
        code = cli_report(args);
    }
    kl_import_report_destroy(report);
    kl_scene_destroy(scene);
    return code;
}

const CliCommand cmd_import = {
    .name = "import",
    .operands = "MODEL.urdf|MODEL.xml",
    .summary = "a URDF or MJCF model as a scene",
    .text = "Reads the model with its meshes and, for URDF, the loop closures of robot.yaml; closes the loops of the "
            "start pose; writes a scene. Everything that was changed, assumed or could not be carried over is told "
            "with file, line and element.",
    .options = options,
    .examples = {"kinloop import tests/data/models/robot_delta/robot.urdf -o delta.json && kinloop run delta.json -s "
                 "newton-ncp --steps 100",
                 "a delta robot with its three loops, then simulated",
                 "kinloop import tests/data/models/gripper.xml --motors force --ground -o gripper.json --json",
                 "an MJCF model on a plane; the report as JSON"},
    .min_operands = 1,
    .max_operands = 1,
    .complete = "file",
    .run = run,
};
