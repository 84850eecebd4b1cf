/* Rows of an export's tables come in through libsqlite3; rows of allowed columns with harmless values go out. */
#include "redact/redact_copy.h"

#include <sqlite3.h>

#include "label/builtin.h"

enum { COLUMNS_MAX = 64, TERM_MAX = 128 };

/* The columns of a table that are kept, in its order. */
struct plan {
    struct gt_str table;
    struct gt_str names[COLUMNS_MAX];
    enum gt_redact_role roles[COLUMNS_MAX];
    int count;
};

/* A value as it is to be written. */
struct value {
    int type; /* SQLITE_NULL, SQLITE_INTEGER, SQLITE_FLOAT or SQLITE_TEXT */
    int64_t integer;
    double real;
    struct gt_str text;
    char room[96];
};

enum gt_status gt_redact_copy_init(struct gt_redact_copy *copy, bool hides_names, struct gt_error *err) {
    bool has_numbers = gt_redact_numbers_init(&copy->numbers);
    bool has_names = gt_redact_names_init(&copy->names, hides_names);
    return has_numbers && has_names ? GT_OK : gt_fail_memory(err);
}

void gt_redact_copy_release(struct gt_redact_copy *copy) {
    gt_redact_numbers_release(&copy->numbers);
    gt_redact_names_release(&copy->names);
    gt_map_release(&copy->string_ids);
}

static enum gt_status fail_input(const struct gt_redact_copy *copy, struct gt_error *err) {
    return gt_fail(err, "cannot read '%s': %s%s", copy->input_path, gt_sqlite_db_problem(copy->input),
                   gt_sqlite_db_is_to_blame(copy->input) ? "; export it again" : "");
}

/* ---- statements ---- */

static bool is_number_of_process(enum gt_redact_role role) {
    return role == GT_REDACT_GLOBAL_ID || role == GT_REDACT_PID;
}

/* false: nothing of the table is kept. */
static bool make_plan(const struct gt_redact_table *allowed, const struct gt_sqlite_table *table, bool only_numbers,
                      struct plan *plan) {
    plan->table = table->name;
    plan->count = 0;
    for (size_t i = 0; i < table->column_count && plan->count < COLUMNS_MAX; i++) {
        enum gt_redact_role role = gt_redact_allowed_column_role(allowed, table->columns[i].name);
        if (role == GT_REDACT_NONE || (only_numbers && !is_number_of_process(role)))
            continue;
        plan->names[plan->count] = table->columns[i].name;
        plan->roles[plan->count++] = role;
    }
    return plan->count > 0;
}

static void list_columns(sqlite3_str *text, const struct plan *plan, bool with_types) {
    for (int i = 0; i < plan->count; i++) {
        enum gt_redact_role role = plan->roles[i];
        /* Names are numbers or texts, so that a type would change some of them. */
        const char *type = role == GT_REDACT_REAL                                   ? " REAL"
                           : role >= GT_REDACT_KERNEL && role <= GT_REDACT_CALL     ? ""
                           : role >= GT_REDACT_TERM && role != GT_REDACT_RANGE_TYPE ? " TEXT"
                                                                                    : " INTEGER";
        sqlite3_str_appendf(text, "%s\"%w\"%s", i ? ", " : "", plan->names[i].ptr, with_types ? type : "");
    }
}

/* Takes the text. NULL: it could not be. */
static sqlite3_stmt *prepare(sqlite3 *connection, sqlite3_str *text) {
    sqlite3_stmt *statement = NULL;
    char *query = sqlite3_str_finish(text);
    if (query)
        sqlite3_prepare_v2(connection, query, -1, &statement, NULL);
    sqlite3_free(query);
    return statement;
}

static sqlite3_stmt *prepare_select(const struct gt_redact_copy *copy, const struct plan *plan) {
    sqlite3_str *text = sqlite3_str_new(copy->input->connection);
    sqlite3_str_appendall(text, "SELECT ");
    list_columns(text, plan, false);
    sqlite3_str_appendf(text, " FROM \"%w\"", plan->table.ptr);
    return prepare(copy->input->connection, text);
}

