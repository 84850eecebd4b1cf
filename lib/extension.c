/* gputime as an extension of SQLite, for its shell and for any program that can load one:

       create virtual table ops using gputime('profile.nsys-rep');
       create virtual table gaps using gputime('profile.nsys-rep', 'gaps');
       select gputime_open('profile.nsys-rep');  -- all tables, for this connection

   Traces are read when a query needs them, and only what it needs. The functions of SQLite are those of the program
   that loads the extension. */
#ifndef GT_SQL_EXTENSION
#define GT_SQL_EXTENSION 1
#endif

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "frame/frame.h"
#include "internal.h"
#include "measure/analysis.h"
#include "sql/sql_frames.h"
#include "sql/sql_functions.h"
#include "sql/sql_host.h"
#include "sql/sql_reports.h"

SQLITE_EXTENSION_INIT1

/* ---- traces of a connection ---- */

/* Frames of an earlier reading stay as long as queries may hold their texts: as long as the connection. */
struct framed {
    struct gt_frames *frames;
    struct framed *older;
};

struct used_report {
    const struct gt_analysis *analysis;
    struct gputime_report *report;
    struct used_report *next;
};

struct opened {
    struct gt_sql_world world;
    char *path;
    struct gt_str name;
    struct gputime_trace *trace; /* NULL: not read yet */
    uint32_t facts;              /* that were read */
    uint32_t expected;           /* that queries were planned with */
    struct framed *framed;       /* the newest first */
    struct used_report *reports;
    struct opened *next;
};

struct host {
    struct opened *opened;
};

static enum gt_status take_failure(enum gputime_status status, const struct gputime_error *failure,
                                   struct gt_error *err) {
    return status == GPUTIME_OK ? GT_OK : gt_fail(err, "%s", failure->message);
}

static enum gt_status read_trace(struct opened *opened, uint32_t facts, struct gt_error *err) {
    struct gputime_open_options options = GPUTIME_OPEN_OPTIONS_INIT;
    struct gputime_error failure = {0};
    const char *path = opened->path;
    enum gputime_status status;
    options.facts = gt_store_facts_closed(facts | opened->facts | GT_FACT_OPS);
    status = opened->trace ? gputime_trace_read(opened->trace, options.facts, &failure)
                           : gputime_trace_open(&path, 1, &options, NULL, &opened->trace, &failure);
    if (status == GPUTIME_OK)
        opened->facts = (uint32_t)options.facts;
    return take_failure(status, &failure, err);
}

static void expect(void *context, uint32_t facts) {
    struct opened *opened = context;
    opened->expected |= facts;
}

static enum gt_status frames_of(void *context, size_t input, uint32_t facts, struct gt_frames **out,
                                struct gt_error *err) {
    struct opened *opened = context;
    uint32_t closed = gt_store_facts_closed(facts | opened->expected);
    (void)input;
    *out = opened->framed ? opened->framed->frames : NULL;
    if (*out && (opened->facts & closed) == closed)
        return GT_OK;
    struct framed *framed = gt_mem_array(1, sizeof *framed);
    enum gt_status status = framed ? read_trace(opened, closed, err) : gt_fail_memory(err);
    if (status == GT_OK)
        status = gt_internal_frames(opened->trace, opened->facts, &framed->frames, err);
    if (status != GT_OK) {
        gt_mem_free(framed);
        return status;
    }
    gputime_trace_store_cache(opened->trace);
    framed->older = opened->framed;
    opened->framed = framed;
    *out = framed->frames;
    return GT_OK;
}

static const struct gt_analysis *analysis_of(struct gt_str table) {
    for (size_t i = 0; i < gt_analysis_count; i++) {
        struct gt_str rest = gt_str_of(gt_analyses[i].tables), key;
        while (gt_str_next_item(&rest, &key))
            if (gt_str_eq(key, table))
                return &gt_analyses[i];
    }
    return NULL;
}

