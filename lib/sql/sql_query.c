/* One query: a connection of its own to a database that has nothing but virtual tables, which are connected when the
   query names them. */
#include "sql/sql_query.h"

#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/num.h"
#include "sql/sql_bounded.h"
#include "sql/sql_error.h"
#include "sql/sql_frames.h"
#include "sql/sql_functions.h"
#include "sql/sql_host.h"
#include "sql/sql_reports.h"
#include "sql/sql_rows.h"
#include "sql/sql_words.h"

/* Of one value. Between two looks at the memory a query makes at most OPS_BETWEEN_LOOKS of them, unless it is one that
   does not branch: see bound_values. */
enum { VALUE_BYTES = 4 << 20, OPS_BETWEEN_LOOKS = 200, NS_BETWEEN_QUESTIONS = 100000000 };

/* What a module knows: which table it is. */
struct binding {
    const struct gt_sql_world *world;
    size_t frame;
    const char *report_key; /* NULL: it is a frame */
};

struct session {
    sqlite3 *db;
    sqlite3_module frames, reports;
    struct binding *bindings;
    struct gt_sql_memory *memory;
    int64_t end_ns; /* when it must be done; INT64_MAX: any time */
    const struct gt_sql_limits *limits;
    int64_t next_look_ns; /* when it is next asked whether anybody still waits for it */
    bool is_late, is_abandoned;
    struct gt_sql_bounded bounded;
};

/* ---- what is allowed ---- */

