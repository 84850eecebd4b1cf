/* Lays intervals out in lanes: intervals of a track come in, begins and ends in the order of time go out. */
#include "export/nest.h"

#include <string.h>

#include "base/mem.h"
#include "base/spans.h"

/* ---- order ---- */

static struct gt_interval span_of(const void *context, uint32_t row) {
    const struct gt_nest_item *items = context;
    return (struct gt_interval){items[row].start_ns, items[row].end_ns};
}

static bool sort_items(struct gt_nest_item *items, size_t count) {
    uint32_t *order = gt_mem_uninitialised(count, sizeof *order);
    struct gt_nest_item *copy = gt_mem_uninitialised(count, sizeof *copy);
    for (size_t i = 0; order && i < count; i++)
        order[i] = (uint32_t)i;
    bool is_done = order && copy && gt_spans_sort_by(order, count, span_of, items);
    if (is_done && count)
        memcpy(copy, items, count * sizeof *copy);
    for (size_t i = 0; is_done && i < count; i++)
        items[i] = copy[order[i]];
    gt_mem_free(copy);
    gt_mem_free(order);
    return is_done;
}

/* ---- the lane of the track itself ---- */

struct laying {
    const struct gt_nest_item *items;
    uint32_t *events;
    size_t event_count;
    uint32_t *open; /* items that have not ended, the innermost last */
    size_t open_count, open_capacity;
    uint32_t *spilled; /* items that do not nest */
    size_t spilled_count, spilled_capacity;
};

static bool push(uint32_t **numbers, size_t *count, size_t *capacity, uint32_t number) {
    uint32_t *longer = gt_mem_room(*numbers, *count, capacity, sizeof **numbers);
    if (!longer)
        return false;
    *numbers = longer;
    longer[(*count)++] = number;
    return true;
}

static void end_until(struct laying *it, int64_t time_ns) {
    for (; it->open_count && it->items[it->open[it->open_count - 1]].end_ns <= time_ns; it->open_count--)
        it->events[it->event_count++] = it->open[it->open_count - 1] << 1 | 1;
}

static bool lay_nested(struct laying *it, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const struct gt_nest_item *item = &it->items[i];
        end_until(it, item->start_ns);
        bool fits = !it->open_count || it->items[it->open[it->open_count - 1]].end_ns >= item->end_ns;
        if (fits || item->is_moment)
            it->events[it->event_count++] = (uint32_t)i << 1;
        if (fits && !item->is_moment) {
            if (!push(&it->open, &it->open_count, &it->open_capacity, (uint32_t)i))
                return false;
        } else if (!fits && !item->is_moment) {
            if (!push(&it->spilled, &it->spilled_count, &it->spilled_capacity, (uint32_t)i))
                return false;
        }
    }
    end_until(it, INT64_MAX);
    return true;
}

/* ---- lanes beside ---- */

/* A heap of lanes, that which is free first at the top. */
struct free_lane {
    int64_t end_ns;
    uint32_t lane;
};

static bool is_before(const struct free_lane *a, const struct free_lane *b) {
    return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->lane < b->lane;
}

static void sink(struct free_lane *heap, size_t count, struct free_lane lane) {
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_before(&heap[child + 1], &heap[child]);
        if (!is_before(&heap[child], &lane))
            break;
        heap[at] = heap[child];
    }
    heap[at] = lane;
}

static void rise(struct free_lane *heap, size_t at, struct free_lane lane) {
    for (; at && is_before(&lane, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = lane;
}

/* Gives each spilled item a lane in which nothing else runs at its time; lane_of by spilled item. */
static size_t choose_lanes(const struct laying *it, struct free_lane *heap, uint32_t *lane_of) {
    size_t lanes = 0;
    for (size_t i = 0; i < it->spilled_count; i++) {
        const struct gt_nest_item *item = &it->items[it->spilled[i]];
        if (lanes && heap[0].end_ns <= item->start_ns) {
            lane_of[i] = heap[0].lane;
            sink(heap, lanes, (struct free_lane){item->end_ns, lane_of[i]});
        } else {
            lane_of[i] = (uint32_t)lanes++;
            rise(heap, lanes - 1, (struct free_lane){item->end_ns, lane_of[i]});
        }
    }
    return lanes;
}

/* Writes the events of the spilled items behind those of the track itself, lane by lane. */
static void place_beside(struct laying *it, const uint32_t *lane_of, struct gt_nest_lane *beside, size_t lanes) {
    size_t first = it->event_count;
    for (size_t i = 0; i < it->spilled_count; i++)
        beside[lane_of[i]].count += 2;
    for (size_t i = 0; i < lanes; i++) {
        beside[i].first = first;
        first += beside[i].count;
        beside[i].count = 0;
    }
    for (size_t i = 0; i < it->spilled_count; i++) {
        struct gt_nest_lane *lane = &beside[lane_of[i]];
        it->events[lane->first + lane->count++] = it->spilled[i] << 1;
        it->events[lane->first + lane->count++] = it->spilled[i] << 1 | 1;
    }
}

static bool lay_beside(struct laying *it, struct gt_nest *nest) {
    struct free_lane *heap = gt_mem_uninitialised(it->spilled_count, sizeof *heap);
    uint32_t *lane_of = gt_mem_uninitialised(it->spilled_count, sizeof *lane_of);
    size_t lanes = heap && lane_of ? choose_lanes(it, heap, lane_of) : 0;
    nest->lanes = heap && lane_of ? gt_mem_array(lanes + 1, sizeof *nest->lanes) : NULL;
    if (nest->lanes) {
        nest->lane_count = lanes + 1;
        nest->lanes[0].count = it->event_count;
        place_beside(it, lane_of, nest->lanes + 1, lanes);
    }
    gt_mem_free(lane_of);
    gt_mem_free(heap);
    return nest->lanes != NULL;
}

bool gt_nest_init(struct gt_nest *nest, struct gt_nest_item *items, size_t count) {
    *nest = (struct gt_nest){0};
    if (count > GT_NEST_ITEMS_MAX || !sort_items(items, count))
        return false;
    struct laying it = {.items = items, .events = gt_mem_uninitialised(2 * count, sizeof *it.events)};
    bool is_done = it.events && lay_nested(&it, count) && lay_beside(&it, nest);
    nest->events = it.events;
    gt_mem_free(it.open);
    gt_mem_free(it.spilled);
    if (!is_done)
        gt_nest_release(nest);
    return is_done;
}

void gt_nest_release(struct gt_nest *nest) {
    gt_mem_free(nest->events);
    gt_mem_free(nest->lanes);
    *nest = (struct gt_nest){0};
}
