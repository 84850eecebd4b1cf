/* Bytes come in through a stream, one block of memory goes out. */
#include "memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool make_room(struct cli_memory *memory, size_t more) {
    size_t capacity = memory->capacity ? memory->capacity : 4096;
    if (more >= SIZE_MAX / 4 || memory->size >= SIZE_MAX / 4)
        return false;
    while (capacity < memory->size + more + 1)
        capacity *= 2;
    char *grown = capacity == memory->capacity ? memory->bytes : realloc(memory->bytes, capacity);
    if (!grown)
        return false;
    memory->bytes = grown;
    memory->capacity = capacity;
    return true;
}

static ssize_t take(void *cookie, const char *bytes, size_t size) {
    struct cli_memory *memory = cookie;
    if (memory->is_short || !make_room(memory, size)) {
        memory->is_short = true;
        errno = ENOMEM;
        return 0; /* what a stream takes for an error */
    }
    memcpy(memory->bytes + memory->size, bytes, size);
    memory->size += size;
    memory->bytes[memory->size] = '\0';
    return (ssize_t)size;
}

FILE *cli_memory_open(struct cli_memory *memory) {
    *memory = (struct cli_memory){0};
    return fopencookie(memory, "w", (cookie_io_functions_t){.write = take});
}

bool cli_memory_close(struct cli_memory *memory, FILE *stream) {
    bool is_whole = !ferror(stream);
    is_whole = fclose(stream) == 0 && is_whole && !memory->is_short && make_room(memory, 0);
    if (is_whole) {
        memory->bytes[memory->size] = '\0';
        return true;
    }
    free(memory->bytes);
    *memory = (struct cli_memory){.is_short = true};
    return false;
}
