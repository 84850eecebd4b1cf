/* SQL text to tokens: words, quoted names and strings, signs. Comments and blanks are skipped. */
#ifndef GT_DECODE_SQLITE_SQLITE_LEXER_H
#define GT_DECODE_SQLITE_SQLITE_LEXER_H

#include "base/arena.h"

enum gt_sql_kind {
    GT_SQL_END,
    GT_SQL_WORD,   /* a name, keyword or number */
    GT_SQL_QUOTED, /* '...', "...", `...` or [...] */
    GT_SQL_SIGN,   /* any other byte */
    GT_SQL_BROKEN, /* a quote that is not closed; nothing follows */
};

/* The current token, and the text after it. */
struct gt_sqlite_lexer {
    const char *at, *end;
    enum gt_sql_kind kind;
    struct gt_str token; /* with its quotes */
};

/* The first token of the text is available then. A NUL ends it, as it does for SQLite. */
void gt_sqlite_lexer_init(struct gt_sqlite_lexer *lexer, struct gt_str sql);
void gt_sqlite_lexer_next(struct gt_sqlite_lexer *lexer);

/* Whether the token is this sign, or this keyword, ASCII case ignored and not quoted. */
bool gt_sqlite_lexer_is_sign(const struct gt_sqlite_lexer *lexer, char sign);
bool gt_sqlite_lexer_is_word(const struct gt_sqlite_lexer *lexer, const char *word);

/* Whether the token can be a name, and the name without its quotes. */
bool gt_sqlite_lexer_is_name(const struct gt_sqlite_lexer *lexer);
struct gt_str gt_sqlite_lexer_name(const struct gt_sqlite_lexer *lexer, struct gt_arena *arena);

/* From an opening parenthesis to after the one that closes it, or to the end; the text of that, parentheses included.
 */
struct gt_str gt_sqlite_lexer_skip_group(struct gt_sqlite_lexer *lexer);

#endif
