/* Matches the rows that only one side has: by the order of ids, by alias, by plain name, by category. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/num.h"
#include "compare/join.h"

const char *const gt_match_names[GT_MATCH_COUNT] = {
    [GT_MATCH_NONE] = "none",   [GT_MATCH_EXACT] = "exact",     [GT_MATCH_ORDER] = "order",
    [GT_MATCH_SHORT] = "short", [GT_MATCH_SIMILAR] = "similar", [GT_MATCH_CATEGORY] = "category",
};

/* The ids that a side has in one column, in their order. */
struct ids {
    int64_t *items;
    size_t count;
};

/* State of one tier. */
struct tier {
    enum gt_match match;
    struct ids *ids; /* by side and column */
    struct gt_strtab keys;
    uint8_t *sides; /* by key: bits of the sides that have it */
    uint32_t *head; /* by key: the row that represents the others, plus 1 */
    uint32_t *key_of;
};

static bool is_id(const struct gt_report_column *column) {
    return (column->flags & GT_COLUMN_KEY) && !(column->flags & GT_COLUMN_EXACT) && column->unit == GT_UNIT_NONE;
}

/* Names that tiers replace. */
static bool is_replaced(const struct gt_report_column *column) {
    return (column->flags & GT_COLUMN_NAME) && !(column->flags & GT_COLUMN_EXACT);
}

static bool is_alone(const struct gt_join_row *row) {
    return !row->is_joined && (!row->cells[GT_SIDE_A] || !row->cells[GT_SIDE_B]);
}

static enum gt_side side_of(const struct gt_join_row *row) {
    return row->cells[GT_SIDE_A] ? GT_SIDE_A : GT_SIDE_B;
}

/* ---- ids ---- */

static int compare_ids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool ids_init(struct ids *ids, const struct gt_join *join, enum gt_side side, size_t column) {
    ids->items = gt_mem_array(join->row_count, sizeof *ids->items);
    if (!ids->items)
        return false;
    size_t count = 0;
    for (size_t r = 0; r < join->row_count; r++) {
        const struct gt_cell *cells = join->rows[r].cells[side];
        if (cells && cells[column].type == GPUTIME_CELL_INT)
            ids->items[count++] = cells[column].integer;
    }
    if (count)
        qsort(ids->items, count, sizeof *ids->items, compare_ids);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ids->items[i] != ids->items[i - 1])
            ids->items[ids->count++] = ids->items[i];
    return true;
}

static size_t place_of(const struct ids *ids, int64_t id) {
    const int64_t *found = bsearch(&id, ids->items, ids->count, sizeof id, compare_ids);
    return found ? (size_t)(found - ids->items) : 0;
}

static struct ids *new_ids(const struct gt_join *join) {
    size_t columns = join->shape->column_count;
    struct ids *ids = gt_mem_array(GT_SIDE_COUNT * columns, sizeof *ids);
    bool ok = ids != NULL;
    for (size_t i = 0; i < GT_SIDE_COUNT * columns && ok; i++)
        if (is_id(&join->shape->columns[i % columns]))
            ok = ids_init(&ids[i], join, (enum gt_side)(i / columns), i % columns);
    for (size_t i = 0; i < GT_SIDE_COUNT * columns && ids && !ok; i++)
        gt_mem_free(ids[i].items);
    if (!ok) {
        gt_mem_free(ids);
        ids = NULL;
    }
    return ids;
}

/* ---- the key of a tier ---- */

static struct gt_str flagged_text(const struct gt_join_row *row, enum gt_side side, uint32_t flag) {
    const struct gt_table *table = row->tables[side];
    for (size_t c = 0; c < table->column_count; c++)
        if ((table->columns[c].flags & flag) && row->cells[side][c].type == GPUTIME_CELL_TEXT)
            return (struct gt_str){row->cells[side][c].text, row->cells[side][c].text_bytes};
    return (struct gt_str){0};
}

static void put_plain(struct gt_join *join, struct gt_str name) {
    size_t room = GT_JOIN_PLAIN_MAX(name.len);
    char *plain = gt_mem_alloc(room);
    if (!plain) {
        join->failed = true;
        return;
    }
    size_t length = 0;
    gt_join_plain_name(name, plain, &length);
    gt_join_put(join, (struct gt_str){plain, length});
    gt_mem_free(plain);
}

