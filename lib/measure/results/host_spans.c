/* Chains of spans, and sweeps along them. */
#include "measure/results/host_spans.h"

#include <string.h>

#include "base/mem.h"

/* ---- chains ---- */

bool gt_host_spans_init(struct gt_host_spans *spans, size_t most, size_t thread_count) {
    *spans = (struct gt_host_spans){
        .items = most < GT_NO_HOST_SPAN ? gt_mem_uninitialised(most, sizeof *spans->items) : NULL,
        .latest_chain = gt_mem_uninitialised(thread_count, sizeof *spans->latest_chain),
        .thread_count = thread_count,
    };
    if (!spans->items || !spans->latest_chain)
        return false;
    memset(spans->latest_chain, 0xff, thread_count * sizeof *spans->latest_chain);
    return true;
}

void gt_host_spans_release(struct gt_host_spans *spans) {
    gt_mem_free(spans->items);
    gt_mem_free(spans->chains);
    gt_mem_free(spans->latest_chain);
    *spans = (struct gt_host_spans){0};
}

void gt_host_spans_rewind(struct gt_host_spans *spans) {
    spans->first_open = spans->chain_count;
}

static bool begin_chain(struct gt_host_spans *spans, uint32_t thread, uint32_t first) {
    struct gt_host_span_chain *grown =
        gt_mem_room(spans->chains, spans->chain_count, &spans->chain_capacity, sizeof *grown);
    if (!grown)
        return false;
    spans->chains = grown;
    spans->chains[spans->chain_count] = (struct gt_host_span_chain){thread, first, first};
    spans->latest_chain[thread] = (uint32_t)spans->chain_count++;
    return true;
}

bool gt_host_spans_add(struct gt_host_spans *spans, uint32_t thread, int64_t start_ns, int64_t end_ns, uint32_t gap) {
    spans->items[spans->count] =
        (struct gt_host_span){.start_ns = start_ns, .end_ns = end_ns, .thread = thread, .gap = gap};
    return gt_host_spans_link(spans, spans->count + 1);
}

bool gt_host_spans_link(struct gt_host_spans *spans, size_t end) {
    for (; spans->count < end; spans->count++) {
        struct gt_host_span *span = &spans->items[spans->count];
        uint32_t place = (uint32_t)spans->count, thread = span->thread, latest = spans->latest_chain[thread];
        bool is_open = latest != GT_NO_HOST_SPAN && latest >= spans->first_open;
        struct gt_host_span_chain *chain = is_open ? &spans->chains[latest] : NULL;
        span->next = GT_NO_HOST_SPAN;
        if (chain && spans->items[chain->last].end_ns <= span->start_ns) {
            spans->items[chain->last].next = place;
            chain->last = place;
        } else if (!begin_chain(spans, thread, place)) {
            return false;
        }
    }
    return true;
}

/* ---- sweeps ---- */

/* A span that an interval can still reach. */
struct gt_sweep_cursor {
    int64_t time_ns; /* when it begins; once it has begun, when it ends */
    uint32_t span;
    gt_strid name;
    uint64_t largest_ns;
    uint64_t before_ns; /* what intervals cover before it begins */
};

/* The next span of each chain waits in one heap by its start, those that have begun are in the other by their end.
 */
struct gt_sweep_thread {
    struct gt_sweep_cursor *waiting, *begun;
    size_t waiting_count, begun_count;
    int64_t reached_ns;  /* end of the last interval */
    uint64_t covered_ns; /* by all; may wrap, as differences then are right all the same */
    gt_strid name;       /* of the last interval */
};

