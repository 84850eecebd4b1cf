/* Which function of this program an address belongs to, from the symbols in its own file. */
#ifndef TESTS_PASSES_FUNCTIONS_H
#define TESTS_PASSES_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

struct function {
    uintptr_t begin;
    const char *name;
    const char *file; /* of a static function; NULL: it is known everywhere by its name */
};

/* The index of a function; SIZE_MAX: it is none of this program. */
size_t function_at(uintptr_t address);
const struct function *function_of_index(size_t index);
size_t function_count(void);

#endif
