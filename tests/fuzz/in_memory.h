/* Files that exist in the process only, and pages from the heap: what fuzz targets link so that an execution makes no
   call of the system. in_memory.c stands between the library and these calls (the linker's --wrap). */
#ifndef TESTS_FUZZ_IN_MEMORY_H
#define TESTS_FUZZ_IN_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

enum { FUZZ_MEMORY_FILES = 8 };

/* The path of a file that holds the bytes, which are borrowed until the next call with this number. */
const char *fuzz_memory_file(size_t number, const void *data, size_t size);

/* The bytes of the file with that path; false: it is none of ours. */
bool fuzz_memory_bytes(const char *path, const void **data, size_t *size);

#endif
