/* Counts how often the rows of ops, calls and ranges are walked through, and by which function. Part of a build of the
   program in which the compiler calls a function here before every access to memory (-fsanitize=kernel-address, whose
   checks are ours to define; `make counted`), so that no loop has to say that it is one.

   Arrays with a value for each row are known by the store (its columns) and by what is allocated: an array of as many
   elements as there are ops is one by op, be it a label, a column of a view or something private. Traces for this must
   therefore have different numbers of each.

   A visit is an access of a function to a row that is none of the last few it had to do with. As many visits as there
   are rows are a pass, whatever the number of columns. At the end the file that GPUTIME_PASSES names gets a line for
   each table and function: table, rows, visits, file and function. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/carve.h"
#include "base/mem.h"
#include "events/builder.h"
#include "events/cache.h"
#include "events/seal.h"
#include "events/store.h"
#include "functions.h"

enum { OPS, CALLS, RANGES, TABLES };
static const char *const table_names[TABLES] = {"ops", "calls", "ranges"};
static const enum gt_table_id table_ids[TABLES] = {GT_TABLE_ops, GT_TABLE_calls, GT_TABLE_ranges};

/* Numbers below this are too common to tell tables apart. */
enum { LEAST_ROWS = 500, RECENT = 8, MOST_ARRAYS = 1 << 16, PLACES = 1 << 16 };

struct array {
    uintptr_t begin, end;
    size_t element_bytes;
    int table;
    const void *owner; /* an arena, or the block of several arrays; NULL: freed by itself */
};

struct visits {
    uint32_t recent[RECENT]; /* rows + 1 */
    uint32_t next;
    uint64_t count;
};

static size_t row_counts[TABLES];
static struct array arrays[MOST_ARRAYS]; /* by address */
static size_t array_count;
static struct visits (*visits)[TABLES]; /* by function */
static bool is_busy;                    /* one thread at a time; the test asks for one */

/* ---- arrays ---- */

