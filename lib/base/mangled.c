/* Mangled C++ names: the grammar of names and template arguments, as far as it takes to skip the arguments. */
#include "base/mangled.h"

#include <stdbool.h>

/* Real names nest some fifty deep. */
enum { DEPTH_MAX = 256, LENGTH_DIGITS_MAX = 6 };

struct reader {
    struct gt_str text;
    size_t at;
    bool is_bad; /* not understood */
    bool is_cut; /* in the middle of a name */
};

static char peek(const struct reader *reader, size_t ahead) {
    return reader->at + ahead < reader->text.len ? reader->text.ptr[reader->at + ahead] : '\0';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}

/* Two small letters name an operator; those of a conversion have a type after them. */
static bool is_operator(char c, char next) {
    return is_lower(c) && is_lower(next) && !(c == 'c' && next == 'v');
}

static bool is_at_end(const struct reader *reader) {
    return reader->at >= reader->text.len;
}

static void skip_digits(struct reader *reader) {
    while (is_digit(peek(reader, 0)))
        reader->at++;
}

/* T0_, A8_, the rest of S1_ and UlvE0_. */
static void skip_number(struct reader *reader) {
    while (is_digit(peek(reader, 0)) || (peek(reader, 0) >= 'A' && peek(reader, 0) <= 'Z'))
        reader->at++;
    if (peek(reader, 0) == '_')
        reader->at++;
    else
        reader->is_bad |= !is_at_end(reader);
}

/* 6kernel */
static struct gt_str read_source_name(struct reader *reader) {
    size_t bytes = 0, first = reader->at;
    for (; is_digit(peek(reader, 0)) && reader->at - first < LENGTH_DIGITS_MAX; reader->at++)
        bytes = bytes * 10 + (size_t)(peek(reader, 0) - '0');
    if (bytes == 0 || is_digit(peek(reader, 0)) || bytes > reader->text.len - reader->at) {
        reader->is_bad = true;
        reader->is_cut = bytes > reader->text.len - reader->at;
        return (struct gt_str){"", 0};
    }
    struct gt_str name = {reader->text.ptr + reader->at, bytes};
    reader->at += bytes;
    return name;
}

/* S_, S1_, St */
static void skip_substitution(struct reader *reader) {
    reader->at++;
    if (is_lower(peek(reader, 0)))
        reader->at++;
    else
        skip_number(reader);
}

/* Dp, DF16_, DF16b, Dv4_ */
static void skip_d_type(struct reader *reader) {
    char kind = peek(reader, 1);
    reader->at += 2;
    if (kind != 'F' && kind != 'v')
        return;
    skip_digits(reader);
    if (peek(reader, 0) == '_' || (kind == 'F' && is_lower(peek(reader, 0))))
        reader->at++;
}

/* Ut_, Ut0_ */
static void skip_unnamed(struct reader *reader) {
    reader->at += 2;
    skip_number(reader);
}

/* What is open: it ends with E. Before the value of a literal comes its type. */
struct nesting {
    char open[DEPTH_MAX];
    size_t depth;
};

static void open_group(struct reader *reader, struct nesting *nesting, char kind, size_t bytes) {
    if (nesting->depth == DEPTH_MAX) {
        reader->is_bad = true;
        return;
    }
    nesting->open[nesting->depth++] = kind;
    reader->at += bytes;
}

/* The value of a literal: a number, perhaps negative (n), perhaps of hexadecimal digits, or nothing. */
static void skip_value(struct reader *reader) {
    while (peek(reader, 0) == 'n' || is_digit(peek(reader, 0)) || (peek(reader, 0) >= 'a' && peek(reader, 0) <= 'f'))
        reader->at++;
}

static bool is_in_literal(const struct nesting *nesting) {
    return nesting->depth && nesting->open[nesting->depth - 1] == 'L';
}

static void close_group(struct reader *reader, struct nesting *nesting) {
    char kind = nesting->open[--nesting->depth];
    reader->at++;
    if (kind == 'l')
        skip_number(reader);
    if (is_in_literal(nesting)) /* that was its type */
        skip_value(reader);
}

/* L i 4 E, L N 2ns4EnumE 1 E, L _Z 3foo v E */
static void open_literal(struct reader *reader, struct nesting *nesting) {
    bool is_function = peek(reader, 1) == '_' && peek(reader, 2) == 'Z';
    open_group(reader, nesting, is_function ? 'Z' : 'L', is_function ? 3 : 1);
    char type = peek(reader, 0);
    if (is_function || reader->is_bad || type == 'N')
        return;
    if (is_digit(type))
        read_source_name(reader);
    else if (type == 'S')
        skip_substitution(reader);
    else if (type == 'T')
        skip_number(reader);
    else if (type == 'D')
        skip_d_type(reader);
    else
        reader->at++;
    if (is_digit(peek(reader, 0)) && type == 'S' && reader->text.ptr[reader->at - 1] == 't')
        read_source_name(reader); /* of std */
    skip_value(reader);
}

