/* Chains of stretches, and sweeps along them. */
#include "measure/stretches.h"

#include <string.h>

#include "base/mem.h"

/* ---- chains ---- */

bool gt_stretches_init(struct gt_stretches *stretches, size_t most, size_t thread_count) {
    *stretches = (struct gt_stretches){
        .items = most < GT_NO_STRETCH ? gt_alloc_uninitialised(most, sizeof *stretches->items) : NULL,
        .latest_chain = gt_alloc_uninitialised(thread_count, sizeof *stretches->latest_chain),
        .thread_count = thread_count,
    };
    if (!stretches->items || !stretches->latest_chain)
        return false;
    memset(stretches->latest_chain, 0xff, thread_count * sizeof *stretches->latest_chain);
    return true;
}

void gt_stretches_release(struct gt_stretches *stretches) {
    gt_free(stretches->items);
    gt_free(stretches->chains);
    gt_free(stretches->latest_chain);
    *stretches = (struct gt_stretches){0};
}

void gt_stretches_rewind(struct gt_stretches *stretches) {
    stretches->first_open = stretches->chain_count;
}

static bool begin_chain(struct gt_stretches *stretches, uint32_t thread, uint32_t first) {
    struct gt_stretch_chain *grown =
        gt_array_room(stretches->chains, stretches->chain_count, &stretches->chain_capacity, sizeof *grown);
    if (!grown)
        return false;
    stretches->chains = grown;
    stretches->chains[stretches->chain_count] = (struct gt_stretch_chain){thread, first, first};
    stretches->latest_chain[thread] = (uint32_t)stretches->chain_count++;
    return true;
}

bool gt_stretches_add(struct gt_stretches *stretches, uint32_t thread, int64_t start_ns, int64_t end_ns, uint32_t gap) {
    uint32_t place = (uint32_t)stretches->count, latest = stretches->latest_chain[thread];
    bool is_open = latest != GT_NO_STRETCH && latest >= stretches->first_open;
    struct gt_stretch_chain *chain = is_open ? &stretches->chains[latest] : NULL;
    if (chain && stretches->items[chain->last].end_ns <= start_ns) {
        stretches->items[chain->last].next = place;
        chain->last = place;
    } else if (!begin_chain(stretches, thread, place)) {
        return false;
    }
    stretches->items[stretches->count++] = (struct gt_stretch){start_ns, end_ns, GT_NO_STRETCH, gap};
    return true;
}

/* ---- sweeps ---- */

/* Where a chain has been told up to: its first stretch that an interval can still reach, and what they have of it. */
struct gt_sweep_cursor {
    uint32_t stretch;
    uint32_t next; /* cursor of the same thread; GT_NO_STRETCH */
    gt_strid name;
    uint64_t covered_ns, largest_ns;
};

bool gt_sweep_init(struct gt_sweep *sweep, const struct gt_stretches *stretches,
                   void (*tell)(void *, uint32_t, const struct gt_stretch_part *), void *context) {
    *sweep = (struct gt_sweep){
        .stretches = stretches,
        .cursors = gt_alloc_uninitialised(stretches->chain_count, sizeof *sweep->cursors),
        .first_cursor = gt_alloc_uninitialised(stretches->thread_count, sizeof *sweep->first_cursor),
        .tell = tell,
        .context = context,
    };
    if (!sweep->cursors || !sweep->first_cursor)
        return false;
    gt_sweep_restart(sweep);
    return true;
}

void gt_sweep_release(struct gt_sweep *sweep) {
    gt_free(sweep->cursors);
    gt_free(sweep->first_cursor);
    *sweep = (struct gt_sweep){0};
}

void gt_sweep_restart(struct gt_sweep *sweep) {
    const struct gt_stretches *stretches = sweep->stretches;
    memset(sweep->first_cursor, 0xff, stretches->thread_count * sizeof *sweep->first_cursor);
    for (size_t i = 0; i < stretches->chain_count; i++) {
        uint32_t *first = &sweep->first_cursor[stretches->chains[i].thread];
        sweep->cursors[i] = (struct gt_sweep_cursor){.stretch = stretches->chains[i].first, .next = *first};
        *first = (uint32_t)i;
    }
}

static uint64_t length_of(int64_t start_ns, int64_t end_ns) {
    return (uint64_t)end_ns - (uint64_t)start_ns;
}

/* Tells of the stretch that a cursor is at, and goes on to the next one. */
static void leave(struct gt_sweep *sweep, struct gt_sweep_cursor *cursor) {
    const struct gt_stretch *stretch = &sweep->stretches->items[cursor->stretch];
    bool is_most = cursor->covered_ns > length_of(stretch->start_ns, stretch->end_ns) / 2;
    sweep->tell(sweep->context, cursor->stretch, &(struct gt_stretch_part){is_most, cursor->name});
    *cursor = (struct gt_sweep_cursor){.stretch = stretch->next, .next = cursor->next};
}

static void advance(struct gt_sweep *sweep, struct gt_sweep_cursor *cursor, int64_t start_ns, int64_t end_ns,
                    gt_strid name) {
    while (cursor->stretch != GT_NO_STRETCH) {
        const struct gt_stretch *stretch = &sweep->stretches->items[cursor->stretch];
        if (stretch->start_ns >= end_ns)
            return;
        if (stretch->end_ns > start_ns) {
            uint64_t part_ns = length_of(stretch->start_ns > start_ns ? stretch->start_ns : start_ns,
                                         stretch->end_ns < end_ns ? stretch->end_ns : end_ns);
            cursor->covered_ns += part_ns;
            if (part_ns > cursor->largest_ns) {
                cursor->largest_ns = part_ns;
                cursor->name = name;
            }
            if (stretch->end_ns > end_ns)
                return;
        }
        leave(sweep, cursor);
    }
}

void gt_sweep_take(struct gt_sweep *sweep, uint32_t thread, int64_t start_ns, int64_t end_ns, gt_strid name) {
    for (uint32_t c = sweep->first_cursor[thread]; c != GT_NO_STRETCH; c = sweep->cursors[c].next)
        advance(sweep, &sweep->cursors[c], start_ns, end_ns, name);
}

void gt_sweep_finish(struct gt_sweep *sweep) {
    for (size_t i = 0; i < sweep->stretches->chain_count; i++)
        while (sweep->cursors[i].stretch != GT_NO_STRETCH)
            leave(sweep, &sweep->cursors[i]);
}
