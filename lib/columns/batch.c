/* Reads values of columns of any type as 64 bits. */
#include "columns/batch.h"

#include <string.h>

size_t gt_batch_value_bytes(enum gputime_field_type type) {
    switch (type) {
    case GPUTIME_FIELD_U8:
        return 1;
    case GPUTIME_FIELD_U16:
        return 2;
    case GPUTIME_FIELD_U32:
        return 4;
    default:
        return 8;
    }
}

/* One loop for each type, so that the compiler sees the width. */
#define LOAD(type)                                                                                                     \
    do {                                                                                                               \
        const type *from = column->values;                                                                             \
        if (rows)                                                                                                      \
            for (size_t i = 0; i < count; i++)                                                                         \
                values[i] = from[rows[first + i]];                                                                     \
        else                                                                                                           \
            for (size_t i = 0; i < count; i++)                                                                         \
                values[i] = from[first + i];                                                                           \
    } while (0)

static void load(const struct gt_batch_column *column, const uint32_t *rows, size_t first, size_t count,
                 uint64_t *values) {
    switch (column->type) {
    case GPUTIME_FIELD_U8:
        LOAD(uint8_t);
        break;
    case GPUTIME_FIELD_U16:
        LOAD(uint16_t);
        break;
    case GPUTIME_FIELD_U32:
        LOAD(uint32_t);
        break;
    default: /* doubles by their bits */
        LOAD(uint64_t);
    }
}

static uint64_t largest(enum gputime_field_type type) {
    size_t bytes = gt_batch_value_bytes(type);
    return bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
}

static double real_of(uint64_t bits) {
    double real;
    memcpy(&real, &bits, sizeof real);
    return real;
}

/* Moves the values that are there to the front, and gives how many. One loop for each condition. */
#define KEEP(condition)                                                                                                \
    do {                                                                                                               \
        for (size_t i = 0; i < count; i++) {                                                                           \
            const uint64_t bits = values[i];                                                                           \
            const bool is_kept = (condition);                                                                          \
            present[i] = is_kept;                                                                                      \
            values[kept] = bits;                                                                                       \
            kept += is_kept;                                                                                           \
        }                                                                                                              \
    } while (0)

static size_t keep_some(const struct gt_batch_column *column, size_t count, uint64_t *values, uint8_t *present) {
    const uint64_t none = largest(column->type);
    size_t kept = 0;
    if (column->null == GPUTIME_NULL_MAX)
        KEEP(bits != none);
    else if (column->null == GPUTIME_NULL_MIN)
        KEEP(bits != (uint64_t)INT64_MIN);
    else if (column->type == GPUTIME_FIELD_F64)
        KEEP(!(real_of(bits) < 0));
    else
        KEEP((int64_t)bits >= 0);
    return kept;
}

/* The same by the bits of the column. */
static size_t keep_valid(const struct gt_batch *batch, const struct gt_batch_column *column, size_t first, size_t count,
                         uint64_t *values, uint8_t *present) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t element = batch->rows ? batch->rows[first + i] : first + i;
        present[i] = column->valid[element / 8] >> element % 8 & 1;
        values[kept] = values[i];
        kept += present[i];
    }
    return kept;
}

static size_t gather_constant(const struct gt_batch_column *column, size_t count, uint64_t *values, uint8_t *present) {
    uint64_t value;
    uint8_t is_there = 1;
    load(column, NULL, 0, 1, &value);
    if (column->null != GPUTIME_NULL_NEVER)
        keep_some(column, 1, &(uint64_t){value}, &is_there);
    for (size_t i = 0; i < count && is_there; i++)
        values[i] = value;
    memset(present, is_there, count);
    return is_there ? count : 0;
}

size_t gt_batch_gather(const struct gt_batch *batch, const struct gt_batch_column *column, size_t first, size_t count,
                       uint64_t *values, uint8_t *present) {
    if (column->is_constant)
        return gather_constant(column, count, values, present);
    load(column, batch->rows, first, count, values);
    if (column->valid)
        return keep_valid(batch, column, first, count, values, present);
    if (column->null != GPUTIME_NULL_NEVER)
        return keep_some(column, count, values, present);
    memset(present, 1, count);
    return count;
}
