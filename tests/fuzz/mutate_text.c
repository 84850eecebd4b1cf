/* Mutations of JSON and CSV that keep their syntax: elements are doubled, left out, exchanged and copied over each
   other; a value becomes one that is hard to read, or is changed by the fuzzer inside of its bounds. */
#include <stdlib.h>
#include <string.h>

#include "mutate.h"

enum { PARTS_MAX = 2048, DEPTH_MAX = 64, COPY_MAX = 1 << 16 };

/* Part of a text. */
struct part {
    size_t begin, end;
    bool is_group; /* of JSON: an object or array; of CSV: a line */
    bool is_key;
};

struct parts {
    struct part items[PARTS_MAX];
    size_t count;
};

struct text {
    uint8_t *data;
    size_t size, max_size;
    uint64_t chance;
};

static void add(struct parts *parts, size_t begin, size_t end, bool is_group, bool is_key) {
    if (parts->count < PARTS_MAX && end > begin)
        parts->items[parts->count++] = (struct part){begin, end, is_group, is_key};
}

/* ---- finding parts ---- */

static size_t end_of_string(const uint8_t *data, size_t size, size_t at) {
    for (at++; at < size && data[at] != '"'; at++)
        at += data[at] == '\\';
    return at < size ? at + 1 : size;
}

static bool is_scalar(uint8_t c) {
    return c > ' ' && !strchr(",:{}[]\"", c);
}

static void find_json(const uint8_t *data, size_t size, struct parts *parts) {
    size_t open[DEPTH_MAX], depth = 0, at = 0;
    while (at < size) {
        size_t begin = at;
        if (data[at] == '"') {
            at = end_of_string(data, size, at);
            size_t next = at;
            while (next < size && data[next] <= ' ')
                next++;
            add(parts, begin, at, false, next < size && data[next] == ':');
        } else if (is_scalar(data[at])) {
            while (at < size && is_scalar(data[at]))
                at++;
            add(parts, begin, at, false, false);
        } else {
            if ((data[at] == '{' || data[at] == '[') && depth < DEPTH_MAX)
                open[depth++] = at;
            else if ((data[at] == '}' || data[at] == ']') && depth > 0)
                add(parts, open[--depth], at + 1, true, false);
            at++;
        }
    }
}

static void find_csv(const uint8_t *data, size_t size, struct parts *parts) {
    size_t line = 0, cell = 0;
    for (size_t at = 0; at < size; at++) {
        if (data[at] == '"')
            at = end_of_string(data, size, at) - 1;
        else if (data[at] == ',' || data[at] == '\n')
            add(parts, cell, at, false, line == 0);
        if (at < size && (data[at] == ',' || data[at] == '\n'))
            cell = at + 1;
        if (at < size && data[at] == '\n') {
            add(parts, line, at + 1, true, false);
            line = at + 1;
        }
    }
}

/* ---- changing one ---- */

/* Puts other bytes in the place of a part. false: they do not fit. */
static bool replace(struct text *text, size_t begin, size_t end, const void *bytes, size_t count) {
    if (text->size - (end - begin) + count > text->max_size)
        return false;
    memmove(text->data + begin + count, text->data + end, text->size - end);
    if (count)
        memcpy(text->data + begin, bytes, count);
    text->size = text->size - (end - begin) + count;
    return true;
}

static bool replace_by_copy(struct text *text, const struct part *place, const struct part *from, const char *before) {
    static uint8_t copy[COPY_MAX + 1];
    size_t head = strlen(before), count = from->end - from->begin;
    if (head + count > COPY_MAX)
        return false;
    memcpy(copy, before, head);
    memcpy(copy + head, text->data + from->begin, count);
    return replace(text, place->begin, place->end, copy, head + count);
}

static const char *const hard_values[] = {"0",
                                          "-1",
                                          "1",
                                          "0.001",
                                          "-0.0",
                                          "1e308",
                                          "1e-400",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "9223372036854775.807",
                                          "18446744073709551615",
                                          "4294967295",
                                          "2147483648",
                                          "65536",
                                          "\"\"",
                                          "\"0\"",
                                          "null",
                                          "true",
                                          "{}",
                                          "[]",
                                          "[[]]",
                                          "\"\\u0000\"",
                                          "\"\\ud800\"",
                                          "1700000000000000.123",
                                          "1E+3",
                                          "\"stream 7\"",
                                          "-9223372036854775.809"};

static bool put_hard_value(struct text *text, const struct part *part) {
    const char *value = hard_values[fuzz_chance(&text->chance) % (sizeof hard_values / sizeof *hard_values)];
    return replace(text, part->begin, part->end, value, strlen(value));
}

/* The fuzzer's own mutation, with its dictionary, of what is between the quotes. */
static bool mutate_inside(struct text *text, const struct part *part) {
    static uint8_t inside[COPY_MAX];
    bool is_quoted = text->data[part->begin] == '"' && part->end - part->begin >= 2;
    size_t begin = part->begin + is_quoted, end = part->end - is_quoted,
           room = text->max_size - text->size + (end - begin);
    if (end - begin > COPY_MAX / 2)
        return false;
    memcpy(inside, text->data + begin, end - begin);
    size_t count = LLVMFuzzerMutate(inside, end - begin, room < COPY_MAX ? room : COPY_MAX);
    return replace(text, begin, end, inside, count);
}

static bool leave_out(struct text *text, const struct part *part) {
    size_t begin = part->begin, end = part->end;
    while (begin > 0 && text->data[begin - 1] <= ' ')
        begin--;
    if (begin > 0 && text->data[begin - 1] == ',')
        return replace(text, begin - 1, end, "", 0);
    while (end < text->size && (text->data[end] <= ' ' || text->data[end] == ','))
        if (text->data[end++] == ',')
            break;
    return replace(text, part->begin, end, "", 0);
}

static bool double_it(struct text *text, const struct part *part, const char *between) {
    const struct part after = {part->end, part->end, false, false};
    return replace_by_copy(text, &after, part, between);
}

/* One of a kind; NULL: there is none. */
static const struct part *choose(struct text *text, const struct parts *parts, bool is_group) {
    size_t first = parts->count ? fuzz_chance(&text->chance) % parts->count : 0;
    for (size_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->items[(first + i) % parts->count];
        if (part->is_group == is_group)
            return part;
    }
    return NULL;
}

static bool change(struct text *text, const struct parts *parts, const char *between) {
    uint32_t what = fuzz_chance(&text->chance) % 8;
    bool is_group = what < 3;
    const struct part *part = choose(text, parts, is_group), *other = choose(text, parts, is_group);
    if (!part || !other)
        return false;
    switch (what) {
    case 0:
        return double_it(text, part, between);
    case 1:
        return leave_out(text, part);
    case 2:
        return replace_by_copy(text, part, other, "");
    case 3:
    case 4:
        return !part->is_key && put_hard_value(text, part);
    case 5:
        return part->is_key == other->is_key && replace_by_copy(text, part, other, "");
    default:
        return mutate_inside(text, part);
    }
}

static size_t mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                     void (*find)(const uint8_t *, size_t, struct parts *), const char *between) {
    static struct parts parts;
    struct text text = {data, size, max_size, seed};
    parts.count = 0;
    find(data, size, &parts);
    return change(&text, &parts, between) ? text.size : 0;
}

size_t fuzz_mutate_json(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    return mutate(data, size, max_size, seed, find_json, ",");
}

size_t fuzz_mutate_csv(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    return mutate(data, size, max_size, seed, find_csv, "");
}
