/* "define": prints the definition of a key or word from the library's copies of docs/measures.md and docs/words.md. */
#include <stdio.h>
#include <string.h>

#include "actions.h"
#include "error.h"
#include "paragraph.h"

/* A part of the Markdown. */
struct part {
    const char *text;
    size_t bytes;
};

enum { PLAIN_MAX = 8192 };

/* Without Markdown marks of code and emphasis. */
static const char *plain(char out[PLAIN_MAX], struct part part) {
    size_t length = 0;
    for (size_t i = 0; i < part.bytes && length + 1 < PLAIN_MAX; i++) {
        bool is_bold = part.text[i] == '*' && i + 1 < part.bytes && part.text[i + 1] == '*';
        if (part.text[i] == '`' || part.text[i] == '\\' || is_bold)
            i += is_bold;
        else
            out[length++] = part.text[i];
    }
    out[length] = '\0';
    return out;
}

/* The next cell of a row, without surrounding blanks; false after the last. */
static bool next_cell(struct part *row, struct part *cell) {
    if (row->bytes < 2)
        return false;
    size_t end = 1;
    while (end < row->bytes && (row->text[end] != '|' || row->text[end - 1] == '\\'))
        end++;
    *cell = (struct part){row->text + 1, end - 1};
    *row = (struct part){row->text + end, row->bytes - end};
    for (; cell->bytes && *cell->text == ' '; cell->text++)
        cell->bytes--;
    while (cell->bytes && cell->text[cell->bytes - 1] == ' ')
        cell->bytes--;
    return true;
}

/* The key with its unit, then the other cells; those that are not the formula are labelled. */
static void print_row(struct part header, struct part row) {
    char text[PLAIN_MAX], title[PLAIN_MAX], label[2 * PLAIN_MAX] = "", labelled[2 * PLAIN_MAX + 2];
    struct part name, cell;
    for (size_t column = 0; next_cell(&row, &cell) && next_cell(&header, &name); column++) {
        plain(text, cell);
        plain(title, name);
        bool is_formula = strcmp(title, "formula") == 0 || strcmp(title, "meaning") == 0;
        size_t length = strlen(label);
        if (column == 0 || strcmp(title, "unit") == 0) {
            snprintf(label + length, sizeof label - length, column && *text ? " (%s)" : "%s", text);
            continue;
        }
        if (*label)
            cli_paragraph_print(stdout, label, 2);
        label[0] = '\0';
        snprintf(labelled, sizeof labelled, "%s: %s", title, text);
        if (*text)
            cli_paragraph_print(stdout, is_formula ? text : labelled, 4);
    }
    if (*label)
        cli_paragraph_print(stdout, label, 2);
}

static struct part take_line(struct part *rest) {
    const char *end = memchr(rest->text, '\n', rest->bytes);
    struct part line = {rest->text, end ? (size_t)(end - rest->text) : rest->bytes};
    size_t taken = line.bytes + (end ? 1 : 0);
    *rest = (struct part){rest->text + taken, rest->bytes - taken};
    return line;
}

static bool begins(struct part line, const char *mark) {
    return line.bytes >= strlen(mark) && memcmp(line.text, mark, strlen(mark)) == 0;
}

enum block { NOTHING, PARAGRAPH, ROWS, CODE };

/* A blank line between blocks of different kinds. */
static void begin_block(enum block *last, enum block next) {
    if (*last != NOTHING && (*last != next || next == PARAGRAPH))
        putchar('\n');
    *last = next;
}

/* Table rows, code lines and paragraphs; a line of another kind ends a paragraph. */
static void print_text(struct part header, struct part text) {
    char buffer[PLAIN_MAX];
    struct part paragraph = {NULL, 0}, line;
    bool is_table = header.bytes > 0;
    enum block last = NOTHING;
    while (text.bytes || paragraph.bytes) {
        line = take_line(&text);
        bool is_row = begins(line, "|"), is_code = begins(line, "    ");
        if (paragraph.bytes && (is_row || is_code || line.bytes == 0 || begins(line, "* "))) {
            begin_block(&last, PARAGRAPH);
            cli_paragraph_print(stdout, plain(buffer, paragraph), 2);
            paragraph.bytes = 0;
        }
        if (is_row && !is_table) {
            header = line;
        } else if (is_row && !begins(line, "|-")) {
            begin_block(&last, ROWS);
            print_row(header, line);
        } else if (is_code) {
            begin_block(&last, CODE);
            printf("%.*s\n", (int)line.bytes, line.text);
        } else if (paragraph.bytes) {
            paragraph.bytes = (size_t)(line.text + line.bytes - paragraph.text);
        } else if (line.bytes && !is_row) {
            paragraph = line;
        }
        is_table = is_row;
    }
}

enum { PLACES_MAX = 64, SOURCES_MAX = 32 };

static void print_place(const struct gputime_definition *place) {
    char section[PLAIN_MAX];
    printf("%s\n", plain(section, (struct part){place->section, place->section_bytes}));
    print_text((struct part){place->header, place->header_bytes}, (struct part){place->text, place->text_bytes});
}

/* The section of a table begins with its key. */
static bool is_of_table(const struct gputime_definition *place, const char *table) {
    size_t length = strlen(table);
    return place->section_bytes > length + 1 && place->section[0] == '`' && place->section[length + 1] == '`' &&
           memcmp(place->section + 1, table, length) == 0;
}

/* "gap_ns/1000000 of the table gaps", and the definition of gap_ns in the section of that table. */
static void print_source(const struct gputime_source *source) {
    struct gputime_definition places[PLACES_MAX];
    char key[256], text[1024];
    bool is_moment = strcmp(source->operation, "+") == 0;
    snprintf(key, sizeof key, "%.*s", (int)source->key_bytes, source->key);
    snprintf(text, sizeof text, "%s%s%s%s", key, is_moment ? " in the trace's own clock" : source->operation,
             source->table ? " of the table " : ", a fact", source->table ? source->table : "");
    cli_paragraph_print(stdout, text, 2);
    size_t count = gputime_definitions(key, places, PLACES_MAX);
    for (size_t i = 0; i < count && i < PLACES_MAX; i++)
        if (!source->table || is_of_table(&places[i], source->table)) {
            putchar('\n');
            print_place(&places[i]);
        }
}

/* A key that only the files of explain have; false: there is none. */
static bool print_sources(const char *key) {
    struct gputime_source sources[SOURCES_MAX];
    size_t count = gputime_sources(key, sources, SOURCES_MAX);
    for (size_t i = 0; i < count; i++) {
        printf("%s%s in the files of 'gputime explain'\n", i ? "\n" : "", key);
        print_source(&sources[i]);
    }
    return count > 0;
}

enum gputime_status cli_define_run(const struct cli_command *command, struct cli_words words,
                                   struct gputime_error *err) {
    struct gputime_definition places[PLACES_MAX];
    if (words.count != 1)
        return cli_fail_usage(err, "'%s' takes one key or word; usage: gputime %s %s", command->name, command->name,
                              command->usage);
    size_t count = gputime_definitions(words.items[0], places, PLACES_MAX);
    for (size_t i = 0; i < count && i < PLACES_MAX; i++) {
        if (i)
            putchar('\n');
        print_place(&places[i]);
    }
    if (count == 0 && !print_sources(words.items[0]))
        return cli_fail_usage(err, "no definition of '%s'; use a key of the JSON output or a word on the screen",
                              words.items[0]);
    return GPUTIME_OK;
}
