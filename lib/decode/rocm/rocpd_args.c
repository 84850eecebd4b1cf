/* Arguments of calls in a rocpd database: rows of its table come in, in parts; those of an event go out, by position.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "decode/rocm/rocpd.h"

/* Rows may refer to one event many times, and records may share their bytes: what a database gives must stay in
   proportion to its size. An argument is mostly that of one row. */
enum { OF_EVENT_MAX = 64, TEXT_MAX = 4096, ROWS_OF_ARG = 4 };

bool gt_rocpd_args_begin(struct gt_rocpd_args *args, size_t pieces) {
    gt_rocpd_args_release(args);
    args->pieces = gt_mem_array(pieces + 1, sizeof *args->pieces);
    args->piece_count = args->pieces ? pieces : 0;
    atomic_init(&args->wanted, 0);
    return args->pieces != NULL;
}

static gt_strid text_in(struct gt_rocpd_args_piece *piece, const struct gt_sqlite_row *row, size_t slot) {
    char digits[GT_NUM_MAX];
    struct gt_str text = gt_sqlite_record_text(row, slot);
    if (gt_sqlite_record_is_int(row, slot))
        text = (struct gt_str){digits, gt_num_format_int(digits, row->cells[slot].integer)};
    return text.len ? gt_strtab_intern(&piece->texts, gt_str_cut(text, TEXT_MAX)) : GT_STRID_EMPTY;
}

void gt_rocpd_args_take(void *context, const struct gt_sqlite_row *row) {
    struct gt_rocpd_args_piece *piece = context;
    if (!gt_sqlite_record_is_int(row, GT_ROCPD_ARG_EVENT) || piece->has_failed || piece->count >= UINT32_MAX)
        return;
    if (!piece->has_texts)
        piece->has_texts = gt_strtab_init(&piece->texts);
    struct gt_rocpd_arg *grown = gt_mem_room(piece->list, piece->count, &piece->capacity, sizeof *grown);
    piece->has_failed = !piece->has_texts || !grown;
    if (grown)
        piece->list = grown;
    if (piece->has_failed)
        return;
    grown[piece->count] = (struct gt_rocpd_arg){
        .event = gt_rocpd_id(row, GT_ROCPD_ARG_EVENT),
        .position = gt_sqlite_record_int(row, GT_ROCPD_ARG_POSITION, INT64_MIN),
        .place = (uint32_t)piece->count,
        .name = text_in(piece, row, GT_ROCPD_ARG_NAME),
        .type = text_in(piece, row, GT_ROCPD_ARG_TYPE),
        .value = text_in(piece, row, GT_ROCPD_ARG_VALUE),
    };
    piece->count++;
    piece->has_failed = piece->texts.failed;
}

/* ---- in order ---- */

static int by_event(const void *a, const void *b) {
    const struct gt_rocpd_arg *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->piece != y->piece)
        return x->piece < y->piece ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

bool gt_rocpd_args_seal(struct gt_rocpd_args *args) {
    bool is_done = true, is_sorted = true;
    size_t total = 0;
    for (size_t p = 0; p < args->piece_count; p++) {
        is_done &= !args->pieces[p].has_failed;
        total += args->pieces[p].count;
    }
    args->list = is_done ? gt_mem_array(total + 1, sizeof *args->list) : NULL;
    if (!args->list)
        return false;
    for (size_t p = 0; p < args->piece_count; p++) {
        struct gt_rocpd_args_piece *piece = &args->pieces[p];
        for (size_t i = 0; i < piece->count; i++) {
            struct gt_rocpd_arg *arg = &args->list[args->count++];
            *arg = piece->list[i];
            arg->piece = (uint32_t)p;
            is_sorted &= args->count == 1 || by_event(arg - 1, arg) < 0;
        }
        gt_mem_free(piece->list);
        piece->list = NULL;
    }
    if (!is_sorted)
        qsort(args->list, args->count, sizeof *args->list, by_event);
    return true;
}

void gt_rocpd_args_release(struct gt_rocpd_args *args) {
    for (size_t p = 0; p < args->piece_count; p++) {
        gt_mem_free(args->pieces[p].list);
        if (args->pieces[p].has_texts)
            gt_strtab_release(&args->pieces[p].texts);
    }
    gt_mem_free(args->pieces);
    gt_mem_free(args->list);
    *args = (struct gt_rocpd_args){0};
}

/* ---- to rows ---- */

static bool are_too_many(const struct gt_rocpd_args *args, size_t wanted) {
    return wanted / ROWS_OF_ARG > args->count;
}

/* The first argument of an event, or where it would be. Calls mostly come in the order of their events. */
static size_t first_of(const struct gt_rocpd_args *args, uint64_t event, size_t hint) {
    size_t low = 0, high = args->count;
    if (hint < high && args->list[hint].event == event && (hint == 0 || args->list[hint - 1].event != event))
        return hint;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool is_before = args->list[middle].event < event;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low;
}

void gt_rocpd_args_add(struct gt_rocpd_rows *rows, uint64_t event, bool is_call) {
    struct gt_rocpd_args *args = rows->args;
    struct gt_builder *builder = rows->sink->builder;
    if (event == GT_ROCM_NONE)
        return;
    size_t first = first_of(args, event, rows->args_hint), end = first;
    while (end < args->count && args->list[end].event == event && end - first < OF_EVENT_MAX)
        end++;
    rows->args_hint = end;
    if (are_too_many(args, atomic_fetch_add(&args->wanted, end - first) + end - first))
        return;
    for (size_t i = first; i < end; i++) {
        const struct gt_rocpd_arg *arg = &args->list[i];
        const struct gt_strtab *texts = &args->pieces[arg->piece].texts;
        gt_builder_call_arg(builder, &(struct gt_call_args_row){
                                         .position = arg->position,
                                         .name = gt_builder_string(builder, gt_strtab_get(texts, arg->name)),
                                         .type = gt_builder_string(builder, gt_strtab_get(texts, arg->type)),
                                         .value = gt_builder_string(builder, gt_strtab_get(texts, arg->value)),
                                         .call = is_call ? 0 : GT_NO_ROW,
                                         .range = is_call ? GT_NO_ROW : 0,
                                     });
    }
}

/* How many are wanted does not depend on the order of rows, which of them got some does. */
uint64_t gt_rocpd_args_check(struct gt_rocpd_set *sets, size_t set_count, struct gt_builder *builders, size_t count) {
    uint64_t lost = 0;
    for (size_t i = 0; i < set_count; i++)
        if (are_too_many(&sets[i].args, atomic_load(&sets[i].args.wanted)))
            lost += sets[i].args.count;
    for (size_t b = 0; b < count && lost; b++) {
        builders[b].store.call_args.count = 0;
        for (size_t i = 0; i < builders[b].segment_count; i++)
            builders[b].segments[i].begin[GT_TABLE_call_args] = builders[b].segments[i].end[GT_TABLE_call_args] = 0;
    }
    return lost;
}
