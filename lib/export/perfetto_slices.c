/* Slices of a Perfetto trace: what threads did, ranges, steps and idle gaps come in, begins and ends on tracks go out,
   a sequence for each track. */
#include "base/mem.h"
#include "base/threads.h"
#include "export/perfetto_names.h"
#include "export/perfetto_part.h"

static const char *const categories[GT_SLICE_COUNT] = {
#define GT_PERFETTO_SLICE(name, category) [GT_SLICE_##name] = category,
#include "export/perfetto_slices.def"
#undef GT_PERFETTO_SLICE
};

/* Interned numbers of arguments. */
enum { ARG_OF_DOMAIN = 1, ARG_OF_NEXT, ARG_OF_TID, ARG_OF_END_TID };

/* ---- gathering ---- */

/* Goes over all rows that have slices twice: to count those of each track, then to place them. */
struct gathering {
    struct gt_perfetto_part *part;
    size_t *counts; /* by track; NULL: place them */
};

static void place(struct gathering *it, size_t track, struct gt_nest_item item) {
    struct gt_perfetto_track *into = &it->part->tracks[track];
    if (it->counts) {
        it->counts[track]++;
        return;
    }
    item.end_ns = item.end_ns < item.start_ns ? item.start_ns : item.end_ns;
    into->items[into->item_count++] = item;
}

