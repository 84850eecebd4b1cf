/* CREATE TABLE: the text of the statement comes in, the columns of the table's records go out. It is read as SQLite
   reads it where that decides what the columns are, and loosely elsewhere: constraints are passed over. */
#include "decode/sqlite/sqlite_table.h"

#include <strings.h>

#include "base/num.h"
#include "decode/sqlite/sqlite_lexer.h"
#include "decode/sqlite/sqlite_record.h"

/* A statement on its way. */
struct parsing {
    struct gt_sqlite_lexer lexer;
    struct gt_arena *arena;
    struct gt_sqlite_table *table;
    size_t place_count; /* values in a record so far */
    bool has_key;       /* for the whole table; SQLite allows one */
};

static bool is_one_of(const struct gt_sqlite_lexer *lexer, const char *const *words) {
    for (; *words; words++)
        if (gt_sqlite_lexer_is_word(lexer, *words))
            return true;
    return false;
}

static bool takes_word(struct gt_sqlite_lexer *lexer, const char *word) {
    bool is_there = gt_sqlite_lexer_is_word(lexer, word);
    if (is_there)
        gt_sqlite_lexer_next(lexer);
    return is_there;
}

/* ---- what a column is ---- */

/* The affinity rules of SQLite: the first of these words in a declared type that is there decides. */
static bool is_real_type(struct gt_str type) {
    static const struct gt_str before[] = {GT_STR("INT"), GT_STR("CHAR"), GT_STR("CLOB"), GT_STR("TEXT"),
                                           GT_STR("BLOB")};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (gt_str_find_nocase(type, before[i]))
            return false;
    return gt_str_find_nocase(type, GT_STR("REAL")) || gt_str_find_nocase(type, GT_STR("FLOA")) ||
           gt_str_find_nocase(type, GT_STR("DOUB"));
}

static bool is_blank(char c) {
    return strchr(" \t\n\f\r", c) != NULL;
}

/* Takes a word from the end of the text, with the blanks before it. */
static bool cut_word(struct gt_str *text, struct gt_str word) {
    if (text->len < word.len || strncasecmp(text->ptr + text->len - word.len, word.ptr, word.len) != 0)
        return false;
    text->len -= word.len;
    while (text->len && is_blank(text->ptr[text->len - 1]))
        text->len--;
    return true;
}

/* The words after a name up to the first constraint. "GENERATED ALWAYS" are words like others, and no type. */
static struct gt_str take_type(struct gt_sqlite_lexer *lexer) {
    static const char *const constraints[] = {"CONSTRAINT", "NOT",        "NULL",    "PRIMARY", "UNIQUE",     "CHECK",
                                              "DEFAULT",    "REFERENCES", "COLLATE", "AS",      "DEFERRABLE", NULL};
    struct gt_str type = {lexer->token.ptr, 0};
    while (gt_sqlite_lexer_is_name(lexer) && !is_one_of(lexer, constraints)) {
        type.len = (size_t)(lexer->at - type.ptr);
        gt_sqlite_lexer_next(lexer);
    }
    if (type.len && gt_sqlite_lexer_is_sign(lexer, '(')) {
        struct gt_str size = gt_sqlite_lexer_skip_group(lexer);
        type.len = (size_t)(size.ptr + size.len - type.ptr);
    }
    struct gt_str bare = type;
    return cut_word(&bare, GT_STR("ALWAYS")) && cut_word(&bare, GT_STR("GENERATED")) ? bare : type;
}

/* Of a type that begins with a quoted word SQLite knows that word. */
static struct gt_str copy_type(struct gt_arena *arena, struct gt_str type) {
    struct gt_sqlite_lexer lexer;
    gt_sqlite_lexer_init(&lexer, type);
    return lexer.kind == GT_SQL_QUOTED ? gt_sqlite_lexer_name(&lexer, arena) : gt_arena_copy(arena, type);
}

/* Text between quotes that the column does not make a number of. All rows may share it: libsqlite3 bounds what long
   ones give. */
