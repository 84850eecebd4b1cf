/* Two stores that must be the same, whatever way they were made in: any difference ends the process. */
#ifndef TESTS_FUZZ_SAME_STORE_H
#define TESTS_FUZZ_SAME_STORE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/store.h"

#define fuzz_expect(condition)                                                                                         \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition), abort()))

static inline void fuzz_same_column(struct gt_store *a, struct gt_store *b, const struct gt_column_info *info) {
    size_t rows = *gt_store_row_count(a, info->table), size = info->elem_bytes;
    const char *in_a = *gt_store_column(a, info), *in_b = *gt_store_column(b, info);
    if (rows != *gt_store_row_count(b, info->table))
        fprintf(stderr, "%s: %zu and %zu rows\n", info->table_name, rows, *gt_store_row_count(b, info->table));
    fuzz_expect(rows == *gt_store_row_count(b, info->table));
    for (size_t i = 0; i < rows; i++)
        if (memcmp(in_a + i * size, in_b + i * size, size) != 0) {
            fprintf(stderr, "%s.%s differs in row %zu of %zu\n", info->table_name, info->name, i, rows);
            abort();
        }
}

static inline void fuzz_same_meta(const struct gt_meta *a, const struct gt_meta *b) {
    fuzz_expect(strcmp(a->format, b->format) == 0 && a->base_ns == b->base_ns && a->rank == b->rank);
    fuzz_expect(a->world_size == b->world_size && a->duration_ns == b->duration_ns && a->producer == b->producer);
    fuzz_expect(a->host == b->host);
}

/* NULL: there is no store, for an input that cannot be read. */
static inline void fuzz_same_store(struct gt_store *a, struct gt_store *b) {
    fuzz_expect(!a == !b);
    if (!a)
        return;
    for (size_t i = 0; i < gt_column_count; i++)
        fuzz_same_column(a, b, &gt_column_infos[i]);
    fuzz_expect(a->strings.count == b->strings.count);
    for (gt_strid i = 0; i < a->strings.count; i++)
        fuzz_expect(gt_str_eq(gt_store_string(a, i), gt_store_string(b, i)));
    fuzz_expect(memcmp(a->issues, b->issues, sizeof a->issues) == 0 && a->facts == b->facts);
    fuzz_expect(a->skipped_events == b->skipped_events && a->origin_ns == b->origin_ns);
    fuzz_same_meta(&a->meta, &b->meta);
}

#endif
