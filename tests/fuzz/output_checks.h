/* What every output format must keep to, whatever the names in it are: text and Markdown steer no terminal, JSON has
   whole strings, CSV has whole rows, and nothing in a page ends the element that the report is in. */
#ifndef TESTS_FUZZ_OUTPUT_CHECKS_H
#define TESTS_FUZZ_OUTPUT_CHECKS_H

#include <string.h>

#include "text_input.h"
#include "write/page.h"

/* No control character but the line feed, be it ASCII or one of U+0080 to U+009F. */
static inline void fuzz_check_screen(const uint8_t *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        fuzz_must((text[i] >= ' ' && text[i] != 0x7f) || text[i] == '\n');
        fuzz_must(!(text[i] == 0xc2 && i + 1 < size && text[i + 1] >= 0x80 && text[i + 1] < 0xa0));
    }
    fuzz_must(size > 0 && text[size - 1] == '\n');
}

/* Brackets match outside of strings; strings end and have no raw control characters and no unknown escapes. */
static inline void fuzz_check_json(const uint8_t *text, size_t size) {
    char open[64];
    size_t depth = 0, i = 0;
    for (; i < size; i++) {
        if (text[i] == '{' || text[i] == '[') {
            fuzz_must(depth < sizeof open);
            open[depth++] = (char)text[i];
        } else if (text[i] == '}' || text[i] == ']') {
            fuzz_must(depth > 0 && open[--depth] == (text[i] == '}' ? '{' : '['));
        } else if (text[i] == '"') {
            for (i++; i < size && text[i] != '"'; i++) {
                fuzz_must(text[i] >= ' ');
                if (text[i] == '\\')
                    fuzz_must(++i < size && strchr("\"\\/bfnrtu", text[i]) && text[i]);
            }
            fuzz_must(i < size);
        }
    }
    fuzz_must(depth == 0);
}

/* Where the field that begins at i ends. Only whole fields are quoted, doubled inside. */
static inline size_t fuzz_end_of_field(const uint8_t *text, size_t size, size_t i) {
    if (text[i] != '"') {
        for (; i < size && text[i] != ',' && text[i] != '\n'; i++)
            fuzz_must(text[i] != '"' && (text[i] >= ' ' || text[i] == '\t'));
        return i;
    }
    for (i++; i < size && !(text[i] == '"' && (i + 1 == size || text[i + 1] != '"')); i++)
        i += text[i] == '"';
    return i + 1;
}

/* All rows have as many fields as the first. */
static inline void fuzz_check_csv(const uint8_t *text, size_t size) {
    size_t fields = 1, wanted = 0;
    for (size_t i = 0; i < size; i++) {
        i = fuzz_end_of_field(text, size, i);
        fuzz_must(i < size && (text[i] == ',' || text[i] == '\n'));
        if (text[i] == ',') {
            fields++;
        } else {
            fuzz_must(!wanted || fields == wanted);
            wanted = fields;
            fields = 1;
        }
    }
    fuzz_must(wanted > 0 && fields == 1 && text[size - 1] == '\n');
}

/* Inside of the page the report is the content of an element that only "</" could end and "<!" could make a comment. */
static inline void fuzz_check_page(const uint8_t *text, size_t size) {
    const char *definitions = memmem(gt_page, gt_page_bytes, GT_PAGE_DEFINITIONS, strlen(GT_PAGE_DEFINITIONS));
    const char *report = memmem(gt_page, gt_page_bytes, GT_PAGE_REPORT, strlen(GT_PAGE_REPORT));
    fuzz_must(definitions && report && definitions < report);
    const char *before = definitions + strlen(GT_PAGE_DEFINITIONS), *after = report + strlen(GT_PAGE_REPORT);
    size_t before_bytes = (size_t)(report - before), after_bytes = gt_page_bytes - (size_t)(after - gt_page);
    const uint8_t *data = memmem(text, size, before, before_bytes), *end = text + size - after_bytes;
    fuzz_must(data && size > after_bytes && data + before_bytes < end);
    data += before_bytes;
    for (; (data = memchr(data, '<', (size_t)(end - data))); data++)
        fuzz_must(data + 1 < end && data[1] != '/' && data[1] != '!');
}

typedef void fuzz_output_check(const uint8_t *text, size_t size);

/* NULL: the format is not text. */
static inline fuzz_output_check *fuzz_check_of(const char *format) {
    static const struct {
        const char *format;
        fuzz_output_check *check;
    } checks[] = {{"text", fuzz_check_screen},
                  {"md", fuzz_check_screen},
                  {"json", fuzz_check_json},
                  {"csv", fuzz_check_csv},
                  {"html", fuzz_check_page}};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (strcmp(format, checks[i].format) == 0)
            return checks[i].check;
    return NULL;
}

#endif
