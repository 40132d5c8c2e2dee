// Out of memory around dual problems: every single allocation fails once.
#include "faults.h"

#include <stdlib.h>
#include <string.h>

static KlStatus parse(void *context) {
    const char *text = context;
    KlStatus status = KL_OK;
    for (int32_t i = 0; i < 2 && status == KL_OK; i++) {
        KlProblem *problem;
        int32_t count;
        status = kl_problem_parse_json(text, strlen(text), "both.json", i, &count, &problem);
        assert_true((status == KL_OK) == (problem != NULL));
        kl_problem_destroy(problem);
    }
    return status;
}

static char *both_forms(void) {
    size_t size;
    return kl_test_read(KL_TEST_DATA "/../fuzz/corpus/problem/both_forms.json", &size);
}

static void a_problem_is_read_or_memory_is_missing(void **state) {
    (void)state;
    char *text = both_forms();
    assert_true(faults_each(parse, text) > 0);
    free(text);
}

static KlStatus clone(void *context) {
    KlProblem *copy;
    KlStatus status = kl_problem_clone(context, &copy);
    assert_true((status == KL_OK) == (copy != NULL));
    kl_problem_destroy(copy);
    return status;
}

static KlStatus condition(void *context) {
    KlCondition result;
    return kl_problem_condition(context, &result);
}

static KlStatus spectrum(void *context) {
    double eigenvalues[16];
    return kl_problem_spectrum(context, eigenvalues);
}

static KlStatus internal_share(void *context) {
    static const double lambda[16] = {0.1, 0.2, -0.3, 0.4, 0.5, -0.6, 0.1, 0.0, 0.9};
    double share;
    return kl_problem_internal_share(context, lambda, &share);
}

static KlStatus category(void *context) {
    KlCategory result;
    return kl_problem_category(context, &result);
}

static void what_is_asked_of_a_problem_is_answered_or_memory_is_missing(void **state) {
    (void)state;
    static const FaultTrial trials[] = {clone, condition, spectrum, internal_share, category};
    char *text = both_forms();
    KlProblem *problem;
    assert_ok(kl_problem_parse_json(text, strlen(text), "both.json", 1, NULL, &problem));
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++) {
        faults_each(trials[i], problem);
    }
    kl_problem_destroy(problem);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_is_read_or_memory_is_missing),
        cmocka_unit_test(what_is_asked_of_a_problem_is_answered_or_memory_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
