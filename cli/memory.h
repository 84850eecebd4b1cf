/* A stream whose bytes stay in memory, and that knows when memory was short: the C library's own loses bytes then. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Lives as long as its stream. */
struct cli_memory {
    char *bytes; /* the caller's to free; NULL: none, or memory was short */
    size_t size;
    size_t capacity;
    bool is_short;
};

/* NULL: memory is short. */
FILE *cli_memory_open(struct cli_memory *memory);

/* Closes the stream. The bytes are all that was written, with a NUL after them; false: they are not, and bytes is NULL.
 */
bool cli_memory_close(struct cli_memory *memory, FILE *stream);

#endif