static int authorize(void *context, int action, const char *first, const char *second, const char *database,
                     const char *trigger) {
    (void)context, (void)database, (void)trigger;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return second && (sqlite3_stricmp(second, "load_extension") == 0 ||
                          sqlite3_stricmp(second, "fts3_tokenizer") == 0 || gt_sql_bounded_refuses(second))
                   ? SQLITE_DENY
                   : SQLITE_OK;
    case SQLITE_UPDATE: /* so SQLite itself asks when a virtual table says which columns it has; statements that change
                           something are refused as such */
        return first && sqlite3_stricmp(first, "sqlite_master") == 0 ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int watch(void *context) {
    struct session *session = context;
    const struct gt_sql_limits *limits = session->limits;
    int64_t now = session->end_ns != INT64_MAX || limits->is_abandoned ? now_ns() : 0;
    if (session->end_ns != INT64_MAX && now > session->end_ns)
        session->is_late = true;
    if (limits->is_abandoned && now >= session->next_look_ns) {
        session->next_look_ns = now + NS_BETWEEN_QUESTIONS;
        session->is_abandoned |= limits->is_abandoned(limits->abandoned_context) != 0;
    }
    return session->is_late || session->is_abandoned || gt_sql_memory_is_over(session->memory);
}

static void set_limits(struct session *session, const struct gt_sql_limits *limits) {
    static const struct {
        int id, value;
    } most[] = {
        {SQLITE_LIMIT_LENGTH, VALUE_BYTES},
        {SQLITE_LIMIT_SQL_LENGTH, GT_SQL_QUERY_BYTES},
        {SQLITE_LIMIT_COLUMN, GT_TABLE_COLUMNS_MAX},
        {SQLITE_LIMIT_EXPR_DEPTH, 200},
        {SQLITE_LIMIT_COMPOUND_SELECT, 100},
        {SQLITE_LIMIT_VDBE_OP, 1000000},
        {SQLITE_LIMIT_FUNCTION_ARG, 100},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    int64_t begin_ns = now_ns();
    session->limits = limits;
    session->next_look_ns = begin_ns + NS_BETWEEN_QUESTIONS;
    for (size_t i = 0; i < GT_ARRAY_COUNT(most); i++)
        sqlite3_limit(session->db, most[i].id, most[i].value);
    session->end_ns = INT64_MAX;
    if (limits->timeout_ns && limits->timeout_ns < INT64_MAX - begin_ns)
        session->end_ns = begin_ns + limits->timeout_ns;
    sqlite3_progress_handler(session->db, OPS_BETWEEN_LOOKS, watch, session);
    sqlite3_set_authorizer(session->db, authorize, NULL);
}

/* SQLite looks at the memory only where a program branches. One that computes many values in a line could hold them all
   before, so the more it can hold, the shorter they must be: each needs an instruction and a register. */
static void bound_values(const struct session *session, sqlite3_stmt *statement, size_t text_bytes) {
    enum { BYTES_OF_VALUE = 80 };
    long long bytes = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_MEMUSED, 0) - (long long)text_bytes;
    long long most = GT_SQL_MEMORY_MOST / (bytes > BYTES_OF_VALUE ? bytes / BYTES_OF_VALUE : 1);
    if (most < VALUE_BYTES)
        sqlite3_limit(session->db, SQLITE_LIMIT_LENGTH, (int)most);
}

/* ---- tables ---- */

static int connect_table(sqlite3 *db, void *context, int count, const char *const *words, sqlite3_vtab **out,
                         char **message) {
    const struct binding *binding = context;
    (void)count, (void)words;
    return binding->report_key ? gt_sql_reports_connect(db, binding->world, binding->report_key, out, message)
                               : gt_sql_frames_connect(db, binding->world, binding->frame, out, message);
}

static int add_table(struct session *session, const char *prefix, const char *key, const struct binding *binding) {
    char *name = sqlite3_mprintf("%s%s", prefix, key);
    int code =
        name ? sqlite3_create_module_v2(session->db, name, binding->report_key ? &session->reports : &session->frames,
                                        (void *)(uintptr_t)binding, NULL)
             : SQLITE_NOMEM;
    sqlite3_free(name);
    return code;
}

/* All that there is; a table costs nothing until a query names it. */
static int add_tables(struct session *session, const struct gt_sql_world *world, const struct gt_sql_query *query) {
    size_t frames = gt_frame_count(), added = 0;
    int code = SQLITE_OK;
    session->frames = gt_sql_frames_methods;
    session->reports = gt_sql_reports_methods;
    session->frames.xConnect = session->reports.xConnect = connect_table;
    session->bindings = gt_mem_array(frames + query->report_count, sizeof *session->bindings);
    if (!session->bindings)
        return SQLITE_NOMEM;
    for (size_t f = 0; f < frames && code == SQLITE_OK; f++) {
        struct binding *binding = &session->bindings[added++];
        *binding = (struct binding){.world = world, .frame = f};
        code = add_table(session, "", gt_frame_key(f), binding);
    }
    for (size_t i = 0; i < query->report_count && code == SQLITE_OK; i++) {
        struct binding *binding = &session->bindings[added++];
        *binding = (struct binding){.world = world, .report_key = query->report_keys[i]};
        code = add_table(session, GT_SQL_REPORTS_PREFIX, query->report_keys[i], binding);
    }
    return code;
}

static enum gt_status open_session(struct session *session, const struct gt_sql_world *world,
                                   const struct gt_sql_query *query, struct gt_error *err) {
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
    session->memory = gt_sql_memory_new(true);
    int code = session->memory ? sqlite3_open_v2(":memory:", &session->db, flags, NULL) : SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = sqlite3_db_config(session->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (code == SQLITE_OK) /* nothing is written to files, sorted rows among them */
        code = sqlite3_exec(session->db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = gt_sql_functions_add(session->db, session->memory);
    session->bounded = (struct gt_sql_bounded){watch, session};
    if (code == SQLITE_OK)
        code = gt_sql_bounded_add(session->db, &session->bounded);
    if (code == SQLITE_OK)
        code = add_tables(session, world, query);
    if (code != SQLITE_OK)
        return code == SQLITE_NOMEM ? gt_fail_memory(err) : gt_fail(err, "SQLite: %s", sqlite3_errstr(code));
    set_limits(session, &query->limits);
    return GT_OK;
}

/* ---- rows ---- */

static enum gt_status fail_run(const struct session *session, const struct gt_sql_query *query, struct gt_error *err) {
    char text[GT_NUM_MAX];
    if (gt_sql_memory_was_over(session->memory))
        return gt_fail(err, "the query needs more than %d GiB of memory; select, group or limit more",
                       (int)(GT_SQL_MEMORY_MOST >> 30));
    if (session->is_abandoned)
        return gt_fail(err, "the query was abandoned");
    if (!session->is_late)
        return gt_sql_error_set(session->db, query, err);
    gt_num_format_duration(text, (double)query->limits.timeout_ns);
    return gt_fail(err, "the query was stopped after %s; a longer time can be allowed", text);
}

static void note_cut(struct gt_sql_rows *rows, const struct gt_sql_query *query) {
    struct gt_arena *arena = &rows->section->report->arena;
    bool by_rows = rows->table->row_count == query->limits.rows;
    gt_section_note(rows->section, GT_FOR_ALL,
                    gt_arena_printf(arena, "Only the first %zu rows are here: the result is larger than %llu %s.",
                                    rows->table->row_count,
                                    (unsigned long long)(by_rows ? query->limits.rows : query->limits.bytes),
                                    by_rows ? "rows" : "bytes"));
}

/* Before anything of the next row is copied: a single one may be large. */
static bool is_full(const struct gt_sql_rows *rows, sqlite3_stmt *statement, const struct gt_sql_limits *limits) {
    if (limits->rows && rows->table->row_count >= limits->rows)
        return true;
    return limits->bytes && rows->bytes + gt_sql_rows_size(rows, statement) > limits->bytes;
}

static enum gt_status take_rows(struct session *session, sqlite3_stmt *statement, const struct gt_sql_query *query,
                                struct gt_section *section, struct gt_error *err) {
    struct gt_sql_rows rows = {0};
    int code;
    if (!gt_sql_rows_begin(&rows, section, statement))
        return gt_fail_memory(err);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        if (is_full(&rows, statement, &query->limits)) {
            note_cut(&rows, query);
            break;
        }
        gt_sql_rows_add(&rows, statement);
        if (gt_arena_failed(&section->report->arena))
            return gt_fail_memory(err);
    }
    return code == SQLITE_ROW || code == SQLITE_DONE ? GT_OK : fail_run(session, query, err);
}

/* What comes after the statement may be nothing but its semicolon. */
static enum gt_status check_rest(const char *rest, const struct gt_sql_query *query, struct gt_error *err) {
    struct gt_str text = {rest, query->text.len - (size_t)(rest - query->text.ptr)};
    struct gt_sql_word word = gt_sql_words_next(&text);
    while (word.kind == GT_SQL_WORD_SIGN && word.text.ptr[0] == ';')
        word = gt_sql_words_next(&text);
    return word.kind == GT_SQL_WORD_END ? GT_OK
                                        : gt_fail(err, "SQL error: more than one statement; give one at a time");
}

/* As the query has it: "?2" leaves number 1 without a name. */
static const char *first_parameter(sqlite3_stmt *statement) {
    const char *name = NULL;
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement) && !name; i++)
        name = sqlite3_bind_parameter_name(statement, i);
    return name ? name : "?";
}

