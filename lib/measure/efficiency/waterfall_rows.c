/* Writes the rows of a waterfall. */
#include "measure/efficiency/waterfall_rows.h"

#include <stdlib.h>
#include <string.h>

struct gt_str gt_waterfall_rows_words(struct gt_arena *arena, const char *part, const char *key) {
    static const struct {
        const char *part, *words;
    } terms[] = {{"inefficiency", "lost"},
                 {"exposed_comm", "exposed communication"},
                 {"exposed_memory", "exposed copies"},
                 {NULL, NULL}};
    const char *words = part;
    for (size_t i = 0; terms[i].part; i++)
        words = strcmp(terms[i].part, part) == 0 ? terms[i].words : words;
    return *key ? gt_arena_printf(arena, "%s (%s)", words, key) : gt_str_of(words);
}

void gt_waterfall_rows_add(const struct gt_waterfall_rows *rows, const char *part, const char *key, int64_t ns) {
    struct gt_row row = gt_row_begin(rows->table);
    gt_row_int(&row, "device", rows->device);
    gt_row_text(&row, "basis", gt_str_of(rows->basis));
    gt_row_text(&row, "part", gt_str_of(part));
    gt_row_text(&row, "key", gt_str_of(key));
    gt_row_text(&row, "name", gt_waterfall_rows_words(&rows->table->report->arena, part, key));
    gt_row_int(&row, "ns", ns);
    gt_row_share(&row, "share", (double)ns, (double)rows->span_ns);
    gt_row_end(&row);
}

static int by_time(const void *a, const void *b) {
    const struct gt_waterfall_part *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? 1 : -1;
    return gt_str_cmp(gt_str_of(x->key), gt_str_of(y->key));
}

void gt_waterfall_rows_add_sorted(const struct gt_waterfall_rows *rows, struct gt_waterfall_part *parts, size_t count) {
    if (count)
        qsort(parts, count, sizeof *parts, by_time);
    for (size_t i = 0; i < count; i++)
        gt_waterfall_rows_add(rows, parts[i].part, parts[i].key, parts[i].ns);
}

void gt_waterfall_rows_add_rest(const struct gt_waterfall_rows *rows, const struct gt_waterfall_rest *rest) {
    struct gt_waterfall_part idle[GT_IDLE_CAUSE_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < GT_IDLE_CAUSE_COUNT; i++)
        if (rest->idle_ns[i] > 0)
            idle[count++] = (struct gt_waterfall_part){"idle", gt_idle_cause_names[i], rest->idle_ns[i]};
    gt_waterfall_rows_add(rows, "exposed_comm", "", rest->exposed_comm_ns);
    gt_waterfall_rows_add(rows, "exposed_memory", "", rest->exposed_memory_ns);
    gt_waterfall_rows_add_sorted(rows, idle, count);
}