static bool create_table(const struct gt_redact_copy *copy, const struct plan *plan) {
    sqlite3_str *text = sqlite3_str_new(copy->output.connection);
    sqlite3_str_appendf(text, "CREATE TABLE \"%w\" (", plan->table.ptr);
    list_columns(text, plan, true);
    sqlite3_str_appendall(text, ")");
    sqlite3_stmt *statement = prepare(copy->output.connection, text);
    bool is_done = statement && sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return is_done;
}

static sqlite3_stmt *prepare_insert(const struct gt_redact_copy *copy, const struct plan *plan) {
    sqlite3_str *text = sqlite3_str_new(copy->output.connection);
    sqlite3_str_appendf(text, "INSERT INTO \"%w\" VALUES (", plan->table.ptr);
    for (int i = 0; i < plan->count; i++)
        sqlite3_str_appendall(text, i ? ", ?" : "?");
    sqlite3_str_appendall(text, ")");
    return prepare(copy->output.connection, text);
}

/* ---- values ---- */

static struct gt_str text_in(sqlite3_stmt *row, int column) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return (struct gt_str){text ? text : "", text ? (size_t)sqlite3_column_bytes(row, column) : 0};
}

static void set_integer(struct value *value, int64_t integer) {
    value->type = SQLITE_INTEGER;
    value->integer = integer;
}

static void set_text(struct value *value, struct gt_str text) {
    value->type = SQLITE_TEXT;
    value->text = text;
}

/* Strings get new numbers as they are met; which of them have a text is seen later. */
static int64_t string_id(struct gt_redact_copy *copy, enum gt_redact_role role, int64_t id) {
    uint32_t next = (uint32_t)copy->string_ids.count + 1;
    return gt_map_put_if_new(&copy->string_ids, role, (uint64_t)id, next);
}

static void convert_number(const struct gt_redact_copy *copy, enum gt_redact_role role, int64_t number,
                           struct value *value) {
    if (role == GT_REDACT_GLOBAL_ID)
        set_integer(value, gt_redact_numbers_of_global(&copy->numbers, number));
    else if (role == GT_REDACT_PID && number >= 0 && number < GT_REDACT_NUMBER_COUNT)
        set_integer(value, (int64_t)gt_redact_numbers_of(&copy->numbers, (uint64_t)number));
    else if (role != GT_REDACT_PID)
        set_integer(value, number);
}

/* false: the row is not to be kept. */
static bool convert_text(struct gt_redact_copy *copy, enum gt_redact_role role, struct gt_str text,
                         struct value *value) {
    switch (role) {
    case GT_REDACT_KERNEL:
    case GT_REDACT_RANGE:
    case GT_REDACT_CALL:
        set_text(value, gt_redact_names_hide(&copy->names, role, text));
        return true;
    case GT_REDACT_TERM:
        if (text.len <= TERM_MAX && !gt_redact_names_has_path(text))
            set_text(value, text);
        return true;
    case GT_REDACT_FACT:
        set_text(value, text);
        return gt_redact_allowed_word_in(gt_redact_facts, text);
    case GT_REDACT_VERSION:
        if (gt_redact_names_is_plain(text))
            set_text(value, text);
        return true;
    case GT_REDACT_LOSS:
        if (!gt_redact_allowed_loss(text, value->room, sizeof value->room))
            return false;
        set_text(value, gt_str_of(value->room));
        return true;
    default:
        return role != GT_REDACT_RANGE_TYPE;
    }
}

