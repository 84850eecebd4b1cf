/* Reads JSON: recursive, to a fixed depth; texts are decoded in place. */
#include "json_read.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char no_memory[] = "out of memory", unfinished[] = "it ends too early",
                  unexpected[] = "unexpected character";

struct reader {
    struct cli_json_tree *tree;
    char *at, *end;
    const char *failure; /* NULL: none yet */
};

/* ---- characters ---- */

size_t cli_json_character(const unsigned char *text, size_t bytes) {
    static const struct {
        unsigned char low, high; /* of the first byte */
        unsigned char next_low, next_high;
        size_t bytes;
    } kinds[] = {{0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
                 {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
                 {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4}};
    for (size_t k = 0; bytes && k < sizeof kinds / sizeof *kinds; k++) {
        if (text[0] < kinds[k].low || text[0] > kinds[k].high)
            continue;
        if (kinds[k].bytes > bytes)
            return 0;
        for (size_t i = 1; i < kinds[k].bytes; i++) {
            unsigned char low = i == 1 ? kinds[k].next_low : 0x80, high = i == 1 ? kinds[k].next_high : 0xBF;
            if (text[i] < low || text[i] > high)
                return 0;
        }
        return kinds[k].bytes;
    }
    return 0;
}

static size_t put_character(char *out, uint32_t code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xC0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xE0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3F));
        out[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3F));
    out[2] = (char)(0x80 | (code >> 6 & 0x3F));
    out[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* Four digits of "\uXXXX"; UINT32_MAX: they are not there. */
static uint32_t take_digits(struct reader *reader) {
    uint32_t code = 0;
    for (int i = 0; i < 4; i++) {
        char c = reader->at < reader->end ? *reader->at : '\0';
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : UINT32_MAX;
        if (digit == UINT32_MAX)
            return UINT32_MAX;
        code = code << 4 | digit;
        reader->at++;
    }
    return code;
}

/* After "\u". Halves of a pair that stand alone become U+FFFD. */
static uint32_t take_code(struct reader *reader) {
    uint32_t code = take_digits(reader);
    if (code == UINT32_MAX || code < 0xD800 || code > 0xDFFF)
        return code;
    if (code > 0xDBFF || reader->end - reader->at < 6 || reader->at[0] != '\\' || reader->at[1] != 'u')
        return 0xFFFD;
    char *before = reader->at;
    reader->at += 2;
    uint32_t low = take_digits(reader);
    if (low >= 0xDC00 && low <= 0xDFFF)
        return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    reader->at = before;
    return low == UINT32_MAX ? UINT32_MAX : 0xFFFD;
}

/* What follows a backslash; gives the number of bytes written, 0: it is no escape. */
static size_t take_escape(struct reader *reader, char *out) {
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char letter = reader->at < reader->end ? *reader->at++ : '\0';
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (found) {
        *out = meant[found - letters];
        return 1;
    }
    uint32_t code = letter == 'u' ? take_code(reader) : UINT32_MAX;
    return code == UINT32_MAX ? 0 : put_character(out, code);
}

/* ---- values ---- */

static struct cli_json *fail(struct reader *reader, const char *why) {
    if (!reader->failure)
        reader->failure = why;
    return NULL;
}

static void skip_blanks(struct reader *reader) {
    while (reader->at < reader->end &&
           (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\n' || *reader->at == '\r'))
        reader->at++;
}

static bool take(struct reader *reader, char c) {
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

/* Nodes are all of one block, so that it is made before the first. */
static struct cli_json *new_node(struct reader *reader, enum cli_json_type type) {
    struct cli_json_tree *tree = reader->tree;
    if (tree->count == tree->capacity)
        return fail(reader, "it has too many values");
    struct cli_json *node = &tree->nodes[tree->count++];
    *node = (struct cli_json){.type = type};
    return node;
}

/* From the quote on; decoded text is never longer than what was written. */
static bool take_text(struct reader *reader, const char **text, size_t *bytes) {
    char *out = ++reader->at;
    *text = out;
    while (reader->at < reader->end && *reader->at != '"') {
        size_t length = cli_json_character((const unsigned char *)reader->at, (size_t)(reader->end - reader->at));
        if (length == 0 || (unsigned char)*reader->at < 0x20)
            return fail(reader, length ? "a control character in a string" : "invalid UTF-8") != NULL;
        if (*reader->at == '\\') {
            reader->at++;
            length = take_escape(reader, out);
            if (!length)
                return fail(reader, "invalid escape in a string") != NULL;
        } else {
            memmove(out, reader->at, length);
            reader->at += length;
        }
        out += length;
    }
    if (reader->at == reader->end)
        return fail(reader, unfinished) != NULL;
    reader->at++;
    *out = '\0';
    *bytes = (size_t)(out - *text);
    return true;
}

static bool take_some_digits(struct reader *reader) {
    char *first = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9')
        reader->at++;
    return reader->at > first;
}

static struct cli_json *take_number(struct reader *reader) {
    char *first = reader->at;
    reader->at += *reader->at == '-';
    bool is_zero = reader->at < reader->end && *reader->at == '0';
    char *digits = reader->at;
    bool is_valid = take_some_digits(reader) && !(is_zero && reader->at > digits + 1);
    if (is_valid && reader->at < reader->end && *reader->at == '.') {
        reader->at++;
        is_valid = take_some_digits(reader);
    }
    if (is_valid && reader->at < reader->end && (*reader->at == 'e' || *reader->at == 'E')) {
        reader->at++;
        reader->at += reader->at < reader->end && (*reader->at == '+' || *reader->at == '-');
        is_valid = take_some_digits(reader);
    }
    struct cli_json *node = is_valid ? new_node(reader, CLI_JSON_NUMBER) : fail(reader, "invalid number");
    if (node) {
        node->text = first;
        node->bytes = (size_t)(reader->at - first);
    }
    return node;
}

static struct cli_json *take_word(struct reader *reader) {
    static const struct {
        const char *word;
        enum cli_json_type type;
    } words[] = {{"null", CLI_JSON_NULL}, {"false", CLI_JSON_FALSE}, {"true", CLI_JSON_TRUE}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t bytes = strlen(words[i].word);
        if ((size_t)(reader->end - reader->at) >= bytes && memcmp(reader->at, words[i].word, bytes) == 0) {
            reader->at += bytes;
            return new_node(reader, words[i].type);
        }
    }
    return fail(reader, unexpected);
}

static struct cli_json *take_value(struct reader *reader, int depth);

static bool take_key(struct reader *reader, const char **key) {
    size_t bytes;
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != '"')
        return fail(reader, reader->at == reader->end ? unfinished : unexpected) != NULL;
    if (!take_text(reader, key, &bytes))
        return false;
    return take(reader, ':') || fail(reader, unexpected) != NULL;
}

/* From the bracket on. */
static struct cli_json *take_list(struct reader *reader, enum cli_json_type type, int depth) {
    char end = type == CLI_JSON_ARRAY ? ']' : '}';
    struct cli_json *list = new_node(reader, type), *last = NULL;
    reader->at++;
    if (!list || take(reader, end))
        return list;
    do {
        const char *key = NULL;
        if (type == CLI_JSON_OBJECT && !take_key(reader, &key))
            return NULL;
        struct cli_json *item = take_value(reader, depth + 1);
        if (!item)
            return NULL;
        item->key = key;
        if (last)
            last->next = item;
        else
            list->first = item;
        last = item;
    } while (take(reader, ','));
    if (take(reader, end))
        return list;
    return fail(reader, reader->at == reader->end ? unfinished : unexpected);
}

static struct cli_json *take_value(struct reader *reader, int depth) {
    skip_blanks(reader);
    if (depth > CLI_JSON_DEPTH)
        return fail(reader, "it is nested too deep");
    if (reader->at == reader->end)
        return fail(reader, unfinished);
    char c = *reader->at;
    if (c == '{' || c == '[')
        return take_list(reader, c == '{' ? CLI_JSON_OBJECT : CLI_JSON_ARRAY, depth);
    if (c == '-' || (c >= '0' && c <= '9'))
        return take_number(reader);
    if (c != '"')
        return take_word(reader);
    struct cli_json *node = new_node(reader, CLI_JSON_TEXT);
    return node && take_text(reader, &node->text, &node->bytes) ? node : NULL;
}

const char *cli_json_read(struct cli_json_tree *tree, char *text, size_t bytes) {
    size_t most = bytes / 2 + 1; /* a value and what follows it are two bytes at least */
    *tree = (struct cli_json_tree){.capacity = most < CLI_JSON_NODES ? most : CLI_JSON_NODES};
    tree->nodes = calloc(tree->capacity, sizeof *tree->nodes);
    if (!tree->nodes)
        return no_memory;
    struct reader reader = {.tree = tree, .at = text, .end = text + bytes};
    if (take_value(&reader, 1)) {
        skip_blanks(&reader);
        if (reader.at < reader.end)
            fail(&reader, "more follows its end");
    }
    return reader.failure;
}

void cli_json_release(struct cli_json_tree *tree) {
    free(tree->nodes);
    *tree = (struct cli_json_tree){0};
}

const struct cli_json *cli_json_member(const struct cli_json *object, const char *key) {
    const struct cli_json *found = NULL;
    if (!object || object->type != CLI_JSON_OBJECT)
        return NULL;
    for (const struct cli_json *member = object->first; member; member = member->next)
        if (strcmp(member->key, key) == 0)
            found = member;
    return found;
}

bool cli_json_is_text(const struct cli_json *value, const char *text) {
    return value && value->type == CLI_JSON_TEXT && value->bytes == strlen(text) &&
           memcmp(value->text, text, value->bytes) == 0;
}
