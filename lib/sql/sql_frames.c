/* Virtual tables over frames: in come plans, out go rows. Constraints are held against columns before SQLite sees a
   row; a table that is searched again and again is sorted; groups come together. */
#include "sql/sql_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sql/sql_filter.h"
#include "sql/sql_plan.h"

const struct gt_sql_frames_extra gt_sql_frames_extras[] = {
    {"dur", "dur_ns", false},
    {"start", "start_ns", false},
    {"name_id", "name", true},
    {"short_name_id", "short_name", true},
};
const size_t gt_sql_frames_extra_count = GT_ARRAY_COUNT(gt_sql_frames_extras);

enum kind { OF_FRAME, NUMBER_OF_TEXT, INPUT, RANK };

/* A column as SQLite knows it. */
struct column {
    enum kind kind;
    size_t of; /* column of the frame */
};

/* The rows of an input in the order of some columns. */
struct order {
    const struct gt_frames *frames;
    size_t columns[GT_SQL_PLAN_ORDERS], count;
    uint32_t *rows; /* NULL: they are in it */
};

struct table {
    sqlite3_vtab base;
    const struct gt_sql_world *world;
    size_t frame;
    struct column *columns;
    size_t column_count;
    struct order *orders;
    size_t order_count, order_capacity;
    size_t searches; /* how often somebody looked for rows */
};

struct cursor {
    sqlite3_vtab_cursor base;
    const char *plan_text; /* that was read; SQLite keeps it as long as the query */
    struct gt_sql_plan plan;
    sqlite3_value *wanted[GT_SQL_PLAN_MOST]; /* values of the constraints, kept for the inputs after the first */
    uint32_t facts;
    /* Of the current input: */
    size_t input;
    struct gt_frames *frames;
    struct gt_frame_values *values; /* by column */
    bool *is_loaded;
    bool is_gathered; /* values are copied in the order of the rows, since in it they are far apart in memory */
    void **gathered;  /* by column: those copies */
    struct gt_sql_filter filters[GT_SQL_PLAN_MOST];
    size_t filter_count;
    const uint32_t *order; /* NULL: as they are */
    size_t at, end;        /* places in the order */
    int64_t rank;
};

/* ---- tables ---- */

static int fail(struct table *table, const struct gt_error *err) {
    sqlite3_free(table->base.zErrMsg);
    table->base.zErrMsg = sqlite3_mprintf("%s", err->message);
    return SQLITE_ERROR;
}

static const char *type_name(const struct gt_frame_column *about) {
    return about->is_text ? "TEXT" : about->type == GPUTIME_FIELD_F64 ? "REAL" : "INTEGER";
}

static bool has_column(size_t frame, const char *key) {
    return gt_frame_find_column(frame, gt_str_of(key)) != SIZE_MAX;
}

/* Where there is one input, its name and rank are there for those who ask. */
static char *declaration(const struct table *table) {
    char *text = sqlite3_mprintf("CREATE TABLE t(");
    for (size_t i = 0; i < gt_frame_column_count(table->frame) && text; i++) {
        struct gt_frame_column about = gt_frame_column(table->frame, i);
        text = sqlite3_mprintf("%z\"%w\" %s,", text, about.key, type_name(&about));
    }
    const char *hidden = table->world->input_count > 1 ? "" : " HIDDEN";
    if (text)
        text = sqlite3_mprintf("%zinput TEXT%s,rank INTEGER%s", text, hidden, hidden);
    for (size_t i = 0; i < gt_sql_frames_extra_count && text; i++)
        if (has_column(table->frame, gt_sql_frames_extras[i].of))
            text = sqlite3_mprintf("%z,%s INTEGER HIDDEN", text, gt_sql_frames_extras[i].key);
    return text ? sqlite3_mprintf("%z)", text) : NULL;
}