/* One piece of template arguments or of a lambda's parameters. */
static void skip_piece(struct reader *reader, struct nesting *nesting) {
    char c = peek(reader, 0), next = peek(reader, 1);
    if (c == 'E')
        close_group(reader, nesting);
    else if (c == 'L')
        open_literal(reader, nesting);
    else if (c == 'I' || c == 'N' || c == 'J' || c == 'X' || c == 'F' || c == 'Z')
        open_group(reader, nesting, c, 1);
    else if (c == 'U' && next == 'l')
        open_group(reader, nesting, 'l', 2);
    else if (is_digit(c))
        read_source_name(reader);
    else if (c == 'S')
        skip_substitution(reader);
    else if (c == 'T' || c == 'A')
        skip_number(reader);
    else if (c == 'U' && next == 't')
        skip_unnamed(reader);
    else if (c == 'D' && next)
        skip_d_type(reader);
    else if (is_lower(c) || c == 'P' || c == 'R' || c == 'O' || c == 'K' || c == 'V' || c == 'M' || c == 'C' ||
             c == 'D' || c == 'B' || c == 'U' || c == 'G')
        reader->at++;
    else
        reader->is_bad = true;
}

/* A group that begins here, such as I...E, or what is left of it. */
static void skip_group(struct reader *reader) {
    struct nesting nesting = {.depth = 0};
    do
        skip_piece(reader, &nesting);
    while (nesting.depth && !reader->is_bad && !is_at_end(reader));
    if (reader->is_cut) {
        reader->at = reader->text.len;
        reader->is_bad = false;
    }
}

static bool is_anonymous(struct gt_str name) {
    return gt_str_starts(name, GT_STR("_GLOBAL__N_")) || gt_str_starts(name, GT_STR("_INTERNAL_"));
}

/* The parts of a name up to the E that ends it, if it is nested, else its only part. The last that is text counts. */
static struct gt_str read_name(struct reader *reader, bool is_nested) {
    struct gt_str last = {"", 0};
    while (!reader->is_bad && !is_at_end(reader) && peek(reader, 0) != 'E') {
        char c = peek(reader, 0), next = peek(reader, 1);
        if (is_digit(c)) {
            struct gt_str name = read_source_name(reader);
            last = is_anonymous(name) ? last : name;
        } else if (c == 'L' && is_digit(next)) {
            reader->at++; /* of this file only */
            continue;
        } else if (c == 'S') {
            skip_substitution(reader);
            if (reader->text.ptr[reader->at - 1] == 't')
                continue;
        } else if (c == 'B' && is_digit(next)) {
            reader->at++;
            read_source_name(reader); /* a version of the interface */
        } else if (c == 'I' || c == 'T' || (c == 'U' && (next == 'l' || next == 't'))) {
            skip_group(reader);
        } else if (is_operator(c, next) || ((c == 'C' || c == 'D') && is_digit(next))) {
            reader->at += 2; /* as a constructor: what it belongs to names it */
        } else {
            reader->is_bad = true;
        }
        if (!is_nested)
            break;
    }
    return last;
}

static struct gt_str read_own_name(struct reader *reader) {
    bool is_nested = peek(reader, 0) == 'N';
    reader->at += is_nested;
    while (is_nested && (peek(reader, 0) == 'K' || peek(reader, 0) == 'V' || peek(reader, 0) == 'R'))
        reader->at++;
    struct gt_str name = read_name(reader, is_nested);
    return reader->is_bad ? (struct gt_str){"", 0} : name;
}

struct gt_str gt_mangled_name(struct gt_str text) {
    struct reader reader = {.text = text, .at = GT_STR("_Z").len};
    if (!gt_str_starts(text, GT_STR("_Z")))
        return (struct gt_str){"", 0};
    while (peek(&reader, 0) == 'Z') /* inside a function */
        reader.at++;
    return read_own_name(&reader);
}

struct gt_str gt_mangled_argument(struct gt_str text, struct gt_str name) {
    struct reader reader = {.text = text, .at = (size_t)(name.ptr - text.ptr) + name.len};
    if (peek(&reader, 0) != 'I')
        return (struct gt_str){"", 0};
    for (reader.at++; peek(&reader, 0) == 'L' && !reader.is_bad;)
        skip_group(&reader);
    return read_own_name(&reader);
}
