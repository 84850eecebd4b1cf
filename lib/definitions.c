/* Finds the places in docs/measures.md and docs/words.md that define a key or a word. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/definitions.h"
#include "base/str.h"
#include "gputime.h"
#include "internal.h"

extern const char gt_words[];
extern const uint64_t gt_words_bytes;

/* Iterates over the lines of the text. */
struct walk {
    struct gt_str rest, line;
    struct gt_str section, header, paragraph; /* around the line; header: empty outside tables */
    bool is_row;                              /* the line is a row of a table, not its header or separator */
};

static struct gt_str take_line(struct gt_str *rest) {
    const char *end = memchr(rest->ptr, '\n', rest->len);
    struct gt_str line = {rest->ptr, end ? (size_t)(end - rest->ptr) : rest->len};
    size_t taken = line.len + (end ? 1 : 0);
    *rest = (struct gt_str){rest->ptr + taken, rest->len - taken};
    return line;
}

static bool begins(struct gt_str line, const char *mark) {
    return gt_str_starts(line, gt_str_of(mark));
}

/* From here to the blank line. */
static struct gt_str paragraph_at(struct gt_str line, struct gt_str rest) {
    const char *start = line.ptr, *end = line.ptr + line.len;
    while (rest.len && (line = take_line(&rest)).len && !begins(line, "|") && !begins(line, "* "))
        end = line.ptr + line.len;
    return (struct gt_str){start, (size_t)(end - start)};
}

static bool next_line(struct walk *walk) {
    bool was_table = begins(walk->line, "|"), was_text = walk->line.len && !was_table && !begins(walk->line, "#");
    if (!walk->rest.len)
        return false;
    walk->line = take_line(&walk->rest);
    walk->is_row = was_table && begins(walk->line, "| ");
    if (begins(walk->line, "#"))
        walk->section = walk->line;
    if (begins(walk->line, "|") && !was_table)
        walk->header = walk->line;
    else if (!begins(walk->line, "|"))
        walk->header = (struct gt_str){"", 0};
    if (!was_text || begins(walk->line, "* "))
        walk->paragraph = paragraph_at(walk->line, walk->rest);
    return true;
}

/* Whether the text contains the key as code, ignoring case. */
static bool names(struct gt_str text, const char *key) {
    size_t length = strlen(key);
    for (size_t i = 1; i + length < text.len; i++)
        if (text.ptr[i - 1] == '`' && text.ptr[i + length] == '`' && strncasecmp(text.ptr + i, key, length) == 0)
            return true;
    return false;
}

static struct gt_str first_cell(struct gt_str row) {
    const char *end = row.len ? memchr(row.ptr + 1, '|', row.len - 1) : NULL;
    return (struct gt_str){row.ptr, end ? (size_t)(end - row.ptr) : row.len};
}

static struct gt_str trim(struct gt_str text) {
    while (text.len && strchr(" |", text.ptr[0]))
        text = (struct gt_str){text.ptr + 1, text.len - 1};
    while (text.len && strchr(" |", text.ptr[text.len - 1]))
        text.len--;
    return text;
}