/* What is of a type that its role does not have becomes NULL. false: the row is not to be kept. */
static bool convert(struct gt_redact_copy *copy, enum gt_redact_role role, sqlite3_stmt *row, int column,
                    struct value *value) {
    bool is_name = role >= GT_REDACT_KERNEL && role <= GT_REDACT_CALL;
    bool is_text_only = role >= GT_REDACT_TERM && role != GT_REDACT_RANGE_TYPE;
    value->type = SQLITE_NULL;
    switch (sqlite3_column_type(row, column)) {
    case SQLITE_INTEGER: {
        int64_t number = sqlite3_column_int64(row, column);
        if (is_name)
            set_integer(value, string_id(copy, role, number));
        else if (!is_text_only)
            convert_number(copy, role, number, value);
        return role == GT_REDACT_RANGE_TYPE ? gt_redact_allowed_range_type(number)
                                            : role != GT_REDACT_FACT && role != GT_REDACT_LOSS;
    }
    case SQLITE_FLOAT:
        value->real = sqlite3_column_double(row, column);
        value->type = role == GT_REDACT_NUMBER || role == GT_REDACT_REAL ? SQLITE_FLOAT : SQLITE_NULL;
        return role <= GT_REDACT_TERM || role == GT_REDACT_VERSION;
    case SQLITE_TEXT:
        return convert_text(copy, role, text_in(row, column), value);
    default:
        return role <= GT_REDACT_TERM || role == GT_REDACT_VERSION;
    }
}