static bool list_columns(struct table *table) {
    size_t own = gt_frame_column_count(table->frame), count = 0;
    table->columns = gt_mem_array(own + 2 + gt_sql_frames_extra_count, sizeof *table->columns);
    if (!table->columns)
        return false;
    for (; count < own; count++)
        table->columns[count] = (struct column){OF_FRAME, count};
    table->columns[count++] = (struct column){INPUT, 0};
    table->columns[count++] = (struct column){RANK, 0};
    for (size_t i = 0; i < gt_sql_frames_extra_count; i++) {
        const struct gt_sql_frames_extra *extra = &gt_sql_frames_extras[i];
        if (has_column(table->frame, extra->of))
            table->columns[count++] = (struct column){extra->is_number ? NUMBER_OF_TEXT : OF_FRAME,
                                                      gt_frame_find_column(table->frame, gt_str_of(extra->of))};
    }
    table->column_count = count;
    return true;
}

static int disconnect(sqlite3_vtab *base) {
    struct table *table = (struct table *)base;
    for (size_t i = 0; i < table->order_count; i++)
        gt_mem_free(table->orders[i].rows);
    gt_mem_free(table->orders);
    gt_mem_free(table->columns);
    gt_mem_free(table);
    return SQLITE_OK;
}

int gt_sql_frames_connect(sqlite3 *db, const struct gt_sql_world *world, size_t frame, sqlite3_vtab **out,
                          char **message) {
    struct table *table = gt_mem_array(1, sizeof *table);
    *out = NULL;
    if (!table)
        return SQLITE_NOMEM;
    table->world = world;
    table->frame = frame;
    char *text = list_columns(table) ? declaration(table) : NULL;
    int code = text ? sqlite3_declare_vtab(db, text) : SQLITE_NOMEM;
    sqlite3_free(text);
    if (code != SQLITE_OK) {
        *message = sqlite3_mprintf("%s", sqlite3_errmsg(db));
        disconnect(&table->base);
        return code;
    }
    *out = &table->base;
    return SQLITE_OK;
}

/* ---- planning ---- */

static bool is_known_op(int op) {
    return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE ||
           op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LIKE ||
           op == SQLITE_INDEX_CONSTRAINT_GLOB;
}

static bool is_binary(sqlite3_index_info *info, int constraint) {
    const char *collation = sqlite3_vtab_collation(info, constraint);
    return collation && sqlite3_stricmp(collation, "BINARY") == 0;
}

/* Whether other tables of the query have no say in a constraint. */
static bool is_constant(sqlite3_index_info *info, int constraint) {
    sqlite3_value *value;
    return sqlite3_libversion_number() >= 3038000 && sqlite3_vtab_rhs_value(info, constraint, &value) == SQLITE_OK;
}

static size_t guess_rows(struct table *table) {
    size_t sum = 0, count;
    struct gt_frames *frames;
    struct gt_error err = {0};
    if (!table->world->is_read)
        return 1000000;
    for (size_t i = 0; i < table->world->input_count; i++)
        if (table->world->frames(table->world->context, i, gt_frame_facts(table->frame), &frames, &err) == GT_OK &&
            gt_frame_rows(frames, table->frame, &count, &err) == GT_OK)
            sum += count;
    return sum;
}

/* What share of the rows a constraint leaves. */
static double share_of(const struct table *table, const struct gt_sql_constraint *constraint, double rows) {
    const struct column *column = &table->columns[constraint->column];
    if (constraint->op != SQLITE_INDEX_CONSTRAINT_EQ)
        return 0.25;
    if (column->kind == INPUT || column->kind == RANK)
        return 1 / (double)table->world->input_count;
    struct gt_frame_column about = gt_frame_column(table->frame, column->of);
    bool is_key = about.refers_to || strcmp(about.key, "correlation") == 0 || strcmp(about.key, "id") == 0;
    return is_key ? 2 / (rows + 1) : about.is_text ? 0.02 : 0.1;
}