static enum gt_status run(struct session *session, const struct gt_sql_query *query, struct gt_section *section,
                          struct gt_error *err) {
    sqlite3_stmt *statement = NULL;
    const char *rest = NULL;
    enum gt_status status = GT_OK;
    if (memchr(query->text.ptr, '\0', query->text.len))
        return gt_fail(err, "SQL error: the text has a NUL byte");
    if (sqlite3_prepare_v2(session->db, query->text.ptr, (int)query->text.len, &statement, &rest) != SQLITE_OK)
        return fail_run(session, query, err);
    if (!statement)
        status = gt_fail_usage(err, "the query is empty");
    if (status == GT_OK)
        status = check_rest(rest, query, err);
    if (status == GT_OK && (!sqlite3_stmt_readonly(statement) || !sqlite3_column_count(statement)))
        status = gt_fail(err, "SQL error: not a query; only SELECT is allowed");
    if (status == GT_OK && sqlite3_bind_parameter_count(statement))
        status = gt_fail(err, "SQL error: parameter '%.40s' has no value; write the value itself",
                         first_parameter(statement));
    if (status == GT_OK)
        bound_values(session, statement, query->text.len);
    if (status == GT_OK)
        status = take_rows(session, statement, query, section, err);
    sqlite3_finalize(statement);
    return status;
}

enum gt_status gt_sql_query_run(const struct gt_sql_world *world, const struct gt_sql_query *query,
                                struct gt_section *section, struct gt_error *err) {
    struct session session = {0};
    if (query->text.len > GT_SQL_QUERY_BYTES)
        return gt_fail_usage(err, "the query is longer than %d bytes", GT_SQL_QUERY_BYTES);
    enum gt_status status = open_session(&session, world, query, err);
    if (status == GT_OK)
        status = run(&session, query, section, err);
    sqlite3_close_v2(session.db);
    gt_sql_memory_release(session.memory);
    gt_mem_free(session.bindings);
    return status;
}
