// Writes that fail: a disk that is full after any number of bytes, devices that are full, pipes that
// close, folders that take no file. The command says so, exits with 1, and leaves nothing half-written.
#include "shell.h"

// Each writes the file or files out*.
static const char *const writers[] = {
    "$K run $S/box_on_plane.json -n 5 -s pgs-ncp -o out.h5",
    "$K run $S/box_on_plane.json -n 20 -s pgs-ncp -o out.csv",
    "$K profile solved.json -m iterations -o out",
    "$K bench $D/problems.json:0 -s pgs-ncp -r 1 -o out --export json,csv,md,h5",
    "$K dataset convert $D/fclib/CubeH8.hdf5 -o out.h5",
    "$K dataset convert $D/fclib/CubeH8.hdf5 --to fclib -o out",
    "$K dataset convert $D/problems.json --to json -o out.json",
    "$K dataset make --systems box_on_plane --units 1 --bucket 3 -n 30 -s pgs-ncp -o out.h5",
    "$K import $D/models/robot_delta/robot.urdf -o out.json",
};
enum { WRITERS = sizeof writers / sizeof writers[0] };

static int file_count(const char *command) {
    assert_int_equal(shell("%s >/dev/null 2>&1", command), 0);
    int count = shell_count("out");
    assert_true(count > 0);
    assert_int_equal(shell("rm -rf out*"), 0);
    return count;
}

// ulimit -f counts blocks of 512 bytes; a write past them fails as on a full disk.
static void a_full_disk_is_told_and_leaves_no_half_file(void **state) {
    (void)state;
    for (int w = 0; w < WRITERS; w++) {
        shell_start();
        assert_int_equal(shell("$K solve $D/problems.json -s pgs-ncp --json >solved.json"), 0);
        int files = file_count(writers[w]), code = 1;
        for (int blocks = 1; code != 0; blocks += 1 + blocks / 2) {
            assert_true(blocks < 100000);
            code = shell("(trap '' XFSZ; ulimit -f %d; %s) >/dev/null 2>errors", blocks, writers[w]);
            if (code != 0 && code != 1) {
                fail_msg("%s: exit code %d with room for %d blocks", writers[w], code, blocks);
            }
            if (code == 0) {
                assert_int_equal(shell_count("out"), files);
                continue;
            }
            assert_true(shell_size("errors") > 0);
            // What was finished before may stay; nothing is named as temporary.
            assert_int_not_equal(shell("ls | grep -q '[.]tmp$'"), 0);
            assert_int_equal(shell("for f in out*.h5; do [ ! -e $f ] || $K check $f >/dev/null || exit 1; done"), 0);
            assert_int_equal(
                shell("for f in out*.json; do [ ! -e $f ] || python3 -m json.tool $f >/dev/null || exit 1; done"), 0);
            assert_int_equal(shell("rm -rf out*"), 0);
        }
        shell_end();
    }
}

static void a_full_device_is_told(void **state) {
    (void)state;
    static const char *const commands[] = {
        "$K list solvers >/dev/full",
        "$K list params --json >/dev/full",
        "$K --help >/dev/full",
        "$K --man >/dev/full",
        "$K solve $D/problems.json:0 -s pgs-ncp >/dev/full",
        "$K solve $D/problems.json:0 -s pgs-ncp --json >/dev/full",
        "$K run $S/box_on_plane.json -n 5 -s pgs-ncp --json >/dev/full",
        "$K run $S/box_on_plane.json -n 5 -s pgs-ncp -o - >/dev/full",
        "$K run $S/box_on_plane.json -n 5 -s pgs-ncp -o /dev/full",
        "$K check $S/box_on_plane.json >/dev/full",
    };
    shell_start();
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        int code = shell("%s 2>errors", commands[i]);
        if (code != 1 || shell_size("errors") <= 0) {
            fail_msg("%s: exit code %d, %ld bytes of errors", commands[i], code, shell_size("errors"));
        }
    }
    shell_end();
}

// As every tool in a pipe: ended by SIGPIPE, or with 1; never a crash, a loop or a file left behind.
static void a_closed_pipe_ends_the_command(void **state) {
    (void)state;
    static const char *const commands[] = {
        "$K list params --json",
        "$K --man",
        "$K solve $D/problems.json -s all --json --lambda --trace",
        "$K run $S/box_on_plane.json -n 400 -s pgs-ncp -o -",
    };
    shell_start();
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        assert_int_equal(shell("{ %s 2>/dev/null; echo $? >code; } | true", commands[i]), 0);
        assert_int_equal(shell("c=$(cat code); [ $c = 0 ] || [ $c = 1 ] || [ $c = 141 ]"), 0);
        assert_int_equal(shell("rm code"), 0);
        assert_int_equal(shell_count(""), 0);
    }
    shell_end();
}

static void a_folder_that_takes_no_file_is_told(void **state) {
    (void)state;
    static const char *const targets[] = {"nowhere/out", "/proc/out", "/dev/null/out"};
    static const struct {
        const char *before, *after;
    } commands[] = {
        {"$K run $S/box_on_plane.json -n 5 -s pgs-ncp -o ", ".h5"},
        {"$K run $S/box_on_plane.json -n 5 -s pgs-ncp -o ", ".csv"},
        {"$K dataset convert $D/fclib/CubeH8.hdf5 -o ", ".h5"},
        {"$K import $D/models/robot_delta/robot.urdf -o ", ".json"},
    };
    shell_start();
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
            char command[512];
            snprintf(command, sizeof command, "%s%s%s", commands[i].before, targets[t], commands[i].after);
            int code = shell("%s >/dev/null 2>errors", command);
            if (code != 1 || shell("grep -q '%s' errors", targets[t]) != 0) {
                shell("cat errors");
                fail_msg("%s: exit code %d, or the path is not named", command, code);
            }
            assert_int_equal(shell_count(""), 1);  // errors
        }
    }
    shell_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_disk_is_told_and_leaves_no_half_file),
        cmocka_unit_test(a_full_device_is_told),
        cmocka_unit_test(a_closed_pipe_ends_the_command),
        cmocka_unit_test(a_folder_that_takes_no_file_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