static enum gt_status make_report(struct opened *opened, const struct gt_analysis *analysis, struct used_report *made,
                                  struct gt_error *err) {
    struct gputime_report_options options = GPUTIME_REPORT_OPTIONS_INIT;
    struct gputime_error failure = {0};
    struct gt_frames *frames;
    options.analyses = &analysis->key;
    options.analysis_count = 1;
    enum gt_status status = frames_of(opened, 0, gt_analysis_facts(&analysis->key, 1), &frames, err);
    if (status != GT_OK)
        return status;
    made->analysis = analysis;
    return take_failure(gputime_report_new(&opened->trace, 1, &options, &made->report, &failure), &failure, err);
}

static enum gt_status report_of(void *context, size_t input, const char *key, const struct gt_table **out,
                                struct gt_error *err) {
    struct opened *opened = context;
    const struct gt_analysis *analysis = analysis_of(gt_str_of(key));
    struct used_report *report = opened->reports;
    *out = NULL;
    while (report && report->analysis != analysis)
        report = report->next;
    if (!report) {
        report = gt_mem_array(1, sizeof *report);
        enum gt_status status = report ? make_report(opened, analysis, report, err) : gt_fail_memory(err);
        if (status != GT_OK) {
            gt_mem_free(report);
            return status;
        }
        report->next = opened->reports;
        opened->reports = report;
    }
    *out = gt_section_find(&report->report->model->sections[input], key);
    return GT_OK;
}

static void close_opened(struct opened *opened) {
    for (struct framed *framed = opened->framed, *older; framed; framed = older) {
        older = framed->older;
        gt_frame_free(framed->frames);
        gt_mem_free(framed);
    }
    for (struct used_report *report = opened->reports, *next; report; report = next) {
        next = report->next;
        gputime_report_free(report->report);
        gt_mem_free(report);
    }
    gputime_trace_free(opened->trace);
    gt_mem_free(opened->path);
    gt_mem_free(opened);
}

static void close_host(void *context) {
    struct host *host = context;
    for (struct opened *opened = host->opened, *next; opened; opened = next) {
        next = opened->next;
        close_opened(opened);
    }
    gt_mem_free(host);
}

/* The trace of a file, which tables of one connection share. NULL: memory was short. */
static struct opened *find_opened(struct host *host, struct gt_str path) {
    for (struct opened *opened = host->opened; opened; opened = opened->next)
        if (gt_str_eq(gt_str_of(opened->path), path))
            return opened;
    struct opened *opened = gt_mem_array(1, sizeof *opened);
    char *copy = gt_mem_alloc(path.len + 1);
    if (!opened || !copy) {
        gt_mem_free(opened);
        gt_mem_free(copy);
        return NULL;
    }
    memcpy(copy, path.ptr, path.len);
    copy[path.len] = '\0';
    opened->path = copy;
    opened->name = gt_str_path_tail(gt_str_of(copy), 1);
    opened->world = (struct gt_sql_world){.context = opened,
                                          .input_count = 1,
                                          .names = &opened->name,
                                          .frames = frames_of,
                                          .expect = expect,
                                          .report = report_of};
    opened->next = host->opened;
    return host->opened = opened;
}

/* ---- tables ---- */

/* An argument as SQLite hands it over, without its quotes; a doubled quote inside is one. In place. */
static struct gt_str unquote(char *text) {
    size_t length = strlen(text), filled = 0;
    char quote = text[0];
    if ((quote != '\'' && quote != '"') || length < 2 || text[length - 1] != quote)
        return (struct gt_str){text, length};
    for (size_t i = 1; i + 1 < length; i++) {
        text[filled++] = text[i];
        i += text[i] == quote && i + 2 < length && text[i + 1] == quote;
    }
    text[filled] = '\0';
    return (struct gt_str){text, filled};
}

