/* Histogram of stream gaps: bins that grow by 1-2-5 by default, bins of equal width on request. */
#include "base/mem.h"
#include "base/ns.h"
#include "measure/results/measure.h"
#include "measure/results/stream_walk.h"
#include "report/row.h"

enum { LOG_BINS_MAX = 64 };
enum { BINS_LOG, BINS_LINEAR }; /* the choices of the option bins */

struct bin {
    struct gt_cell from_ns, to_ns;
    size_t count;
    int64_t total_ns;
};

/* The gaps that count, and what is known of them. */
struct chosen {
    struct gt_gap_bounds bounds;
    size_t count;
    int64_t min_ns, max_ns; /* found */
    __int128 total_ns;
};

static const struct gt_report_column columns[] = {
    {"from_ns", "From", GT_UNIT_NS, NULL, GT_COLUMN_EDGE | GT_COLUMN_KEY},
    {"to_ns", "To", GT_UNIT_NS, NULL, GT_COLUMN_EDGE | GT_COLUMN_KEY},
    {"count", "Gaps", GT_UNIT_COUNT, NULL, GT_COLUMN_BAR | GT_COLUMN_ADDS},
    {"total_ns", "Gap time", GT_UNIT_NS, NULL, GT_COLUMN_ADDS | GT_COLUMN_LEADS},
    {"share", "Share", GT_UNIT_SHARE, "total time of the gaps shown", 0},
};

static enum gt_status read_options(const struct gt_view *view, struct chosen *chosen, struct gt_error *err) {
    *chosen = (struct chosen){0};
    return gt_stream_walk_read_bounds(&chosen->bounds, view, err);
}

static struct gt_stream_walk walk_chosen(const struct gt_view *view, const struct chosen *chosen) {
    return (struct gt_stream_walk){.view = view, .bounds = &chosen->bounds};
}

static void survey(const struct gt_view *view, struct chosen *chosen) {
    struct gt_stream_gap gap;
    for (struct gt_stream_walk walk = walk_chosen(view, chosen); gt_stream_walk_next(&walk, &gap); chosen->count++) {
        chosen->min_ns = chosen->count == 0 || gap.gap_ns < chosen->min_ns ? gap.gap_ns : chosen->min_ns;
        chosen->max_ns = chosen->count == 0 || gap.gap_ns > chosen->max_ns ? gap.gap_ns : chosen->max_ns;
        chosen->total_ns += gap.gap_ns;
    }
}

/* 1, 2, 5, 10, 20, 50 ... ns; the last edge is the largest number. */
static size_t log_edges(int64_t *edges) {
    static const int64_t steps[] = {1, 2, 5};
    size_t count = 0;
    for (int64_t decade = 1;; decade *= 10) {
        for (size_t i = 0; i < GT_ARRAY_COUNT(steps); i++) {
            if (decade > INT64_MAX / steps[i])
                break;
            edges[count++] = decade * steps[i];
        }
        if (decade > INT64_MAX / 10)
            break;
    }
    edges[count++] = INT64_MAX;
    return count;
}

/* The last bin that begins at or below the gap. */
static size_t bin_of(const int64_t *edges, size_t count, int64_t gap_ns) {
    size_t low = 0, high = count - 2;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (edges[middle] <= gap_ns)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* From the first bin that has a gap to the last, [from, to). */
static size_t fill_log(const struct gt_view *view, const struct chosen *chosen, struct bin *bins) {
    int64_t edges[LOG_BINS_MAX];
    size_t edge_count = log_edges(edges);
    size_t first = bin_of(edges, edge_count, chosen->min_ns), last = bin_of(edges, edge_count, chosen->max_ns);
    for (size_t i = first; i <= last; i++)
        bins[i - first] = (struct bin){.from_ns = gt_cell_int(edges[i]), .to_ns = gt_cell_int(edges[i + 1])};
    struct gt_stream_gap gap;
    for (struct gt_stream_walk walk = walk_chosen(view, chosen); gt_stream_walk_next(&walk, &gap);) {
        struct bin *bin = &bins[bin_of(edges, edge_count, gap.gap_ns) - first];
        bin->count++;
        bin->total_ns = gt_ns_add(bin->total_ns, gap.gap_ns);
    }
    return last - first + 1;
}

/* min + i / count of the range, exactly where it is a whole number. */
static struct gt_cell linear_edge(const struct chosen *chosen, size_t i, size_t count) {
    __int128 scaled = (__int128)(chosen->max_ns - chosen->min_ns) * (__int128)i;
    if (scaled % (__int128)count == 0)
        return gt_cell_int(chosen->min_ns + (int64_t)(scaled / (__int128)count));
    return gt_cell_real((double)chosen->min_ns + (double)scaled / (double)count);
}

/* Equal widths from the shortest to the longest gap; the last bin has its upper edge inside. */
static size_t fill_linear(const struct gt_view *view, const struct chosen *chosen, size_t count, struct bin *bins) {
    int64_t range_ns = chosen->max_ns - chosen->min_ns;
    if (range_ns == 0)
        count = 1;
    for (size_t i = 0; i < count; i++)
        bins[i] = (struct bin){.from_ns = linear_edge(chosen, i, count), .to_ns = linear_edge(chosen, i + 1, count)};
    struct gt_stream_gap gap;
    for (struct gt_stream_walk walk = walk_chosen(view, chosen); gt_stream_walk_next(&walk, &gap);) {
        __int128 scaled = (__int128)(gap.gap_ns - chosen->min_ns) * (__int128)count;
        size_t i = range_ns ? (size_t)(scaled / range_ns) : 0;
        struct bin *bin = &bins[i < count ? i : count - 1];
        bin->count++;
        bin->total_ns = gt_ns_add(bin->total_ns, gap.gap_ns);
    }
    return count;
}

static void add_rows(struct gt_table *table, const struct bin *bins, size_t count, const struct chosen *chosen) {
    for (size_t i = 0; i < count; i++) {
        struct gt_row row = gt_row_begin(table);
        gt_row_cell(&row, "from_ns", bins[i].from_ns);
        gt_row_cell(&row, "to_ns", bins[i].to_ns);
        gt_row_count(&row, "count", bins[i].count);
        gt_row_int(&row, "total_ns", bins[i].total_ns);
        gt_row_share(&row, "share", (double)bins[i].total_ns, (double)chosen->total_ns);
        gt_row_end(&row);
    }
}

enum gt_status gt_histogram_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    struct chosen chosen;
    enum gt_status status = read_options(view, &chosen, err);
    if (status != GT_OK)
        return status;
    bool is_linear = gt_option_choice(view, GT_OPTION_bins) == BINS_LINEAR;
    size_t linear_count = (size_t)gt_option_int(view, GT_OPTION_bin_count);
    struct bin *bins = gt_mem_array(is_linear ? linear_count : LOG_BINS_MAX, sizeof *bins);
    if (!bins)
        return gt_fail_memory(err);
    survey(view, &chosen);
    size_t count = 0;
    if (chosen.count)
        count = is_linear ? fill_linear(view, &chosen, linear_count, bins) : fill_log(view, &chosen, bins);
    struct gt_table *table =
        gt_section_table(section, "histogram", "Stream gaps by length", columns, GT_ARRAY_COUNT(columns));
    table->empty = gt_stream_walk_why_none(view);
    add_rows(table, bins, count, &chosen);
    gt_mem_free(bins);
    return GT_OK;
}
