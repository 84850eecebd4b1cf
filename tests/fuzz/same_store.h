/* Two stores that must be the same, whatever way they were made in: any difference ends the process. */
#ifndef TESTS_FUZZ_SAME_STORE_H
#define TESTS_FUZZ_SAME_STORE_H

#include <stdlib.h>
#include <string.h>

#include "events/store.h"

static inline void fuzz_expect(bool holds) {
    if (!holds)
        abort();
}

static inline void fuzz_same_columns(struct gt_store *a, struct gt_store *b) {
    for (size_t i = 0; i < gt_column_count; i++) {
        const struct gt_column_info *info = &gt_column_infos[i];
        size_t rows = *gt_store_row_count(a, info->table);
        fuzz_expect(rows == *gt_store_row_count(b, info->table));
        fuzz_expect(!rows ||
                    memcmp(*gt_store_column(a, info), *gt_store_column(b, info), rows * info->elem_bytes) == 0);
    }
}

static inline void fuzz_same_meta(const struct gt_meta *a, const struct gt_meta *b) {
    fuzz_expect(strcmp(a->format, b->format) == 0 && a->base_ns == b->base_ns && a->rank == b->rank);
    fuzz_expect(a->world_size == b->world_size && a->duration_ns == b->duration_ns && a->producer == b->producer);
}

/* NULL: there is no store, for an input that cannot be read. */
static inline void fuzz_same_store(struct gt_store *a, struct gt_store *b) {
    fuzz_expect(!a == !b);
    if (!a)
        return;
    fuzz_same_columns(a, b);
    fuzz_expect(a->strings.count == b->strings.count);
    for (gt_strid i = 0; i < a->strings.count; i++)
        fuzz_expect(gt_str_eq(gt_store_string(a, i), gt_store_string(b, i)));
    fuzz_expect(memcmp(a->issues, b->issues, sizeof a->issues) == 0 && a->facts == b->facts);
    fuzz_expect(a->skipped_events == b->skipped_events && a->origin_ns == b->origin_ns);
    fuzz_same_meta(&a->meta, &b->meta);
}

#endif