static void take_constraints(const struct table *table, sqlite3_index_info *info, struct gt_sql_plan *plan,
                             double *rows, bool *depends) {
    double all = *rows;
    for (int i = 0; i < info->nConstraint && plan->constraint_count < GT_SQL_PLAN_MOST; i++) {
        int column = info->aConstraint[i].iColumn, op = info->aConstraint[i].op;
        if (!info->aConstraint[i].usable || column < 0 || !is_known_op(op) || !is_binary(info, i))
            continue;
        struct gt_sql_constraint *taken = &plan->constraints[plan->constraint_count++];
        *taken = (struct gt_sql_constraint){(size_t)column, op};
        info->aConstraintUsage[i].argvIndex = (int)plan->constraint_count; /* and SQLite looks again */
        *rows *= share_of(table, taken, all);
        *depends |= !is_constant(info, i);
    }
}

/* Rows can come in an order where one input has them all and the order is that of whole numbers and texts. */
static bool can_order(const struct table *table, const sqlite3_index_info *info) {
    if (info->nOrderBy < 1 || info->nOrderBy > GT_SQL_PLAN_ORDERS || table->world->input_count != 1)
        return false;
    for (int i = 0; i < info->nOrderBy; i++) {
        int column = info->aOrderBy[i].iColumn;
        if (column < 0 || table->columns[column].kind != OF_FRAME ||
            gt_frame_column(table->frame, table->columns[column].of).type == GPUTIME_FIELD_F64)
            return false;
    }
    return true;
}

static bool has_one_direction(const sqlite3_index_info *info) {
    for (int i = 1; i < info->nOrderBy; i++)
        if (info->aOrderBy[i].desc != info->aOrderBy[0].desc)
            return false;
    return true;
}

/* Groups need to come together, in any order. What is few is sorted by SQLite with less work. */
static void take_order(const struct table *table, sqlite3_index_info *info, struct gt_sql_plan *plan, bool depends) {
    bool is_grouping = sqlite3_libversion_number() >= 3038000 && sqlite3_vtab_distinct(info) > 0;
    bool is_ordered = plan->constraint_count == 0 && has_one_direction(info);
    if (!can_order(table, info) || depends || !(is_ordered || (is_grouping && sqlite3_vtab_distinct(info) < 3)))
        return;
    for (int i = 0; i < info->nOrderBy; i++)
        plan->order[plan->order_count++] = table->columns[info->aOrderBy[i].iColumn].of;
    plan->is_descending = is_ordered && info->aOrderBy[0].desc;
    plan->is_grouping = is_grouping;
    info->orderByConsumed = 1;
}

