// SIGKILL at random moments. What was written under its name stays readable, and `dataset make` goes on
// where it was: the set of a killed and continued job has the bytes of an undisturbed one.
//
// 30 kills, or KINLOOP_KILLS of them.
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "base/rng.h"
#include "shell.h"

static int kill_count(void) {
    const char *text = getenv("KINLOOP_KILLS");
    return text != NULL ? (int)strtol(text, NULL, 10) : 30;
}

// Runs the command line, kills it after `delay` seconds; true when it was still running.
static bool killed_after(const char *line, double delay) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir(shell_folder) == 0) {
            execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        }
        _exit(127);
    }
    struct timespec rest = {(time_t)delay, (long)(1e9 * (delay - (double)(time_t)delay))};
    nanosleep(&rest, NULL);
    int status;
    if (waitpid(child, &status, WNOHANG) == child) {
        return false;
    }
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status);
}

static double seconds_of(const char *line) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    assert_int_equal(shell("%s", line), 0);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

// The pieces that a killed `dataset make` has finished, all readable.
static void assert_parts_sound(void) {
    assert_int_equal(shell("for f in set.h5.parts/*.h5; do [ ! -e $f ] || $K check $f >/dev/null 2>&1 || exit 1; done"),
                     0);
}

#define MAKE \
    "exec $K dataset make --systems box_on_plane,fourbar_free --units 4 --bucket 6 -n 60 --stride 4 -s pgs-ncp -o "

static void a_killed_dataset_is_continued_to_the_same_bytes(void **state) {
    (void)state;
    KlRng rng = {20261};
    int wanted = kill_count(), kills = 0;
    shell_start();
    double whole = seconds_of(MAKE "whole.h5 >/dev/null 2>&1");
    for (int tries = 0; kills < wanted; tries++) {
        assert_true(tries < 20 * wanted);
        bool killed = killed_after(MAKE "set.h5 >/dev/null 2>&1", 1.2 * whole * kl_rng_unit(&rng));
        kills += killed;
        if (killed) {
            assert_parts_sound();
        } else {  // done: compare, and begin anew
            assert_int_equal(shell("cmp set.h5 whole.h5"), 0);
            assert_int_equal(shell("rm -rf set.h5*"), 0);
        }
    }
    if (!shell_has("set.h5")) {
        assert_int_equal(shell(MAKE "set.h5 >/dev/null 2>&1"), 0);
    }
    assert_int_equal(shell("cmp set.h5 whole.h5"), 0);
    shell_end();
}

typedef struct Job {
    const char *line, *output, *check;
} Job;

// One-shot outputs: the old file or the new one, never a half of it.
static const Job jobs[] = {
    {"exec $K run $S/box_on_plane.json -n 60 -s pgs-ncp -f -o out.h5 >/dev/null 2>&1", "out.h5",
     "$K check out.h5 >/dev/null"},
    {"exec $K run $S/box_on_plane.json -n 60 -s pgs-ncp -f -o out.csv >/dev/null 2>&1", "out.csv",
     "[ $(wc -l <out.csv) = 61 ]"},
    {"exec $K bench $D/problems.json -s pgs-ncp,nbgs -r 3 -f -o out --export json >/dev/null 2>&1", "out.json",
     "python3 -m json.tool out.json >/dev/null"},
};

static void a_killed_command_leaves_the_old_file_or_the_new(void **state) {
    (void)state;
    KlRng rng = {7};
    for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
        int wanted = kill_count() / 3, kills = 0;
        shell_start();
        double whole = seconds_of(jobs[j].line);
        for (int tries = 0; kills < wanted; tries++) {
            assert_true(tries < 20 * wanted + 20);
            kills += killed_after(jobs[j].line, 1.1 * whole * kl_rng_unit(&rng));
            assert_true(shell_has(jobs[j].output));
            assert_int_equal(shell("%s", jobs[j].check), 0);
        }
        assert_int_equal(shell("%s", jobs[j].line), 0);  // what was left behind is in nobody's way
        assert_int_equal(shell("%s", jobs[j].check), 0);
        shell_end();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_dataset_is_continued_to_the_same_bytes),
        cmocka_unit_test(a_killed_command_leaves_the_old_file_or_the_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
