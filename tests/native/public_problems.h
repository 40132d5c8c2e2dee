// The public FCLIB problems of tests/data, one after the other.
#ifndef KL_TESTS_PUBLIC_PROBLEMS_H
#define KL_TESTS_PUBLIC_PROBLEMS_H

#include <stdio.h>

#include "problem_file.h"
#include "support.h"

static const char *const public_problems[] = {"Box_Stacks-i0035-31-0",
                                              "Capsules-i125-1213",
                                              "Confeti-ex13-Fc3D-SBM",
                                              "CubeH8",
                                              "LMGC_GlobalFrictionContactProblem00046",
                                              "OneObject-i100000-316",
                                              "Spheres-i099-356-679",
                                              "local_problem_test"};
enum { PUBLIC_PROBLEM_COUNT = sizeof public_problems / sizeof public_problems[0] };

typedef struct PublicProblem {
    const char *name;
    ProblemFile file;
    ProblemRecord record;
} PublicProblem;

static inline PublicProblem public_problem_open(int index) {
    PublicProblem p = {.name = public_problems[index]};
    char path[512];
    snprintf(path, sizeof path, "%s/fclib/%s.hdf5", KL_TEST_DATA, p.name);
    assert_ok(problem_file_open(path, &p.file));
    problem_record_init(&p.record);
    assert_ok(problem_file_read(&p.file, 0, &p.record));
    return p;
}

static inline void public_problem_close(PublicProblem *p) {
    problem_record_free(&p->record);
    problem_file_close(&p->file);
}

#endif