static size_t first_ending_after(uintptr_t address) {
    size_t low = 0, high = array_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (arrays[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What lies there is no array any more. */
static void forget(uintptr_t begin, uintptr_t end) {
    size_t first = first_ending_after(begin), last = first;
    while (last < array_count && arrays[last].begin < end)
        last++;
    memmove(&arrays[first], &arrays[last], (array_count - last) * sizeof *arrays);
    array_count -= last - first;
}

static void learn(const void *data, size_t rows, size_t element_bytes, int table, const void *owner) {
    uintptr_t begin = (uintptr_t)data, end = begin + rows * element_bytes;
    if (!data || rows < LEAST_ROWS)
        return;
    forget(begin, end);
    if (array_count == MOST_ARRAYS)
        abort();
    size_t at = first_ending_after(begin);
    memmove(&arrays[at + 1], &arrays[at], (array_count - at) * sizeof *arrays);
    arrays[at] = (struct array){begin, end, element_bytes, table, owner};
    array_count++;
}

/* Bounds of groups have one element more than there are rows. */
static void *learn_allocated(void *data, size_t count, size_t element_bytes, const void *owner) {
    for (int table = 0; table < TABLES; table++)
        if (row_counts[table] >= LEAST_ROWS && (count == row_counts[table] || count == row_counts[table] + 1))
            learn(data, count, element_bytes, table, owner);
    return data;
}

static void forget_all_of(const void *owner) {
    size_t kept = 0;
    for (size_t i = 0; i < array_count; i++)
        if (arrays[i].owner != owner)
            arrays[kept++] = arrays[i];
    array_count = kept;
}

static void forget_block(const void *data) {
    size_t at = first_ending_after((uintptr_t)data);
    if (!data || at == array_count || arrays[at].begin != (uintptr_t)data)
        return;
    if (arrays[at].owner == data)
        forget_all_of(data);
    else
        forget(arrays[at].begin, arrays[at].end);
}

/* Columns in a block are forgotten with its arena, or with the block. */
static const void *owner_of_columns(const void *block) {
    size_t at = first_ending_after((uintptr_t)block);
    bool is_known = at < array_count && arrays[at].begin == (uintptr_t)block;
    return is_known && arrays[at].owner ? arrays[at].owner : block;
}

static void learn_store(struct gt_store *store) {
    for (int table = 0; table < TABLES; table++)
        row_counts[table] = *gt_store_row_count(store, table_ids[table]);
    for (size_t i = 0; i < gt_column_count; i++)
        for (int table = 0; table < TABLES; table++)
            if (gt_column_infos[i].table == table_ids[table])
                learn(*gt_store_column(store, &gt_column_infos[i]), row_counts[table], gt_column_infos[i].elem_bytes,
                      table, NULL);
}

/* ---- visits ---- */

static size_t function_of(uintptr_t address) {
    static struct {
        uintptr_t address;
        size_t function;
    } known[PLACES];
    size_t place = (address * UINT64_C(0x9e3779b97f4a7c15)) >> 48;
    if (known[place].address != address) {
        known[place].function = function_at(address);
        known[place].address = address;
    }
    return known[place].function;
}

static void visit_row(struct visits *seen, uint32_t row) {
    for (size_t i = 0; i < RECENT; i++)
        if (seen->recent[i] == row + 1)
            return;
    seen->recent[seen->next++ % RECENT] = row + 1;
    seen->count++;
}

/* Every row that the bytes are of. */
static void visit(uintptr_t address, size_t bytes, void *caller) {
    size_t at = first_ending_after(address);
    if (at == array_count || arrays[at].begin > address || is_busy)
        return;
    const struct array *array = &arrays[at];
    is_busy = true;
    size_t function = function_of((uintptr_t)caller);
    if (!visits)
        visits = calloc(function_count(), sizeof *visits);
    if (!visits)
        abort();
    size_t end = address + bytes < array->end ? address + bytes : array->end;
    for (; address < end && function != SIZE_MAX; address += array->element_bytes)
        visit_row(&visits[function][array->table], (uint32_t)((address - array->begin) / array->element_bytes));
    is_busy = false;
}

/* What the compiler calls. */
#define ACCESS(name, bytes)                                                                                            \
    void __asan_##name##_noabort(uintptr_t address);                                                                   \
    void __asan_##name##_noabort(uintptr_t address) {                                                                  \
        visit(address, bytes, __builtin_return_address(0));                                                            \
    }
#define ACCESS_RANGE(name)                                                                                             \
    void __asan_##name##_noabort(uintptr_t address, size_t bytes);                                                     \
    void __asan_##name##_noabort(uintptr_t address, size_t bytes) {                                                    \
        visit(address, bytes, __builtin_return_address(0));                                                            \
    }
ACCESS(load1, 1)
ACCESS(load2, 2)
ACCESS(load4, 4)
ACCESS(load8, 8)
ACCESS(load16, 16)
ACCESS(store1, 1)
ACCESS(store2, 2)
ACCESS(store4, 4)
ACCESS(store8, 8)
ACCESS(store16, 16)
ACCESS_RANGE(loadN)
ACCESS_RANGE(storeN)
void __asan_handle_no_return(void);
void __asan_handle_no_return(void) {
}

/* ---- what the linker leads here instead (-Wl,--wrap) ---- */

#define WRAP(type, name, ...)                                                                                          \
    type __real_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__)

WRAP(void *, memcpy, void *to, const void *from, size_t bytes) {
    visit((uintptr_t)from, bytes, __builtin_return_address(0));
    visit((uintptr_t)to, bytes, __builtin_return_address(0));
    return __real_memcpy(to, from, bytes);
}

WRAP(void *, memmove, void *to, const void *from, size_t bytes) {
    visit((uintptr_t)from, bytes, __builtin_return_address(0));
    visit((uintptr_t)to, bytes, __builtin_return_address(0));
    return __real_memmove(to, from, bytes);
}

