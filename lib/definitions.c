/* What the numbers mean: a key comes in, the places of docs/measures.md that define it go out. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/definitions.h"
#include "base/str.h"
#include "gputime.h"
#include "internal.h"

/* A walk over the lines of the text. */
struct walk {
    struct gt_str rest, line;
    struct gt_str section, header, paragraph; /* around the line; header: empty outside tables */
    bool is_row;                              /* the line is a row of a table, neither its header nor what is below */
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

/* From here on to the blank line. */
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

/* Does the text name the key, as code? */
static bool names(struct gt_str text, const char *key) {
    size_t length = strlen(key);
    for (size_t i = 1; i + length < text.len; i++)
        if (text.ptr[i - 1] == '`' && text.ptr[i + length] == '`' && memcmp(text.ptr + i, key, length) == 0)
            return true;
    return false;
}

static struct gt_str first_cell(struct gt_str row) {
    const char *end = row.len ? memchr(row.ptr + 1, '|', row.len - 1) : NULL;
    return (struct gt_str){row.ptr, end ? (size_t)(end - row.ptr) : row.len};
}

/* What follows a heading, up to the next. */
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

/* Ways to define a key, the best first; the others count where there is none of it. */
enum way { SECTION_OR_ROW, PARAGRAPH_OF_IT, MENTION, WAY_COUNT };

/* What the line at hand defines the key with; empty: it does not. */
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

static size_t define(const char *key, struct gputime_definition *out, size_t capacity) {
    size_t count = 0;
    struct gt_str none = {"", 0}, all = {gt_definitions, gt_definitions_bytes};
    for (enum way way = 0; way < WAY_COUNT && count == 0 && *key; way++) {
        const char *told = NULL;
        for (struct walk walk = {all, none, none, none, none, false}; next_line(&walk);) {
            struct gt_str text = defines(&walk, key, way);
            if (text.len == 0 || text.ptr == told)
                continue;
            told = text.ptr;
            if (count++ < capacity)
                out[count - 1] = make(&walk, text);
        }
    }
    return count;
}

/* Comparisons have columns a_X, b_X, delta_X ... for the column X of a table: what that is, and what is made of it. */
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

API size_t gputime_definitions(const char *key, struct gputime_definition *out, size_t capacity) {
    size_t count = define(key, out, capacity);
    return count ? count : define_compared(key, out, capacity);
}
