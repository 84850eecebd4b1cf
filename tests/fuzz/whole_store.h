/* What holds for every store, whatever it was made from: what a row refers to is there, texts are too, and codes have
   words. Anything else ends the process. */
#ifndef TESTS_FUZZ_WHOLE_STORE_H
#define TESTS_FUZZ_WHOLE_STORE_H

#include "same_store.h"

static inline uint64_t fuzz_code_count(enum gt_refers refers) {
    const char *choices = gt_store_choices(refers);
    struct gt_str word;
    uint64_t count = 0;
    while (choices && gt_store_choices_next(&choices, &word))
        count++;
    return count;
}

/* How many values a reference or code can have; 0: the column is of neither kind. */
static inline uint64_t fuzz_value_count(struct gt_store *store, const struct gt_column_info *info) {
    if (info->refers == GT_REFERS_STRING)
        return store->strings.count;
    if (gt_store_column_refers(info))
        return *gt_store_row_count(store, gt_store_table_referred(info->refers));
    return fuzz_code_count(info->refers);
}

static inline void fuzz_whole_column(struct gt_store *store, const struct gt_column_info *info) {
    size_t rows = *gt_store_row_count(store, info->table);
    const void *column = *gt_store_column(store, info);
    if (rows == 0 || (!gt_store_column_refers(info) && !gt_store_choices(info->refers)))
        return;
    uint64_t most = fuzz_value_count(store, info);
    bool may_lack = gt_store_column_null(info) == GPUTIME_NULL_MAX;
    for (size_t i = 0; i < rows; i++) {
        uint32_t value = info->element == GT_ELEMENT_U8 ? ((const uint8_t *)column)[i] : ((const uint32_t *)column)[i];
        if (value < most || (may_lack && value == UINT32_MAX))
            continue;
        fprintf(stderr, "%s.%s: row %zu of %zu has %u of %llu\n", info->table_name, info->name, i, rows, value,
                (unsigned long long)most);
        abort();
    }
}

static inline void fuzz_whole_store(struct gt_store *store) {
    for (size_t i = 0; i < gt_column_count; i++)
        fuzz_whole_column(store, &gt_column_infos[i]);
    for (size_t i = 0; i < store->ops.count; i++)
        fuzz_expect(store->ops.start_ns[i] <= store->ops.end_ns[i] && store->ops.start_ns[i] >= store->origin_ns);
    for (size_t i = 0; i < store->calls.count; i++)
        fuzz_expect(store->calls.start_ns[i] <= store->calls.end_ns[i]);
    for (size_t i = 0; i < store->ranges.count; i++)
        fuzz_expect(store->ranges.start_ns[i] <= store->ranges.end_ns[i]);
}

#endif
