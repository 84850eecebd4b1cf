/* The tokens of SQL as SQLite sees them: text comes in, one token after the other goes out. */
#include "decode/sqlite/sqlite_lexer.h"

#include <string.h>
#include <strings.h>

static bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Every byte of a character after ASCII is part of a name. */
static bool is_name_byte(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static bool starts(const struct gt_sqlite_lexer *lexer, const char *text) {
    return lexer->end - lexer->at >= 2 && lexer->at[0] == text[0] && lexer->at[1] == text[1];
}

/* After the end of the line or of the comment; after the text if it does not end. */
static const char *after_line(const char *at, const char *end) {
    const char *found = memchr(at, '\n', (size_t)(end - at));
    return found ? found + 1 : end;
}

static const char *after_comment(const char *at, const char *end) {
    for (; (at = memchr(at, '*', (size_t)(end - at))); at++)
        if (at + 1 < end && at[1] == '/')
            return at + 2;
    return end;
}

static void skip_blanks(struct gt_sqlite_lexer *lexer) {
    const char *before = NULL;
    while (lexer->at != before) {
        before = lexer->at;
        while (lexer->at < lexer->end && is_blank(*lexer->at))
            lexer->at++;
        if (starts(lexer, "--"))
            lexer->at = after_line(lexer->at, lexer->end);
        else if (starts(lexer, "/*"))
            lexer->at = after_comment(lexer->at + 2, lexer->end);
    }
}

/* 12, 0x1F, 1.5, 2.e-7. */
static const char *number_end(const char *at, const char *end) {
    bool is_hex = end - at >= 2 && at[0] == '0' && (at[1] | 0x20) == 'x';
    while (at < end && (is_name_byte(*at) || *at == '.')) {
        bool has_sign = !is_hex && (*at | 0x20) == 'e' && end - at >= 2 && (at[1] == '+' || at[1] == '-');
        at += has_sign ? 2 : 1;
    }
    return at;
}

/* After the closing quote; NULL if there is none. Twice the quote is the quote itself, except for brackets. */
static const char *quoted_end(const char *at, const char *end) {
    char quote = *at == '[' ? ']' : *at;
    for (at++; at < end; at++) {
        if (*at != quote)
            continue;
        if (quote == ']' || at + 1 == end || at[1] != quote)
            return at + 1;
        at++;
    }
    return NULL;
}

void gt_sqlite_lexer_next(struct gt_sqlite_lexer *lexer) {
    skip_blanks(lexer);
    const char *from = lexer->at, *to = from;
    if (from == lexer->end) {
        lexer->kind = lexer->kind == GT_SQL_BROKEN ? GT_SQL_BROKEN : GT_SQL_END;
    } else if (strchr("'\"`[", *from)) {
        to = quoted_end(from, lexer->end);
        lexer->kind = to ? GT_SQL_QUOTED : GT_SQL_BROKEN;
        to = to ? to : lexer->end;
    } else if (is_digit(*from) || (*from == '.' && lexer->end - from >= 2 && is_digit(from[1]))) {
        to = number_end(from, lexer->end);
        lexer->kind = GT_SQL_WORD;
    } else if (is_name_byte(*from)) {
        while (to < lexer->end && is_name_byte(*to))
            to++;
        lexer->kind = GT_SQL_WORD;
    } else {
        to++;
        lexer->kind = GT_SQL_SIGN;
    }
    lexer->token = (struct gt_str){from, (size_t)(to - from)};
    lexer->at = to;
}

void gt_sqlite_lexer_init(struct gt_sqlite_lexer *lexer, struct gt_str sql) {
    const char *text = sql.len ? sql.ptr : "";
    *lexer = (struct gt_sqlite_lexer){.at = text, .end = text + strnlen(text, sql.len)};
    gt_sqlite_lexer_next(lexer);
}

bool gt_sqlite_lexer_is_sign(const struct gt_sqlite_lexer *lexer, char sign) {
    return lexer->kind == GT_SQL_SIGN && lexer->token.ptr[0] == sign;
}

bool gt_sqlite_lexer_is_word(const struct gt_sqlite_lexer *lexer, const char *word) {
    return lexer->kind == GT_SQL_WORD && lexer->token.len == strlen(word) &&
           strncasecmp(lexer->token.ptr, word, lexer->token.len) == 0;
}

bool gt_sqlite_lexer_is_name(const struct gt_sqlite_lexer *lexer) {
    return lexer->kind == GT_SQL_QUOTED || (lexer->kind == GT_SQL_WORD && !is_digit(lexer->token.ptr[0]) &&
                                            lexer->token.ptr[0] != '.' && lexer->token.ptr[0] != '$');
}

struct gt_str gt_sqlite_lexer_name(const struct gt_sqlite_lexer *lexer, struct gt_arena *arena) {
    struct gt_str token = lexer->token;
    if (lexer->kind != GT_SQL_QUOTED)
        return gt_arena_copy(arena, token);
    char quote = token.ptr[0] == '[' ? '\0' : token.ptr[0];
    char *name = gt_arena_alloc(arena, token.len);
    size_t len = 0;
    for (size_t i = 1; name && i + 1 < token.len; i++) {
        name[len++] = token.ptr[i];
        i += token.ptr[i] == quote;
    }
    return (struct gt_str){name ? name : "", len};
}

struct gt_str gt_sqlite_lexer_skip_group(struct gt_sqlite_lexer *lexer) {
    struct gt_str group = {lexer->token.ptr, 0};
    size_t depth = 0;
    do {
        depth += gt_sqlite_lexer_is_sign(lexer, '(');
        depth -= gt_sqlite_lexer_is_sign(lexer, ')');
        group.len = (size_t)(lexer->at - group.ptr);
        gt_sqlite_lexer_next(lexer);
    } while (depth > 0 && lexer->kind != GT_SQL_END && lexer->kind != GT_SQL_BROKEN);
    return group;
}
