/* Ranks in an export: texts and rows come in, a list of ranks goes out. Of environments, which are private, nothing but
   the rank and the number of ranks is ever kept. */
#include "decode/nsys/nsys_sqlite_ranks.h"

#include "base/mem.h"

void gt_nsys_sqlite_ranks_release(struct gt_nsys_sqlite_ranks *ranks) {
    gt_mem_free(ranks->list);
    *ranks = (struct gt_nsys_sqlite_ranks){0};
}

static void add_rank(struct gt_nsys_sqlite_ranks *ranks, const struct gt_nsys_rank *rank) {
    struct gt_nsys_rank *grown = gt_mem_room(ranks->list, ranks->count, &ranks->capacity, sizeof *grown);
    ranks->has_failed |= !grown;
    if (!grown)
        return;
    ranks->list = grown;
    ranks->list[ranks->count++] = *rank;
}

void gt_nsys_sqlite_ranks_take_mpi(void *context, const struct gt_sqlite_row *row) {
    if (!gt_sqlite_record_is_int(row, 0) || gt_sqlite_record_int(row, 1, -1) < 0)
        return;
    add_rank(context, &(struct gt_nsys_rank){
                          .global_pid = gt_nsys_global_pid((uint64_t)row->cells[0].integer),
                          .rank = row->cells[1].integer,
                          .world_size = -1,
                          .source = GT_RANK_OF_MPI,
                      });
}

static bool is_name_sign(char sign, bool is_first) {
    bool is_letter = (sign >= 'A' && sign <= 'Z') || (sign >= 'a' && sign <= 'z') || sign == '_';
    return is_letter || (!is_first && sign >= '0' && sign <= '9');
}

/* Whether it begins like "KEY=". */
static bool is_entry(struct gt_str text) {
    size_t at = 0;
    while (at < text.len && is_name_sign(text.ptr[at], at == 0))
        at++;
    return at > 0 && at < text.len && text.ptr[at] == '=';
}

/* Several entries with NUL between them: no other text of a report is like that. */
static bool is_environment(struct gt_str text) {
    size_t entries = 0;
    if (!is_entry(text))
        return false;
    while (text.len && entries < 2) {
        size_t len = strnlen(text.ptr, text.len), used = len < text.len ? len + 1 : len;
        entries += is_entry((struct gt_str){text.ptr, len});
        text = (struct gt_str){text.ptr + used, text.len - used};
    }
    return entries == 2;
}

static void take_environment(struct gt_nsys_sqlite_environments *environments, struct gt_str text) {
    struct gt_nsys_rank found = {.global_pid = GT_NSYS_NO_ID};
    if (!is_environment(text))
        return;
    gt_nsys_environment_rank(text, &found);
    if (found.rank < 0)
        return;
    struct gt_nsys_rank *first = &environments->first;
    if (environments->count++ == 0)
        *first = found;
    first->source = found.source < first->source ? found.source : first->source; /* whatever the order of texts is */
    environments->differ |= found.rank != first->rank || found.world_size != first->world_size;
}

void gt_nsys_sqlite_ranks_take_text(struct gt_nsys_sqlite_ranks *ranks, struct gt_str text) {
    take_environment(&ranks->processes, text);
}

void gt_nsys_sqlite_ranks_take_profiler(struct gt_nsys_sqlite_ranks *ranks, struct gt_str text) {
    char *copy = gt_mem_alloc(text.len + 1);
    ranks->has_failed |= !copy;
    if (!copy)
        return;
    for (size_t i = 0; i < text.len; i++)
        copy[i] = text.ptr[i] == ';' ? '\0' : text.ptr[i];
    take_environment(&ranks->profiler, (struct gt_str){copy, text.len});
    gt_mem_free(copy);
}

void gt_nsys_sqlite_ranks_settle(struct gt_nsys_sqlite_ranks *ranks) {
    const struct gt_nsys_sqlite_environments *from = ranks->processes.count ? &ranks->processes : &ranks->profiler;
    if (from->count == 0 || from->differ)
        return;
    add_rank(ranks, &from->first);
}