/* What a plan reads. */
static uint32_t facts_of(const struct table *table, const struct gt_sql_plan *plan) {
    uint32_t facts = gt_frame_row_facts(table->frame);
    for (size_t i = 0; i < table->column_count; i++)
        if (table->columns[i].kind < INPUT && gt_sql_plan_uses(plan, i))
            facts |= gt_frame_column(table->frame, table->columns[i].of).facts;
    for (size_t i = 0; i < plan->constraint_count; i++)
        facts |= gt_frame_column(table->frame, table->columns[plan->constraints[i].column].of).facts;
    return facts;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    struct table *table = (struct table *)base;
    struct gt_sql_plan plan = {.used = info->colUsed};
    double all = (double)guess_rows(table), rows = all;
    bool depends = false;
    take_constraints(table, info, &plan, &rows, &depends);
    take_order(table, info, &plan, depends);
    rows = rows < 1 ? 1 : rows;
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = plan.constraint_count ? rows + 20 + all * 0.01 : all + 20;
    if (depends) /* it will be sorted, once */
        info->estimatedCost = rows + 20;
    if (table->world->expect)
        table->world->expect(table->world->context, facts_of(table, &plan));
    info->idxStr = gt_sql_plan_write(&plan);
    info->needToFreeIdxStr = 1;
    return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

/* ---- rows of one input ---- */

#define GATHER(type)                                                                                                   \
    for (size_t i = 0; i < count; i++)                                                                                 \
    ((type *)to)[i] = ((const type *)from)[order[i]]

/* A loop that does nothing else keeps many requests to memory under way. */
static void gather(void *to, const void *from, const uint32_t *order, size_t count, size_t elem_bytes) {
    if (elem_bytes == 1)
        GATHER(uint8_t);
    else if (elem_bytes == 2)
        GATHER(uint16_t);
    else if (elem_bytes == 4)
        GATHER(uint32_t);
    else
        GATHER(uint64_t);
}

static size_t bytes_of(enum gputime_field_type type) {
    return type == GPUTIME_FIELD_U8 ? 1 : type == GPUTIME_FIELD_U16 ? 2 : type == GPUTIME_FIELD_U32 ? 4 : 8;
}

static enum gt_status gather_column(struct cursor *cursor, size_t column, struct gt_error *err) {
    struct gt_frame_values *values = &cursor->values[column];
    size_t elem_bytes = bytes_of(values->type);
    void *copy = gt_mem_uninitialised(values->count, elem_bytes);
    if (!copy)
        return gt_fail_memory(err);
    gather(copy, values->data, cursor->order, values->count, elem_bytes);
    cursor->gathered[column] = copy;
    values->data = copy;
    return GT_OK;
}

static void release_gathered(const struct table *table, struct cursor *cursor) {
    for (size_t i = 0; i < table->column_count && cursor->gathered; i++) {
        gt_mem_free(cursor->gathered[i]);
        cursor->gathered[i] = NULL;
    }
}

static enum gt_status load(struct cursor *cursor, size_t column, struct gt_error *err) {
    const struct table *table = (const struct table *)cursor->base.pVtab;
    const struct column *about = &table->columns[column];
    struct gt_frame_values *values = &cursor->values[column];
    enum gt_status status = gt_frame_values(cursor->frames, table->frame, about->of, values, err);
    if (status == GT_OK && about->kind == NUMBER_OF_TEXT)
        values->texts = NULL;
    if (status == GT_OK && cursor->is_gathered)
        status = gather_column(cursor, column, err);
    cursor->is_loaded[column] = status == GT_OK;
    return status;
}

static enum gt_status find_order(struct table *table, struct cursor *cursor, const size_t *columns, size_t count,
                                 const uint32_t **out, struct gt_error *err) {
    for (size_t i = 0; i < table->order_count; i++) {
        const struct order *order = &table->orders[i];
        if (order->frames == cursor->frames && order->count == count &&
            memcmp(order->columns, columns, count * sizeof *columns) == 0) {
            *out = order->rows;
            return GT_OK;
        }
    }
    struct order *orders = gt_mem_room(table->orders, table->order_count, &table->order_capacity, sizeof *orders);
    if (!orders)
        return gt_fail_memory(err);
    table->orders = orders;
    struct order *order = &orders[table->order_count];
    *order = (struct order){.frames = cursor->frames, .count = count};
    memcpy(order->columns, columns, count * sizeof *columns);
    enum gt_status status = gt_frame_sort(cursor->frames, table->frame, columns, count, &order->rows, err);
    table->order_count += status == GT_OK;
    *out = order->rows;
    return status;
}

/* Where the values of a row are. */
static uint32_t row_at(const struct cursor *cursor, size_t place) {
    return cursor->order && !cursor->is_gathered ? cursor->order[place] : (uint32_t)place;
}

static uint32_t current_row(const struct cursor *cursor) {
    return cursor->plan.is_descending ? row_at(cursor, cursor->end - 1) : row_at(cursor, cursor->at);
}

static bool passes(const struct cursor *cursor, uint32_t row) {
    for (size_t i = 0; i < cursor->filter_count; i++)
        if (!gt_sql_filter_passes(&cursor->filters[i], row))
            return false;
    return true;
}

static void step(struct cursor *cursor) {
    if (cursor->plan.is_descending)
        cursor->end--;
    else
        cursor->at++;
}

static void skip(struct cursor *cursor) {
    while (cursor->at < cursor->end && !passes(cursor, current_row(cursor)))
        step(cursor);
}

/* ---- searching sorted rows ---- */

/* What is looked for: a range of numbers, or a text. */
struct search {
    const struct gt_frame_values *values;
    int64_t least, most;
    struct gt_str text;
};

/* Whether the row is before what is looked for, or, with `after`, not after it. */
static bool is_before(const struct search *search, uint32_t row, bool after) {
    if (gt_frame_is_null(search->values, row))
        return true;
    if (search->values->texts) {
        int order = gt_str_cmp(gt_frame_text(search->values, row), search->text);
        return order < 0 || (after && order == 0);
    }
    int64_t value = gt_frame_int(search->values, row);
    return after ? value <= search->most : value < search->least;
}

static size_t find_place(const struct cursor *cursor, const struct search *search, size_t low, bool after) {
    size_t high = cursor->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(search, row_at(cursor, middle), after))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* All constraints on the column together. false: they do not say where to look. */
static bool describe_search(const struct cursor *cursor, size_t column, struct search *search) {
    const struct gt_sql_plan *plan = &cursor->plan;
    bool says = false;
    *search = (struct search){.values = &cursor->values[column], .least = INT64_MIN, .most = INT64_MAX};
    for (size_t i = 0; i < plan->constraint_count; i++) {
        const struct gt_sql_constraint *constraint = &plan->constraints[i];
        int64_t least, most;
        if (constraint->column != column)
            continue;
        if (search->values->texts) {
            if (constraint->op != SQLITE_INDEX_CONSTRAINT_EQ || sqlite3_value_type(cursor->wanted[i]) != SQLITE_TEXT)
                continue;
            search->text.ptr = (const char *)sqlite3_value_text(cursor->wanted[i]);
            search->text.len = (size_t)sqlite3_value_bytes(cursor->wanted[i]);
            says = search->text.ptr != NULL;
        } else if (gt_sql_filter_bounds(constraint->op, cursor->wanted[i], &least, &most)) {
            search->least = least > search->least ? least : search->least;
            search->most = most < search->most ? most : search->most;
            says = true;
        }
    }
    return says;
}

/* Where an equality is, else the first column with whole numbers. */
static size_t column_to_search(const struct table *table, const struct cursor *cursor) {
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < cursor->plan.constraint_count; i++) {
        const struct gt_sql_constraint *constraint = &cursor->plan.constraints[i];
        const struct column *column = &table->columns[constraint->column];
        bool is_equality = constraint->op == SQLITE_INDEX_CONSTRAINT_EQ;
        if (column->kind != OF_FRAME || gt_frame_column(table->frame, column->of).type == GPUTIME_FIELD_F64 ||
            (gt_frame_column(table->frame, column->of).is_text && !is_equality))
            continue;
        if (is_equality)
            return constraint->column;
        found = found == SIZE_MAX ? constraint->column : found;
    }
    return found;
}

