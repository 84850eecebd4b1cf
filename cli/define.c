/* "define": what a number means, from the library's copy of docs/measures.md, as plain text. */
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

/* Without the marks of code and emphasis. */
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

/* The next cell of a row, without the blanks around it; false behind the last. */
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

/* The key with its unit, below it what the other cells say; what they are is told where it is not the formula. */
static void print_row(struct part header, struct part row) {
    char text[PLAIN_MAX], title[PLAIN_MAX], label[2 * PLAIN_MAX] = "", told[2 * PLAIN_MAX + 2];
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
        snprintf(told, sizeof told, "%s: %s", title, text);
        if (*text)
            cli_paragraph_print(stdout, is_formula ? text : told, 4);
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

/* A blank line between what is not of one kind. */
static void begin_block(enum block *last, enum block next) {
    if (*last != NOTHING && (*last != next || next == PARAGRAPH))
        putchar('\n');
    *last = next;
}

/* Rows of tables, lines of code, and paragraphs, which end with a line of another kind. */
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

enum gputime_status cli_define_run(const struct cli_command *command, struct cli_words words,
                                   struct gputime_error *err) {
    enum { PLACES_MAX = 64 };
    struct gputime_definition places[PLACES_MAX];
    char section[PLAIN_MAX];
    if (words.count != 1)
        return cli_fail_usage(err, "'%s' takes one key; usage: gputime %s %s", command->name, command->name,
                              command->usage);
    size_t count = gputime_definitions(words.items[0], places, PLACES_MAX);
    if (count == 0)
        return cli_fail_usage(err, "'%s' is not the key of a number; keys are those of the JSON output",
                              words.items[0]);
    for (size_t i = 0; i < count && i < PLACES_MAX; i++) {
        const struct gputime_definition *place = &places[i];
        printf("%s%s\n", i ? "\n" : "", plain(section, (struct part){place->section, place->section_bytes}));
        print_text((struct part){place->header, place->header_bytes}, (struct part){place->text, place->text_bytes});
    }
    return GPUTIME_OK;
}