/* Replacement of a name in this tier. false: the row has none. */
static bool put_name(struct gt_join *join, const struct tier *tier, const struct gt_join_row *row, enum gt_side side,
                     struct gt_str name) {
    struct gt_str alias = flagged_text(row, side, GT_COLUMN_ALIAS);
    struct gt_str class = flagged_text(row, side, GT_COLUMN_CLASS);
    switch (tier->match) {
    case GT_MATCH_SHORT:
        gt_join_put(join, alias);
        return alias.len;
    case GT_MATCH_SIMILAR:
        put_plain(join, alias.len ? alias : name);
        return true;
    case GT_MATCH_CATEGORY:
        gt_join_put(join, class);
        return class.len;
    case GT_MATCH_NONE:
    case GT_MATCH_EXACT:
    case GT_MATCH_ORDER:
    case GT_MATCH_COUNT:
        break;
    }
    gt_join_put(join, name);
    return true;
}

/* Ids by their position on the side, names replaced by the tier, the rest unchanged. */
static bool make_key(struct gt_join *join, const struct tier *tier, const struct gt_join_row *row) {
    enum gt_side side = side_of(row);
    const struct gt_table *table = row->tables[side];
    bool ok = true;
    join->text_bytes = 0;
    for (size_t c = 0; c < table->column_count && ok; c++) {
        const struct gt_cell *cell = &row->cells[side][c];
        char number[GT_NUM_MAX] = "";
        if (!(table->columns[c].flags & GT_COLUMN_KEY))
            continue;
        struct gt_str text = {number, 0};
        if (cell->type == GPUTIME_CELL_TEXT)
            text = (struct gt_str){cell->text, cell->text_bytes};
        else if (cell->type == GPUTIME_CELL_INT && is_id(&table->columns[c]))
            text.len = gt_num_format_int(
                number, (int64_t)place_of(&tier->ids[(size_t)side * join->shape->column_count + c], cell->integer));
        else if (cell->type == GPUTIME_CELL_INT)
            text.len = gt_num_format_int(number, cell->integer);
        if (cell->type == GPUTIME_CELL_TEXT && is_replaced(&table->columns[c]))
            ok = put_name(join, tier, row, side, text);
        else
            gt_join_put(join, text);
    }
    return ok && !join->failed;
}

/* ---- joining ---- */

void gt_join_merge_rows(struct gt_join *join, size_t into, size_t from) {
    struct gt_join_row *head = &join->rows[into], *row = &join->rows[from];
    for (size_t capture = 0; capture < join->sides->capture_count; capture++) {
        double *sum = gt_join_slots(join, into, capture), *part = gt_join_slots(join, from, capture);
        if (part[GT_SLOT_ROWS] == 0)
            continue;
        bool is_first = sum[GT_SLOT_ROWS] == 0;
        for (size_t s = 0; s < gt_join_slot_count(join); s++)
            sum[s] = is_first ? part[s] : sum[s] + part[s];
        if (!is_first) /* rows of different names are not samples of one amount */
            sum[GT_SLOT_SQUARES] = sum[GT_SLOT_MEAN] = 0;
    }
    for (size_t side = 0; side < GT_SIDE_COUNT; side++) {
        if (!head->cells[side] && row->cells[side]) {
            head->cells[side] = row->cells[side];
            head->tables[side] = row->tables[side];
        }
        if (row->largest[side] && (!head->largest[side] || row->largest_amount[side] > head->largest_amount[side])) {
            head->largest[side] = row->largest[side];
            head->largest_amount[side] = row->largest_amount[side];
        }
        head->names[side] += row->names[side];
    }
    row->is_joined = true;
    row->head = into;
}

static struct gt_str label_of(struct gt_join *join, const struct gt_join_row *row, enum gt_match match) {
    enum gt_side side = side_of(row);
    if (match == GT_MATCH_SHORT)
        return flagged_text(row, side, GT_COLUMN_ALIAS);
    if (match == GT_MATCH_CATEGORY)
        return flagged_text(row, side, GT_COLUMN_CLASS);
    struct gt_str name = flagged_text(row, side, GT_COLUMN_NAME);
    size_t length = 0;
    char *plain = gt_arena_alloc(&join->arena, GT_JOIN_PLAIN_MAX(name.len));
    if (plain && match == GT_MATCH_SIMILAR)
        gt_join_plain_name(name, plain, &length);
    return (struct gt_str){plain, length};
}