/* The first search looks at all rows, which is less work than sorting them. Row numbers are sorted. */
static enum gt_status narrow(struct table *table, struct cursor *cursor, struct gt_error *err) {
    struct search search;
    enum gt_status status = GT_OK;
    size_t column = column_to_search(table, cursor);
    if (column == SIZE_MAX || cursor->plan.order_count)
        return GT_OK;
    bool is_number = strcmp(gt_frame_column(table->frame, table->columns[column].of).key, "id") == 0;
    if (!is_number && table->searches < 2)
        return GT_OK;
    if (!cursor->is_loaded[column])
        status = load(cursor, column, err);
    if (status != GT_OK || !describe_search(cursor, column, &search))
        return status;
    if (!is_number)
        status = find_order(table, cursor, &table->columns[column].of, 1, &cursor->order, err);
    if (status != GT_OK)
        return status;
    cursor->at = find_place(cursor, &search, 0, false);
    cursor->end = find_place(cursor, &search, cursor->at, true);
    return GT_OK;
}

/* ---- cursors ---- */

static void release_filters(struct cursor *cursor) {
    for (size_t i = 0; i < cursor->filter_count; i++)
        gt_sql_filter_release(&cursor->filters[i]);
    cursor->filter_count = 0;
}

static enum gt_status make_filters(struct table *table, struct cursor *cursor, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < cursor->plan.constraint_count && status == GT_OK; i++) {
        const struct gt_sql_constraint *constraint = &cursor->plan.constraints[i];
        struct gt_sql_filter *filter = &cursor->filters[cursor->filter_count];
        bool takes = false;
        if (table->columns[constraint->column].kind >= INPUT)
            continue;
        if (!cursor->is_loaded[constraint->column])
            status = load(cursor, constraint->column, err);
        if (status == GT_OK &&
            !gt_sql_filter_init(filter, &cursor->values[constraint->column], constraint->op, cursor->wanted[i], &takes))
            status = gt_fail_memory(err);
        cursor->filter_count += status == GT_OK && takes;
    }
    return status;
}