static bool is_text(struct gt_str text, struct gt_str type) {
    enum { LONGEST = 64 };
    bool is_quoted =
        text.len >= 2 && (text.ptr[0] == '\'' || text.ptr[0] == '"') && text.ptr[text.len - 1] == text.ptr[0];
    bool is_of_text = !gt_str_find_nocase(type, GT_STR("INT")) &&
                      (gt_str_find_nocase(type, GT_STR("TEXT")) || gt_str_find_nocase(type, GT_STR("CHAR")) ||
                       gt_str_find_nocase(type, GT_STR("CLOB")));
    return is_quoted && text.len <= LONGEST &&
           (is_of_text || (!strchr("0123456789+-.", text.ptr[1]) && !is_blank(text.ptr[1])));
}

/* Records from before ALTER TABLE are short, and what is missing has this value. Plain numbers in columns of numbers
   and plain text are what writers use; the rest is left to libsqlite3. */
static void set_default(struct gt_sqlite_column *column, struct gt_str text, struct gt_arena *arena) {
    bool is_integer = gt_str_find_nocase(column->type, GT_STR("INT"));
    bool is_null = text.len == 4 && strncasecmp(text.ptr, "NULL", 4) == 0;
    column->default_kind = is_null                                                        ? GT_SQLITE_DEFAULT_NULL
                           : is_integer && gt_num_parse_int(text, &column->default_value) ? GT_SQLITE_DEFAULT_INTEGER
                                                                                          : GT_SQLITE_DEFAULT_OTHER;
    if (column->default_kind == GT_SQLITE_DEFAULT_OTHER && is_real_type(column->type) &&
        gt_num_parse_real(text, &column->default_real))
        column->default_kind = GT_SQLITE_DEFAULT_REAL;
    if (column->default_kind == GT_SQLITE_DEFAULT_OTHER && is_text(text, column->type)) {
        struct gt_sqlite_lexer lexer;
        gt_sqlite_lexer_init(&lexer, text);
        bool is_whole = lexer.kind == GT_SQL_QUOTED && lexer.token.len == text.len;
        column->default_text = is_whole ? gt_sqlite_lexer_name(&lexer, arena) : GT_STR("");
        column->default_kind = is_whole ? GT_SQLITE_DEFAULT_TEXT : GT_SQLITE_DEFAULT_OTHER;
    }
}