static int connect_table(sqlite3 *db, struct opened *opened, struct gt_str key, sqlite3_vtab **out, char **message) {
    size_t frame = gt_frame_find(key);
    struct gt_str report = key;
    if (frame != SIZE_MAX)
        return gt_sql_frames_connect(db, &opened->world, frame, out, message);
    if (gt_str_take_start(&report, GT_STR(GT_SQL_REPORTS_PREFIX)) && analysis_of(report))
        return gt_sql_reports_connect(db, &opened->world, report.ptr, out, message);
    *message = sqlite3_mprintf("no table '%s'; 'gputime sql --schema' lists them", key.ptr);
    return SQLITE_ERROR;
}

/* Frames and reports are two modules of lib/sql, but one for SQLite: both begin with sqlite3_vtab, so a table is kept
   with the methods that are its own. */
struct table {
    sqlite3_vtab base;
    sqlite3_vtab *inner;
    const sqlite3_module *methods;
};

struct cursor {
    sqlite3_vtab_cursor base;
    sqlite3_vtab_cursor *inner;
};

/* What the inner table says about an error is the outer one's. */
static int pass_error(sqlite3_vtab *base, int code) {
    struct table *table = (struct table *)base;
    if (code != SQLITE_OK && table->inner->zErrMsg) {
        sqlite3_free(table->base.zErrMsg);
        table->base.zErrMsg = table->inner->zErrMsg;
        table->inner->zErrMsg = NULL;
    }
    return code;
}

static int disconnect(sqlite3_vtab *base) {
    struct table *table = (struct table *)base;
    sqlite3_free(table->inner->zErrMsg);
    table->methods->xDisconnect(table->inner);
    gt_mem_free(table);
    return SQLITE_OK;
}

static int make_table(sqlite3 *db, struct opened *opened, struct gt_str key, sqlite3_vtab **out, char **message) {
    struct table *table = gt_mem_array(1, sizeof *table);
    int code = table ? connect_table(db, opened, key, &table->inner, message) : SQLITE_NOMEM;
    if (code != SQLITE_OK) {
        gt_mem_free(table);
        return code;
    }
    table->methods = gt_frame_find(key) != SIZE_MAX ? &gt_sql_frames_methods : &gt_sql_reports_methods;
    *out = &table->base;
    return SQLITE_OK;
}

/* words: module, database, table, then the arguments. */
static int connect(sqlite3 *db, void *context, int count, const char *const *words, sqlite3_vtab **out,
                   char **message) {
    char *path = count > 3 ? sqlite3_mprintf("%s", words[3]) : NULL;
    char *key = sqlite3_mprintf("%s", count > 4 ? words[4] : "ops");
    int code = SQLITE_ERROR;
    struct opened *opened = NULL;
    if (count < 4 || count > 5) {
        *message = sqlite3_mprintf("usage: create virtual table NAME using gputime('TRACE'[, 'TABLE'])");
    } else if (!path || !key) {
        code = SQLITE_NOMEM;
    } else if (access(unquote(path).ptr, R_OK) != 0) {
        *message = sqlite3_mprintf("cannot read '%s'", path);
    } else if (sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY) !=
               SQLITE_OK) { /* no view of a file has us read others */
        *message = sqlite3_mprintf("SQLite is too old: 3.31 or newer is needed");
    } else {
        opened = find_opened(context, gt_str_of(path));
        code = opened ? make_table(db, opened, unquote(key), out, message) : SQLITE_NOMEM;
    }
    sqlite3_free(path);
    sqlite3_free(key);
    return code;
}

static int best_index(sqlite3_vtab *base, sqlite3_index_info *info) {
    struct table *table = (struct table *)base;
    return pass_error(base, table->methods->xBestIndex(table->inner, info));
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out) {
    struct table *table = (struct table *)base;
    struct cursor *cursor = gt_mem_array(1, sizeof *cursor);
    *out = NULL;
    if (!cursor)
        return SQLITE_NOMEM;
    int code = table->methods->xOpen(table->inner, &cursor->inner);
    if (code != SQLITE_OK) {
        gt_mem_free(cursor);
        return code;
    }
    cursor->inner->pVtab = table->inner;
    *out = &cursor->base;
    return SQLITE_OK;
}