/* Whether a constraint on names or ranks leaves the input out. */
static bool is_left_out(const struct table *table, const struct cursor *cursor) {
    for (size_t i = 0; i < cursor->plan.constraint_count; i++) {
        const struct gt_sql_constraint *constraint = &cursor->plan.constraints[i];
        enum kind kind = table->columns[constraint->column].kind;
        struct gt_str name = table->world->names[cursor->input];
        sqlite3_value *wanted = cursor->wanted[i];
        if (constraint->op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        if (kind == INPUT && sqlite3_value_type(wanted) == SQLITE_TEXT) {
            const char *text = (const char *)sqlite3_value_text(wanted);
            if (text && !gt_str_eq(name, (struct gt_str){text, (size_t)sqlite3_value_bytes(wanted)}))
                return true;
        }
        if (kind == RANK && sqlite3_value_type(wanted) == SQLITE_INTEGER && sqlite3_value_int64(wanted) != cursor->rank)
            return true;
    }
    return false;
}

static enum gt_status open_input(struct table *table, struct cursor *cursor, struct gt_error *err) {
    const struct gt_sql_world *world = table->world;
    release_filters(cursor);
    release_gathered(table, cursor);
    cursor->at = cursor->end = 0;
    cursor->order = NULL;
    cursor->is_gathered = false;
    memset(cursor->is_loaded, 0, table->column_count * sizeof *cursor->is_loaded);
    enum gt_status status = world->frames(world->context, cursor->input, cursor->facts, &cursor->frames, err);
    if (status != GT_OK)
        return status;
    cursor->rank = gt_frame_rank(cursor->frames);
    if (is_left_out(table, cursor))
        return GT_OK;
    status = gt_frame_rows(cursor->frames, table->frame, &cursor->end, err);
    if (status == GT_OK && cursor->plan.order_count)
        status = find_order(table, cursor, cursor->plan.order, cursor->plan.order_count, &cursor->order, err);
    cursor->is_gathered = cursor->order && cursor->plan.is_grouping;
    if (status == GT_OK)
        status = narrow(table, cursor, err);
    return status == GT_OK ? make_filters(table, cursor, err) : status;
}

static __attribute__((noinline)) int open_late(struct table *table, struct cursor *cursor) {
    struct gt_error err = {0};
    return open_input(table, cursor, &err) == GT_OK ? SQLITE_OK : fail(table, &err);
}

/* Goes on to a row that passes, in this input or one after it. */
static int settle(struct cursor *cursor) {
    struct table *table = (struct table *)cursor->base.pVtab;
    for (skip(cursor); cursor->at == cursor->end && cursor->input + 1 < table->world->input_count; skip(cursor)) {
        cursor->input++;
        int code = open_late(table, cursor);
        if (code != SQLITE_OK)
            return code;
    }
    return SQLITE_OK;
}

static void release_values(struct cursor *cursor) {
    for (size_t i = 0; i < GT_SQL_PLAN_MOST; i++) {
        sqlite3_value_free(cursor->wanted[i]);
        cursor->wanted[i] = NULL;
    }
}

static bool keep_values(struct cursor *cursor, int count, sqlite3_value **values) {
    release_values(cursor);
    for (int i = 0; i < count && i < GT_SQL_PLAN_MOST; i++)
        if (!(cursor->wanted[i] = sqlite3_value_dup(values[i])))
            return false;
    return true;
}

static void read_plan(struct table *table, struct cursor *cursor, const char *text) {
    if (cursor->plan_text == text)
        return;
    gt_sql_plan_read(&cursor->plan, text);
    cursor->plan_text = text;
    cursor->facts = facts_of(table, &cursor->plan);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    (void)number;
    read_plan(table, cursor, text);
    table->searches++;
    if (!keep_values(cursor, count, values))
        return SQLITE_NOMEM;
    cursor->input = 0;
    int code = open_late(table, cursor);
    return code == SQLITE_OK ? settle(cursor) : code;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;
    release_filters(cursor);
    release_values(cursor);
    release_gathered((const struct table *)base->pVtab, cursor);
    gt_mem_free(cursor->gathered);
    gt_mem_free(cursor->values);
    gt_mem_free(cursor->is_loaded);
    gt_mem_free(cursor);
    return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    const struct table *table = (const struct table *)base;
    struct cursor *cursor = gt_mem_array(1, sizeof *cursor);
    *out = NULL;
    if (!cursor)
        return SQLITE_NOMEM;
    cursor->values = gt_mem_array(table->column_count, sizeof *cursor->values);
    cursor->is_loaded = gt_mem_array(table->column_count, sizeof *cursor->is_loaded);
    cursor->gathered = gt_mem_array(table->column_count, sizeof *cursor->gathered);
    cursor->base.pVtab = base;
    if (!cursor->values || !cursor->is_loaded || !cursor->gathered) {
        close_cursor(&cursor->base);
        return SQLITE_NOMEM;
    }
    *out = &cursor->base;
    return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base) {
    struct cursor *cursor = (struct cursor *)base;
    step(cursor);
    return settle(cursor);
}

static int eof(sqlite3_vtab_cursor *base) {
    const struct cursor *cursor = (const struct cursor *)base;
    return cursor->at >= cursor->end;
}

static void give_text(sqlite3_context *result, struct gt_str text) {
    sqlite3_result_text64(result, text.ptr ? text.ptr : "", text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static __attribute__((noinline)) int load_late(struct cursor *cursor, size_t number) {
    struct gt_error err = {0};
    return load(cursor, number, &err) == GT_OK ? SQLITE_OK : fail((struct table *)cursor->base.pVtab, &err);
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int number) {
    struct cursor *cursor = (struct cursor *)base;
    struct table *table = (struct table *)base->pVtab;
    enum kind kind = table->columns[number].kind;
    if (kind == INPUT) {
        give_text(result, table->world->names[cursor->input]);
        return SQLITE_OK;
    }
    if (kind == RANK) {
        if (cursor->rank >= 0)
            sqlite3_result_int64(result, cursor->rank);
        return SQLITE_OK;
    }
    if (!cursor->is_loaded[number] && load_late(cursor, (size_t)number) != SQLITE_OK)
        return SQLITE_ERROR;
    const struct gt_frame_values *values = &cursor->values[number];
    uint32_t row = current_row(cursor);
    if (gt_frame_is_null(values, row))
        return SQLITE_OK;
    if (values->texts)
        give_text(result, gt_frame_text(values, row));
    else if (values->type == GPUTIME_FIELD_F64)
        sqlite3_result_double(result, gt_frame_real(values, row));
    else
        sqlite3_result_int64(result, gt_frame_int(values, row));
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    const struct cursor *cursor = (const struct cursor *)base;
    size_t place = cursor->plan.is_descending ? cursor->end - 1 : cursor->at;
    uint32_t row = cursor->order ? cursor->order[place] : (uint32_t)place;
    *out = (sqlite3_int64)((uint64_t)cursor->input << 32 | row);
    return SQLITE_OK;
}

const sqlite3_module gt_sql_frames_methods = {
    .iVersion = 1,
    .xBestIndex = best_index,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = open_cursor,
    .xClose = close_cursor,
    .xFilter = filter,
    .xNext = next,
    .xEof = eof,
    .xColumn = column,
    .xRowid = row_id,
};