static void join_groups(struct gt_join *join, struct tier *tier) {
    for (size_t r = 0; r < join->row_count; r++) {
        uint32_t key = tier->key_of[r];
        if (!is_alone(&join->rows[r]) || key == UINT32_MAX || tier->sides[key] != 3)
            continue;
        if (!tier->head[key]) {
            tier->head[key] = (uint32_t)r + 1;
            join->rows[r].label = label_of(join, &join->rows[r], tier->match);
        }
    }
    for (size_t r = 0; r < join->row_count; r++) {
        uint32_t key = tier->key_of[r];
        if (key == UINT32_MAX || tier->sides[key] != 3 || join->rows[r].is_joined)
            continue;
        if (tier->head[key] != (uint32_t)r + 1)
            gt_join_merge_rows(join, tier->head[key] - 1, r);
        join->rows[tier->head[key] - 1].match = tier->match;
    }
}

static bool run_tier(struct gt_join *join, struct tier *tier) {
    tier->key_of = gt_mem_array(join->row_count, sizeof *tier->key_of);
    tier->sides = gt_mem_array(join->row_count + 1, 1);
    tier->head = gt_mem_array(join->row_count + 1, sizeof *tier->head);
    bool ok = tier->key_of && tier->sides && tier->head && gt_strtab_init(&tier->keys);
    for (size_t r = 0; r < join->row_count && ok; r++) {
        const struct gt_join_row *row = &join->rows[r];
        tier->key_of[r] = UINT32_MAX;
        if (!is_alone(row) || !make_key(join, tier, row))
            continue;
        uint32_t key = gt_strtab_intern(&tier->keys, (struct gt_str){join->text, join->text_bytes});
        tier->key_of[r] = key;
        tier->sides[key] = (uint8_t)(tier->sides[key] | 1u << side_of(row));
        ok = !tier->keys.failed;
    }
    ok = ok && !join->failed;
    if (ok)
        join_groups(join, tier);
    gt_strtab_release(&tier->keys);
    gt_mem_free(tier->key_of);
    gt_mem_free(tier->sides);
    gt_mem_free(tier->head);
    return ok;
}

/* Whether a tier can match more than the previous ones. */
static bool applies(const struct gt_join *join, enum gt_match match) {
    const uint32_t wanted[GT_MATCH_COUNT] = {
        [GT_MATCH_SHORT] = GT_COLUMN_ALIAS, [GT_MATCH_SIMILAR] = GT_COLUMN_NAME, [GT_MATCH_CATEGORY] = GT_COLUMN_CLASS};
    size_t alone[GT_SIDE_COUNT] = {0};
    bool has_flag = match == GT_MATCH_ORDER, has_name = match == GT_MATCH_ORDER;
    for (size_t c = 0; c < join->shape->column_count; c++) {
        uint32_t flags = join->shape->columns[c].flags;
        has_flag |= (flags & wanted[match]) != 0;
        has_name |= (flags & GT_COLUMN_KEY) && is_replaced(&join->shape->columns[c]);
    }
    for (size_t r = 0; r < join->row_count; r++)
        if (is_alone(&join->rows[r]))
            alone[side_of(&join->rows[r])]++;
    return has_flag && has_name && alone[GT_SIDE_A] && alone[GT_SIDE_B];
}

/* Rates of rows that are one now were summed like amounts. */
static void average_rate(struct gt_join *join, size_t amount) {
    size_t captures = join->sides->capture_count;
    for (size_t i = 0; i < join->row_count * captures; i++) {
        double *slots = gt_join_slots(join, i / captures, i % captures), rows = slots[GT_SLOT_ROWS];
        if (rows < 2)
            continue;
        slots[GT_SLOT_AMOUNTS + amount] /= rows;
        slots[GT_SLOT_SQUARES] /= amount == join->lead ? rows * rows : 1; /* the error of a mean */
    }
}

bool gt_join_match(struct gt_join *join) {
    for (size_t r = 0; r < join->row_count; r++)
        if (!is_alone(&join->rows[r]))
            join->rows[r].match = GT_MATCH_EXACT;
    struct ids *ids = new_ids(join);
    bool ok = ids && join->row_count < UINT32_MAX;
    for (int match = GT_MATCH_ORDER; match < GT_MATCH_COUNT && ok; match++) {
        struct tier tier = {.match = (enum gt_match)match, .ids = ids};
        if (applies(join, tier.match))
            ok = run_tier(join, &tier);
    }
    for (size_t i = 0; ids && i < GT_SIDE_COUNT * join->shape->column_count; i++)
        gt_mem_free(ids[i].items);
    gt_mem_free(ids);
    for (size_t i = 0; i < join->add_count; i++)
        if (join->shape->columns[join->adds[i]].flags & GT_COLUMN_RATE)
            average_rate(join, i);
    join->failed |= !ok || gt_arena_failed(&join->arena);
    return !join->failed;
}
