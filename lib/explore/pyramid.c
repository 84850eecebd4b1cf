/* Builds and asks pyramids: in come the spans of a lane, out go the items of a window. */
#include "explore/pyramid.h"

#include <string.h>

#include "base/mem.h"
#include "base/ns.h"

/* ---- spans ---- */

/* A span as items count it. */
struct place {
    int64_t start_ns, end_ns;
    uint8_t category;
};

static struct place place_of(const struct gt_spans *spans, const struct gt_span *span) {
    return (struct place){gt_ns_between(spans->zero_ns, span->start_ns), gt_ns_between(spans->zero_ns, span->end_ns),
                          span->category};
}

static struct place place_at(const struct gt_pyramid *pyramid, const struct gt_spans *spans, size_t index) {
    struct gt_span span;
    spans->read(spans->data, pyramid->row.first + index, 1, &span);
    return place_of(spans, &span);
}

/* Of a span as recorded: that of a saturated one says less. */
static int64_t length_of(const struct gt_span *span) {
    return gt_ns_between(span->start_ns, span->end_ns);
}

static size_t spans_of_level(size_t level) {
    return (size_t)GT_PYRAMID_BLOCK << (2 * level);
}

/* ---- making ---- */

/* Along the spans of a lane. */
struct walk {
    const struct gt_spans *spans;
    int64_t reached_ns;
    struct gt_span_mix mix;
};

static void walk_span(struct walk *walk, const struct gt_span *span, size_t number) {
    struct place at = place_of(walk->spans, span);
    int64_t from_ns = at.start_ns > walk->reached_ns ? at.start_ns : walk->reached_ns;
    int64_t busy_ns = at.end_ns > from_ns ? gt_ns_between(from_ns, at.end_ns) : 0;
    walk->reached_ns = at.end_ns > walk->reached_ns ? at.end_ns : walk->reached_ns;
    gt_span_mix_add(&walk->mix, &(struct gt_span_mix_part){busy_ns, gt_ns_between(at.start_ns, at.end_ns),
                                                           (uint32_t)number, at.category});
}

/* Ends a block: the parts of the mix are its. */
static bool end_block(struct gt_pyramid_level *level, size_t block, struct gt_span_mix *mix) {
    size_t first = level->blocks[block].first_part, count = first + mix->count;
    if (count > level->part_capacity) {
        size_t capacity = level->part_capacity * 3 / 2 > count + 64 ? level->part_capacity * 3 / 2 : count + 64;
        struct gt_span_mix_part *grown = gt_mem_realloc(level->parts, capacity * sizeof *grown);
        if (!grown)
            return false;
        level->parts = grown;
        level->part_capacity = capacity;
    }
    memcpy(level->parts + first, mix->parts, mix->count * sizeof *mix->parts);
    level->blocks[block + 1].first_part = (uint32_t)count;
    gt_span_mix_clear(mix);
    return true;
}

static bool level_alloc(struct gt_pyramid_level *level, size_t count) {
    level->count = count;
    level->blocks = gt_mem_array(count + 1, sizeof *level->blocks);
    return level->blocks != NULL;
}

static bool make_lowest(struct gt_pyramid *pyramid, const struct gt_spans *spans) {
    struct gt_pyramid_level *level = &pyramid->levels[0];
    struct walk walk = {.spans = spans, .reached_ns = INT64_MIN};
    struct gt_span block[GT_PYRAMID_BLOCK];
    size_t total = pyramid->row.count;
    if (!level_alloc(level, (total + GT_PYRAMID_BLOCK - 1) / GT_PYRAMID_BLOCK))
        return false;
    for (size_t b = 0; b < level->count; b++) {
        size_t first = b * GT_PYRAMID_BLOCK,
               count = total - first < GT_PYRAMID_BLOCK ? total - first : GT_PYRAMID_BLOCK;
        struct gt_pyramid_block *made = &level->blocks[b];
        made->reached_ns = walk.reached_ns;
        made->end_ns = INT64_MIN;
        made->longest_ns = INT64_MIN;
        spans->read(spans->data, pyramid->row.first + first, count, block);
        made->start_ns = gt_ns_between(spans->zero_ns, block[0].start_ns);
        for (size_t i = 0; i < count; i++) {
            int64_t length_ns = length_of(&block[i]), end_ns = gt_ns_between(spans->zero_ns, block[i].end_ns);
            made->longest_ns = length_ns > made->longest_ns ? length_ns : made->longest_ns;
            made->end_ns = end_ns > made->end_ns ? end_ns : made->end_ns;
            walk_span(&walk, &block[i], pyramid->row.first + first + i);
        }
        if (!end_block(level, b, &walk.mix))
            return false;
    }
    return true;
}

