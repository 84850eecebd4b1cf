/* New numbers for processes and threads: small ones, in the order of the old, so that whatever is sorted by them stays
   sorted; equal stays equal, so that the main thread of a process is still known by its number. */
#ifndef GT_REDACT_REDACT_NUMBERS_H
#define GT_REDACT_REDACT_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GT_REDACT_NUMBER_COUNT (UINT32_C(1) << 24) /* of numbers that a global id has room for */

struct gt_redact_numbers {
    uint64_t *seen;   /* one bit for each number */
    uint32_t *before; /* numbers seen before each word of seen */
};

/* false: memory was short; release also then. */
bool gt_redact_numbers_init(struct gt_redact_numbers *numbers);
void gt_redact_numbers_release(struct gt_redact_numbers *numbers);

/* First all old numbers are seen, then the list is sealed, then new ones are asked for. 0 stays 0; a number without a
   thread or process (-1) stays as well. */
void gt_redact_numbers_see(struct gt_redact_numbers *numbers, uint64_t number);
void gt_redact_numbers_see_global(struct gt_redact_numbers *numbers, int64_t global_id);
void gt_redact_numbers_seal(struct gt_redact_numbers *numbers);
uint64_t gt_redact_numbers_of(const struct gt_redact_numbers *numbers, uint64_t number);
int64_t gt_redact_numbers_of_global(const struct gt_redact_numbers *numbers, int64_t global_id);

#endif
