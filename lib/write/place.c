/* The grammar of places: the text of one comes in, its parts and its value go out. */
#include "write/place.h"

#include <assert.h>
#include <string.h>

static int64_t take_digits(const char **at) {
    int64_t value = 0;
    while (**at >= '0' && **at <= '9')
        value = value * 10 + (*(*at)++ - '0');
    return value;
}

const char *gt_place_parse(const char *text, struct gt_place *place) {
    *place = (struct gt_place){.decimals = -1};
    if (*text == '\'') {
        place->text = (struct gt_str){text + 1, strcspn(text + 1, "'")};
        text += place->text.len + 2;
    }
    place->keys = (struct gt_str){text, strcspn(text, "/*+:}")};
    text += place->keys.len;
    if (*text == '/' || *text == '*' || *text == '+') {
        place->operation = *text++;
        place->operand = take_digits(&text);
    }
    if (*text == ':') {
        text++;
        place->is_left = *text == '-';
        place->is_cut = *text == '~';
        text += place->is_left || place->is_cut;
        place->width = (size_t)take_digits(&text);
    }
    if (*text == '.') {
        text++;
        place->decimals = (int)take_digits(&text);
    }
    assert(*text == '}' || *text == '\0');
    return text + (*text == '}');
}

bool gt_place_next_key(struct gt_str *keys, struct gt_str *key) {
    if (!keys->len)
        return false;
    const char *bar = memchr(keys->ptr, '|', keys->len);
    size_t length = bar ? (size_t)(bar - keys->ptr) : keys->len, taken = length + (bar ? 1 : 0);
    *key = (struct gt_str){keys->ptr, length};
    *keys = (struct gt_str){keys->ptr + taken, keys->len - taken};
    return true;
}

struct gt_cell gt_place_value(const struct gt_place *place,
                              struct gt_cell (*find)(const void *context, struct gt_str key), const void *context) {
    struct gt_str keys = place->keys, key;
    while (gt_place_next_key(&keys, &key)) {
        struct gt_cell value = find(context, key);
        if (value.type != GPUTIME_CELL_NULL)
            return value;
    }
    return gt_cell_null();
}

double gt_place_calculate(char operation, int64_t operand, double value) {
    if (operation == '/')
        return value / (double)operand;
    return operation == '*' ? value * (double)operand : value;
}
