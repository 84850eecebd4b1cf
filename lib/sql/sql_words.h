/* What the text of a query mentions, before anything is read: which facts it may need. */
#ifndef GT_SQL_SQL_WORDS_H
#define GT_SQL_SQL_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* A token of SQL: what is skipped (blanks, comments) is not given. */
enum gt_sql_word_kind {
    GT_SQL_WORD_END,
    GT_SQL_WORD_NAME,   /* an identifier or keyword, without its quotes */
    GT_SQL_WORD_STRING, /* '...'; without its quotes */
    GT_SQL_WORD_NUMBER,
    GT_SQL_WORD_SIGN, /* one byte of anything else */
};

struct gt_sql_word {
    enum gt_sql_word_kind kind;
    struct gt_str text;
};

/* Takes the next token off the text. */
struct gt_sql_word gt_sql_words_next(struct gt_str *rest);

/* Whether a table is mentioned. */
bool gt_sql_words_mention(struct gt_str text, struct gt_str name);

/* Facts of all columns of frames that the query can use: those mentioned, or all of a frame where it has a '*'. Never
   too few. */
uint32_t gt_sql_words_facts(struct gt_str text);

#endif
