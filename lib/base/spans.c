/* Sorts rows of spans: a list of rows and the columns of their times come in, the list goes out in order. */
#include "base/spans.h"

#include "base/mem.h"
#include "base/radix.h"

/* Rows that may be passed for each that is sorted, before radix passes are cheaper. */
#define MOVES_PER_ROW 4

/* Inserts each row after those that do not come after it. false: they are in too much disorder; equal ones still have
   their order. */
static bool insert_rows(uint32_t *rows, size_t count, const int64_t *start_ns, const int64_t *end_ns) {
    size_t moves_left = MOVES_PER_ROW * count;

    for (size_t i = 1; i < count; i++) {
        uint32_t row = rows[i];
        int64_t row_start_ns = start_ns[row], row_end_ns = end_ns[row];
        size_t at = i;
        for (; at > 0; at--) {
            uint32_t before = rows[at - 1];
            if (start_ns[before] < row_start_ns || (start_ns[before] == row_start_ns && end_ns[before] >= row_end_ns) ||
                moves_left == 0)
                break;
            rows[at] = before;
            moves_left--;
        }
        rows[at] = row;
        if (moves_left == 0)
            return false;
    }
    return true;
}

/* One stable sort for each key, the last key first. */
bool gt_spans_sort_by(uint32_t *rows, size_t count, gt_span_fn *span_of, const void *context) {
    struct gt_radix_item *items = gt_mem_uninitialised(count, sizeof(*items));
    bool sorted;

    if (!items)
        return false;
    for (size_t i = 0; i < count; i++)
        items[i] = (struct gt_radix_item){~gt_radix_key(span_of(context, rows[i]).end_ns), rows[i]};
    sorted = gt_radix_sort(items, count);
    for (size_t i = 0; i < count; i++)
        items[i].key = gt_radix_key(span_of(context, items[i].value).start_ns);
    sorted = sorted && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && sorted; i++)
        rows[i] = items[i].value;
    gt_mem_free(items);
    return sorted;
}

struct columns {
    const int64_t *start_ns, *end_ns;
};

static struct gt_interval span_of_columns(const void *context, uint32_t row) {
    const struct columns *columns = context;
    return (struct gt_interval){columns->start_ns[row], columns->end_ns[row]};
}

bool gt_spans_sort(uint32_t *rows, size_t count, const int64_t *start_ns, const int64_t *end_ns) {
    const struct columns columns = {start_ns, end_ns};
    return insert_rows(rows, count, start_ns, end_ns) || gt_spans_sort_by(rows, count, span_of_columns, &columns);
}
