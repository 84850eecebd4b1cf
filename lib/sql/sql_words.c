/* Looks at the tokens of a query. A column can only be used if its name is there, or a '*' that is no product. */
#include "sql/sql_words.h"

#include <ctype.h>

#include "frame/frame.h"
#include "sql/sql_frames.h"

static bool is_name_byte(char byte) {
    return isalnum((unsigned char)byte) || byte == '_' || byte == '$' || (unsigned char)byte >= 0x80;
}

/* How many bytes of blanks and comments come first. */
static size_t skipped(struct gt_str text) {
    size_t at = 0;
    while (at < text.len) {
        bool has_more = at + 1 < text.len;
        if (isspace((unsigned char)text.ptr[at])) {
            at++;
        } else if (has_more && text.ptr[at] == '-' && text.ptr[at + 1] == '-') {
            while (at < text.len && text.ptr[at] != '\n')
                at++;
        } else if (has_more && text.ptr[at] == '/' && text.ptr[at + 1] == '*') {
            at += 2;
            while (at < text.len && !(text.ptr[at] == '*' && at + 1 < text.len && text.ptr[at + 1] == '/'))
                at++;
            at = at + 2 < text.len ? at + 2 : text.len;
        } else {
            break;
        }
    }
    return at;
}

/* Length of a quoted token with its quotes; a doubled quote does not end it. */
static size_t quoted(struct gt_str text, char end) {
    size_t at = 1;
    while (at < text.len && (text.ptr[at] != end || (end != ']' && at + 1 < text.len && text.ptr[at + 1] == end)))
        at += text.ptr[at] == end ? 2 : 1;
    return at < text.len ? at + 1 : text.len;
}

static struct gt_str inside(struct gt_str text, size_t length) {
    return (struct gt_str){text.ptr + 1, length > 1 ? length - 2 : 0};
}

struct gt_sql_word gt_sql_words_next(struct gt_str *rest) {
    size_t blanks = skipped(*rest), length = 1;
    struct gt_str text = {rest->ptr + blanks, rest->len - blanks};
    struct gt_sql_word word = {.kind = GT_SQL_WORD_SIGN};
    if (!text.len) {
        *rest = text;
        return (struct gt_sql_word){.kind = GT_SQL_WORD_END};
    }
    char first = text.ptr[0];
    if (first == '\'' || first == '"' || first == '`' || first == '[') {
        length = quoted(text, first == '[' ? ']' : first);
        word.kind = first == '\'' ? GT_SQL_WORD_STRING : GT_SQL_WORD_NAME;
        word.text = inside(text, length);
    } else if (is_name_byte(first)) {
        while (length < text.len && is_name_byte(text.ptr[length]))
            length++;
        word.kind = isdigit((unsigned char)first) ? GT_SQL_WORD_NUMBER : GT_SQL_WORD_NAME;
        word.text = (struct gt_str){text.ptr, length};
    } else {
        word.text = (struct gt_str){text.ptr, 1};
    }
    *rest = (struct gt_str){text.ptr + length, text.len - length};
    return word;
}

bool gt_sql_words_mention(struct gt_str text, struct gt_str name) {
    for (struct gt_sql_word word = gt_sql_words_next(&text); word.kind != GT_SQL_WORD_END;
         word = gt_sql_words_next(&text))
        if (word.kind == GT_SQL_WORD_NAME && gt_str_eq_nocase(word.text, name))
            return true;
    return false;
}

/* A '*' that means all columns: not count(*), and not after a value. NATURAL joins use all that are the same. */
static bool has_all_columns(struct gt_str text) {
    struct gt_sql_word before = {0}, word;
    while ((word = gt_sql_words_next(&text)).kind != GT_SQL_WORD_END) {
        bool is_star = word.kind == GT_SQL_WORD_SIGN && word.text.ptr[0] == '*';
        bool after_sign = before.kind == GT_SQL_WORD_SIGN && (before.text.ptr[0] == ',' || before.text.ptr[0] == '.');
        bool after_word = before.kind == GT_SQL_WORD_NAME && (gt_str_eq_nocase(before.text, GT_STR("select")) ||
                                                              gt_str_eq_nocase(before.text, GT_STR("distinct")) ||
                                                              gt_str_eq_nocase(before.text, GT_STR("all")));
        if (is_star && (after_sign || after_word))
            return true;
        if (word.kind == GT_SQL_WORD_NAME && gt_str_eq_nocase(word.text, GT_STR("natural")))
            return true;
        before = word;
    }
    return false;
}

static uint32_t facts_of_word(size_t frame, struct gt_str word) {
    uint32_t facts = 0;
    for (size_t c = 0; c < gt_frame_column_count(frame); c++) {
        struct gt_frame_column about = gt_frame_column(frame, c);
        if (gt_str_eq_nocase(word, gt_str_of(about.key)))
            facts |= about.facts;
    }
    for (size_t i = 0; i < gt_sql_frames_extra_count; i++) {
        size_t of = gt_frame_find_column(frame, gt_str_of(gt_sql_frames_extras[i].of));
        if (of != SIZE_MAX && gt_str_eq_nocase(word, gt_str_of(gt_sql_frames_extras[i].key)))
            facts |= gt_frame_column(frame, of).facts;
    }
    return facts;
}

static uint32_t facts_of_frame(struct gt_str text, size_t frame, bool has_all) {
    uint32_t facts = gt_frame_row_facts(frame);
    for (size_t c = 0; c < gt_frame_column_count(frame) && has_all; c++)
        facts |= gt_frame_column(frame, c).facts;
    for (struct gt_sql_word word = gt_sql_words_next(&text); word.kind != GT_SQL_WORD_END;
         word = gt_sql_words_next(&text))
        if (word.kind == GT_SQL_WORD_NAME)
            facts |= facts_of_word(frame, word.text);
    return facts;
}

uint32_t gt_sql_words_facts(struct gt_str text) {
    bool has_all = has_all_columns(text);
    uint32_t facts = 0;
    for (size_t f = 0; f < gt_frame_count(); f++)
        if (gt_sql_words_mention(text, gt_str_of(gt_frame_key(f))))
            facts |= facts_of_frame(text, f, has_all);
    return facts;
}