/* The first interval that ends after a time; count: none. */
static size_t interval_at(const struct gt_intervals *times, int64_t time_ns) {
    size_t low = 0, high = times->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (times->items[middle].end_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What is selected of it, from the first interval that it reaches to the last. */
static void gather(struct gathering *it, size_t track, struct gt_nest_item item) {
    const struct gt_intervals *times = &it->part->times;
    size_t first = interval_at(times, item.start_ns), last = interval_at(times, item.end_ns);
    if (first == times->count)
        return;
    int64_t from_ns = times->items[first].start_ns;
    if (item.start_ns < from_ns && item.end_ns <= from_ns)
        return;
    if (last == times->count || (last > first && times->items[last].start_ns >= item.end_ns))
        last--;
    int64_t to_ns = times->items[last].end_ns;
    item.start_ns = item.start_ns < from_ns ? from_ns : item.start_ns;
    item.end_ns = item.end_ns > to_ns ? to_ns : item.end_ns;
    place(it, track, item);
}

/* Rows of a table whose columns are named alike. */
#define GATHER_OF_THREADS(it, table, slice)                                                                            \
    do {                                                                                                               \
        for (size_t i = 0; i < (table)->count; i++)                                                                    \
            if (gt_perfetto_part_has_thread((it)->part, (table)->thread[i]))                                           \
                gather(it, gt_perfetto_part_thread((it)->part, (table)->thread[i]),                                    \
                       (struct gt_nest_item){(table)->start_ns[i], (table)->end_ns[i], (uint32_t)i, slice, false});    \
    } while (0)

/* Where a range is shown: with its thread where it is what the thread did. */
static void gather_ranges(struct gathering *it) {
    const struct gt_store *store = it->part->store;
    const struct gt_ranges *ranges = &store->ranges;
    for (uint32_t i = 0; i < ranges->count; i++) {
        struct gt_nest_item item = {ranges->start_ns[i], ranges->end_ns[i], i, GT_SLICE_RANGE, false};
        uint32_t thread = ranges->thread[i];
        size_t track = gt_perfetto_part_thread(it->part, thread);
        if (ranges->kind[i] == GT_RANGE_GPU && ranges->lane[i] != GT_NO_TRACK) {
            item.kind = GT_SLICE_GPU_RANGE;
            track = gt_perfetto_part_lane(it->part, ranges->lane[i]);
        } else if (!gt_perfetto_part_has_thread(it->part, thread)) {
            continue;
        } else if (ranges->kind[i] == GT_RANGE_MARK) {
            item.kind = GT_SLICE_MARK;
            item.is_moment = true;
        } else if (ranges->kind[i] == GT_RANGE_START_END || ranges->end_thread[i] != GT_NO_TRACK) {
            item.kind = GT_SLICE_START_END;
            track = gt_perfetto_part_starts_ends(it->part,
                                                 thread == GT_NO_TRACK ? GT_NO_TRACK : store->threads.process[thread]);
        }
        gather(it, track, item);
    }
}

static void gather_steps(struct gathering *it) {
    const struct gt_labels *labels = it->part->labels;
    for (size_t i = 0; i < labels->step_count; i++) {
        const struct gt_step *step = &labels->steps[i];
        if (!it->part->processes || (step->process != GT_NO_TRACK && it->part->processes[step->process]))
            gather(it, gt_perfetto_part_steps(it->part, step->process),
                   (struct gt_nest_item){step->start_ns, step->end_ns, (uint32_t)i, GT_SLICE_STEP, false});
    }
}

static void gather_gaps(struct gathering *it) {
    const struct gt_idle *idle = it->part->idle;
    for (size_t d = 0; d < idle->device_count; d++)
        for (size_t i = idle->devices[d].first; i < idle->devices[d].first + idle->devices[d].count; i++)
            place(it, gt_perfetto_part_gaps(it->part, it->part->view->devices[d].device),
                  (struct gt_nest_item){gt_idle_gap_start_ns(idle, i), gt_idle_gap_end_ns(idle, i), (uint32_t)i,
                                        GT_SLICE_GAP, false});
}

static void gather_all(struct gathering *it) {
    const struct gt_store *store = it->part->store;
    gather_steps(it);
    GATHER_OF_THREADS(it, &store->python_calls, GT_SLICE_PYTHON);
    gather_ranges(it);
    GATHER_OF_THREADS(it, &store->cpu_ops, GT_SLICE_OPERATOR);
    GATHER_OF_THREADS(it, &store->calls, GT_SLICE_CALL);
    GATHER_OF_THREADS(it, &store->overheads, GT_SLICE_OVERHEAD);
    GATHER_OF_THREADS(it, &store->driver_work, GT_SLICE_DRIVER_WORK);
    gather_gaps(it);
}

static bool gather_tracks(struct gt_perfetto_part *part) {
    size_t tracks = gt_perfetto_part_process(part, 0), sum = 0;
    struct gathering it = {part, NULL};
    part->tracks = gt_mem_array(tracks, sizeof *part->tracks);
    it.counts = gt_mem_array(tracks, sizeof *it.counts);
    if (part->tracks && it.counts) {
        gather_all(&it);
        for (size_t i = 0; i < tracks; i++)
            sum += it.counts[i];
        part->items = gt_mem_uninitialised(sum, sizeof *part->items);
    }
    for (size_t i = 0, first = 0; part->items && i < tracks; first += it.counts[i++])
        part->tracks[i] = (struct gt_perfetto_track){.part = part, .items = part->items + first};
    gt_mem_free(it.counts);
    it.counts = NULL;
    if (part->items)
        gather_all(&it);
    return part->items != NULL;
}

/* ---- sequences ---- */

struct gt_perfetto_lane {
    const struct gt_perfetto_track *track;
    const uint32_t *events;
    size_t count;
};

static int64_t time_ns(const void *context, size_t event) {
    const struct gt_perfetto_lane *lane = context;
    return gt_nest_event_ns(lane->track->items, lane->events[event]);
}

/* The string of its name; causes of gaps are numbered after all strings. */
static uint32_t name_of(const struct gt_perfetto_part *part, const struct gt_nest_item *item) {
    const struct gt_store *store = part->store;
    switch ((enum gt_perfetto_slice)item->kind) {
    case GT_SLICE_CALL:
        return store->calls.name[item->row];
    case GT_SLICE_OPERATOR:
        return store->cpu_ops.name[item->row];
    case GT_SLICE_PYTHON:
        return store->python_calls.name[item->row];
    case GT_SLICE_OVERHEAD:
        return store->overheads.name[item->row];
    case GT_SLICE_DRIVER_WORK:
        return store->driver_work.name[item->row];
    case GT_SLICE_STEP:
        return store->ranges.name[part->labels->steps[item->row].range];
    case GT_SLICE_GAP:
        return (uint32_t)store->strings.count + gt_idle_gap_cause(part->idle, item->row);
    default:
        return store->ranges.name[item->row];
    }
}

static bool is_range(const struct gt_nest_item *item) {
    return item->kind == GT_SLICE_RANGE || item->kind == GT_SLICE_START_END || item->kind == GT_SLICE_MARK ||
           item->kind == GT_SLICE_GPU_RANGE;
}

static gt_strid domain_of(const struct gt_perfetto_part *part, const struct gt_nest_item *item) {
    return is_range(item) ? part->store->ranges.domain[item->row] : GT_STRID_EMPTY;
}

/* The op that ends a gap; GT_NO_ROW: none. */
static uint32_t next_op(const struct gt_perfetto_part *part, const struct gt_nest_item *item) {
    return item->kind == GT_SLICE_GAP ? part->idle->next[item->row] : GT_NO_ROW;
}

static struct gt_str text_of(const struct gt_store *store, uint32_t name) {
    return name < store->strings.count ? gt_store_string(store, name)
                                       : gt_str_of(gt_idle_cause_names[name - store->strings.count]);
}

static void intern_constants(struct gt_wire *wire) {
    for (size_t i = 0; i < GT_SLICE_COUNT; i++)
        gt_perfetto_names_add(wire, INTERNED_EVENT_CATEGORIES, i + 1, gt_str_of(categories[i]));
    gt_perfetto_names_add(wire, INTERNED_ANNOTATION_NAMES, ARG_OF_DOMAIN, GT_STR("domain"));
    gt_perfetto_names_add(wire, INTERNED_ANNOTATION_NAMES, ARG_OF_NEXT, GT_STR("next_op"));
    gt_perfetto_names_add(wire, INTERNED_ANNOTATION_NAMES, ARG_OF_TID, GT_STR("tid"));
    gt_perfetto_names_add(wire, INTERNED_ANNOTATION_NAMES, ARG_OF_END_TID, GT_STR("end_tid"));
}

static bool intern(const void *context, struct gt_wire *wire) {
    const struct gt_perfetto_lane *lane = context;
    const struct gt_perfetto_part *part = lane->track->part;
    const struct gt_store *store = part->store;
    struct gt_perfetto_names names, texts;
    bool is_done = gt_perfetto_names_init(&names, store->strings.count + GT_IDLE_CAUSE_COUNT, lane->count);
    is_done = gt_perfetto_names_init(&texts, store->strings.count, lane->count) && is_done;
    intern_constants(wire);
    for (size_t i = 0; is_done && i < lane->count; i++) {
        const struct gt_nest_item *item = &lane->track->items[gt_nest_item_of(lane->events[i])];
        if (lane->events[i] & 1)
            continue;
        uint32_t name = name_of(part, item), next = next_op(part, item);
        gt_strid text = next == GT_NO_ROW ? domain_of(part, item) : part->view->name[next];
        if (gt_perfetto_names_is_new(&names, name))
            gt_perfetto_names_add(wire, INTERNED_EVENT_NAMES, (uint64_t)name + 1, text_of(store, name));
        if (text != GT_STRID_EMPTY && gt_perfetto_names_is_new(&texts, text))
            gt_perfetto_names_add(wire, INTERNED_ANNOTATION_STRINGS, (uint64_t)text + 1, gt_store_string(store, text));
    }
    is_done = gt_perfetto_names_release(&names) && is_done;
    return gt_perfetto_names_release(&texts) && is_done;
}

static void add_text(struct gt_wire *wire, uint32_t arg, gt_strid text) {
    if (text == GT_STRID_EMPTY)
        return;
    size_t annotation = gt_wire_begin(wire, EVENT_DEBUG_ANNOTATIONS);
    gt_wire_uint(wire, ANNOTATION_NAME_IID, arg);
    gt_wire_uint(wire, ANNOTATION_STRING_IID, (uint64_t)text + 1);
    gt_wire_end(wire, annotation);
}

static void add_thread(struct gt_wire *wire, uint32_t arg, const struct gt_perfetto_part *part, uint32_t thread) {
    if (thread == GT_NO_TRACK)
        return;
    size_t annotation = gt_wire_begin(wire, EVENT_DEBUG_ANNOTATIONS);
    gt_wire_uint(wire, ANNOTATION_NAME_IID, arg);
    gt_wire_int(wire, ANNOTATION_INT, gt_perfetto_part_tid(part, thread));
    gt_wire_end(wire, annotation);
}

/* Which ops a call launched, as Perfetto draws arrows from it. */
static void add_correlation(const struct gt_perfetto_part *part, uint32_t call, struct gt_wire *wire) {
    uint32_t first = part->call_first[call], end = part->call_first[call + 1];
    uint64_t number = part->store->calls.correlation[call];
    if (first == end && number != GT_NO_CORRELATION) /* there is something that it could be matched with */
        gt_wire_uint(wire, EVENT_CORRELATION_ID, number);
    if (first == end)
        return;
    size_t correlation = gt_wire_begin(wire, EVENT_GPU_CORRELATION);
    for (uint32_t i = first; i < end; i++)
        gt_wire_uint(wire, CORRELATION_SUBMITTED_IDS, part->event_id + part->call_ops[i]);
    gt_wire_end(wire, correlation);
    gt_wire_uint(wire, EVENT_GPU_API, part->api);
}

static void encode_begin(const struct gt_perfetto_part *part, const struct gt_nest_item *item, struct gt_wire *wire) {
    uint32_t next = next_op(part, item);
    gt_wire_uint(wire, EVENT_TYPE, item->is_moment ? TYPE_INSTANT : TYPE_SLICE_BEGIN);
    gt_wire_uint(wire, EVENT_CATEGORY_IIDS, (uint64_t)item->kind + 1);
    gt_wire_uint(wire, EVENT_NAME_IID, (uint64_t)name_of(part, item) + 1);
    add_text(wire, ARG_OF_DOMAIN, domain_of(part, item));
    if (next != GT_NO_ROW)
        add_text(wire, ARG_OF_NEXT, part->view->name[next]);
    if (item->kind == GT_SLICE_START_END) {
        add_thread(wire, ARG_OF_TID, part, part->store->ranges.thread[item->row]);
        add_thread(wire, ARG_OF_END_TID, part, part->store->ranges.end_thread[item->row]);
    }
    if (item->kind == GT_SLICE_CALL)
        add_correlation(part, item->row, wire);
}

static void encode(const void *context, size_t event, struct gt_wire *wire) {
    const struct gt_perfetto_lane *lane = context;
    size_t begin = gt_wire_begin(wire, PACKET_TRACK_EVENT);
    if (lane->events[event] & 1)
        gt_wire_uint(wire, EVENT_TYPE, TYPE_SLICE_END);
    else
        encode_begin(lane->track->part, &lane->track->items[gt_nest_item_of(lane->events[event])], wire);
    gt_wire_end(wire, begin);
}

static void nest_one(void *context, size_t index) {
    struct gt_perfetto_part *part = context;
    struct gt_perfetto_track *track = &part->tracks[index];
    if (track->item_count && !gt_nest_init(&track->nest, track->items, track->item_count))
        track->nest.lane_count = 0;
}

static void add_lane(struct gt_perfetto_part *part, struct gt_perfetto_lane *lane, uint64_t uuid) {
    static const struct gt_perfetto_kind kind = {time_ns, intern, encode};
    gt_perfetto_file_add(part->file, (struct gt_perfetto_sequence){.kind = &kind,
                                                                   .context = lane,
                                                                   .count = lane->count,
                                                                   .track = uuid,
                                                                   .add_ns = part->add_ns,
                                                                   .machine = part->machine});
}

bool gt_perfetto_part_add_slices(struct gt_perfetto_part *part) {
    size_t tracks = gt_perfetto_part_process(part, 0), lanes = 0;
    if (!gather_tracks(part))
        return false;
    gt_threads_deal(part->file->threads, tracks, nest_one, part);
    for (size_t i = 0; i < tracks; i++) {
        if (part->tracks[i].item_count && !part->tracks[i].nest.lane_count)
            return false;
        lanes += part->tracks[i].nest.lane_count;
    }
    struct gt_perfetto_lane *lane = part->lanes = gt_mem_array(lanes, sizeof *part->lanes);
    for (size_t i = 0; lane && i < tracks; i++) {
        const struct gt_perfetto_track *track = &part->tracks[i];
        if (track->item_count)
            gt_perfetto_part_describe_track(part, i);
        for (size_t k = 0; k < track->nest.lane_count; k++, lane++) {
            *lane = (struct gt_perfetto_lane){track, track->nest.events + track->nest.lanes[k].first,
                                              track->nest.lanes[k].count};
            add_lane(part, lane, k ? gt_perfetto_part_describe_beside(part, i) : gt_perfetto_part_uuid(part, i));
        }
    }
    return part->lanes != NULL;
}
