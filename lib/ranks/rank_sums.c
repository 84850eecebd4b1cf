/* Writes and reads sums of time as bytes: of a point a byte with a bit for each part that grew, then by how much, seven
   bits a byte; of exposed communication how long after the one before, and how long. */
#include "ranks/rank_sums.h"

#include <string.h>

/* All parts but WAIT, which is 0, fit into the bits of a byte. */
static int part_of_bit(int bit) {
    return bit < GT_PART_WAIT ? bit : bit + 1;
}
enum { BITS = GT_PART_COUNT - 1 };
_Static_assert(BITS <= 8, "a bit for each part");

/* ---- numbers ---- */

static void put_number(uint8_t *(*add)(struct gt_rank_summary *), struct gt_rank_summary *summary, uint64_t number) {
    for (; number >= 0x80; number >>= 7)
        *add(summary) = (uint8_t)(number | 0x80);
    *add(summary) = (uint8_t)number;
}

/* false: there is none. */
static inline bool take_number(const uint8_t *bytes, size_t count, size_t *at, uint64_t *number) {
    *number = 0;
    for (unsigned shift = 0; shift < 63 && *at < count; shift += 7) {
        uint8_t byte = bytes[(*at)++];
        *number |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* ---- points ---- */

void gt_rank_sums_add(struct gt_rank_summary *summary, int64_t before_ns[GT_PART_COUNT],
                      const int64_t ns[GT_PART_COUNT]) {
    if (summary->head.points++ % GT_RANK_SUMS_STRIDE == 0) {
        struct gt_rank_anchor *anchor = gt_rank_summary_add_anchors(summary);
        memcpy(anchor->ns, before_ns, sizeof anchor->ns);
        anchor->first_byte = (uint32_t)summary->points_count;
    }
    uint8_t grown = 0;
    for (int bit = 0; bit < BITS; bit++)
        grown |= (uint8_t)((ns[part_of_bit(bit)] > before_ns[part_of_bit(bit)]) << bit);
    *gt_rank_summary_add_points(summary) = grown;
    for (int bit = 0; bit < BITS; bit++)
        if (grown >> bit & 1)
            put_number(gt_rank_summary_add_points, summary,
                       (uint64_t)(ns[part_of_bit(bit)] - before_ns[part_of_bit(bit)]));
    memcpy(before_ns, ns, GT_PART_COUNT * sizeof *ns);
}

/* The same point again, with what it adds. */
static inline bool take_point(const struct gt_rank_summary *summary, size_t *at, int64_t ns[GT_PART_COUNT],
                              int64_t *time_ns) {
    if (*at >= summary->points_count)
        return false;
    for (unsigned grown = summary->points[(*at)++]; grown; grown &= grown - 1) {
        uint64_t more_ns;
        int part = part_of_bit(__builtin_ctz(grown));
        if (!take_number(summary->points, summary->points_count, at, &more_ns) || more_ns > INT64_MAX / 2 ||
            __builtin_add_overflow(ns[part], (int64_t)more_ns, &ns[part]) ||
            __builtin_add_overflow(*time_ns, (int64_t)more_ns, time_ns))
            return false;
    }
    return true;
}

void gt_rank_sums_until(const struct gt_rank_summary *summary, size_t point, int64_t ns[GT_PART_COUNT]) {
    const struct gt_rank_anchor *anchor = &summary->anchors[point / GT_RANK_SUMS_STRIDE];
    size_t at = anchor->first_byte;
    int64_t time_ns = 0;
    memcpy(ns, anchor->ns, sizeof anchor->ns);
    for (size_t i = 0; i <= point % GT_RANK_SUMS_STRIDE && take_point(summary, &at, ns, &time_ns); i++)
        continue;
}

void gt_rank_sums_between(const struct gt_rank_summary *summary, size_t from, size_t to, int64_t from_ns[GT_PART_COUNT],
                          int64_t to_ns[GT_PART_COUNT]) {
    const struct gt_rank_anchor *anchor = &summary->anchors[from / GT_RANK_SUMS_STRIDE];
    size_t at = anchor->first_byte, point = from - from % GT_RANK_SUMS_STRIDE;
    int64_t time_ns = 0;
    memcpy(from_ns, anchor->ns, sizeof anchor->ns);
    for (; point <= from && take_point(summary, &at, from_ns, &time_ns); point++)
        continue;
    if (to - from > GT_RANK_SUMS_STRIDE) {
        gt_rank_sums_until(summary, to, to_ns);
        return;
    }
    memcpy(to_ns, from_ns, sizeof anchor->ns);
    for (; point <= to && take_point(summary, &at, to_ns, &time_ns); point++)
        continue;
}

int64_t gt_rank_sums_time(const struct gt_rank_summary *summary, size_t point) {
    int64_t ns[GT_PART_COUNT], time_ns = summary->head.first_ns;
    gt_rank_sums_until(summary, point, ns);
    for (int part = 0; part < GT_PART_COUNT; part++)
        time_ns += ns[part];
    return time_ns;
}

void gt_rank_sums_begin(struct gt_rank_sums_walk *walk, const struct gt_rank_summary *summary) {
    *walk = (struct gt_rank_sums_walk){.summary = summary, .time_ns = summary->head.first_ns};
}

bool gt_rank_sums_next(struct gt_rank_sums_walk *walk) {
    if (walk->next >= walk->summary->head.points)
        return false;
    walk->next++;
    return take_point(walk->summary, &walk->byte, walk->ns, &walk->time_ns);
}

bool gt_rank_sums_are_sound(const struct gt_rank_summary *summary) {
    const struct gt_rank_head *head = &summary->head;
    struct gt_rank_sums_walk walk;
    if (head->points == 0 || head->points >= GT_RANK_NONE ||
        summary->anchors_count != (head->points + GT_RANK_SUMS_STRIDE - 1) / GT_RANK_SUMS_STRIDE)
        return false;
    gt_rank_sums_begin(&walk, summary);
    for (size_t i = 0; i < head->points; i++) {
        const struct gt_rank_anchor *anchor = &summary->anchors[i / GT_RANK_SUMS_STRIDE];
        int64_t before_ns = walk.time_ns;
        if (i % GT_RANK_SUMS_STRIDE == 0 &&
            (anchor->first_byte != walk.byte || memcmp(anchor->ns, walk.ns, sizeof walk.ns) != 0))
            return false;
        if (!gt_rank_sums_next(&walk) || (i == 0 ? walk.time_ns != head->first_ns : walk.time_ns <= before_ns))
            return false;
    }
    return walk.byte == summary->points_count && walk.time_ns == head->last_ns;
}

/* ---- exposed communication ---- */

void gt_rank_sums_add_exposed(struct gt_rank_summary *summary, int64_t reached_ns, int64_t start_ns, int64_t end_ns) {
    put_number(gt_rank_summary_add_exposed, summary, (uint64_t)(start_ns - reached_ns));
    put_number(gt_rank_summary_add_exposed, summary, (uint64_t)(end_ns - start_ns));
}

bool gt_rank_sums_list_exposed(const struct gt_rank_summary *summary, struct gt_intervals *exposed) {
    int64_t at_ns = summary->head.first_ns;
    for (size_t at = 0; at < summary->exposed_count;) {
        uint64_t after_ns, length_ns;
        int64_t start_ns, end_ns;
        if (!take_number(summary->exposed, summary->exposed_count, &at, &after_ns) ||
            !take_number(summary->exposed, summary->exposed_count, &at, &length_ns) || length_ns == 0 ||
            __builtin_add_overflow(at_ns, after_ns, &start_ns) ||
            __builtin_add_overflow(start_ns, length_ns, &end_ns) || end_ns > summary->head.last_ns)
            return false;
        gt_intervals_add(exposed, start_ns, end_ns);
        at_ns = end_ns;
    }
    return !exposed->failed;
}