static int bind(sqlite3_stmt *insert, int column, const struct value *value) {
    switch (value->type) {
    case SQLITE_INTEGER:
        return sqlite3_bind_int64(insert, column, value->integer);
    case SQLITE_FLOAT:
        return sqlite3_bind_double(insert, column, value->real);
    case SQLITE_TEXT: /* a name that was made is borrowed only until the next */
        return sqlite3_bind_text64(insert, column, value->text.ptr, value->text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
    default:
        return sqlite3_bind_null(insert, column);
    }
}

/* ---- rows ---- */

static enum gt_status insert_row(struct gt_redact_copy *copy, sqlite3_stmt *insert, struct gt_error *err) {
    int result = sqlite3_step(insert);
    sqlite3_reset(insert);
    return result == SQLITE_DONE ? GT_OK : gt_redact_file_fail(&copy->output, err);
}

static enum gt_status copy_row(struct gt_redact_copy *copy, const struct plan *plan, sqlite3_stmt *row,
                               sqlite3_stmt *insert, struct gt_error *err) {
    struct value value;
    for (int i = 0; i < plan->count; i++) {
        if (!convert(copy, plan->roles[i], row, i, &value)) {
            copy->counts->left_rows++;
            return GT_OK;
        }
        if (bind(insert, i + 1, &value) != SQLITE_OK)
            return gt_redact_file_fail(&copy->output, err);
    }
    copy->counts->kept_rows++;
    return insert_row(copy, insert, err);
}

static enum gt_status copy_rows(struct gt_redact_copy *copy, const struct plan *plan, struct gt_error *err) {
    enum gt_status status = GT_OK;
    sqlite3_stmt *select = prepare_select(copy, plan), *insert = NULL;
    if (!select)
        return fail_input(copy, err);
    if (!create_table(copy, plan) || !(insert = prepare_insert(copy, plan)))
        status = gt_redact_file_fail(&copy->output, err);
    int result = SQLITE_ROW;
    while (status == GT_OK && (result = sqlite3_step(select)) == SQLITE_ROW)
        status = copy_row(copy, plan, select, insert, err);
    if (status == GT_OK && result != SQLITE_DONE)
        status = fail_input(copy, err);
    sqlite3_finalize(select);
    sqlite3_finalize(insert);
    return status;
}

enum gt_status gt_redact_copy_see(struct gt_redact_copy *copy, const struct gt_sqlite_table *table,
                                  struct gt_error *err) {
    const struct gt_redact_table *allowed = gt_redact_allowed_table_find(table->name);
    struct plan plan;
    if (!allowed)
        return GT_OK;
    if (!make_plan(allowed, table, true, &plan))
        return GT_OK;
    sqlite3_stmt *row = prepare_select(copy, &plan);
    int result = row ? SQLITE_ROW : SQLITE_ERROR;
    while (row && (result = sqlite3_step(row)) == SQLITE_ROW)
        for (int i = 0; i < plan.count; i++) {
            if (sqlite3_column_type(row, i) != SQLITE_INTEGER)
                continue;
            int64_t number = sqlite3_column_int64(row, i);
            if (plan.roles[i] == GT_REDACT_GLOBAL_ID)
                gt_redact_numbers_see_global(&copy->numbers, number);
            else
                gt_redact_numbers_see(&copy->numbers, (uint64_t)number);
        }
    enum gt_status status = result == SQLITE_DONE ? GT_OK : fail_input(copy, err);
    sqlite3_finalize(row);
    return status;
}

enum gt_status gt_redact_copy_table(struct gt_redact_copy *copy, const struct gt_sqlite_table *table,
                                    struct gt_error *err) {
    const struct gt_redact_table *allowed = gt_redact_allowed_table_find(table->name);
    struct plan plan;
    if (table == copy->strings->table)
        return GT_OK;
    if (!allowed || !make_plan(allowed, table, false, &plan)) {
        copy->counts->left_tables++;
        return GT_OK;
    }
    copy->counts->kept_tables++;
    copy->counts->left_columns += table->column_count - (size_t)plan.count;
    return copy_rows(copy, &plan, err);
}

/* ---- strings ---- */

/* One string can be the name of things of several roles, and each role has its own. */
static enum gt_status copy_string(struct gt_redact_copy *copy, sqlite3_stmt *row, sqlite3_stmt *insert,
                                  struct gt_error *err) {
    uint64_t id = (uint64_t)sqlite3_column_int64(row, 0);
    if (sqlite3_column_type(row, 0) != SQLITE_INTEGER || sqlite3_column_type(row, 1) != SQLITE_TEXT)
        return GT_OK;
    for (int role = GT_REDACT_KERNEL; role <= GT_REDACT_CALL; role++) {
        uint32_t new_id = gt_map_get(&copy->string_ids, (uint64_t)role, id);
        if (new_id == GT_MAP_NONE)
            continue;
        struct value value;
        set_text(&value, gt_redact_names_hide(&copy->names, (enum gt_redact_role)role, text_in(row, 1)));
        if (sqlite3_bind_int64(insert, 1, new_id) != SQLITE_OK || bind(insert, 2, &value) != SQLITE_OK)
            return gt_redact_file_fail(&copy->output, err);
        if (insert_row(copy, insert, err) != GT_OK)
            return GT_ERR;
        copy->counts->kept_strings++;
    }
    return GT_OK;
}

static enum gt_status copy_referred(struct gt_redact_copy *copy, const struct plan *plan, struct gt_error *err) {
    static const char insertion[] = "INSERT OR IGNORE INTO StringIds VALUES (?, ?)";
    sqlite3_stmt *insert = NULL, *row = prepare_select(copy, plan);
    enum gt_status status = GT_OK;
    if (!row)
        return fail_input(copy, err);
    if (sqlite3_prepare_v2(copy->output.connection, insertion, -1, &insert, NULL) != SQLITE_OK)
        status = gt_redact_file_fail(&copy->output, err);
    int result = SQLITE_ROW;
    while (status == GT_OK && (result = sqlite3_step(row)) == SQLITE_ROW)
        status = copy_string(copy, row, insert, err);
    if (status == GT_OK && result != SQLITE_DONE)
        status = fail_input(copy, err);
    sqlite3_finalize(row);
    sqlite3_finalize(insert);
    return status;
}

enum gt_status gt_redact_copy_strings(struct gt_redact_copy *copy, struct gt_error *err) {
    static const char creation[] = "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT)";
    const struct gt_nsys_table *strings = copy->strings;
    enum gt_status status = GT_OK;
    if (sqlite3_exec(copy->output.connection, creation, NULL, NULL, NULL) != SQLITE_OK)
        return gt_redact_file_fail(&copy->output, err);
    copy->counts->kept_tables++;
    if (strings->table) {
        struct plan plan = {.table = strings->table->name, .count = 2};
        for (int i = 0; i < plan.count; i++)
            plan.names[i] = strings->table->columns[strings->columns[i]].name;
        status = copy_referred(copy, &plan, err);
    }
    copy->counts->hidden_names = copy->names.digits.count;
    if (status == GT_OK &&
        (copy->string_ids.failed || copy->names.digits.failed || !gt_builtin_ok(copy->names.builtin)))
        status = gt_fail_memory(err);
    return status;
}
