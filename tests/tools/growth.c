// Growth of time per iteration and of memory with the number of bodies, 8 to 1000: open chains, closed chains,
// walls, lattices of spheres, and piles of spheres poured by scripts/piles.py: growth [FILE...], one pile a file, of
// which the last step's problem is taken. Prints JSON; not a test. Times are processor seconds, the best of several
// runs:
//   newton    a cold solve of newton-ncp over its iterations: a factorization and two solutions each
//   factor    the first factorization of admm-ncp-plus with its set-up: ordering, layout, arithmetic
//   solution  one iteration of admm-ncp-plus with a fixed penalty: a solution with the factor
//   iterated  the same by conjugate gradients (factorization = iterative)
//   sweep     one iteration of pgs-ncp in body space
// and the bytes that a solver of newton-ncp, and one of the iterated admm-ncp-plus, holds after its solve.
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "families.h"
#include "kl.h"
#include "problem_file.h"

enum { REPEATS = 3, TRIES = 10, SHORT = 20, LONG = 120, MOST_SIZES = 8 };
enum { NEWTON, FACTOR, SOLUTION, ITERATED, SWEEP, MEMORY, ITERATED_MEMORY, COSTS };
static const char *const cost_names[COSTS] = {"newton_s", "factor_s",     "solution_s",    "iterated_s",
                                              "sweep_s",  "memory_bytes", "iterated_bytes"};

// Chains in motion. In one that falls from rest what reaches a joint of a sweep shrinks from link to link, until the
// numbers of the last hundreds are denormal and take many times as long.
static KlProblem *moving_chain(int32_t size, bool loop) {
    KlProblem *p = family_chain(size, loop);
    KlRng rng = {1};
    for (int32_t i = 0; i < p->dim; i++) {
        p->free_velocity[i] += 1e-2 * (kl_rng_unit(&rng) - 0.5);
    }
    return p;
}

static KlProblem *open_chain(int32_t size) { return moving_chain(size, false); }
static KlProblem *closed_chain(int32_t size) { return moving_chain(size, true); }
static KlProblem *wall(int32_t size) { return family_wall(size, size); }
static KlProblem *spheres(int32_t size) { return family_spheres(size, size, 1); }

static double held_bytes;  // of the last solver that solved

static void check(KlStatus status) {
    if (status != KL_OK) {
        fprintf(stderr, "%s\n", kl_last_error()->message);
        exit(1);
    }
}

static int pile_count;
static char **pile_files;  // (pile_count)

// The problem of the last step in the file of pile `size`.
static KlProblem *pile(int32_t size) {
    ProblemFile file;
    KlProblem *last = NULL;
    int64_t step = -1;
    check(problem_file_open(pile_files[size - 1], &file));
    for (int32_t i = 0; i < file.count; i++) {
        ProblemRecord record;
        check(problem_file_read(&file, i, &record));
        if (record.step > step) {
            kl_problem_destroy(last);
            check(kl_problem_clone(record.problem, &last));
            step = record.step;
        }
        problem_record_free(&record);
    }
    problem_file_close(&file);
    return last;
}

typedef struct Family {
    const char *name;
    KlProblem *(*make)(int32_t size);
    const char *direct;         // the factorization that auto takes where it factors
    int32_t sizes[MOST_SIZES];  // 0 ends them
} Family;

static const Family families[] = {
    {"open chain", open_chain, "sparse", {10, 30, 100, 300, 1000}},
    {"closed chain", closed_chain, "sparse", {10, 30, 100, 300, 1000}},
    {"wall", wall, "bodies", {3, 5, 8, 12, 16, 24, 31}},
    {"lattice", spheres, "bodies", {2, 3, 4, 5, 7, 9, 10}},
    {"poured", pile, "bodies", {1, 2, 3, 4, 5, 6, 7}},  // as many as there are files
};

static double allocated(void) {
    struct mallinfo2 info = mallinfo2();
    return (double)info.uordblks + (double)info.hblkhd;
}

static double now(void) { return (double)clock() / CLOCKS_PER_SEC; }

// Processor seconds of one cold solve from a fresh solver; tells the iterations.
static double solve_seconds(const char *id, const char *how, const KlProblem *p, int32_t most, double tolerance,
                            int32_t *iterations) {
    KlSolver *s;
    KlSolution solution;
    double before = allocated();
    check(kl_solver_create(id, &s));
    check(kl_solver_set(s, "max_iterations", most));
    check(kl_solver_set(s, "tolerance", tolerance));
    check(kl_solver_set_text(s, id[0] == 'p' ? "sweep" : "factorization", how));
    if (id[0] == 'a') {
        check(kl_solver_set(s, "adapt", 0.0));
        check(kl_solver_set(s, "accelerate", 0.0));
    }
    double start = now();
    check(kl_solver_solve(s, p, NULL, &solution));
    double seconds = now() - start;
    *iterations = solution.iterations;
    held_bytes = allocated() - before;
    kl_solver_destroy(s);
    return seconds;
}

