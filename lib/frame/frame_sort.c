/* Rows in the order of columns: radix sorts from the last column to the first. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "frame/frame.h"

struct word {
    struct gt_str text;
    uint32_t id;
};

static int by_text(const void *a, const void *b) {
    const struct word *x = a, *y = b;
    int order = gt_str_cmp(x->text, y->text);
    return order ? order : (x->id > y->id) - (x->id < y->id);
}

/* 1: some row has the text. */
static void mark_used(const struct gt_frame_values *values, uint32_t *marks) {
    for (size_t i = 0; i < values->count; i++)
        if (!gt_frame_is_null(values, i)) {
            size_t id = (size_t)gt_frame_int(values, i);
            if (id < values->text_count)
                marks[id] = 0;
        }
}

static bool rank_words(const struct gt_frame_values *values, uint32_t *ranks) {
    size_t count = 0, filled = 0;
    for (size_t i = 0; i < values->text_count; i++)
        count += ranks[i] == 0;
    struct word *words = gt_mem_uninitialised(count, sizeof *words);
    for (uint32_t i = 0; i < values->text_count && words; i++)
        if (ranks[i] == 0)
            words[filled++] = (struct word){values->texts[i], i};
    if (!words)
        return false;
    qsort(words, count, sizeof *words, by_text);
    for (size_t i = 0, rank = 0; i < count; i++) {
        rank += i > 0 && !gt_str_eq(words[i].text, words[i - 1].text);
        ranks[words[i].id] = (uint32_t)rank;
    }
    gt_mem_free(words);
    return true;
}

static uint32_t *new_ranks(const struct gt_frame_values *values) {
    uint32_t *ranks = gt_mem_uninitialised(values->text_count, sizeof *ranks);
    if (!ranks)
        return NULL;
    memset(ranks, 0xff, values->text_count * sizeof *ranks);
    mark_used(values, ranks);
    if (!rank_words(values, ranks)) {
        gt_mem_free(ranks);
        return NULL;
    }
    return ranks;
}

enum gt_status gt_frame_ranks(struct gt_frames *frames, size_t frame, size_t column, uint32_t **ranks,
                              struct gt_error *err) {
    struct gt_frame_values values;
    *ranks = NULL;
    enum gt_status status = gt_frame_values(frames, frame, column, &values, err);
    if (status != GT_OK)
        return status;
    *ranks = new_ranks(&values);
    return *ranks ? GT_OK : gt_fail_memory(err);
}

/* Numbers of either sign, and with a fraction, as keys that sort the same. */
static uint64_t key_of_real(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Null is before all others. */
static uint64_t key_of(const struct gt_frame_values *values, const uint32_t *ranks, size_t row) {
    if (gt_frame_is_null(values, row))
        return 0;
    if (ranks) {
        size_t id = (size_t)gt_frame_int(values, row);
        return id < values->text_count ? (uint64_t)ranks[id] + 1 : 1;
    }
    if (values->type == GPUTIME_FIELD_F64)
        return key_of_real(gt_frame_real(values, row));
    return gt_radix_key(gt_frame_int(values, row));
}

static bool sort_by(const struct gt_frame_values *values, struct gt_radix_item *items) {
    uint32_t *ranks = values->texts ? new_ranks(values) : NULL;
    bool ok = ranks || !values->texts;
    for (size_t i = 0; i < values->count && ok; i++)
        items[i].key = key_of(values, ranks, items[i].value);
    gt_mem_free(ranks);
    return ok && gt_radix_sort(items, values->count);
}

static uint32_t *take_order(const struct gt_radix_item *items, size_t count) {
    uint32_t *order = gt_mem_uninitialised(count, sizeof *order);
    for (size_t i = 0; i < count && order; i++)
        order[i] = items[i].value;
    return order;
}

static bool is_in_order(const struct gt_radix_item *items, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (items[i].value != i)
            return false;
    return true;
}

enum gt_status gt_frame_sort(struct gt_frames *frames, size_t frame, const size_t *columns, size_t column_count,
                             uint32_t **order, struct gt_error *err) {
    size_t count;
    *order = NULL;
    enum gt_status status = gt_frame_rows(frames, frame, &count, err);
    if (status != GT_OK)
        return status;
    struct gt_radix_item *items = gt_mem_uninitialised(count, sizeof *items);
    for (uint32_t i = 0; i < count && items; i++)
        items[i].value = i;
    bool ok = items != NULL;
    for (size_t c = column_count; c-- > 0 && ok && status == GT_OK;) {
        struct gt_frame_values values;
        status = gt_frame_values(frames, frame, columns[c], &values, err);
        ok = status != GT_OK || sort_by(&values, items);
    }
    if (ok && status == GT_OK && !is_in_order(items, count))
        ok = (*order = take_order(items, count)) != NULL;
    gt_mem_free(items);
    return status != GT_OK ? status : ok ? GT_OK : gt_fail_memory(err);
}