static struct gt_str inside(struct gt_str group) {
    struct gt_str text = {group.ptr + 1, group.len >= 2 ? group.len - 2 : 0};
    for (; text.len && is_blank(text.ptr[0]); text.len--)
        text.ptr++;
    while (text.len && is_blank(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* After the word: a value, with a sign or not, or something in parentheses. */
static void take_default(struct gt_sqlite_lexer *lexer, struct gt_sqlite_column *column, struct gt_arena *arena) {
    if (gt_sqlite_lexer_is_sign(lexer, '(')) {
        set_default(column, inside(gt_sqlite_lexer_skip_group(lexer)), arena);
        return;
    }
    const char *from = lexer->token.ptr;
    if (gt_sqlite_lexer_is_sign(lexer, '-') || gt_sqlite_lexer_is_sign(lexer, '+'))
        gt_sqlite_lexer_next(lexer);
    if (lexer->kind != GT_SQL_WORD && lexer->kind != GT_SQL_QUOTED)
        return;
    set_default(column, (struct gt_str){from, (size_t)(lexer->at - from)}, arena);
    gt_sqlite_lexer_next(lexer);
}

/* ---- definitions ---- */

/* What the constraints of a column say. */
struct traits {
    bool is_key, is_descending;
    bool is_generated, is_stored;
};

static bool is_at_end(const struct gt_sqlite_lexer *lexer) {
    return gt_sqlite_lexer_is_sign(lexer, ',') || gt_sqlite_lexer_is_sign(lexer, ')') || lexer->kind == GT_SQL_END;
}

/* One word of a constraint, and what belongs to it. */
static void take_constraint(struct gt_sqlite_lexer *lexer, struct gt_sqlite_column *column, struct traits *traits,
                            struct gt_arena *arena) {
    static const char *const before_names[] = {"CONSTRAINT", "COLLATE", "REFERENCES", "SET", NULL};
    if (gt_sqlite_lexer_is_sign(lexer, '(')) {
        gt_sqlite_lexer_skip_group(lexer);
    } else if (is_one_of(lexer, before_names)) { /* which may read like constraints: SET DEFAULT */
        gt_sqlite_lexer_next(lexer);
        if (gt_sqlite_lexer_is_name(lexer))
            gt_sqlite_lexer_next(lexer);
    } else if (takes_word(lexer, "DEFAULT")) {
        take_default(lexer, column, arena);
    } else if (takes_word(lexer, "PRIMARY")) {
        traits->is_key = takes_word(lexer, "KEY");
        traits->is_descending = gt_sqlite_lexer_is_word(lexer, "DESC");
    } else if (takes_word(lexer, "AS")) {
        traits->is_generated = true;
        if (gt_sqlite_lexer_is_sign(lexer, '('))
            gt_sqlite_lexer_skip_group(lexer);
        traits->is_stored = gt_sqlite_lexer_is_word(lexer, "STORED");
    } else {
        gt_sqlite_lexer_next(lexer);
    }
}

static bool is_integer_type(const struct gt_sqlite_column *column) {
    return column->type.len == 7 && strncasecmp(column->type.ptr, "INTEGER", 7) == 0;
}

/* false: there is no name. */
static bool take_column(struct parsing *parsing) {
    struct gt_sqlite_lexer *lexer = &parsing->lexer;
    struct gt_sqlite_table *table = parsing->table;
    struct gt_sqlite_column *column = &table->columns[table->column_count];
    struct traits traits = {0};
    if (!gt_sqlite_lexer_is_name(lexer))
        return false;
    struct gt_sqlite_lexer name = *lexer;
    *column = (struct gt_sqlite_column){0};
    gt_sqlite_lexer_next(lexer);
    column->type = take_type(lexer);
    while (!is_at_end(lexer))
        take_constraint(lexer, column, &traits, parsing->arena);
    if (traits.is_generated) {
        parsing->place_count += traits.is_stored;
        return true;
    }
    column->name = gt_sqlite_lexer_name(&name, parsing->arena);
    column->type = copy_type(parsing->arena, column->type);
    column->is_real = is_real_type(column->type);
    column->place = (uint16_t)parsing->place_count++;
    if (traits.is_key && !traits.is_descending && is_integer_type(column))
        table->rowid_alias = (uint16_t)table->column_count;
    table->column_count++;
    return true;
}

/* PRIMARY KEY (a): one column of integers is the rowid, whichever way it is sorted. */
static void take_key(struct parsing *parsing) {
    struct gt_sqlite_lexer *lexer = &parsing->lexer;
    size_t depth = 0, commas = 0;
    parsing->has_key = true;
    for (; gt_sqlite_lexer_is_sign(lexer, '('); depth++)
        gt_sqlite_lexer_next(lexer);
    struct gt_str name = gt_sqlite_lexer_name(lexer, parsing->arena);
    for (; depth > 0; gt_sqlite_lexer_next(lexer)) {
        depth += gt_sqlite_lexer_is_sign(lexer, '(');
        depth -= gt_sqlite_lexer_is_sign(lexer, ')');
        commas += gt_sqlite_lexer_is_sign(lexer, ',');
    }
    uint16_t column = gt_sqlite_table_column(parsing->table, name);
    if (commas == 0 && column != GT_SQLITE_NO_COLUMN && is_integer_type(&parsing->table->columns[column]))
        parsing->table->rowid_alias = column;
}

static void take_table_constraint(struct parsing *parsing) {
    struct gt_sqlite_lexer *lexer = &parsing->lexer;
    while (!is_at_end(lexer)) {
        if (takes_word(lexer, "CONSTRAINT")) {
            if (gt_sqlite_lexer_is_name(lexer))
                gt_sqlite_lexer_next(lexer);
        } else if (takes_word(lexer, "PRIMARY")) {
            if (takes_word(lexer, "KEY") && gt_sqlite_lexer_is_sign(lexer, '(') && !parsing->has_key)
                take_key(parsing);
        } else if (gt_sqlite_lexer_is_sign(lexer, '(')) {
            gt_sqlite_lexer_skip_group(lexer);
        } else {
            gt_sqlite_lexer_next(lexer);
        }
    }
}

static bool take_definitions(struct parsing *parsing) {
    static const char *const constraints[] = {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN", NULL};
    struct gt_sqlite_lexer *lexer = &parsing->lexer;
    do {
        gt_sqlite_lexer_next(lexer);
        if (is_one_of(lexer, constraints))
            take_table_constraint(parsing);
        else if (!take_column(parsing))
            return false;
    } while (gt_sqlite_lexer_is_sign(lexer, ','));
    return true;
}

/* How many definitions are between the parentheses; 0 if they are not closed. So what follows need not look for the
   end. */
static size_t count_definitions(struct gt_sqlite_lexer lexer) {
    size_t depth = 0, count = 1;
    do {
        if (lexer.kind == GT_SQL_END || lexer.kind == GT_SQL_BROKEN)
            return 0;
        depth += gt_sqlite_lexer_is_sign(&lexer, '(');
        depth -= gt_sqlite_lexer_is_sign(&lexer, ')');
        count += depth == 1 && gt_sqlite_lexer_is_sign(&lexer, ',');
        gt_sqlite_lexer_next(&lexer);
    } while (depth > 0);
    return count;
}

/* STRICT and WITHOUT ROWID. */
static void take_options(struct parsing *parsing) {
    struct gt_sqlite_lexer *lexer = &parsing->lexer;
    while (lexer->kind != GT_SQL_END && lexer->kind != GT_SQL_BROKEN) {
        if (!takes_word(lexer, "WITHOUT"))
            gt_sqlite_lexer_next(lexer);
        else if (gt_sqlite_lexer_is_word(lexer, "ROWID"))
            parsing->table->has_rowids = false;
    }
}

static bool parse(struct parsing *parsing) {
    struct gt_sqlite_lexer *lexer = &parsing->lexer;
    struct gt_sqlite_table *table = parsing->table;
    if (!takes_word(lexer, "CREATE") || !takes_word(lexer, "TABLE") || !gt_sqlite_lexer_is_name(lexer))
        return false;
    gt_sqlite_lexer_next(lexer);
    size_t count = gt_sqlite_lexer_is_sign(lexer, '(') ? count_definitions(*lexer) : 0;
    if (count == 0 || count > GT_SQLITE_TABLE_COLUMNS_MAX)
        return false;
    table->columns = gt_arena_array(parsing->arena, count, sizeof *table->columns);
    if (!table->columns || !take_definitions(parsing))
        return false;
    gt_sqlite_lexer_next(lexer);
    take_options(parsing);
    return true;
}

void gt_sqlite_table_parse(struct gt_sqlite_table *table, struct gt_str sql, struct gt_arena *arena) {
    struct parsing parsing = {.arena = arena, .table = table};
    table->column_count = 0;
    table->has_rowids = true;
    table->rowid_alias = GT_SQLITE_NO_COLUMN;
    gt_sqlite_lexer_init(&parsing.lexer, sql);
    if (!parse(&parsing))
        table->column_count = 0;
}

uint16_t gt_sqlite_table_column(const struct gt_sqlite_table *table, struct gt_str name) {
    for (size_t i = 0; i < table->column_count; i++) {
        struct gt_str other = table->columns[i].name;
        if (other.len == name.len && strncasecmp(other.ptr, name.ptr, name.len) == 0)
            return (uint16_t)i;
    }
    return GT_SQLITE_NO_COLUMN;
}
