/* Follows allocations: events of a GPU come in, in any order, out goes what was allocated after each, and when each
   block was freed. Frameworks state what is allocated; of the driver's events it is the sum of the blocks. */
#include "measure/memory_use/memory_events.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/ns.h"
#include "base/radix.h"

/* ---- order ---- */

/* Static variables are memory too; pinned memory is the host's. */
static bool is_of_device(const struct gt_memory_events *rows, size_t row) {
    uint8_t kind = rows->kind[row], operation = rows->operation[row];
    bool is_block = operation == GT_MEMORY_ALLOCATE || operation == GT_MEMORY_FREE;
    return is_block && rows->device[row] >= 0 && kind >= GT_MEMORY_DEVICE && kind <= GT_MEMORY_STATIC;
}

/* What was there before the capture is there when it begins; times may lie before that. */
static int64_t first_time(const struct gt_memory_events *rows) {
    int64_t first_ns = 0;
    for (size_t row = 0; row < rows->count; row++)
        if (rows->time_ns[row] != GT_NO_TIME && rows->time_ns[row] < first_ns)
            first_ns = rows->time_ns[row];
    return first_ns;
}

/* Keys of which the last one counts most: sorting keeps the order of what is equal. */
static bool sort_rows(struct gt_radix_item *items, size_t count, const struct gt_memory_events *rows,
                      int64_t first_ns) {
    for (size_t i = 0; i < count; i++) {
        int64_t time_ns = rows->time_ns[items[i].value];
        items[i].key = gt_radix_key(time_ns == GT_NO_TIME ? first_ns : time_ns);
    }
    bool is_done = gt_radix_sort(items, count);
    for (size_t i = 0; i < count; i++)
        items[i].key = (uint64_t)rows->device[items[i].value];
    return is_done && gt_radix_sort(items, count);
}

bool gt_memory_events_sort(struct gt_memory_events_list *list, const struct gt_store *store) {
    const struct gt_memory_events *rows = &store->memory_events;
    struct gt_radix_item *items = gt_mem_uninitialised(rows->count, sizeof *items);
    int64_t first_ns = first_time(rows);
    size_t count = 0;
    *list = (struct gt_memory_events_list){0};
    if (!items)
        return false;
    for (uint32_t row = 0; row < rows->count; row++)
        if (is_of_device(rows, row))
            items[count++] = (struct gt_radix_item){0, row};
    list->items = gt_mem_array(count, sizeof *list->items);
    bool is_done = list->items && sort_rows(items, count, rows, first_ns);
    for (size_t i = 0; i < count && is_done; i++) {
        int64_t time_ns = rows->time_ns[items[i].value];
        list->items[i].row = items[i].value;
        list->items[i].time_ns = time_ns == GT_NO_TIME ? first_ns : time_ns;
    }
    list->count = is_done ? count : 0;
    gt_mem_free(items);
    return is_done;
}

/* ---- blocks and amounts ---- */

/* What an allocator has on the GPU. */
struct heap {
    int64_t allocated, reserved;
};

struct following {
    struct gt_memory_event *events;
    const struct gt_memory_events *rows;
    struct gt_memory_set *set;
    struct gt_map blocks;  /* by process and address: the event that allocated it, or the one that freed it */
    struct gt_map heap_of; /* by process */
    struct heap *heaps;
    size_t heap_count, heap_capacity;
    int64_t allocated, reserved; /* of all heaps */
};

static struct heap *heap_at(struct following *it, uint32_t process) {
    uint32_t index = gt_map_put_if_new(&it->heap_of, process, 0, (uint32_t)it->heap_count);
    if (it->heap_of.failed)
        return NULL;
    if (index == it->heap_count) {
        struct heap *grown = gt_mem_room(it->heaps, it->heap_count, &it->heap_capacity, sizeof *grown);
        if (!grown)
            return NULL;
        it->heaps = grown;
        it->heaps[it->heap_count++] = (struct heap){0, GT_MEMORY_SET_UNKNOWN};
    }
    return &it->heaps[index];
}

static int64_t bytes_of(uint64_t bytes) {
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

/* The block at an address; NULL: there is none. */
static struct gt_memory_event *block_at(struct following *it, uint32_t process, uint64_t address) {
    uint32_t number = gt_map_get(&it->blocks, process, address);
    struct gt_memory_event *block = number == GT_MAP_NONE ? NULL : &it->events[number];
    return block && block->freed_by == GT_MEMORY_EVENTS_KEPT ? block : NULL;
}

/* By how many bytes an event changes what its process has. */
static int64_t change_of(struct following *it, uint32_t number) {
    const struct gt_memory_events *rows = it->rows;
    struct gt_memory_event *event = &it->events[number];
    uint32_t row = event->row, process = rows->process[row];
    uint64_t address = rows->address[row];
    bool is_free = rows->operation[row] == GT_MEMORY_FREE, is_of_driver = rows->source[row] == GT_MEMORY_OF_DRIVER;
    event->freed_by = number;
    if (address == UINT64_MAX) {
        it->set->without_address++;
        return rows->bytes[row];
    }
    struct gt_memory_event *block = block_at(it, process, address);
    if (block)
        block->freed_by = number;
    it->set->free_of_unknown += is_free && !block;
    it->set->address_twice += !is_free && block;
    int64_t block_bytes = block ? rows->bytes[block->row] : 0;
    if (is_free)
        return is_of_driver ? gt_ns_between(block_bytes, 0) : rows->bytes[row];
    event->freed_by = GT_MEMORY_EVENTS_KEPT;
    gt_map_put(&it->blocks, process, address, number);
    return gt_ns_between(block_bytes, rows->bytes[row]);
}

static bool follow(struct following *it, uint32_t number) {
    struct gt_memory_event *event = &it->events[number];
    uint64_t allocated = it->rows->allocated_bytes[event->row], reserved = it->rows->reserved_bytes[event->row];
    struct heap *heap = heap_at(it, it->rows->process[event->row]);
    if (!heap)
        return false;
    int64_t before = heap->allocated, reserved_before = heap->reserved;
    event->change = change_of(it, number);
    int64_t after = gt_ns_add(before, event->change);
    heap->allocated = allocated == UINT64_MAX ? after : bytes_of(allocated);
    it->allocated = gt_ns_add(it->allocated, gt_ns_between(before, heap->allocated));
    if (reserved != UINT64_MAX) {
        heap->reserved = bytes_of(reserved);
        it->reserved =
            gt_ns_add(it->reserved == GT_MEMORY_SET_UNKNOWN ? 0 : it->reserved,
                      gt_ns_between(reserved_before == GT_MEMORY_SET_UNKNOWN ? 0 : reserved_before, heap->reserved));
    }
    event->own = heap->allocated;
    event->allocated = it->allocated;
    event->reserved = it->reserved;
    return !it->blocks.failed;
}

bool gt_memory_events_follow(struct gt_memory_event *events, size_t count, const struct gt_store *store,
                             struct gt_memory_set *set) {
    struct following it = {
        .events = events, .rows = &store->memory_events, .set = set, .reserved = GT_MEMORY_SET_UNKNOWN};
    bool is_done = true;
    for (size_t i = 0; i < count && is_done; i++)
        is_done = follow(&it, (uint32_t)i);
    gt_map_release(&it.blocks);
    gt_map_release(&it.heap_of);
    gt_mem_free(it.heaps);
    return is_done;
}
