/* docs/measures.md, which defines every number: Markdown, part of the library by definitions.S. */
#ifndef GT_BASE_DEFINITIONS_H
#define GT_BASE_DEFINITIONS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)
extern const char gt_definitions[]; /* not terminated */
extern const uint64_t gt_definitions_bytes;
#pragma GCC visibility pop

#endif
