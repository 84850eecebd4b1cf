/* Reads events out of a region of the array, and goes on after what cannot be read. */
#include "decode/torch/torch_region.h"

#include <string.h>

#include "decode/torch/torch_fast.h"
#include "events/builder.h"

/* How often, on average, a byte may be read again while looking for the next good event. */
enum { RETRY_FACTOR = 8 };

/* No event that is worth a second try is larger. */
enum { SECOND_TRY_BYTES = 256 * 1024 };

void gt_torch_region_init(struct gt_torch_region *region, struct gt_torch_sink *sink) {
    memset(region, 0, sizeof *region);
    region->sink = sink;
    region->event.args_wanted = sink->args_wanted;
}

/* After the last event: ] with a brace before it, then the rest of the document or its end. */
static bool ends_array(const char *p, char before) {
    return *p == ']' && before == '}';
}

enum gt_json_status gt_torch_region_find_event(struct gt_json_bytes *bytes, char *before, bool finds_end) {
    const char *p = bytes->p;
    enum gt_json_status found = GT_JSON_MORE;
    for (; p < bytes->end; p++) {
        if (*p == '{' && *before != ':') {
            found = gt_torch_event_starts(p, bytes->end);
            if (found == GT_JSON_OK || (found == GT_JSON_MORE && !gt_json_window_is_final(bytes, p)))
                break;
            found = GT_JSON_MORE;
        } else if (finds_end && ends_array(p, *before)) {
            found = GT_JSON_BAD;
            break;
        }
        if (!gt_json_scan_is_space(*p))
            *before = *p;
    }
    gt_json_window_move(bytes, p);
    return found;
}

/* An element begins at bytes->p and could not be read; the trouble showed at `at`. Looks on after its first byte,
   since a lost quote or bracket hides the next events in it; or after all that was tried, if that was done too often.
 */
static enum gt_torch_stop begin_search(struct gt_torch_region *region, struct gt_json_bytes *bytes, const char *at) {
    uint64_t start = bytes->offset, failed = start + (uint64_t)(at - bytes->p);
    if (region->stops_at_damage) {
        region->is_damaged = true;
        return GT_TORCH_STOP_MORE;
    }
    if (start >= region->furthest) {
        region->retry_start = start;
        region->retry_work = 0;
    }
    if (failed > region->furthest)
        region->furthest = failed;
    region->retry_work += failed - start;
    gt_builder_issue(region->sink->builder, GT_ISSUE_EVENT_DAMAGED, 1, start);
    region->is_searching = true;
    region->before = *bytes->p;
    const char *next = bytes->p + 1;
    if (region->retry_work > RETRY_FACTOR * (region->furthest - region->retry_start) && region->furthest > start) {
        next = bytes->p + (region->furthest - start);
        region->before = 0;
    }
    gt_json_window_move(bytes, next);
    return GT_TORCH_STOP_NOT;
}

/* The bytes end inside the element at bytes->p. */
static enum gt_torch_stop meet_end(struct gt_torch_region *region, struct gt_json_bytes *bytes) {
    if (!bytes->is_all && gt_json_window_is_final(bytes, bytes->p))
        return begin_search(region, bytes, bytes->end);
    if (!bytes->is_all || region->stops_at_damage)
        return GT_TORCH_STOP_MORE;
    /* A cut file, unless events follow: then this one was never closed. */
    struct gt_json_bytes rest = *bytes;
    char before = *rest.p;
    gt_json_window_move(&rest, rest.p + 1);
    if (gt_torch_region_find_event(&rest, &before, false) == GT_JSON_OK)
        return begin_search(region, bytes, bytes->end);
    region->is_cut = true;
    region->cut_offset = bytes->offset;
    gt_json_window_move(bytes, bytes->end);
    return GT_TORCH_STOP_MORE;
}

/* Names with unescaped quotes in them: tries again with more care, up to where the next event begins. */
static enum gt_torch_parse parse_again(struct gt_torch_region *region, const struct gt_json_bytes *bytes,
                                       const char **p) {
    struct gt_json_bytes rest = *bytes;
    rest.max_bytes = rest.max_bytes < SECOND_TRY_BYTES ? rest.max_bytes : SECOND_TRY_BYTES;
    if ((size_t)(rest.end - rest.p) > rest.max_bytes)
        rest.end = rest.p + rest.max_bytes;
    bool is_final = gt_json_window_is_final(&rest, rest.p);
    char before = *rest.p;
    gt_json_window_move(&rest, rest.p + 1);
    if (gt_torch_region_find_event(&rest, &before, false) == GT_JSON_MORE && !is_final)
        return GT_TORCH_MORE;
    *p = bytes->p;
    return gt_torch_event_parse(&region->event, p, rest.p, true) == GT_TORCH_OK ? GT_TORCH_OK : GT_TORCH_BAD;
}

/* Whether what follows an event at p may follow one. If not, a quote inside a string was taken for its end. */
static enum gt_json_status may_end(const struct gt_json_bytes *bytes, const char *p) {
    p = gt_json_scan_skip_space(p, bytes->end);
    if (p == bytes->end)
        return gt_json_window_is_final(bytes, bytes->p) ? GT_JSON_OK : GT_JSON_MORE;
    return *p == ',' || *p == ']' || *p == '{' ? GT_JSON_OK : GT_JSON_BAD;
}