static const sqlite3_module *methods_of(sqlite3_vtab_cursor *base) {
    return ((struct table *)base->pVtab)->methods;
}

static sqlite3_vtab_cursor *inner_of(sqlite3_vtab_cursor *base) {
    return ((struct cursor *)base)->inner;
}

static int close_cursor(sqlite3_vtab_cursor *base) {
    methods_of(base)->xClose(inner_of(base));
    gt_mem_free(base);
    return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int count, sqlite3_value **values) {
    return pass_error(base->pVtab, methods_of(base)->xFilter(inner_of(base), number, text, count, values));
}

static int next(sqlite3_vtab_cursor *base) {
    return pass_error(base->pVtab, methods_of(base)->xNext(inner_of(base)));
}

static int eof(sqlite3_vtab_cursor *base) {
    return methods_of(base)->xEof(inner_of(base));
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *result, int number) {
    return pass_error(base->pVtab, methods_of(base)->xColumn(inner_of(base), result, number));
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out) {
    return methods_of(base)->xRowid(inner_of(base), out);
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xCreate = connect,
    .xConnect = connect,
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

/* ---- all tables at once ---- */

/* gputime_open(PATH [, PREFIX]): temporary tables, which no file keeps. Gives how many. */
static void open_all(sqlite3_context *context, int count, sqlite3_value **values) {
    sqlite3 *db = sqlite3_context_db_handle(context);
    const char *path = (const char *)sqlite3_value_text(values[0]);
    const char *prefix = count > 1 ? (const char *)sqlite3_value_text(values[1]) : "";
    int code = path && prefix ? SQLITE_OK : SQLITE_NOMEM;
    if (sqlite3_value_type(values[0]) != SQLITE_TEXT) {
        sqlite3_result_error(context, "gputime_open: the first argument must be the path of a trace", -1);
        return;
    }
    for (size_t f = 0; f < gt_frame_count() && code == SQLITE_OK; f++) {
        char *text = sqlite3_mprintf("CREATE VIRTUAL TABLE temp.\"%w%w\" USING gputime(%Q, %Q)", prefix,
                                     gt_frame_key(f), path, gt_frame_key(f));
        code = text ? sqlite3_exec(db, text, NULL, NULL, NULL) : SQLITE_NOMEM;
        sqlite3_free(text);
    }
    if (code != SQLITE_OK)
        sqlite3_result_error(context, sqlite3_errmsg(db), -1);
    else
        sqlite3_result_int64(context, (sqlite3_int64)gt_frame_count());
}

static int add_functions(sqlite3 *db) {
    struct gt_sql_memory *memory = gt_sql_memory_new(false);
    int code = memory ? gt_sql_functions_add(db, memory) : SQLITE_NOMEM;
    gt_sql_memory_release(memory);
    return code;
}

/* The entry point, by the name of the file. */
API int sqlite3_gputime_init(sqlite3 *db, char **message, const sqlite3_api_routines *routines);

API int sqlite3_gputime_init(sqlite3 *db, char **message, const sqlite3_api_routines *routines) {
    SQLITE_EXTENSION_INIT2(routines);
    struct host *host = gt_mem_array(1, sizeof *host);
    (void)message;
    if (!host)
        return SQLITE_NOMEM;
    int code = sqlite3_create_module_v2(db, "gputime", &module, host, close_host);
    for (int arguments = 1; arguments <= 2 && code == SQLITE_OK; arguments++)
        code = sqlite3_create_function_v2(db, "gputime_open", arguments, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
                                          open_all, NULL, NULL, NULL);
    return code == SQLITE_OK ? add_functions(db) : code;
}
