// kinloop verify: runs a recorded result again and compares state hashes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "h5.h"
#include "options.h"
#include "output.h"
#include "runner.h"

static const CliOption options[] = {CLI_COMMON};

// What a result says: how it was made, and the hash that each solver ended with.
typedef struct Recorded {
    char command[2048];
    char solvers[MAX_CHOSEN][64];
    uint64_t hashes[MAX_CHOSEN];
    int64_t steps[MAX_CHOSEN];
    int32_t count;
} Recorded;

// --- reading --------------------------------------------------------------------------------------

static KlStatus fail_result(const char *path, const char *what) {
    KlPlace place = {.file = path};
    return kl_fail_at(KL_ERR_FORMAT, &place, "%s", what);
}

static KlStatus add_run(Recorded *recorded, const char *solver, uint64_t hash, int64_t steps) {
    if (recorded->count == MAX_CHOSEN) {
        return kl_fail(KL_ERR_LIMIT, "the result holds more than %d runs", (int)MAX_CHOSEN);
    }
    snprintf(recorded->solvers[recorded->count], sizeof recorded->solvers[0], "%.63s", solver);
    recorded->hashes[recorded->count] = hash;
    recorded->steps[recorded->count++] = steps;
    return KL_OK;
}

static KlStatus read_json(const char *path, Recorded *recorded) {
    char *text = NULL;
    size_t size;
    json_error_t error;
    KL_TRY(cli_read_file(path, &text, &size));
    json_t *root = json_loadb(text, size, 0, &error);
    kl_free(text);
    if (root == NULL) {
        KlPlace place = {.file = path, .line = error.line, .column = error.column};
        return kl_fail_at(KL_ERR_FORMAT, &place, "%s", error.text);
    }
    const char *command = json_string_value(json_object_get(root, "command"));
    const json_t *runs = json_object_get(root, "runs");
    KlStatus status = KL_OK;
    if (command == NULL || !json_is_array(runs)) {
        status = fail_result(path, "is no result of kinloop run --json: \"command\" or \"runs\" is missing");
    } else {
        snprintf(recorded->command, sizeof recorded->command, "%s", command);
    }
    for (size_t i = 0; status == KL_OK && i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        const char *solver = json_string_value(json_object_get(run, "solver"));
        const char *hash = json_string_value(json_object_get(run, "hash"));
        status = solver != NULL && hash != NULL ? add_run(recorded, solver, strtoull(hash, NULL, 16),
                                                          (int64_t)json_integer_value(json_object_get(run, "steps")))
                                                : fail_result(path, "a run lacks \"solver\" or \"hash\"");
    }
    json_decref(root);
    return status;
}

typedef struct Walk {
    const H5File *file;
    Recorded *recorded;
} Walk;

static KlStatus read_trajectory(void *context, const char *name) {
    Walk *walk = context;
    char path[256];
    hsize_t length = 0;
    snprintf(path, sizeof path, "/trajectory/%.200s/hash", name);
    hid_t set = h5_has(walk->file, path) ? H5Dopen2(walk->file->id, path, H5P_DEFAULT) : -1;
    hid_t space = set >= 0 ? H5Dget_space(set) : -1;
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    length = count > 0 ? (hsize_t)count : 0;
    if (space >= 0) {
        H5Sclose(space);
    }
    if (set >= 0) {
        H5Dclose(set);
    }
    if (length == 0 || length > 100000000) {
        return h5_fail(walk->file, KL_ERR_FORMAT, path, "holds no hashes");
    }
    uint64_t *hashes = kl_alloc((size_t)length * sizeof *hashes);
    KlStatus status = hashes != NULL ? h5_read_ids_into(walk->file, path, hashes, (int64_t)length)
                                     : kl_fail(KL_ERR_MEMORY, "out of memory");
    if (status == KL_OK) {
        status = add_run(walk->recorded, name, hashes[length - 1], (int64_t)length);
    }
    kl_free(hashes);
    return status;
}

static KlStatus read_h5(const char *path, Recorded *recorded) {
    H5File file;
    KL_TRY(h5_open(path, &file));
    Walk walk = {&file, recorded};
    KlStatus status =
        h5_has(&file, "/trajectory")
            ? h5_attribute_text(&file, "/trajectory", "command", recorded->command, sizeof recorded->command)
            : h5_fail(&file, KL_ERR_FORMAT, "/trajectory", "is missing: this is no recorded run");
    if (status == KL_OK) {
        status = h5_each(&file, "/trajectory", read_trajectory, &walk);
    }
    h5_close(&file);
    return status;
}

// --- running again --------------------------------------------------------------------------------

typedef struct Words {
    char text[2048];
    char *words[256];
    int count;
} Words;

static KlStatus split(const Recorded *recorded, Words *words) {
    memcpy(words->text, recorded->command, sizeof words->text);
    words->count = 0;
    for (char *word = strtok(words->text, "\n"); word != NULL; word = strtok(NULL, "\n")) {
        if (words->count == 255) {
            return kl_fail(KL_ERR_LIMIT, "the recorded command is too long");
        }
        words->words[words->count++] = word;
    }
    return words->count >= 2 && strcmp(words->words[0], "run") == 0
               ? KL_OK
               : kl_fail(KL_ERR_FORMAT, "the recorded command is no kinloop run");
}

