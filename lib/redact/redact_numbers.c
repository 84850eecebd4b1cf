/* Processes and threads by new numbers: the rank of each among all that the capture names. */
#include "redact/redact_numbers.h"

#include "base/mem.h"

enum { WORD_BITS = 64, WORDS = GT_REDACT_NUMBER_COUNT / WORD_BITS };

/* A global id: machine in the upper 16 bits, process, thread. */
#define LOW_MASK     UINT64_C(0xFFFFFF)
#define MACHINE_MASK UINT64_C(0xFFFF000000000000)
#define PID_SHIFT    24

bool gt_redact_numbers_init(struct gt_redact_numbers *numbers) {
    numbers->seen = gt_mem_array(WORDS, sizeof *numbers->seen);
    numbers->before = gt_mem_array(WORDS, sizeof *numbers->before);
    return numbers->seen && numbers->before;
}

void gt_redact_numbers_release(struct gt_redact_numbers *numbers) {
    gt_mem_free(numbers->seen);
    gt_mem_free(numbers->before);
}

void gt_redact_numbers_see(struct gt_redact_numbers *numbers, uint64_t number) {
    if (number && number < GT_REDACT_NUMBER_COUNT)
        numbers->seen[number / WORD_BITS] |= UINT64_C(1) << number % WORD_BITS;
}

void gt_redact_numbers_see_global(struct gt_redact_numbers *numbers, int64_t global_id) {
    if (global_id == -1)
        return;
    gt_redact_numbers_see(numbers, (uint64_t)global_id >> PID_SHIFT & LOW_MASK);
    gt_redact_numbers_see(numbers, (uint64_t)global_id & LOW_MASK);
}

void gt_redact_numbers_seal(struct gt_redact_numbers *numbers) {
    uint32_t count = 0;
    for (size_t i = 0; i < WORDS; i++) {
        numbers->before[i] = count;
        count += (uint32_t)__builtin_popcountll(numbers->seen[i]);
    }
}

uint64_t gt_redact_numbers_of(const struct gt_redact_numbers *numbers, uint64_t number) {
    if (!number || number >= GT_REDACT_NUMBER_COUNT)
        return 0;
    uint64_t word = numbers->seen[number / WORD_BITS], below = (UINT64_C(1) << number % WORD_BITS) - 1;
    return numbers->before[number / WORD_BITS] + (uint64_t)__builtin_popcountll(word & below) + 1;
}

int64_t gt_redact_numbers_of_global(const struct gt_redact_numbers *numbers, int64_t global_id) {
    uint64_t id = (uint64_t)global_id;
    if (global_id == -1)
        return global_id;
    return (int64_t)((id & MACHINE_MASK) | gt_redact_numbers_of(numbers, id >> PID_SHIFT & LOW_MASK) << PID_SHIFT |
                     gt_redact_numbers_of(numbers, id & LOW_MASK));
}
