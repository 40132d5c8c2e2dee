// Memory: every allocation of the library goes through here, so that tests can count them and let
// each one fail. An arena hands out zeroed blocks that die together with their owner.
#ifndef KL_BASE_MEMORY_H
#define KL_BASE_MEMORY_H

#include "kl.h"

void *kl_alloc(size_t size);                  // zeroed; NULL when out of memory
void *kl_realloc(void *memory, size_t size);  // grown part is not zeroed
size_t kl_alloc_refused(void);                // bytes that the last refused call wanted; errors of memory tell them
void kl_alloc_forget_refused(void);           // it is 0 then
// free is kl_free (kl.h)

// Hook for tests: called with the running number of each allocation; returning false makes it fail.
typedef bool (*KlAllocGate)(void *context, uint64_t number);
void kl_set_alloc_gate(KlAllocGate gate, void *context);  // per thread; NULL removes it
uint64_t kl_alloc_count(void);                            // allocations of this thread so far
int64_t kl_alloc_live(void);                              // blocks of this thread that are not freed yet

typedef struct KlArenaChunk KlArenaChunk;

// Zero-initialise. Allocation failure sets `failed` and returns NULL: check once after many calls.
typedef struct KlArena {
    KlArenaChunk *chunks;
    size_t total;    // bytes handed out
    size_t refused;  // bytes of the request that failed
    bool failed;
} KlArena;

void *kl_arena_alloc(KlArena *arena, size_t count, size_t element_size);  // 64-byte aligned, zeroed
char *kl_arena_text(KlArena *arena, const char *text);                    // copy of a string
void kl_arena_free(KlArena *arena);
KlStatus kl_arena_check(const KlArena *arena);  // KL_ERR_MEMORY when a call has failed

#define KL_ARENA_ARRAY(arena, type, count) ((type *)kl_arena_alloc((arena), (size_t)(count), sizeof(type)))

#endif
