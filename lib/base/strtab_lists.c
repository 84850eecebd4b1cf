/* Lists of strings become one table. Texts are divided by their hashes, so that one thread sees all that are equal: it
   finds the first of them, the leader. Leaders are numbered in the order of the lists and written side by side. */
#include "base/strtab_lists.h"

#include <stdatomic.h>
#include <string.h>

#include "base/mem.h"
#include "base/threads.h"

/* With fewer texts one thread is as fast. */
#ifndef GT_STRTAB_LISTS_LEAST
#define GT_STRTAB_LISTS_LEAST ((size_t)1 << 16)
#endif
#define MOST ((size_t)1 << 30) /* texts have 32-bit numbers, of which FREE and EMPTY are none */

#define FREE  UINT32_MAX /* no leader has this place */
#define EMPTY UINT32_MAX /* instead of a leader: the text is empty */

/* The texts whose hashes have the same highest bits. */
struct part {
    uint32_t *leaders;  /* open addressing by hash */
    size_t place_count; /* a power of two */
    size_t late_count;  /* of leaders, at the beginning, that found no place among the slots of the part */
};

/* Texts are numbered through all lists. */
struct merge {
    struct gt_strtab *tab;
    const struct gt_strtab_list *lists;
    size_t list_count, text_count, part_count, threads;
    size_t *firsts;               /* by list: the number of its first text */
    size_t *leaders_in, *byte_at; /* by list: how many leaders and bytes of them; then how many the lists before have */
    uint32_t *hashes, *leaders;   /* by text */
    gt_strid *ids;                /* by text, of leaders */
    struct part *parts;
    struct gt_str *strings; /* of the new table, and the bytes of all of them */
    char *text;
    atomic_bool failed;
};

/* ---- who is equal to whom ---- */

static void hash_list(void *context, size_t index) {
    struct merge *merge = context;
    const struct gt_strtab_list *list = &merge->lists[index];
    for (size_t i = 0; i < list->count; i++)
        merge->hashes[merge->firsts[index] + i] = list->texts[i].len ? gt_strtab_hash(list->texts[i]) : 0;
}

static size_t part_of(const struct merge *merge, uint32_t hash) {
    return (size_t)(((uint64_t)hash * merge->part_count) >> 32);
}

static bool part_init(struct part *part, const struct merge *merge, size_t index) {
    size_t count = 0;
    for (size_t i = 0; i < merge->text_count; i++)
        count += part_of(merge, merge->hashes[i]) == index;
    for (part->place_count = 16; part->place_count < 2 * count;)
        part->place_count *= 2;
    part->leaders = gt_mem_uninitialised(part->place_count, sizeof *part->leaders);
    if (part->leaders)
        memset(part->leaders, 0xff, part->place_count * sizeof *part->leaders); /* FREE */
    return part->leaders;
}

static struct gt_str text_of(const struct merge *merge, size_t number) {
    size_t low = 0, high = merge->list_count; /* the text is in one of these lists */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(merge->firsts[middle] <= number ? &low : &high) = middle;
    }
    return merge->lists[low].texts[number - merge->firsts[low]];
}

/* The number of the first text that is equal. All hashes of a part have the same highest bits, so their places go by
   the lowest ones. */
static uint32_t lead(const struct merge *merge, struct part *part, struct gt_str text, size_t number) {
    uint32_t hash = merge->hashes[number];
    size_t at = hash & (part->place_count - 1);
    for (; part->leaders[at] != FREE; at = (at + 1) & (part->place_count - 1)) {
        uint32_t leader = part->leaders[at];
        if (merge->hashes[leader] == hash && gt_str_eq(text_of(merge, leader), text))
            return leader;
    }
    part->leaders[at] = (uint32_t)number;
    return part->leaders[at];
}

static void lead_part(void *context, size_t index) {
    struct merge *merge = context;
    struct part *part = &merge->parts[index];
    if (!part_init(part, merge, index)) {
        atomic_store(&merge->failed, true);
        return;
    }
    for (size_t l = 0; l < merge->list_count; l++) {
        const struct gt_strtab_list *list = &merge->lists[l];
        for (size_t i = 0, number = merge->firsts[l]; i < list->count; i++, number++) {
            if (part_of(merge, merge->hashes[number]) == index)
                merge->leaders[number] = list->texts[i].len ? lead(merge, part, list->texts[i], number) : EMPTY;
        }
    }
}

/* ---- the table ---- */

static void count_list(void *context, size_t index) {
    struct merge *merge = context;
    const struct gt_strtab_list *list = &merge->lists[index];
    for (size_t i = 0, number = merge->firsts[index]; i < list->count; i++, number++) {
        if (merge->leaders[number] != number)
            continue;
        merge->leaders_in[index]++;
        merge->byte_at[index] += list->texts[i].len + 1;
    }
}

/* What comes before each; gives the sum. */
static size_t sum_up(size_t *counts, size_t count, size_t before) {
    for (size_t i = 0; i < count; i++) {
        size_t here = counts[i];
        counts[i] = before;
        before += here;
    }
    return before;
}

static void write_list(void *context, size_t index) {
    struct merge *merge = context;
    const struct gt_strtab_list *list = &merge->lists[index];
    size_t id = merge->leaders_in[index];
    char *at = merge->text + merge->byte_at[index];
    for (size_t i = 0, number = merge->firsts[index]; i < list->count; i++, number++) {
        struct gt_str text = list->texts[i];
        if (merge->leaders[number] != number)
            continue;
        memcpy(at, text.ptr, text.len);
        at[text.len] = '\0';
        merge->strings[id] = (struct gt_str){at, text.len};
        merge->ids[number] = (gt_strid)id++;
        at += text.len + 1;
    }
}