static bool is_same_word(struct gt_str text, const char *word) {
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

/* Whether the word is this term. "op time" also finds "Op time (sum)". */
static bool is_term(struct gt_str term, const char *word) {
    const char *remark = memchr(term.ptr, '(', term.len);
    struct gt_str bare = {term.ptr, remark ? (size_t)(remark - term.ptr) : term.len};
    return is_same_word(term, word) || is_same_word(trim(bare), word);
}

/* Whether the word is one of the terms of a cell, "gap, gaps, idle gap". Some terms contain commas. */
static bool has_term(struct gt_str cell, const char *word) {
    struct gt_str rest = trim(cell);
    if (is_term(rest, word))
        return true;
    while (rest.len) {
        const char *comma = memchr(rest.ptr, ',', rest.len);
        size_t bytes = comma ? (size_t)(comma - rest.ptr) : rest.len;
        if (is_term(trim((struct gt_str){rest.ptr, bytes}), word))
            return true;
        bytes += comma ? 1 : 0;
        rest = (struct gt_str){rest.ptr + bytes, rest.len - bytes};
    }
    return false;
}

/* The text after a heading, up to the next. */
static struct gt_str section_text(struct gt_str rest) {
    const char *start = rest.ptr, *end = rest.ptr;
    while (rest.len && !begins(rest, "#")) {
        take_line(&rest);
        end = rest.ptr;
    }
    return (struct gt_str){start, (size_t)(end - start)};
}

static struct gputime_definition make(const struct walk *walk, struct gt_str text) {
    size_t marks = strspn(walk->section.ptr, "# ");
    return (struct gputime_definition){.section = walk->section.ptr + marks,
                                       .section_bytes = walk->section.len - marks,
                                       .header = walk->header.ptr,
                                       .header_bytes = walk->header.len,
                                       .text = text.ptr,
                                       .text_bytes = text.len};
}

/* Kinds of definitions, best first; a worse one is used only if there is no better one. */
enum way { SECTION_OR_ROW, PARAGRAPH_OF_IT, MENTION, WAY_COUNT };

/* The definition of the key in the current line; empty: none. */
static struct gt_str defines(const struct walk *walk, const char *key, enum way way) {
    bool is_start = walk->line.ptr == walk->paragraph.ptr;
    struct gt_str start = {walk->line.ptr, strlen(key) + 2};
    if (way == SECTION_OR_ROW && walk->section.ptr == walk->line.ptr && names(walk->line, key))
        return section_text(walk->rest);
    if (way == SECTION_OR_ROW && walk->is_row && names(first_cell(walk->line), key))
        return walk->line;
    if (way == PARAGRAPH_OF_IT && is_start && start.len <= walk->line.len && names(start, key))
        return walk->paragraph;
    if (way == MENTION && names(walk->line, key))
        return walk->paragraph;
    return (struct gt_str){"", 0};
}

/* The places found so far; those beyond the capacity are only counted. */
struct found {
    struct gputime_definition *out;
    size_t count, capacity;
};

static void add_place(struct found *found, const struct walk *walk, struct gt_str text) {
    if (found->count++ < found->capacity)
        found->out[found->count - 1] = make(walk, text);
}

static void find_key(struct found *found, const char *key, enum way way) {
    struct gt_str none = {"", 0}, all = {gt_definitions, gt_definitions_bytes};
    const char *last = NULL;
    for (struct walk walk = {all, none, none, none, none, false}; next_line(&walk);) {
        struct gt_str text = defines(&walk, key, way);
        if (text.len && text.ptr != last)
            add_place(found, &walk, text);
        last = text.len ? text.ptr : last;
    }
}

static void find_word(struct found *found, const char *word) {
    struct gt_str none = {"", 0}, all = {gt_words, gt_words_bytes};
    for (struct walk walk = {all, none, none, none, none, false}; next_line(&walk);)
        if (walk.is_row && has_term(first_cell(walk.line), word))
            add_place(found, &walk, walk.line);
}

static size_t define(const char *key, struct gputime_definition *out, size_t capacity) {
    struct found found = {out, 0, capacity};
    if (!*key)
        return 0;
    find_key(&found, key, SECTION_OR_ROW);
    find_word(&found, key);
    for (enum way way = PARAGRAPH_OF_IT; way < WAY_COUNT && found.count == 0; way++)
        find_key(&found, key, way);
    return found.count;
}

/* Comparisons have columns a_X, b_X, delta_X ... for the column X of a table: finds the definitions of X and of the
 * prefix. */
static size_t define_compared(const char *key, struct gputime_definition *out, size_t capacity) {
    static const char *const prefixes[] = {"a_", "b_", "delta_", "noise_", "low_", "high_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t bytes = strlen(prefixes[i]);
        char family[16];
        if (strncmp(key, prefixes[i], bytes) != 0)
            continue;
        snprintf(family, sizeof family, "%sX", prefixes[i]);
        size_t count = define(family, out, capacity), used = count < capacity ? count : capacity;
        size_t of_column = define(key + bytes, out + used, capacity - used);
        return of_column ? count + of_column : 0;
    }
    return 0;
}

/* Titles in comparisons: "A: Busy" of a column, "Streams, busy" of a table. */
static size_t define_compared_title(const char *title, struct gputime_definition *out, size_t capacity) {
    static const char *const prefixes[] = {"A: ", "B: ", "Change: "};
    char table[256];
    const char *comma = strrchr(title, ',');
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncasecmp(title, prefixes[i], strlen(prefixes[i])) == 0)
            return define(title + strlen(prefixes[i]), out, capacity);
    if (!comma || (size_t)(comma - title) >= sizeof table)
        return 0;
    snprintf(table, sizeof table, "%.*s", (int)(comma - title), title);
    return define(table, out, capacity);
}

API size_t gputime_definitions(const char *key, struct gputime_definition *out, size_t capacity) {
    size_t count = define(key, out, capacity);
    if (count == 0)
        count = define_compared(key, out, capacity);
    return count ? count : define_compared_title(key, out, capacity);
}
