/* Counts the bytes of a connection's queries. */
#include "sql/sql_memory.h"

#include "base/mem.h"
#include "sql/sql_host.h"

struct gt_sql_memory {
    bool counts_sqlite, is_over;
    long long before; /* SQLite's when counting began: that of others */
    long long taken;  /* by functions */
    size_t holders;
};

struct gt_sql_memory *gt_sql_memory_new(bool counts_sqlite) {
    struct gt_sql_memory *memory = gt_mem_array(1, sizeof *memory);
    if (!memory)
        return NULL;
    *memory = (struct gt_sql_memory){.counts_sqlite = counts_sqlite, .holders = 1};
    if (counts_sqlite)
        memory->before = sqlite3_memory_used();
    return memory;
}

void gt_sql_memory_hold(struct gt_sql_memory *memory) {
    memory->holders++;
}

void gt_sql_memory_release(void *context) {
    struct gt_sql_memory *memory = context;
    if (memory && --memory->holders == 0)
        gt_mem_free(memory);
}

static bool has_room(const struct gt_sql_memory *memory, size_t bytes) {
    long long used = memory->taken;
    if (memory->counts_sqlite)
        used += sqlite3_memory_used() - memory->before;
    return used <= GT_SQL_MEMORY_MOST && bytes <= (unsigned long long)(GT_SQL_MEMORY_MOST - used);
}

bool gt_sql_memory_take(struct gt_sql_memory *memory, size_t bytes) {
    if (!has_room(memory, bytes)) {
        memory->is_over = true;
        return false;
    }
    memory->taken += (long long)bytes;
    return true;
}

void gt_sql_memory_give(struct gt_sql_memory *memory, size_t bytes) {
    memory->taken -= (long long)bytes;
}

bool gt_sql_memory_is_over(struct gt_sql_memory *memory) {
    memory->is_over |= !has_room(memory, 0);
    return memory->is_over;
}

bool gt_sql_memory_was_over(const struct gt_sql_memory *memory) {
    return memory->is_over;
}
