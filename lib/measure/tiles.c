/* Joins small neighbours of rows of intervals: a first walk counts what every grain of time gives, a second one makes
   the items of the chosen one. */
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

enum { GRAINS = 63 }; /* powers of two; the range of all times has four of the largest */

/* Bits 0 .. highest set bit of a number: the grains, by their exponents, that it is not below. */
static uint64_t grains_up_to(uint64_t number) {
    return number ? UINT64_MAX >> __builtin_clzll(number) : 0;
}

/* How many items each grain gives, for all grains in one walk: bit g of a mask stands for the grain 2^g. Two starts lie
   in different grains up to the highest bit in which they differ. */
static void count_items(const struct gt_spans *spans, const struct gt_span_row *rows, size_t row_count,
                        size_t counts[GRAINS]) {
    size_t new_grains[64 + 1] = {0}; /* by how many grains, from the smallest, a span begins a new one of */
    for (size_t r = 0; r < row_count; r++) {
        uint64_t is_long = 0, before = 0; /* of the open item; start of the span before */
        for (size_t i = rows[r].first; i < rows[r].first + rows[r].count; i++) {
            struct gt_interval span = spans->interval(spans->data, i);
            uint64_t start = (uint64_t)span.start_ns - (uint64_t)spans->zero_ns;
            int64_t length_ns = gt_ns_between(span.start_ns, span.end_ns);
            uint64_t fits = grains_up_to(length_ns > 0 ? (uint64_t)length_ns : 0);
            uint64_t is_new = i == rows[r].first ? UINT64_MAX : grains_up_to(start ^ before);
            uint64_t is_longer = fits & ~is_long & ~is_new, begins = is_new | is_longer;
            new_grains[__builtin_popcountll(is_new)]++;
            for (; is_longer; is_longer &= is_longer - 1)
                counts[__builtin_ctzll(is_longer)]++;
            is_long = (fits & begins) | (is_long & ~begins);
            before = start;
        }
    }
    size_t count = new_grains[64];
    for (int grain = GRAINS; grain-- > 0;) {
        count += new_grains[grain + 1];
        counts[grain] += count;
    }
}

int64_t gt_tiles_choose_grain(const struct gt_spans *spans, const struct gt_span_row *rows, size_t row_count,
                              size_t most, size_t *item_count) {
    size_t span_count = 0, counts[GRAINS] = {0};
    int grain = 0;
    for (size_t r = 0; r < row_count; r++)
        span_count += rows[r].count;
    *item_count = span_count;
    if (span_count <= most)
        return 0;
    count_items(spans, rows, row_count, counts);
    while (grain < GRAINS - 1 && counts[grain] > most)
        grain++;
    *item_count = counts[grain];
    return (int64_t)1 << grain;
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