static void sift_down(struct gt_sweep_cursor *heap, size_t count, size_t at) {
    struct gt_sweep_cursor moving = heap[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && heap[child + 1].time_ns < heap[child].time_ns;
        if (heap[child].time_ns >= moving.time_ns)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moving;
}

static void push(struct gt_sweep_cursor *heap, size_t *count, struct gt_sweep_cursor cursor) {
    size_t at = (*count)++;
    for (; at > 0 && heap[(at - 1) / 2].time_ns > cursor.time_ns; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = cursor;
}

static struct gt_sweep_cursor pop(struct gt_sweep_cursor *heap, size_t *count) {
    struct gt_sweep_cursor first = heap[0];
    heap[0] = heap[--*count];
    if (*count)
        sift_down(heap, *count, 0);
    return first;
}

bool gt_host_spans_sweep_init(struct gt_host_spans_sweep *sweep, const struct gt_host_spans *spans,
                              const struct gt_host_spans_sweep *how) {
    *sweep = *how;
    sweep->spans = spans;
    sweep->threads = gt_mem_array(spans->thread_count, sizeof *sweep->threads);
    sweep->cursors = gt_mem_uninitialised(spans->chain_count, 2 * sizeof *sweep->cursors);
    if (!sweep->threads || !sweep->cursors)
        return false;
    for (size_t i = 0; i < spans->chain_count; i++)
        sweep->threads[spans->chains[i].thread].waiting_count++;
    struct gt_sweep_cursor *room = sweep->cursors;
    for (size_t i = 0; i < spans->thread_count; i++) {
        size_t count = sweep->threads[i].waiting_count;
        sweep->threads[i].waiting = room;
        sweep->threads[i].begun = count > 1 ? room + count : room; /* one cursor is in one heap at a time */
        room += 2 * count;
    }
    gt_host_spans_sweep_restart(sweep);
    return true;
}

void gt_host_spans_sweep_release(struct gt_host_spans_sweep *sweep) {
    gt_mem_free(sweep->threads);
    gt_mem_free(sweep->cursors);
    *sweep = (struct gt_host_spans_sweep){0};
}

static void wait_for(struct gt_sweep_thread *thread, const struct gt_host_spans *spans, uint32_t span) {
    if (span != GT_NO_HOST_SPAN)
        push(thread->waiting, &thread->waiting_count,
             (struct gt_sweep_cursor){.time_ns = spans->items[span].start_ns, .span = span});
}

void gt_host_spans_sweep_restart(struct gt_host_spans_sweep *sweep) {
    const struct gt_host_spans *spans = sweep->spans;
    for (size_t i = 0; i < spans->thread_count; i++)
        sweep->threads[i] = (struct gt_sweep_thread){
            .waiting = sweep->threads[i].waiting, .begun = sweep->threads[i].begun, .reached_ns = INT64_MIN};
    for (size_t i = 0; i < spans->chain_count; i++)
        wait_for(&sweep->threads[spans->chains[i].thread], spans, spans->chains[i].first);
}

static uint64_t length_of(int64_t start_ns, int64_t end_ns) {
    return (uint64_t)end_ns - (uint64_t)start_ns;
}

/* What intervals cover before a time at or after which none has begun but the last. */
static uint64_t covered_before(const struct gt_sweep_thread *thread, int64_t time_ns) {
    return thread->covered_ns - (thread->reached_ns > time_ns ? length_of(time_ns, thread->reached_ns) : 0);
}

static void note_part(struct gt_sweep_cursor *cursor, uint64_t part_ns, gt_strid name) {
    if (part_ns > cursor->largest_ns) {
        cursor->largest_ns = part_ns;
        cursor->name = name;
    }
}

/* The last interval may reach into a span that begins now. */
static inline void begin_span(const struct gt_host_spans_sweep *sweep, const struct gt_sweep_thread *thread,
                              struct gt_sweep_cursor *cursor) {
    int64_t start_ns = cursor->time_ns, end_ns = sweep->spans->items[cursor->span].end_ns;
    cursor->time_ns = end_ns;
    cursor->before_ns = covered_before(thread, start_ns);
    if (sweep->wants_names && thread->reached_ns > start_ns)
        note_part(cursor, length_of(start_ns, thread->reached_ns < end_ns ? thread->reached_ns : end_ns), thread->name);
}

/* Gives the next of its chain. */
static inline uint32_t end_span(const struct gt_host_spans_sweep *sweep, const struct gt_sweep_thread *thread,
                                const struct gt_sweep_cursor *cursor) {
    const struct gt_host_span *span = &sweep->spans->items[cursor->span];
    uint64_t covered_ns = covered_before(thread, span->end_ns) - cursor->before_ns;
    bool is_most = covered_ns > length_of(span->start_ns, span->end_ns) / 2;
    sweep->report(sweep->context, cursor->span, &(struct gt_host_span_part){is_most, cursor->name});
    return span->next;
}

/* Of the only chain of a thread, as most have: its cursor stays where it is. */
static inline void settle_chain(const struct gt_host_spans_sweep *sweep, struct gt_sweep_thread *thread,
                                int64_t until_ns) {
    struct gt_sweep_cursor *cursor = thread->begun;
    while (thread->begun_count + thread->waiting_count && cursor->time_ns <= until_ns) {
        bool has_begun = thread->begun_count;
        if (has_begun) {
            uint32_t next = end_span(sweep, thread, cursor);
            thread->begun_count = 0;
            if (next == GT_NO_HOST_SPAN)
                return;
            *cursor = (struct gt_sweep_cursor){.time_ns = sweep->spans->items[next].start_ns, .span = next};
        } else {
            begin_span(sweep, thread, cursor);
        }
        thread->waiting_count = has_begun;
        thread->begun_count = !has_begun;
    }
}

/* Begins and ends spans up to a time, before which no other interval begins. */
static void settle(const struct gt_host_spans_sweep *sweep, struct gt_sweep_thread *thread, int64_t until_ns) {
    if (thread->waiting == thread->begun) {
        settle_chain(sweep, thread, until_ns);
        return;
    }
    for (;;)
        if (thread->begun_count && thread->begun[0].time_ns <= until_ns) {
            struct gt_sweep_cursor cursor = pop(thread->begun, &thread->begun_count);
            wait_for(thread, sweep->spans, end_span(sweep, thread, &cursor));
        } else if (thread->waiting_count && thread->waiting[0].time_ns <= until_ns) {
            struct gt_sweep_cursor cursor = pop(thread->waiting, &thread->waiting_count);
            begin_span(sweep, thread, &cursor);
            push(thread->begun, &thread->begun_count, cursor);
        } else {
            return;
        }
}

void gt_host_spans_sweep_take(struct gt_host_spans_sweep *sweep, uint32_t thread_index, int64_t start_ns,
                              int64_t end_ns, gt_strid name) {
    struct gt_sweep_thread *thread = &sweep->threads[thread_index];
    settle(sweep, thread, start_ns);
    for (size_t i = 0; i < thread->begun_count && sweep->wants_names; i++) {
        int64_t span_end_ns = thread->begun[i].time_ns;
        note_part(&thread->begun[i], length_of(start_ns, span_end_ns < end_ns ? span_end_ns : end_ns), name);
    }
    thread->covered_ns += length_of(start_ns, end_ns);
    thread->reached_ns = end_ns;
    thread->name = name;
}

/* What ends before a span begins is the same to it as nothing: it is as much of what is covered before as after. */
int64_t gt_host_spans_sweep_next_ns(const struct gt_host_spans_sweep *sweep, uint32_t thread_index) {
    const struct gt_sweep_thread *thread = &sweep->threads[thread_index];
    if (thread->begun_count)
        return INT64_MIN;
    return thread->waiting_count ? thread->waiting[0].time_ns : INT64_MAX;
}

void gt_host_spans_sweep_finish(struct gt_host_spans_sweep *sweep) {
    for (size_t i = 0; i < sweep->spans->thread_count; i++)
        settle(sweep, &sweep->threads[i], INT64_MAX);
}