static void add_parts(struct gt_span_mix *mix, const struct gt_pyramid_level *level, size_t block) {
    for (uint32_t p = level->blocks[block].first_part; p < level->blocks[block + 1].first_part; p++)
        gt_span_mix_add(mix, &level->parts[p]);
}

static bool make_higher(struct gt_pyramid_level *level, const struct gt_pyramid_level *below) {
    struct gt_span_mix mix = {.count = 0};
    if (!level_alloc(level, (below->count + GT_PYRAMID_FAN - 1) / GT_PYRAMID_FAN))
        return false;
    for (size_t b = 0; b < level->count; b++) {
        struct gt_pyramid_block *made = &level->blocks[b];
        size_t first = b * GT_PYRAMID_FAN,
               end = first + GT_PYRAMID_FAN < below->count ? first + GT_PYRAMID_FAN : below->count;
        uint32_t first_part = made->first_part;
        *made = below->blocks[first];
        made->first_part = first_part;
        for (size_t i = first; i < end; i++) {
            const struct gt_pyramid_block *from = &below->blocks[i];
            made->longest_ns = from->longest_ns > made->longest_ns ? from->longest_ns : made->longest_ns;
            made->end_ns = from->end_ns > made->end_ns ? from->end_ns : made->end_ns;
            add_parts(&mix, below, i);
        }
        if (!end_block(level, b, &mix))
            return false;
    }
    return true;
}

static void trim(struct gt_pyramid_level *level) {
    size_t used = level->blocks[level->count].first_part;
    struct gt_span_mix_part *less = gt_mem_realloc(level->parts, (used ? used : 1) * sizeof *less);
    if (less) {
        level->parts = less;
        level->part_capacity = used;
    }
}

static void sum_up(struct gt_pyramid *pyramid, const struct gt_spans *spans) {
    const struct gt_pyramid_level *top = &pyramid->levels[pyramid->level_count - 1];
    pyramid->longest_ns = pyramid->end_ns = INT64_MIN;
    pyramid->start_ns = pyramid->row.count ? place_at(pyramid, spans, 0).start_ns : 0;
    for (size_t b = 0; b < top->count; b++) {
        const struct gt_pyramid_block *block = &top->blocks[b];
        pyramid->longest_ns = block->longest_ns > pyramid->longest_ns ? block->longest_ns : pyramid->longest_ns;
        pyramid->end_ns = block->end_ns > pyramid->end_ns ? block->end_ns : pyramid->end_ns;
    }
    for (uint32_t p = 0; p < top->blocks[top->count].first_part; p++)
        pyramid->busy_ns = gt_ns_add(pyramid->busy_ns, top->parts[p].busy_ns);
}

bool gt_pyramid_init(struct gt_pyramid *pyramid, const struct gt_spans *spans, struct gt_span_row row) {
    *pyramid = (struct gt_pyramid){.row = row, .level_count = 1};
    if (!make_lowest(pyramid, spans))
        return false;
    while (pyramid->level_count < GT_PYRAMID_LEVELS &&
           pyramid->levels[pyramid->level_count - 1].count > GT_PYRAMID_FAN) {
        size_t level = pyramid->level_count++;
        if (!make_higher(&pyramid->levels[level], &pyramid->levels[level - 1]))
            return false;
    }
    for (size_t i = 0; i < pyramid->level_count; i++)
        trim(&pyramid->levels[i]);
    sum_up(pyramid, spans);
    return true;
}