/* The event at bytes->p, twice if need be; *p is after it, or where the trouble showed. */
static enum gt_torch_parse parse_event(struct gt_torch_region *region, const struct gt_json_bytes *bytes,
                                       const char **p) {
    *p = bytes->p;
    enum gt_torch_parse result = gt_torch_event_parse(&region->event, p, bytes->end, false);
    if (result == GT_TORCH_MORE || result == GT_TORCH_INNER_DOCUMENT)
        return result;
    enum gt_json_status ends = result == GT_TORCH_OK ? may_end(bytes, *p) : GT_JSON_BAD;
    region->is_mended = ends == GT_JSON_BAD;
    if (ends != GT_JSON_BAD)
        return ends == GT_JSON_OK ? GT_TORCH_OK : GT_TORCH_MORE;
    const char *again = bytes->p;
    enum gt_torch_parse second = parse_again(region, bytes, &again);
    if (second != GT_TORCH_BAD) {
        *p = again;
        return second;
    }
    if (result == GT_TORCH_OK) { /* then rubbish follows it, and this is for the next element to find out */
        *p = bytes->p;
        return gt_torch_event_parse(&region->event, p, bytes->end, false);
    }
    return GT_TORCH_BAD;
}

/* Events as they should be are shown to the fast reader, which will know the next one like it. */
static void take_event(struct gt_torch_region *region, const struct gt_json_bytes *bytes) {
    struct gt_torch_sink *sink = region->sink;
    uint64_t odd_before = sink->odd_count;
    gt_torch_sink_take(sink, &region->event, bytes->offset);
    if (sink->fast && !region->is_mended && sink->odd_count == odd_before)
        gt_torch_fast_learn(sink->fast, &region->event, bytes, sink);
}

static enum gt_torch_stop read_event(struct gt_torch_region *region, struct gt_json_bytes *bytes) {
    const char *p;
    switch (parse_event(region, bytes, &p)) {
    case GT_TORCH_BAD:
        return begin_search(region, bytes, p);
    case GT_TORCH_MORE:
        return meet_end(region, bytes);
    case GT_TORCH_INNER_DOCUMENT:
        region->has_opened = region->is_outside;
        if (!region->is_outside)
            gt_builder_issue(region->sink->builder, GT_ISSUE_DOCUMENTS_JOINED, 1, bytes->offset);
        region->is_outside = false;
        break;
    case GT_TORCH_OK:
        take_event(region, bytes);
        break;
    }
    region->element_count++;
    gt_json_window_move(bytes, p);
    return GT_TORCH_STOP_NOT;
}

/* Events, many at once where they are as usual. */
static enum gt_torch_stop read_events(struct gt_torch_region *region, struct gt_json_bytes *bytes, uint64_t limit) {
    if (region->sink->fast) {
        uint64_t count = gt_torch_fast_run(region->sink->fast, region->sink, bytes, limit);
        region->element_count += count;
        if (count && (bytes->p == bytes->end || *bytes->p != '{' || bytes->offset >= limit))
            return GT_TORCH_STOP_NOT;
    }
    return read_event(region, bytes);
}

/* An element of the array that is not an object. */
static enum gt_torch_stop read_non_object(struct gt_torch_region *region, struct gt_json_bytes *bytes) {
    const char *p = bytes->p;
    struct gt_json_value_text text;
    enum gt_json_status status = GT_JSON_BAD;
    if (*p == '"')
        status = gt_json_scan_string(&p, bytes->end, &text);
    else if (*p == '[')
        status = gt_json_scan_skip_nested(&p, bytes->end);
    else if (*p != '}' && *p != ':')
        status = gt_json_scan_bare(&p, bytes->end, &text.raw);
    if (status == GT_JSON_BAD)
        return begin_search(region, bytes, p);
    if (status == GT_JSON_MORE)
        return meet_end(region, bytes);
    gt_builder_issue(region->sink->builder, GT_ISSUE_EVENT_DAMAGED, 1, bytes->offset);
    region->element_count++;
    gt_json_window_move(bytes, p);
    return GT_TORCH_STOP_NOT;
}

static enum gt_torch_stop search(struct gt_torch_region *region, struct gt_json_bytes *bytes) {
    if (gt_torch_region_find_event(bytes, &region->before, true) == GT_JSON_MORE)
        return GT_TORCH_STOP_MORE;
    region->is_searching = false;
    return GT_TORCH_STOP_NOT;
}

static const char *skip_commas(const char *p, const char *end) {
    while (p < end && (gt_json_scan_is_space(*p) || *p == ','))
        p++;
    return p;
}

enum gt_torch_stop gt_torch_region_run(struct gt_torch_region *region, struct gt_json_bytes *bytes, uint64_t limit) {
    enum gt_torch_stop stop = GT_TORCH_STOP_NOT;
    while (stop == GT_TORCH_STOP_NOT) {
        if (region->is_searching) {
            stop = search(region, bytes);
            continue;
        }
        gt_json_window_move(bytes, skip_commas(bytes->p, bytes->end));
        if (bytes->p == bytes->end)
            return GT_TORCH_STOP_MORE;
        if (bytes->offset >= limit && bytes->offset >= region->furthest)
            return GT_TORCH_STOP_LIMIT;
        if (*bytes->p == '{') {
            stop = read_events(region, bytes, limit);
        } else if (*bytes->p == ']') {
            gt_json_window_move(bytes, bytes->p + 1);
            return GT_TORCH_STOP_END;
        } else {
            stop = read_non_object(region, bytes);
        }
    }
    return stop;
}

enum gt_status gt_torch_region_go_on(struct gt_torch_region *region, struct gt_json_window *window, uint64_t limit,
                                     struct gt_error *err) {
    struct gt_json_bytes shown;
    struct gt_torch_fast *fast =
        region->is_searching || window->bytes.offset < region->furthest ? NULL : region->sink->fast;
    uint64_t count = fast != NULL;
    while (count && gt_json_window_show(window, &shown)) {
        count = gt_torch_fast_run(fast, region->sink, &shown, limit);
        region->element_count += count;
        if (count)
            gt_json_window_use(window, &shown);
    }
    return gt_json_window_fill(window, err);
}
