/* The reader of configuration files: JSON text comes in, a tree in an arena goes out. */
#include "base/json_tree.h"

#include <stdint.h>

#include "base/mem.h"
#include "base/source.h"

#define MAX_DEPTH      64
#define MAX_FILE_BYTES ((size_t)16 << 20)

struct reader {
    const char *at, *end;
    const char *line_start;
    unsigned line;
    struct gt_arena *arena;
    struct gt_error *err;
};

static unsigned column_of(const struct reader *reader, const char *place) {
    return (unsigned)(place - reader->line_start) + 1;
}

static enum gt_status fail_at(const struct reader *reader, const char *what) {
    if (reader->at == reader->end)
        return gt_fail(reader->err, "line %u, column %u: %s, found the end of the file", reader->line,
                       column_of(reader, reader->at), what);
    return gt_fail(reader->err, "line %u, column %u: %s", reader->line, column_of(reader, reader->at), what);
}

static bool next_is(const struct reader *reader, const char *text) {
    size_t bytes = strlen(text);
    return (size_t)(reader->end - reader->at) >= bytes && memcmp(reader->at, text, bytes) == 0;
}

static void step(struct reader *reader) {
    if (*reader->at++ == '\n') {
        reader->line++;
        reader->line_start = reader->at;
    }
}

static void skip_until(struct reader *reader, const char *mark) {
    while (reader->at < reader->end && !next_is(reader, mark))
        step(reader);
}

/* White space and comments. */
static enum gt_status skip_space(struct reader *reader) {
    while (reader->at < reader->end) {
        if (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\n' || *reader->at == '\r') {
            step(reader);
        } else if (*reader->at == '#' || next_is(reader, "//")) {
            skip_until(reader, "\n");
        } else if (next_is(reader, "/*")) {
            reader->at += 2;
            skip_until(reader, "*/");
            if (reader->at == reader->end)
                return fail_at(reader, "expected the end of a comment");
            reader->at += 2;
        } else {
            break;
        }
    }
    return GT_OK;
}

static bool read_hex(struct reader *reader, uint32_t *value) {
    *value = 0;
    if (reader->end - reader->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *reader->at++;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            return false;
        *value = *value << 4 | digit;
    }
    return true;
}

