/* Lexical pieces of JSON over a run of bytes: strings, bare values and nested values, distinguished without a tree,
   without recursion and without copying. Broken text is met on purpose: see each function for what it forgives. Every
   function takes a position and the end of the current bytes and moves the position only on GT_JSON_OK; what it answers
   never depends on where the current bytes happen to end, except for GT_JSON_MORE. */
#ifndef GT_DECODE_JSON_JSON_SCAN_H
#define GT_DECODE_JSON_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum gt_json_status {
    GT_JSON_OK,
    GT_JSON_MORE, /* the bytes end before the answer is known */
    GT_JSON_BAD,  /* no JSON, whatever follows */
};

/* What was met inside a string. */
enum {
    GT_JSON_ESCAPES = 1,  /* backslashes: decode it */
    GT_JSON_CONTROLS = 2, /* raw control characters */
    GT_JSON_QUOTES = 4,   /* quotes that should have been escaped */
};

struct gt_json_value_text {
    struct gt_str raw; /* between the quotes, as it is */
    unsigned marks;
};

struct gt_json_value {
    struct gt_json_value_text text; /* of a nested value: nothing, or all of its text, as each reader says */
    bool is_string;
};

/* Writers that crash leave NULs in the file; no control character means anything between tokens. */
static inline bool gt_json_scan_is_space(char c) {
    return (unsigned char)c <= ' ';
}

static inline const char *gt_json_scan_skip_space(const char *p, const char *end) {
    while (p < end && gt_json_scan_is_space(*p))
        p++;
    return p;
}

/* A string, *p at its opening quote. Names come with unescaped quotes: a quote ends the string only where a JSON
   string can end, that is before , : } or ] (after white space). */
enum gt_json_status gt_json_scan_string(const char **p, const char *end, struct gt_json_value_text *text);

/* The second try for the value of an object's member: also asks that what follows the quote looks like the rest of an
   object, which a list of quoted words inside a name does not. */
enum gt_json_status gt_json_scan_member_string(const char **p, const char *end, struct gt_json_value_text *text);

/* A number, true, null, NaN, N/A ...: all up to white space or punctuation, perhaps nothing. */
enum gt_json_status gt_json_scan_bare(const char **p, const char *end, struct gt_str *text);

/* Moves after the object that opens at *p if its end is plain to see: the first brace in it closes, and only blanks
   are before it on its line. No string holds a raw line break, so this brace ends the object, whatever comes before.
   BAD: it is not so plain. */
enum gt_json_status gt_json_scan_skip_lines(const char **p, const char *end);

/* Moves after the object or array that opens at *p, however deep; what is in an object whose end is plain to see
   is not looked at. BAD: brackets that do not match, and an object that begins where an object wants a key, which is
   how a lost closing bracket shows. On BAD, *p is where it showed. */
enum gt_json_status gt_json_scan_skip_nested(const char **p, const char *end);

/* Moves after any value at *p: a text as gt_json_scan_string has it, else its bytes. */
enum gt_json_status gt_json_scan_value(const char **p, const char *end, struct gt_json_value_text *value);

/* Decodes escapes into buf, which has room for text.raw.len bytes; the result is never longer. Escapes that JSON does
   not know stay as they are and lone surrogates become U+FFFD: then, and for raw control characters and quotes,
   *repaired is set. */
size_t gt_json_scan_decode(struct gt_json_value_text text, char *buf, bool *repaired);

#endif