static double best_solve(const char *id, const char *how, const KlProblem *p, int32_t most, double tolerance,
                         int32_t *iterations) {
    double best = INFINITY;
    for (int32_t i = 0; i < REPEATS; i++) {
        double seconds = solve_seconds(id, how, p, most, tolerance, iterations);
        best = seconds < best ? seconds : best;
    }
    return best;
}

// Of one iteration, and of the rest, from two runs that never meet their tolerance: again while noise makes one
// of them negative.
static double iteration_seconds(const char *id, const char *how, const KlProblem *p, double *rest) {
    double each = 0.0;
    int32_t count;
    *rest = 0.0;
    for (int32_t i = 0; i < TRIES && !(each > 0.0 && *rest > 0.0); i++) {
        double few = best_solve(id, how, p, SHORT, 0.0, &count), many = best_solve(id, how, p, LONG, 0.0, &count);
        each = (many - few) / (LONG - SHORT);
        *rest = few - SHORT * each;
    }
    return each;
}

static void measure(const KlProblem *p, const char *direct, double cost[COSTS], int32_t *iterations) {
    double unused;
    cost[NEWTON] = best_solve("newton-ncp", direct, p, 60, 1e-8, iterations) / *iterations;
    cost[MEMORY] = held_bytes;
    cost[SOLUTION] = iteration_seconds("admm-ncp-plus", direct, p, &cost[FACTOR]);
    cost[ITERATED] = iteration_seconds("admm-ncp-plus", "iterative", p, &unused);
    cost[ITERATED_MEMORY] = held_bytes;
    cost[SWEEP] = iteration_seconds("pgs-ncp", "body-space", p, &unused);
}

// Slope of log y over log x by least squares.
static double exponent(const double *x, const double *y, int32_t count) {
    double sx = 0.0, sy = 0.0, sxx = 0.0, sxy = 0.0;
    for (int32_t i = 0; i < count; i++) {
        double a = log(x[i]), b = log(y[i]);
        sx += a;
        sy += b;
        sxx += a * a;
        sxy += a * b;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

static void print_exponents(const char *name, const double *sizes, double cost[COSTS][MOST_SIZES], int32_t count) {
    printf(" \"%s\": {", name);
    for (int k = 0; k < COSTS; k++) {
        printf("%s\"%s\": %.2f", k > 0 ? ", " : "", cost_names[k], exponent(sizes, cost[k], count));
    }
    printf("}");
}

static void run_family(const Family *f, int last) {
    double bodies[MOST_SIZES], rows[MOST_SIZES], cost[COSTS][MOST_SIZES];
    int32_t count = 0;
    printf(" {\"family\": \"%s\", \"sizes\": [\n", f->name);
    for (; count < MOST_SIZES && f->sizes[count] > 0 && (f->make != pile || count < pile_count); count++) {
        KlProblem *p = f->make(f->sizes[count]);
        double each[COSTS];
        int32_t iterations;
        measure(p, f->direct, each, &iterations);
        bodies[count] = p->body_count;
        rows[count] = p->dim;
        printf("  %s{\"bodies\": %d, \"rows\": %d, \"newton_iterations\": %d", count > 0 ? "," : "", (int)p->body_count,
               (int)p->dim, (int)iterations);
        for (int k = 0; k < COSTS; k++) {
            cost[k][count] = each[k];
            printf(", \"%s\": %.3g", cost_names[k], each[k]);
        }
        printf("}\n");
        fflush(stdout);
        kl_problem_destroy(p);
    }
    printf(" ],\n");
    print_exponents("exponent", bodies, cost, count);
    printf(",\n");
    print_exponents("exponent_over_rows", rows, cost, count);
    printf("}%s\n", last ? "" : ",");
}

int main(int argc, char **argv) {
    pile_count = argc - 1;
    pile_files = argv + 1;
    int count = (int)(sizeof families / sizeof families[0]) - (pile_count > 0 ? 0 : 1);
    printf("[\n");
    for (int i = 0; i < count; i++) {
        run_family(&families[i], i == count - 1);
    }
    printf("]\n");
    return 0;
}
