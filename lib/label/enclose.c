/* Spans around spans: one sweep over both in order of time, with a stack of the outer ones that can still matter. */
#include "label/enclose.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/radix.h"
#include "base/spans.h"

static int by_track_and_start(const void *a, const void *b) {
    const struct gt_enclose_span *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns > y->end_ns ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool are_numbered(const struct gt_enclose_span *spans, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (spans[i].id < spans[i - 1].id)
            return false;
    return true;
}

static struct gt_interval span_at(const void *context, uint32_t row) {
    const struct gt_enclose_span *spans = context;
    return (struct gt_interval){spans[row].start_ns, spans[row].end_ns};
}

/* Spans in the order of their ids, as the rows of a trace are: those of each track are mostly sorted already. */
static bool sort_numbered(struct gt_enclose_span *spans, size_t count) {
    struct gt_radix_item *items = gt_mem_uninitialised(count, sizeof *items);
    struct gt_enclose_span *copy = gt_mem_uninitialised(count, sizeof *copy);
    uint32_t *rows = gt_mem_uninitialised(count, sizeof *rows);
    bool ok = items && copy && rows;
    for (size_t i = 0; i < count && ok; i++)
        items[i] = (struct gt_radix_item){spans[i].track, (uint32_t)i};
    ok = ok && gt_radix_sort(items, count);
    for (size_t i = 0; i < count && ok; i++)
        rows[i] = items[i].value;
    for (size_t first = 0, end; first < count && ok; first = end) {
        for (end = first + 1; end < count && items[end].key == items[first].key;)
            end++;
        ok = gt_spans_sort_by(rows + first, end - first, span_at, spans);
    }
    for (size_t i = 0; i < count && ok; i++)
        copy[i] = spans[rows[i]];
    if (ok && count)
        memcpy(spans, copy, count * sizeof *spans);
    gt_mem_free(items);
    gt_mem_free(copy);
    gt_mem_free(rows);
    return ok;
}

static void sort(struct gt_enclose_span *spans, size_t count) {
    bool is_done = count < UINT32_MAX && are_numbered(spans, count) && sort_numbered(spans, count);
    if (!is_done && count > 1)
        qsort(spans, count, sizeof *spans, by_track_and_start);
}

/* Ends never grow from the bottom to the top: what begins later and ends no earlier lies around all that the one before
   it could still be around. */
struct stack {
    const struct gt_enclose_span **items;
    size_t count;
};

static void push(struct stack *stack, const struct gt_enclose_span *span) {
    while (stack->count && stack->items[stack->count - 1]->end_ns < span->end_ns)
        stack->count--;
    stack->items[stack->count++] = span;
}

/* The last one that ends at end_ns or later; NULL: there is none. */
static const struct gt_enclose_span *last_reaching(const struct stack *stack, int64_t end_ns) {
    size_t low = 0, high = stack->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stack->items[middle]->end_ns >= end_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? stack->items[low - 1] : NULL;
}

static bool is_before(const struct gt_enclose_span *outer, const struct gt_enclose_span *inner) {
    return outer->track < inner->track || (outer->track == inner->track && outer->start_ns <= inner->start_ns);
}

bool gt_enclose(struct gt_enclose_span *outer, size_t outer_count, struct gt_enclose_span *inner, size_t inner_count,
                void (*found)(void *context, uint32_t inner_id, uint32_t outer_id), void *context) {
    struct stack stack = {.items = gt_mem_array(outer_count, sizeof *stack.items)};
    if (!stack.items)
        return false;
    sort(outer, outer_count);
    sort(inner, inner_count);
    size_t next = 0;
    for (size_t i = 0; i < inner_count; i++) {
        for (; next < outer_count && is_before(&outer[next], &inner[i]); next++) {
            if (stack.count && stack.items[0]->track != outer[next].track)
                stack.count = 0;
            push(&stack, &outer[next]);
        }
        const struct gt_enclose_span *around = last_reaching(&stack, inner[i].end_ns);
        if (around && around->track == inner[i].track)
            found(context, inner[i].id, around->id);
    }
    gt_mem_free(stack.items);
    return true;
}