// The recorded run may have been interrupted: repeat as many steps as it has.
static KlStatus repeat(const CliArgs *args, const RunPlan *plan, const Recorded *recorded, RunStats *stats) {
    CliProgress progress;
    double done = 0.0;
    cli_progress_begin(&progress, args, "steps", (double)plan->steps * plan->choice.count);
    KlStatus status = KL_OK;
    if (cli_has(args, "curated")) {
        status = run_curated(args, plan, NULL, &progress, stats);
    }
    for (int32_t k = 0; !cli_has(args, "curated") && k < plan->choice.count && status == KL_OK; k++) {
        RunPlan shorter = *plan;
        for (int32_t i = 0; i < recorded->count; i++) {
            if (strcmp(recorded->solvers[i], kl_solver_kind(plan->choice.kinds[k])->id) == 0 &&
                recorded->steps[i] > 0) {
                shorter.steps = recorded->steps[i];
            }
        }
        status = run_one(args, &shorter, plan->choice.kinds[k], NULL, &progress, &done, &stats[k]);
    }
    cli_progress_end(&progress, done);
    return status;
}

static bool tell(const CliArgs *args, const Recorded *recorded, const RunPlan *plan, const RunStats *stats) {
    json_t *rows = json_array();
    bool all = true;
    for (int32_t i = 0; i < recorded->count; i++) {
        for (int32_t k = 0; k < plan->choice.count; k++) {
            const char *solver = kl_solver_kind(plan->choice.kinds[k])->id;
            if (strcmp(recorded->solvers[i], solver) != 0 || recorded->hashes[i] == 0) {
                continue;
            }
            bool same = stats[k].hash == recorded->hashes[i];
            char found[32], wanted[32];
            snprintf(found, sizeof found, "%016llx", (unsigned long long)stats[k].hash);
            snprintf(wanted, sizeof wanted, "%016llx", (unsigned long long)recorded->hashes[i]);
            json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:b}", "solver", solver, "recorded", wanted, "found",
                                                  found, "same", (int)same));
            if (!cli_has(args, "json")) {
                printf("%s: %s (%s, recorded %s)\n", solver, same ? "reproduced" : "DIFFERS", found, wanted);
            }
            all = all && same;
        }
    }
    bool any = json_array_size(rows) > 0;
    if (cli_has(args, "json")) {
        cli_print_json(json_pack("{s:b, s:o}", "same", (int)(all && any), "runs", rows));
    } else {
        json_decref(rows);
    }
    return all && any;
}

static int run(const CliArgs *args) {
    Recorded recorded = {0};
    Words words;
    CliArgs *again = NULL;
    RunPlan plan = {0};
    const char *path = cli_operand(args, 0);
    int code = CLI_EXIT_INPUT;
    KlStatus status = h5_is_file(path) ? read_h5(path, &recorded) : read_json(path, &recorded);
    status = status == KL_OK ? split(&recorded, &words) : status;
    status = status == KL_OK ? cli_parse(cli_command_find("run"), words.count, words.words, &again) : status;
    status = status == KL_OK ? run_plan_load(again, cli_operand(again, 0), &plan, &code) : status;
    RunStats *stats = kl_alloc((size_t)(plan.choice.count + 1) * sizeof *stats);
    if (status == KL_OK && stats == NULL) {
        status = kl_fail(KL_ERR_MEMORY, "out of memory");
    }
    status = status == KL_OK ? repeat(again, &plan, &recorded, stats) : status;
    if (status != KL_OK) {
        code = cli_report_as(args, code);
    } else if (cli_interrupted()) {
        code = CLI_EXIT_INTERRUPTED;
    } else {
        code = tell(args, &recorded, &plan, stats) ? CLI_EXIT_OK : CLI_EXIT_FAILED;
    }
    for (int32_t k = 0; stats != NULL && k < plan.choice.count; k++) {
        run_stats_free(&stats[k]);
    }
    kl_free(stats);
    run_plan_free(&plan);
    cli_args_destroy(again);
    return code;
}

const CliCommand cmd_verify = {
    .name = "verify",
    .operands = "RESULT",
    .summary = "runs a recorded result again and compares state hashes",
    .text = "RESULT is what kinloop run --json printed, or a file of run --record. The same scene, run, solvers and "
            "settings are simulated for as many steps, and the hashes of the final states compared. Exits 1 when one "
            "differs. Only the deterministic builds promise equal hashes.",
    .options = options,
    .examples = {"kinloop run nunchaku -s newton-ncp --steps 500 --record sticks.h5 && kinloop verify sticks.h5",
                 "is this machine's result bit for bit the recorded one?",
                 "kinloop run box_on_plane -s pgs-ncp --steps 500 --json > box.json && kinloop verify box.json --json",
                 "the same for the printed result"},
    .min_operands = 1,
    .max_operands = 1,
    .complete = "file",
    .run = run,
};
