// Measures the roof: independent multiply-adds in registers, and sums over arrays that fit into one cache after
// another. Processor time, the best of several samples: what other programs take does not count.
#include "roof.h"

#include <math.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

// Two lanes in the deterministic build, four with AVX.
#if defined(__AVX__)
enum { WIDTH = 4 };
#else
enum { WIDTH = 2 };
#endif
#if defined(__AVX512F__)
static const char instructions[] = "AVX2 with fused multiply-add (of AVX-512)";
#elif defined(__FMA__)
static const char instructions[] = "AVX2 with fused multiply-add";
#else
static const char instructions[] = "SSE2, multiply and add apart";
#endif
typedef double Wide __attribute__((vector_size(8 * WIDTH), aligned(8)));

enum { SAMPLES = 9, ACCUMULATORS = 12 };  // so many products and sums are under way at once
static const double SAMPLE_SECONDS = 4e-3;

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static double sample(void (*work)(void *), void *context, int64_t calls) {
    double start = processor_seconds();
    for (int64_t i = 0; i < calls; i++) {
        work(context);
    }
    return processor_seconds() - start;
}

double roof_seconds(void (*work)(void *context), void *context) {
    int64_t calls = 1;
    double taken = sample(work, context, calls), best;
    while (taken < SAMPLE_SECONDS) {
        calls *= 2;
        taken = sample(work, context, calls);
    }
    best = taken;
    for (int i = 1; i < SAMPLES; i++) {
        taken = sample(work, context, calls);
        best = taken < best ? taken : best;
    }
    return best / (double)calls;
}

// ---- the two kernels ---------------------------------------------------------------------------

enum { ROUNDS = 10000 };

static volatile double sink;  // what is computed is used

static double total(Wide v) {
    double sum = 0.0;
    for (int i = 0; i < WIDTH; i++) {
        sum += v[i];
    }
    return sum;
}

static void multiply_add(void *context) {
    (void)context;
    Wide sum[ACCUMULATORS], factor, addend;
    for (int i = 0; i < WIDTH; i++) {
        factor[i] = 0.999;
        addend[i] = 1e-3;
    }
    for (int k = 0; k < ACCUMULATORS; k++) {
        sum[k] = addend * (double)k;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < ACCUMULATORS; k++) {
            sum[k] = sum[k] * factor + addend;
        }
    }
    for (int k = 0; k < ACCUMULATORS; k++) {
        sink = total(sum[k]);
    }
}

typedef struct Array {
    const double *at;
    size_t count;
} Array;

static void read_array(void *context) {
    enum { STEP = 8 };
    const Array *a = context;
    Wide sum[STEP] = {{0.0}};
    for (size_t i = 0; i + STEP * WIDTH <= a->count; i += STEP * WIDTH) {
        for (int k = 0; k < STEP; k++) {
            sum[k] += *(const Wide *)(a->at + i + (size_t)(WIDTH * k));
        }
    }
    for (int k = 1; k < STEP; k++) {
        sum[0] += sum[k];
    }
    sink = total(sum[0]);
}

// ---- the roof ----------------------------------------------------------------------------------

static size_t cache_size(int name, size_t otherwise) {
    long size = sysconf(name);
    return size > 0 ? (size_t)size : otherwise;
}

bool roof_measure(Roof *roof) {
    size_t l1 = cache_size(_SC_LEVEL1_DCACHE_SIZE, (size_t)32 << 10);
    size_t l2 = cache_size(_SC_LEVEL2_CACHE_SIZE, (size_t)1 << 20);
    size_t l3 = cache_size(_SC_LEVEL3_CACHE_SIZE, (size_t)32 << 20);
    size_t middle = 8 * l2 < l3 / 2 ? 8 * l2 : l3 / 2;  // what our larger problems hold, not half of a shared cache
    *roof = (Roof){
        instructions,
        0.0,
        {{"L1", l1, l1 / 2, 0.0}, {"L2", l2, l2 / 2, 0.0}, {"L3", l3, middle, 0.0}, {"memory", SIZE_MAX, 2 * l3, 0.0}}};
    size_t most = 2 * l3;
    double *numbers = kl_alloc(most);
    if (numbers == NULL) {
        return false;
    }
    for (size_t i = 0; i < most / sizeof *numbers; i++) {
        numbers[i] = 1.0;
    }
    roof->peak = (double)WIDTH * ACCUMULATORS * ROUNDS / roof_seconds(multiply_add, NULL);
    for (int i = 0; i < ROOF_LEVELS; i++) {
        RoofLevel *level = &roof->level[i];
        Array array = {numbers, level->measured / sizeof *numbers};
        level->bandwidth = (double)level->measured / roof_seconds(read_array, &array);
    }
    kl_free(numbers);
    return true;
}

const RoofLevel *roof_level(const Roof *roof, double bytes) {
    int i = 0;
    while (i + 1 < ROOF_LEVELS && bytes > (double)roof->level[i].capacity) {
        i++;
    }
    return &roof->level[i];
}
