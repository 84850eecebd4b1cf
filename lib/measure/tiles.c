/* Joins small neighbours of rows of intervals: a first walk counts what a grain of time gives, a second one makes it.
 */
#include "measure/tiles.h"

#include "measure/measure.h"

/* ---- where an item begins ---- */

/* A walk along one row at one grain. */
struct walk {
    const struct gt_spans *spans;
    int64_t grain_ns;
    uint64_t grain; /* the one in which the open item begins, counted from zero_ns */
    bool is_open, is_long;
};

static bool begins_item(struct walk *walk, struct gt_interval span) {
    if (walk->grain_ns == 0)
        return true;
    int shift = __builtin_ctzll((unsigned long long)walk->grain_ns);
    uint64_t grain = ((uint64_t)span.start_ns - (uint64_t)walk->spans->zero_ns) >> shift;
    bool is_long = gt_ns_between(span.start_ns, span.end_ns) >= walk->grain_ns;
    if (walk->is_open && walk->grain == grain && (walk->is_long || !is_long))
        return false;
    walk->is_open = true;
    walk->is_long = is_long;
    walk->grain = grain;
    return true;
}

/* Stops where there are more than `most`. */
static size_t count_items(const struct gt_spans *spans, const struct gt_span_row *rows, size_t row_count,
                          int64_t grain_ns, size_t most) {
    size_t count = 0;
    for (size_t r = 0; r < row_count; r++) {
        struct walk walk = {.spans = spans, .grain_ns = grain_ns};
        for (size_t i = rows[r].first; i < rows[r].first + rows[r].count && count <= most; i++)
            count += begins_item(&walk, spans->interval(spans->data, i));
    }
    return count;
}

int64_t gt_tiles_choose_grain(const struct gt_spans *spans, const struct gt_span_row *rows, size_t row_count,
                              size_t most, size_t *item_count) {
    size_t span_count = 0;
    for (size_t r = 0; r < row_count; r++)
        span_count += rows[r].count;
    *item_count = span_count;
    if (span_count <= most)
        return 0;
    int too_fine = -1, fits = 62; /* the range of all times has four such grains */
    while (fits - too_fine > 1) {
        int middle = (too_fine + fits) / 2;
        if (count_items(spans, rows, row_count, (int64_t)1 << middle, most) <= most)
            fits = middle;
        else
            too_fine = middle;
    }
    *item_count = count_items(spans, rows, row_count, (int64_t)1 << fits, SIZE_MAX - 1);
    return (int64_t)1 << fits;
}

/* ---- what an item is ---- */

/* What an item is made of, by category. */
struct mix {
    int64_t busy_ns[UINT8_MAX + 1], longest_ns[UINT8_MAX + 1];
    size_t longest[UINT8_MAX + 1]; /* number of that span */
    uint8_t present[UINT8_MAX + 1];
    size_t present_count;
    bool is_present[UINT8_MAX + 1];
};

static void mix_add(struct mix *mix, uint8_t category, size_t index, int64_t busy_ns, int64_t length_ns) {
    if (!mix->is_present[category]) {
        mix->is_present[category] = true;
        mix->present[mix->present_count++] = category;
        mix->busy_ns[category] = 0;
        mix->longest_ns[category] = -1;
    }
    mix->busy_ns[category] = gt_ns_add(mix->busy_ns[category], busy_ns);
    if (length_ns > mix->longest_ns[category]) {
        mix->longest_ns[category] = length_ns;
        mix->longest[category] = index;
    }
}

/* The longest span of the category with most time, then with the longest span, then the first; the mix is then empty.
 */
static size_t mix_take(struct mix *mix) {
    uint8_t best = mix->present[0];
    for (size_t i = 0; i < mix->present_count; i++) {
        uint8_t other = mix->present[i];
        if (mix->busy_ns[other] > mix->busy_ns[best] ||
            (mix->busy_ns[other] == mix->busy_ns[best] && mix->longest_ns[other] > mix->longest_ns[best]))
            best = other;
        mix->is_present[other] = false;
    }
    mix->present_count = 0;
    return mix->longest[best];
}

size_t gt_tiles_make(const struct gt_spans *spans, struct gt_span_row row, int64_t grain_ns,
                     struct gt_timeline_item *items) {
    struct walk walk = {.spans = spans, .grain_ns = grain_ns};
    struct mix mix = {.present_count = 0};
    size_t count = 0;
    int64_t reached_ns = 0;
    for (size_t i = row.first; i < row.first + row.count; i++) {
        struct gt_interval span = spans->interval(spans->data, i);
        int64_t start_ns = gt_ns_between(spans->zero_ns, span.start_ns);
        int64_t end_ns = gt_ns_between(spans->zero_ns, span.end_ns);
        int64_t from_ns = start_ns > reached_ns ? start_ns : reached_ns;
        int64_t busy_ns = end_ns > from_ns ? end_ns - from_ns : 0;
        reached_ns = end_ns > reached_ns ? end_ns : reached_ns;
        if (begins_item(&walk, span)) {
            if (count)
                items[count - 1].name = spans->name(spans->data, mix_take(&mix));
            items[count++] = (struct gt_timeline_item){.start_ns = start_ns, .end_ns = end_ns};
        }
        struct gt_timeline_item *item = &items[count - 1];
        item->end_ns = end_ns > item->end_ns ? end_ns : item->end_ns;
        item->busy_ns += busy_ns;
        item->count++;
        mix_add(&mix, spans->category(spans->data, i), i, busy_ns, end_ns - start_ns);
    }
    if (count)
        items[count - 1].name = spans->name(spans->data, mix_take(&mix));
    return count;
}