void gt_pyramid_release(struct gt_pyramid *pyramid) {
    for (size_t i = 0; i < GT_PYRAMID_LEVELS; i++) {
        gt_mem_free(pyramid->levels[i].blocks);
        gt_mem_free(pyramid->levels[i].parts);
    }
    *pyramid = (struct gt_pyramid){0};
}

size_t gt_pyramid_bytes(const struct gt_pyramid *pyramid) {
    size_t bytes = sizeof *pyramid;
    for (size_t i = 0; i < pyramid->level_count; i++)
        bytes += (pyramid->levels[i].count + 1) * sizeof *pyramid->levels[i].blocks +
                 pyramid->levels[i].part_capacity * sizeof *pyramid->levels[i].parts;
    return bytes;
}

/* ---- finding spans ---- */

/* The last block of a level, from one on, that starts before a time; itself where none does. */
static size_t last_before(const struct gt_pyramid_level *level, size_t block, size_t end, int64_t time_ns) {
    size_t low = block, high = end < level->count ? end : level->count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (level->blocks[middle].start_ns < time_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The first span from a place on that starts at a time or later. Near ones are found at once, as the next one mostly
   is. */
static size_t find_from(const struct gt_pyramid *pyramid, const struct gt_spans *spans, size_t place, int64_t time_ns) {
    size_t level = 0, block = place / GT_PYRAMID_BLOCK;
    for (; level + 1 < pyramid->level_count; level++) {
        const struct gt_pyramid_level *above = &pyramid->levels[level + 1];
        size_t next = block / GT_PYRAMID_FAN + 1;
        if (next >= above->count || above->blocks[next].start_ns >= time_ns)
            break;
        block = next;
    }
    size_t end = level + 1 < pyramid->level_count ? (block / GT_PYRAMID_FAN + 1) * GT_PYRAMID_FAN : SIZE_MAX;
    for (;; level--) {
        block = last_before(&pyramid->levels[level], block, end, time_ns);
        if (level == 0)
            break;
        block *= GT_PYRAMID_FAN;
        end = block + GT_PYRAMID_FAN;
    }
    size_t low = block * GT_PYRAMID_BLOCK > place ? block * GT_PYRAMID_BLOCK : place;
    size_t high =
        (block + 1) * GT_PYRAMID_BLOCK < pyramid->row.count ? (block + 1) * GT_PYRAMID_BLOCK : pyramid->row.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (place_at(pyramid, spans, middle).start_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t gt_pyramid_find(const struct gt_pyramid *pyramid, const struct gt_spans *spans, int64_t time_ns) {
    return pyramid->row.count ? find_from(pyramid, spans, 0, time_ns) : 0;
}

/* The largest whole block that begins at a place, ends at `end` or before, and is without what is looked for: how many
   spans it has; 0: there is none. */
static size_t skip_short(const struct gt_pyramid *pyramid, size_t place, size_t end, int64_t length_ns) {
    for (size_t level = pyramid->level_count; level-- > 0;) {
        size_t size = spans_of_level(level);
        if (place % size == 0 && place + size <= end &&
            pyramid->levels[level].blocks[place / size].longest_ns < length_ns)
            return size;
    }
    return 0;
}

/* The first span from a place on that is so long; `end`: none is. */
static size_t find_long(const struct gt_pyramid *pyramid, const struct gt_spans *spans, size_t place, size_t end,
                        int64_t length_ns) {
    if (pyramid->longest_ns < length_ns)
        return end;
    while (place < end) {
        size_t skipped = skip_short(pyramid, place, end, length_ns);
        if (skipped) {
            place += skipped;
            continue;
        }
        struct gt_span span;
        spans->read(spans->data, pyramid->row.first + place, 1, &span);
        if (length_of(&span) >= length_ns)
            return place;
        place++;
    }
    return end;
}

static size_t skip_ended(const struct gt_pyramid *pyramid, size_t before, int64_t time_ns) {
    for (size_t level = pyramid->level_count; level-- > 0;) {
        size_t size = spans_of_level(level);
        if (before % size == 0 && pyramid->levels[level].blocks[before / size - 1].end_ns <= time_ns)
            return size;
    }
    return 0;
}

size_t gt_pyramid_find_open(const struct gt_pyramid *pyramid, const struct gt_spans *spans, size_t before,
                            int64_t time_ns) {
    while (before > 0) {
        size_t skipped = skip_ended(pyramid, before, time_ns);
        if (skipped) {
            before -= skipped;
            continue;
        }
        if (place_at(pyramid, spans, before - 1).end_ns > time_ns)
            return before - 1;
        before--;
    }
    return SIZE_MAX;
}

/* ---- items ---- */

/* Asking one pyramid at one grain. */
struct asking {
    const struct gt_pyramid *pyramid;
    const struct gt_spans *spans;
    int64_t grain_ns;
    struct gt_pyramid_items *out;
    struct walk walk;
    size_t walked; /* the walk has reached this place; SIZE_MAX: none */
};

static void append(struct gt_pyramid_items *out, const struct gt_timeline_item *item) {
    struct gt_timeline_item *grown = gt_mem_room(out->items, out->count, &out->capacity, sizeof *grown);
    if (!grown) {
        out->failed = true;
        return;
    }
    out->items = grown;
    out->items[out->count++] = *item;
}

/* Where the item that a span is of begins and ends. */
struct run {
    size_t first, end;
};

/* The grain in which a time lies begins here. */
static int64_t begin_of_grain(const struct asking *it, int64_t time_ns) {
    return it->grain_ns == 0 ? time_ns : (int64_t)((uint64_t)time_ns & ~((uint64_t)it->grain_ns - 1));
}

/* The first span after a place that does not start in the same grain. */
static size_t grain_end(const struct asking *it, size_t place) {
    int64_t begin_ns = begin_of_grain(it, place_at(it->pyramid, it->spans, place).start_ns), end_ns;
    if (__builtin_add_overflow(begin_ns, it->grain_ns, &end_ns))
        return it->pyramid->row.count;
    size_t end = find_from(it->pyramid, it->spans, place, end_ns);
    return end > place ? end : place + 1;
}

/* The item that begins with a span. */
static struct run run_from(const struct asking *it, size_t place) {
    if (it->grain_ns == 0)
        return (struct run){place, place + 1};
    size_t end = grain_end(it, place);
    size_t first_long = find_long(it->pyramid, it->spans, place, end, it->grain_ns);
    return (struct run){place, first_long == place ? end : first_long};
}

/* The item that a span is of. */
static struct run run_around(const struct asking *it, size_t place) {
    if (it->grain_ns == 0)
        return (struct run){place, place + 1};
    int64_t begin_ns = begin_of_grain(it, place_at(it->pyramid, it->spans, place).start_ns);
    struct run run = run_from(it, find_from(it->pyramid, it->spans, 0, begin_ns));
    return run.end > place ? run : run_from(it, run.end);
}

/* Takes single spans, up to the end or the end of their block. */
static size_t take_spans(struct asking *it, size_t place, size_t end, int64_t *end_ns) {
    struct gt_span block[GT_PYRAMID_BLOCK];
    size_t begin = place / GT_PYRAMID_BLOCK * GT_PYRAMID_BLOCK;
    size_t stop = end - begin < GT_PYRAMID_BLOCK ? end : begin + GT_PYRAMID_BLOCK;
    if (it->walked == place)
        begin = place; /* as it is for single spans, one after the other */
    else
        it->walk.reached_ns = it->pyramid->levels[0].blocks[place / GT_PYRAMID_BLOCK].reached_ns;
    it->spans->read(it->spans->data, it->pyramid->row.first + begin, stop - begin, block);
    for (size_t i = begin; i < stop; i++) {
        int64_t this_end_ns = gt_ns_between(it->spans->zero_ns, block[i - begin].end_ns);
        if (i < place) {
            it->walk.reached_ns = this_end_ns > it->walk.reached_ns ? this_end_ns : it->walk.reached_ns;
            continue;
        }
        walk_span(&it->walk, &block[i - begin], it->pyramid->row.first + i);
        *end_ns = this_end_ns > *end_ns ? this_end_ns : *end_ns;
    }
    it->walked = stop;
    return stop;
}

static size_t take_block(struct asking *it, size_t place, size_t end, int64_t *end_ns) {
    for (size_t level = it->pyramid->level_count; level-- > 0;) {
        size_t size = spans_of_level(level);
        if (place % size || place + size > end)
            continue;
        const struct gt_pyramid_level *from = &it->pyramid->levels[level];
        size_t block = place / size;
        add_parts(&it->walk.mix, from, block);
        *end_ns = from->blocks[block].end_ns > *end_ns ? from->blocks[block].end_ns : *end_ns;
        return place + size;
    }
    return take_spans(it, place, end, end_ns);
}

static struct gt_timeline_item make_item(struct asking *it, struct run run) {
    struct gt_timeline_item item = {.start_ns = place_at(it->pyramid, it->spans, run.first).start_ns,
                                    .end_ns = INT64_MIN,
                                    .count = (uint32_t)(run.end - run.first)};
    for (size_t place = run.first; place < run.end;)
        place = take_block(it, place, run.end, &item.end_ns);
    item.name = gt_span_mix_take(&it->walk.mix, &item.busy_ns);
    return item;
}

/* ---- a window ---- */

/* Items that begin before a place and reach into the window, at most `most` of them; they are put in order. */
static bool add_open(struct asking *it, size_t before, int64_t from_ns, size_t most) {
    struct gt_pyramid_items *out = it->out;
    size_t first = out->count, place = before;
    for (;;) {
        place = gt_pyramid_find_open(it->pyramid, it->spans, place, from_ns);
        if (place == SIZE_MAX || out->count - first == most || out->failed)
            break;
        struct run run = run_around(it, place);
        struct gt_timeline_item item = make_item(it, run);
        append(out, &item);
        place = run.first;
    }
    for (size_t i = first, j = out->count; i + 1 < j; i++) {
        struct gt_timeline_item item = out->items[i];
        out->items[i] = out->items[--j];
        out->items[j] = item;
    }
    return place != SIZE_MAX;
}

int64_t gt_pyramid_window(const struct gt_pyramid *pyramid, const struct gt_spans *spans,
                          const struct gt_pyramid_window *window, struct gt_pyramid_items *out, bool *is_cut) {
    struct asking it = {.pyramid = pyramid,
                        .spans = spans,
                        .out = out,
                        .grain_ns = window->grain_ns,
                        .walk = {.spans = spans},
                        .walked = SIZE_MAX};
    size_t first = gt_pyramid_find(pyramid, spans, window->from_ns);
    size_t end = gt_pyramid_find(pyramid, spans, window->to_ns);
    if (end - first <= window->most || window->grain_ns <= 0)
        it.grain_ns = 0;
    first = gt_pyramid_find(pyramid, spans, begin_of_grain(&it, window->from_ns));
    *is_cut = add_open(&it, first, window->from_ns, window->most);
    for (size_t place = first; place < end && !out->failed;) {
        struct run run = run_from(&it, place);
        struct gt_timeline_item item = make_item(&it, run);
        if (item.end_ns > window->from_ns || item.start_ns >= window->from_ns)
            append(out, &item);
        place = run.end;
    }
    return it.grain_ns;
}
