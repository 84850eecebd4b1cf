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
        for (size_t i = 0; i < count; i++)                                                                             \
            values[i] = (uint64_t)from[rows ? rows[first + i] : first + i];                                            \
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

static void load_constant(const struct gt_batch_column *column, size_t count, uint64_t *values) {
    uint64_t value;
    load(column, NULL, 0, 1, &value);
    for (size_t i = 0; i < count; i++)
        values[i] = value;
}

static uint64_t largest(enum gputime_field_type type) {
    size_t bytes = gt_batch_value_bytes(type);
    return bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1;
}

static bool is_negative(enum gputime_field_type type, uint64_t bits) {
    double real;
    memcpy(&real, &bits, sizeof real);
    return type == GPUTIME_FIELD_F64 ? real < 0 : (int64_t)bits < 0;
}

static bool is_there(const struct gt_batch_column *column, uint64_t bits) {
    switch (column->null) {
    case GPUTIME_NULL_MAX:
        return bits != largest(column->type);
    case GPUTIME_NULL_MIN:
        return bits != (uint64_t)INT64_MIN;
    case GPUTIME_NULL_NEGATIVE:
        return !is_negative(column->type, bits);
    case GPUTIME_NULL_NEVER:
        break;
    }
    return true;
}

static bool is_valid(const struct gt_batch *batch, const struct gt_batch_column *column, size_t row) {
    size_t element = column->is_constant ? 0 : batch->rows ? batch->rows[row] : row;
    return !column->valid || column->valid[element / 8] >> element % 8 & 1;
}

size_t gt_batch_gather(const struct gt_batch *batch, const struct gt_batch_column *column, size_t first, size_t count,
                       uint64_t *values, uint8_t *present) {
    if (column->is_constant)
        load_constant(column, count, values);
    else
        load(column, batch->rows, first, count, values);
    if (column->null == GPUTIME_NULL_NEVER && !column->valid) {
        if (present)
            memset(present, 1, count);
        return count;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_kept = is_there(column, values[i]) && is_valid(batch, column, first + i);
        if (present)
            present[i] = is_kept;
        values[kept] = values[i];
        kept += is_kept;
    }
    return kept;
}
