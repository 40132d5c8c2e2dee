// The command under valgrind: no read of what was never written, none past an end, nothing lost.
#include "shell.h"

static const char *const commands[] = {
    "$K run $S/fourbar_free.json -n 5 -s all",
    "$K run $S/walker.json -n 2 -s newton-ncp,admm-ncp-fp,nbgs -o walker.csv",
    "$K run $S/box_on_plane.json -n 5 -s newton-ncp -o box.h5 && $K check box.h5",
    "$K import $D/models/robot_delta/robot.urdf -o delta.json && $K run delta.json -n 3 -s newton-ncp",
    "$K solve $D/fclib/CubeH8.hdf5 -s all --json",
    "$K dataset make --systems box_on_plane --units 1 --bucket 2 -n 20 -s pgs-ncp -o set.h5",
};

static void the_command_is_clean_under_valgrind(void **state) {
    (void)state;
    if (system("command -v valgrind >/dev/null") != 0) {
        print_message("valgrind is not installed\n");
        skip();
    }
    shell_start();
    char command[1024];
    snprintf(command, sizeof command,
             "valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible %s",
             KL_COMMAND);
    setenv("K", command, 1);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        int code = shell("%s >out 2>errors", commands[i]);
        if (code != 0) {
            shell("tail -40 errors >&2");
            fail_msg("%s: exit code %d", commands[i], code);
        }
    }
    shell_end();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_command_is_clean_under_valgrind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
