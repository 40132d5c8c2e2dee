// Letting every allocation of an operation fail once, each in its own trial.
#ifndef KL_TESTS_FAULTS_H
#define KL_TESTS_FAULTS_H

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "support.h"

// Does the whole operation and frees what it made. Returns its status; on a failure it has itself
// asserted that nothing half-made came out.
typedef KlStatus (*FaultTrial)(void *context);

typedef struct Fault {
    uint64_t until;  // allocations that still succeed
    bool fired;
} Fault;

static inline bool fault_gate(void *context, uint64_t number) {
    (void)number;
    Fault *fault = context;
    if (fault->fired || fault->until-- > 0) {
        return true;
    }
    fault->fired = true;
    return false;
}

// Trial n lets the allocation n fail; the last one has no failure and must succeed. A failure must be
// KL_ERR_MEMORY with the amount that was asked for, and leave no memory behind. Returns the number of failures. `stride`
// takes every stride-th allocation only.
static inline int32_t faults_every(FaultTrial trial, void *context, uint64_t stride) {
    assert_int_equal(trial(context), KL_OK);  // and caches of libc and libraries are warm
    for (uint64_t n = 0;; n += stride) {
        Fault fault = {.until = n};
        int64_t before = kl_alloc_live();
        kl_set_alloc_gate(fault_gate, &fault);
        KlStatus status = trial(context);
        kl_set_alloc_gate(NULL, NULL);
        if (!fault.fired) {
            assert_int_equal(status, KL_OK);
            return (int32_t)(n / stride);
        }
        if (status != KL_ERR_MEMORY) {
            fail_msg("allocation %d failed, and the operation said: %s: %s", (int)n, kl_status_name(status),
                     status == KL_OK ? "" : kl_last_error()->message);
        }
        if (strstr(kl_last_error()->message, " bytes more") == NULL) {
            fail_msg("allocation %d failed, and no amount is told: %s", (int)n, kl_last_error()->message);
        }
        if (kl_alloc_live() != before) {
            fail_msg("allocation %d failed, and %d blocks stayed", (int)n, (int)(kl_alloc_live() - before));
        }
    }
}

static inline int32_t faults_each(FaultTrial trial, void *context) { return faults_every(trial, context, 1); }

#endif