/* A NUL is refused: the text ends up in C strings. Halves of pairs become the replacement character. */
static bool read_unicode(struct reader *reader, char **out) {
    uint32_t code, low;
    if (!read_hex(reader, &code) || code == 0)
        return false;
    if (code >= 0xd800 && code < 0xdc00 && next_is(reader, "\\u")) {
        const char *place = reader->at;
        reader->at += 2;
        if (!read_hex(reader, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        else
            reader->at = place;
    }
    if (code >= 0xd800 && code < 0xe000)
        code = 0xfffd;
    char *p = *out;
    if (code < 0x80) {
        *p++ = (char)code;
    } else if (code < 0x800) {
        *p++ = (char)(0xc0 | code >> 6);
        *p++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *p++ = (char)(0xe0 | code >> 12);
        *p++ = (char)(0x80 | (code >> 6 & 0x3f));
        *p++ = (char)(0x80 | (code & 0x3f));
    } else {
        *p++ = (char)(0xf0 | code >> 18);
        *p++ = (char)(0x80 | (code >> 12 & 0x3f));
        *p++ = (char)(0x80 | (code >> 6 & 0x3f));
        *p++ = (char)(0x80 | (code & 0x3f));
    }
    *out = p;
    return true;
}

static bool read_escape(struct reader *reader, char **out) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (reader->at == reader->end)
        return false;
    if (*reader->at == 'u') {
        reader->at++;
        return read_unicode(reader, out);
    }
    const char *found = *reader->at ? strchr(from, *reader->at) : NULL;
    if (!found)
        return false;
    *(*out)++ = to[found - from];
    reader->at++;
    return true;
}

/* No escape grows, so the text as written bounds the room. */
static enum gt_status read_string(struct reader *reader, struct gt_str *text) {
    const char *close = ++reader->at;
    while (close < reader->end && *close != '"' && *close != '\n')
        close += *close == '\\' && close + 1 < reader->end ? 2 : 1;
    char *out = gt_arena_alloc(reader->arena, (size_t)(close - reader->at) + 1);
    if (!out)
        return gt_fail_memory(reader->err);
    text->ptr = out;
    while (reader->at < reader->end && *reader->at != '"') {
        unsigned char c = (unsigned char)*reader->at;
        if (c < 0x20 && c != '\t')
            return fail_at(reader, "expected the end of a string");
        if (c != '\\') {
            *out++ = *reader->at++;
            continue;
        }
        const char *place = reader->at++;
        if (!read_escape(reader, &out)) {
            reader->at = place;
            return fail_at(reader, "invalid escape");
        }
    }
    if (reader->at == reader->end)
        return fail_at(reader, "expected the end of a string");
    reader->at++;
    text->len = (size_t)(out - text->ptr);
    return GT_OK;
}

static enum gt_status read_value(struct reader *reader, struct gt_json *value, unsigned depth);

static enum gt_status read_key(struct reader *reader, struct gt_json *item) {
    if (*reader->at != '"')
        return fail_at(reader, "expected a key in double quotes");
    enum gt_status status = read_string(reader, &item->key);
    if (status == GT_OK)
        status = skip_space(reader);
    if (status != GT_OK)
        return status;
    if (reader->at == reader->end || *reader->at != ':')
        return fail_at(reader, "expected ':' after a key");
    reader->at++;
    return skip_space(reader);
}

static enum gt_status read_items(struct reader *reader, struct gt_json *parent, unsigned depth) {
    bool is_object = parent->type == GT_JSON_OBJECT;
    char close = is_object ? '}' : ']';
    struct gt_json **link = &parent->first;
    if (depth == MAX_DEPTH)
        return fail_at(reader, "nested too deeply");
    reader->at++;
    for (;;) {
        enum gt_status status = skip_space(reader);
        if (status != GT_OK)
            return status;
        if (reader->at < reader->end && *reader->at == close)
            break;
        struct gt_json *item = gt_arena_alloc(reader->arena, sizeof *item);
        if (!item)
            return gt_fail_memory(reader->err);
        item->line = reader->line;
        item->column = column_of(reader, reader->at);
        if (is_object && reader->at < reader->end)
            status = read_key(reader, item);
        if (status == GT_OK)
            status = read_value(reader, item, depth + 1);
        if (status == GT_OK)
            status = skip_space(reader);
        if (status != GT_OK)
            return status;
        *link = item;
        link = &item->next;
        if (reader->at < reader->end && *reader->at == ',')
            reader->at++;
        else if (reader->at == reader->end || *reader->at != close)
            return fail_at(reader, is_object ? "expected ',' or '}'" : "expected ',' or ']'");
    }
    reader->at++;
    return GT_OK;
}

static bool is_number_char(char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static enum gt_status read_plain(struct reader *reader, struct gt_json *value) {
    static const struct {
        const char *word;
        enum gt_json_type type;
    } words[] = {{"null", GT_JSON_NULL}, {"false", GT_JSON_FALSE}, {"true", GT_JSON_TRUE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (next_is(reader, words[i].word)) {
            value->type = words[i].type;
            reader->at += strlen(words[i].word);
            return GT_OK;
        }
    const char *begin = reader->at;
    while (reader->at < reader->end && is_number_char(*reader->at))
        reader->at++;
    if (reader->at == begin)
        return fail_at(reader, "expected a value");
    value->type = GT_JSON_NUMBER;
    value->text = gt_arena_copy(reader->arena, (struct gt_str){begin, (size_t)(reader->at - begin)});
    return gt_arena_failed(reader->arena) ? gt_fail_memory(reader->err) : GT_OK;
}

static enum gt_status read_value(struct reader *reader, struct gt_json *value, unsigned depth) {
    if (reader->at == reader->end)
        return fail_at(reader, "expected a value");
    switch (*reader->at) {
    case '{':
        value->type = GT_JSON_OBJECT;
        return read_items(reader, value, depth);
    case '[':
        value->type = GT_JSON_ARRAY;
        return read_items(reader, value, depth);
    case '"':
        value->type = GT_JSON_STRING;
        return read_string(reader, &value->text);
    default:
        return read_plain(reader, value);
    }
}

enum gt_status gt_json_tree_parse(struct gt_str input, struct gt_arena *arena, struct gt_json **out,
                                  struct gt_error *err) {
    const char *begin = input.ptr ? input.ptr : "";
    struct reader reader = {
        .at = begin, .end = begin + input.len, .line_start = begin, .line = 1, .arena = arena, .err = err};
    *out = NULL;
    if (next_is(&reader, "\xef\xbb\xbf"))
        reader.line_start = reader.at += 3;
    struct gt_json *root = gt_arena_alloc(arena, sizeof *root);
    if (!root)
        return gt_fail_memory(err);
    enum gt_status status = skip_space(&reader);
    root->line = reader.line;
    root->column = column_of(&reader, reader.at);
    if (status == GT_OK)
        status = read_value(&reader, root, 0);
    if (status == GT_OK)
        status = skip_space(&reader);
    if (status == GT_OK && reader.at != reader.end)
        status = fail_at(&reader, "unexpected text after the value");
    if (status == GT_OK)
        *out = root;
    return status;
}

static enum gt_status read_whole(struct gt_source *source, char *text, size_t *bytes, struct gt_error *err) {
    enum gt_status status = GT_OK;
    size_t got = 1;
    *bytes = 0;
    while (status == GT_OK && got && *bytes <= MAX_FILE_BYTES) {
        status = gt_source_read(source, text + *bytes, MAX_FILE_BYTES + 1 - *bytes, &got, err);
        *bytes += status == GT_OK ? got : 0;
    }
    return status;
}

enum gt_status gt_json_tree_read(const char *path, struct gt_arena *arena, struct gt_json **out, struct gt_error *err) {
    struct gt_source *source = NULL;
    char *text = NULL;
    size_t bytes = 0;
    *out = NULL;
    enum gt_status status = gt_source_open(path, &source, err);
    if (status != GT_OK)
        goto out;
    text = gt_mem_pages_alloc(MAX_FILE_BYTES + 1);
    if (!text) {
        status = gt_fail_memory(err);
        goto out;
    }
    status = read_whole(source, text, &bytes, err);
    if (status != GT_OK)
        goto out;
    if (bytes > MAX_FILE_BYTES)
        status = gt_fail(err, "'%s': too large for a configuration file (over 16 MiB)", path);
    else if (gt_json_tree_parse((struct gt_str){text, bytes}, arena, out, err) != GT_OK)
        status = gt_fail_context(err, "'%s'", path);
out:
    gt_mem_pages_free(text, text ? MAX_FILE_BYTES + 1 : 0);
    gt_source_close(source);
    return status;
}

const struct gt_json *gt_json_tree_find(const struct gt_json *object, const char *key) {
    const struct gt_json *found = NULL;
    if (object->type != GT_JSON_OBJECT)
        return NULL;
    for (const struct gt_json *item = object->first; item; item = item->next)
        if (gt_str_eq(item->key, gt_str_of(key)))
            found = item;
    return found;
}

const char *gt_json_tree_type_name(enum gt_json_type type) {
    static const char *const names[] = {
        [GT_JSON_NULL] = "null",       [GT_JSON_FALSE] = "false",     [GT_JSON_TRUE] = "true",
        [GT_JSON_NUMBER] = "a number", [GT_JSON_STRING] = "a string", [GT_JSON_ARRAY] = "an array",
        [GT_JSON_OBJECT] = "an object"};
    return names[type];
}