WRAP(void *, memchr, const void *in, int value, size_t bytes) {
    const char *at = __real_memchr(in, value, bytes);
    visit((uintptr_t)in, at ? (size_t)(at - (const char *)in) + 1 : bytes, __builtin_return_address(0));
    return (void *)(uintptr_t)at;
}

WRAP(void *, memset, void *to, int value, size_t bytes) {
    visit((uintptr_t)to, bytes, __builtin_return_address(0));
    return __real_memset(to, value, bytes);
}

WRAP(void *, gt_mem_array, size_t count, size_t elem_bytes) {
    return learn_allocated(__real_gt_mem_array(count, elem_bytes), count, elem_bytes, NULL);
}

WRAP(void *, gt_mem_uninitialised, size_t count, size_t elem_bytes) {
    return learn_allocated(__real_gt_mem_uninitialised(count, elem_bytes), count, elem_bytes, NULL);
}

WRAP(void, gt_mem_free, void *block) {
    forget_block(block);
    __real_gt_mem_free(block);
}

WRAP(void, gt_mem_pages_free, void *pages, size_t bytes) {
    if (pages)
        forget((uintptr_t)pages, (uintptr_t)pages + bytes);
    __real_gt_mem_pages_free(pages, bytes);
}

WRAP(void *, gt_carve_column, void *block, size_t *taken_bytes, size_t count, size_t elem_bytes) {
    const void *owner = owner_of_columns(block);
    return learn_allocated(__real_gt_carve_column(block, taken_bytes, count, elem_bytes), count, elem_bytes, owner);
}

WRAP(void *, gt_arena_array, struct gt_arena *arena, size_t count, size_t elem_bytes) {
    return learn_allocated(__real_gt_arena_array(arena, count, elem_bytes), count, elem_bytes, arena);
}

WRAP(void *, gt_arena_uninitialised, struct gt_arena *arena, size_t count, size_t elem_bytes) {
    return learn_allocated(__real_gt_arena_uninitialised(arena, count, elem_bytes), count, elem_bytes, arena);
}

WRAP(void, gt_arena_release, struct gt_arena *arena) {
    forget_all_of(arena);
    __real_gt_arena_release(arena);
}

WRAP(void, gt_arena_reset, struct gt_arena *arena) {
    forget_all_of(arena);
    __real_gt_arena_reset(arena);
}

WRAP(void, gt_arena_take, struct gt_arena *arena, struct gt_arena *from) {
    for (size_t i = 0; i < array_count; i++)
        arrays[i].owner = arrays[i].owner == from ? arena : arrays[i].owner;
    __real_gt_arena_take(arena, from);
}

/* Sealing walks, too. */
WRAP(enum gt_status, gt_store_seal, struct gt_builder *builders, size_t count, struct gt_store **out,
     struct gt_error *err) {
    if (count == 1)
        learn_store(&builders[0].store);
    enum gt_status status = __real_gt_store_seal(builders, count, out, err);
    if (status == GT_OK)
        learn_store(*out);
    return status;
}

WRAP(bool, gt_cache_load, const struct gt_cache_key *key, uint32_t facts, struct gt_store **out, uint32_t *held) {
    bool is_hit = __real_gt_cache_load(key, facts, out, held);
    if (is_hit)
        learn_store(*out);
    return is_hit;
}

/* ---- the answer ---- */

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("GPUTIME_PASSES");
    FILE *file = path ? fopen(path, "w") : NULL;
    for (int table = 0; table < TABLES && file; table++) {
        fprintf(file, "%s\t%zu\t\t\n", table_names[table], row_counts[table]);
        for (size_t i = 0; i < function_count() && visits; i++) {
            const struct function *function = function_of_index(i);
            if (visits[i][table].count)
                fprintf(file, "%s\t%llu\t%s\t%s\n", table_names[table], (unsigned long long)visits[i][table].count,
                        function->file ? function->file : "", function->name);
        }
    }
    if (file)
        fclose(file);
}