static void answer_list(void *context, size_t index) {
    struct merge *merge = context;
    const struct gt_strtab_list *list = &merge->lists[index];
    for (size_t i = 0, number = merge->firsts[index]; i < list->count; i++, number++) {
        uint32_t leader = merge->leaders[number];
        list->ids[i] = leader == EMPTY ? GT_STRID_EMPTY : merge->ids[leader];
    }
}

static bool put_leader(struct merge *merge, uint32_t leader, size_t end) {
    return gt_strtab_put(merge->tab, merge->hashes[leader], merge->ids[leader], end);
}

/* Those of a part have slots of their own, one after the other. Where they are full, leaders go to the beginning of the
   part's. */
static void fill_part(void *context, size_t index) {
    struct merge *merge = context;
    struct part *part = &merge->parts[index];
    size_t end = merge->tab->slot_count / merge->part_count * (index + 1);
    for (size_t i = 0; i < part->place_count; i++) {
        uint32_t leader = part->leaders[i];
        if (leader != FREE && !put_leader(merge, leader, end))
            part->leaders[part->late_count++] = leader;
    }
}

static void fill_late(struct merge *merge) {
    for (size_t p = 0; p < merge->part_count; p++)
        for (size_t i = 0; i < merge->parts[p].late_count; i++)
            put_leader(merge, merge->parts[p].leaders[i], SIZE_MAX);
}

static bool make_table(struct merge *merge) {
    gt_threads_deal(merge->threads, merge->list_count, count_list, merge);
    size_t string_count = sum_up(merge->leaders_in, merge->list_count, merge->tab->count);
    size_t bytes = sum_up(merge->byte_at, merge->list_count, 0);
    if (!gt_strtab_make_room(merge->tab, string_count))
        return false;
    merge->text = gt_arena_uninitialised(&merge->tab->text, bytes, 1);
    if (!merge->text) {
        merge->tab->text.failed = false; /* it had not failed before, and one by one the texts may have room */
        return false;
    }
    merge->strings = merge->tab->strings;
    gt_threads_deal(merge->threads, merge->list_count, write_list, merge);
    merge->tab->count = string_count;
    gt_threads_deal(merge->threads, merge->part_count, fill_part, merge);
    fill_late(merge);
    gt_threads_deal(merge->threads, merge->list_count, answer_list, merge);
    return true;
}

/* ---- all of it ---- */

static bool merge_init(struct merge *merge, size_t text_count) {
    merge->text_count = text_count;
    for (merge->part_count = 1; merge->part_count * 2 <= merge->threads;)
        merge->part_count *= 2;
    merge->firsts = gt_mem_array(merge->list_count, sizeof *merge->firsts);
    merge->leaders_in = gt_mem_array(merge->list_count, sizeof *merge->leaders_in);
    merge->byte_at = gt_mem_array(merge->list_count, sizeof *merge->byte_at);
    merge->hashes = gt_mem_uninitialised(text_count, sizeof *merge->hashes);
    merge->leaders = gt_mem_uninitialised(text_count, sizeof *merge->leaders);
    merge->ids = gt_mem_uninitialised(text_count, sizeof *merge->ids);
    merge->parts = gt_mem_array(merge->part_count, sizeof *merge->parts);
    if (!merge->firsts || !merge->leaders_in || !merge->byte_at || !merge->hashes || !merge->leaders || !merge->ids ||
        !merge->parts)
        return false;
    for (size_t l = 0; l < merge->list_count; l++)
        merge->firsts[l] = merge->lists[l].count;
    sum_up(merge->firsts, merge->list_count, 0);
    return true;
}

static void merge_release(struct merge *merge) {
    for (size_t p = 0; p < merge->part_count && merge->parts; p++)
        gt_mem_free(merge->parts[p].leaders);
    gt_mem_free(merge->parts);
    gt_mem_free(merge->ids);
    gt_mem_free(merge->leaders);
    gt_mem_free(merge->hashes);
    gt_mem_free(merge->byte_at);
    gt_mem_free(merge->leaders_in);
    gt_mem_free(merge->firsts);
}

/* false: memory was short, and the table has no more strings than before. */
static bool intern_together(struct gt_strtab *tab, const struct gt_strtab_list *lists, size_t list_count,
                            size_t text_count, size_t threads) {
    struct merge merge = {.tab = tab, .lists = lists, .list_count = list_count, .threads = threads};
    bool ok = merge_init(&merge, text_count);
    if (ok) {
        gt_threads_deal(threads, list_count, hash_list, &merge);
        gt_threads_deal(threads, merge.part_count, lead_part, &merge);
        ok = !merge.failed && make_table(&merge);
    }
    merge_release(&merge);
    return ok;
}

/* Only a table without strings is made as a whole. */
void gt_strtab_lists_intern(struct gt_strtab *tab, const struct gt_strtab_list *lists, size_t list_count,
                            size_t threads) {
    size_t text_count = 0;
    for (size_t l = 0; l < list_count; l++)
        text_count += lists[l].count;
    bool is_large = text_count >= GT_STRTAB_LISTS_LEAST && text_count < MOST;
    if (threads > 1 && is_large && tab->count == 1 && !tab->failed &&
        intern_together(tab, lists, list_count, text_count, threads))
        return;
    for (size_t l = 0; l < list_count; l++)
        gt_strtab_intern_many(tab, lists[l].texts, lists[l].count, lists[l].ids);
}
