// Memory: the allocation gate and the arena.
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

static _Thread_local KlAllocGate alloc_gate;
static _Thread_local void *alloc_gate_context;
static _Thread_local uint64_t alloc_number;
static _Thread_local int64_t live_blocks;
static _Thread_local size_t refused;

void kl_set_alloc_gate(KlAllocGate gate, void *context) {
    alloc_gate = gate;
    alloc_gate_context = context;
}

uint64_t kl_alloc_count(void) { return alloc_number; }

static bool gate_opens(void) {
    alloc_number++;
    return alloc_gate == NULL || alloc_gate(alloc_gate_context, alloc_number);
}

int64_t kl_alloc_live(void) { return live_blocks; }

size_t kl_alloc_refused(void) { return refused; }

void kl_alloc_forget_refused(void) { refused = 0; }

void *kl_alloc(size_t size) {
    void *memory = gate_opens() ? calloc(1, size > 0 ? size : 1) : NULL;
    live_blocks += memory != NULL;
    refused = memory != NULL ? refused : size;
    return memory;
}

void *kl_realloc(void *memory, size_t size) {
    void *moved = gate_opens() ? realloc(memory, size > 0 ? size : 1) : NULL;
    live_blocks += moved != NULL && memory == NULL;
    refused = moved != NULL ? refused : size;
    return moved;
}

void kl_free(void *memory) {
    live_blocks -= memory != NULL;
    free(memory);
}

enum { CHUNK_SIZE = 1 << 16, ALIGNMENT = 64 };

struct KlArenaChunk {
    KlArenaChunk *next;
    char *data;  // aligned start
    size_t used, size;
};

static KlArenaChunk *add_chunk(KlArena *arena, size_t size) {
    KlArenaChunk *chunk = kl_alloc(sizeof *chunk + size + ALIGNMENT);
    if (chunk == NULL) {
        return NULL;
    }
    uintptr_t start = (uintptr_t)(chunk + 1);
    chunk->data = (char *)(chunk + 1) + (ALIGNMENT - start % ALIGNMENT) % ALIGNMENT;
    chunk->size = size;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

static void *refuse(KlArena *arena, size_t bytes) {
    arena->failed = true;
    arena->refused = bytes;
    return NULL;
}

void *kl_arena_alloc(KlArena *arena, size_t count, size_t element_size) {
    if (arena->failed) {  // after one failure no more is taken
        return NULL;
    }
    if (count > (SIZE_MAX / 2) / (element_size > 0 ? element_size : 1)) {
        return refuse(arena, SIZE_MAX);
    }
    size_t bytes = count * element_size;
    size_t size = (bytes + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    KlArenaChunk *chunk = arena->chunks;
    if (chunk == NULL || chunk->size - chunk->used < size) {
        chunk = add_chunk(arena, size > CHUNK_SIZE ? size : CHUNK_SIZE);
        if (chunk == NULL) {
            return refuse(arena, bytes);
        }
    }
    void *memory = chunk->data + chunk->used;
    chunk->used += size;
    arena->total += size;
    return memory;
}

char *kl_arena_text(KlArena *arena, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = kl_arena_alloc(arena, size, 1);
    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

void kl_arena_free(KlArena *arena) {
    KlArenaChunk *chunk = arena->chunks;
    while (chunk != NULL) {
        KlArenaChunk *next = chunk->next;
        kl_free(chunk);
        chunk = next;
    }
    *arena = (KlArena){0};
}

KlStatus kl_arena_check(const KlArena *arena) {
    return arena->failed ? kl_fail(KL_ERR_MEMORY, "out of memory after %zu bytes", arena->total) : KL_OK;
}
