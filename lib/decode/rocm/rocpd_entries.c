/* What rows refer to by the million, by id. Ids mostly count up, so that their place says which they are; where they do
   not, they are kept and sorted. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "decode/rocm/rocpd.h"

/* From the first gap on, ids are kept. */
static bool keep_ids(struct gt_rocpd_piece *piece) {
    piece->ids = gt_mem_uninitialised(piece->capacity, sizeof *piece->ids);
    piece->id_capacity = piece->ids ? piece->capacity : 0;
    for (size_t i = 0; i < piece->count && piece->ids; i++)
        piece->ids[i] = piece->first_id + i;
    return piece->ids != NULL;
}

static bool make_room(struct gt_rocpd_piece *piece) {
    struct gt_rocpd_entry *entries = gt_mem_room(piece->entries, piece->count, &piece->capacity, sizeof *entries);
    piece->entries = entries ? entries : piece->entries;
    if (!entries || !piece->ids)
        return entries != NULL;
    uint64_t *ids = gt_mem_room(piece->ids, piece->count, &piece->id_capacity, sizeof *ids);
    piece->ids = ids ? ids : piece->ids;
    return ids != NULL;
}

void gt_rocpd_entries_add(struct gt_rocpd_piece *piece, uint64_t id, const struct gt_rocpd_entry *entry) {
    if (piece->has_failed || !make_room(piece)) {
        piece->has_failed = true;
        return;
    }
    if (piece->count == 0) {
        piece->first_id = piece->last_id = id;
        piece->is_sorted = true;
    } else {
        bool is_next = id == piece->last_id + 1 && piece->last_id != UINT64_MAX;
        if (!is_next && !piece->ids && !keep_ids(piece)) {
            piece->has_failed = true;
            return;
        }
        piece->is_sorted &= id > piece->last_id;
        piece->last_id = id;
    }
    if (piece->ids)
        piece->ids[piece->count] = id;
    piece->entries[piece->count++] = *entry;
}

uint32_t gt_rocpd_entries_message(struct gt_rocpd_piece *piece, struct gt_str text) {
    struct gt_str *grown = gt_mem_room(piece->messages, piece->message_count, &piece->message_capacity, sizeof *grown);
    piece->has_failed |= !grown;
    if (!grown || piece->message_count >= UINT32_MAX - 1)
        return 0;
    piece->messages = grown;
    grown[piece->message_count++] = gt_arena_copy(&piece->arena, text);
    piece->has_failed |= gt_arena_failed(&piece->arena);
    return (uint32_t)piece->message_count;
}

static void release_piece(struct gt_rocpd_piece *piece) {
    gt_mem_free(piece->ids);
    gt_mem_free(piece->entries);
    gt_mem_free(piece->messages);
    gt_arena_release(&piece->arena);
    *piece = (struct gt_rocpd_piece){0};
}

void gt_rocpd_entries_release(struct gt_rocpd_entries *entries) {
    for (size_t i = 0; i < entries->count; i++)
        release_piece(&entries->pieces[i]);
    gt_mem_free(entries->pieces);
    *entries = (struct gt_rocpd_entries){0};
}

/* ---- what is out of order ---- */

struct numbered {
    uint64_t id;
    size_t order;
    struct gt_rocpd_entry entry;
};

static int by_id(const void *a, const void *b) {
    const struct numbered *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* The messages of all pieces in one, in the order of the pieces. */
static bool join_messages(struct gt_rocpd_entries *entries, struct gt_rocpd_piece *into) {
    for (size_t p = 0; p < entries->count; p++) {
        struct gt_rocpd_piece *piece = &entries->pieces[p];
        uint32_t before = (uint32_t)into->message_count;
        for (size_t m = 0; m < piece->message_count; m++)
            if (!gt_rocpd_entries_message(into, piece->messages[m]))
                return false;
        for (size_t i = 0; i < piece->count; i++)
            piece->entries[i].message += piece->entries[i].message ? before : 0;
    }
    return true;
}

/* One sorted piece of all; of equal ids the first counts. */
static bool sort_all(struct gt_rocpd_entries *entries) {
    struct gt_rocpd_piece whole = {0};
    size_t total = 0, at = 0;
    for (size_t p = 0; p < entries->count; p++)
        total += entries->pieces[p].count;
    struct numbered *all = gt_mem_array(total, sizeof *all);
    bool is_done = all && join_messages(entries, &whole);
    for (size_t p = 0; p < entries->count && is_done; p++) {
        const struct gt_rocpd_piece *piece = &entries->pieces[p];
        for (size_t i = 0; i < piece->count; i++, at++)
            all[at] = (struct numbered){piece->ids ? piece->ids[i] : piece->first_id + i, at, piece->entries[i]};
    }
    if (is_done)
        qsort(all, total, sizeof *all, by_id);
    for (size_t i = 0; i < total && is_done; i++)
        if (i == 0 || all[i].id != all[i - 1].id)
            gt_rocpd_entries_add(&whole, all[i].id, &all[i].entry);
    gt_mem_free(all);
    for (size_t p = 0; p < entries->count; p++)
        release_piece(&entries->pieces[p]);
    entries->pieces[0] = whole;
    entries->count = 1;
    return is_done && !whole.has_failed;
}

bool gt_rocpd_entries_seal(struct gt_rocpd_entries *entries) {
    bool is_done = true, is_sorted = true;
    size_t count = 0;
    for (size_t p = 0; p < entries->count; p++) {
        is_done &= !entries->pieces[p].has_failed;
        if (entries->pieces[p].count == 0) {
            release_piece(&entries->pieces[p]);
            continue;
        }
        struct gt_rocpd_piece piece = entries->pieces[p];
        entries->pieces[p] = (struct gt_rocpd_piece){0};
        is_sorted &= piece.is_sorted && (count == 0 || piece.first_id > entries->pieces[count - 1].last_id);
        entries->pieces[count++] = piece;
    }
    entries->count = count;
    return is_done && (is_sorted || sort_all(entries));
}

/* ---- looking up ---- */

static const struct gt_rocpd_entry *find_in(const struct gt_rocpd_piece *piece, uint64_t id) {
    if (!piece->ids)
        return &piece->entries[id - piece->first_id];
    size_t low = 0, high = piece->count;
    if (id - piece->first_id < piece->count && piece->ids[id - piece->first_id] == id)
        return &piece->entries[id - piece->first_id];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool is_before = piece->ids[middle] < id;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    return low < piece->count && piece->ids[low] == id ? &piece->entries[low] : NULL;
}

const struct gt_rocpd_entry *gt_rocpd_entries_find(const struct gt_rocpd_entries *entries, uint64_t id, size_t *hint) {
    size_t low = 0, high = entries->count;
    if (*hint < entries->count && entries->pieces[*hint].first_id <= id && id <= entries->pieces[*hint].last_id)
        return find_in(&entries->pieces[*hint], id);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool is_before = entries->pieces[middle].last_id < id;
        low = is_before ? middle + 1 : low;
        high = is_before ? high : middle;
    }
    if (low == entries->count || entries->pieces[low].first_id > id)
        return NULL;
    *hint = low;
    return find_in(&entries->pieces[low], id);
}
