/* Decodes and checks the parameters of an address. They come from anybody who knows the token; all is bounded by the
 * length of the address. */
#include "viewing_query.h"

#include "base/num.h"

/* ---- parsing ---- */

static int digit_of(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that "%41" stands for; -1: it is broken. */
static int escaped_byte(struct gt_str rest) {
    int high = rest.len >= 3 ? digit_of(rest.ptr[1]) : -1;
    int low = high >= 0 ? digit_of(rest.ptr[2]) : -1;
    return low < 0 ? -1 : high << 4 | low;
}

/* A decoded copy, terminated. */
static enum gt_status decode(struct gt_str text, struct gt_arena *arena, struct gt_str *out, struct gt_error *err) {
    char *bytes = gt_arena_array(arena, text.len + 1, 1);
    size_t count = 0;
    if (!bytes)
        return gt_fail_memory(err);
    for (size_t i = 0; i < text.len; i++) {
        int byte = text.ptr[i] == '+' ? ' ' : (unsigned char)text.ptr[i];
        if (byte == '%') {
            byte = escaped_byte((struct gt_str){text.ptr + i, text.len - i});
            i += 2;
        }
        if (byte <= 0)
            return gt_fail_usage(err, "broken escape in the address");
        bytes[count++] = (char)byte;
    }
    *out = (struct gt_str){bytes, count};
    return GT_OK;
}

static bool is_allowed(const char *allowed, struct gt_str key) {
    struct gt_str rest = gt_str_of(allowed), item;
    while (gt_str_next_item(&rest, &item))
        if (item.len && gt_str_eq(item, key))
            return true;
    return false;
}

static enum gt_status add(struct gt_viewing_query *query, struct gt_str key, struct gt_str value, const char *allowed,
                          struct gt_error *err) {
    if (!is_allowed(allowed, key))
        return gt_fail_usage(err, "unknown parameter '%.40s'", key.ptr);
    for (size_t i = 0; i < query->count; i++)
        if (gt_str_eq(query->keys[i], key))
            return gt_fail_usage(err, "'%s' is given twice", key.ptr);
    if (!value.len)
        return GT_OK;
    if (query->count == GT_VIEWING_QUERY_PARAMETERS)
        return gt_fail_usage(err, "too many parameters");
    query->keys[query->count] = key;
    query->values[query->count++] = value;
    return GT_OK;
}

enum gt_status gt_viewing_query_parse(struct gt_viewing_query *query, struct gt_str text, const char *allowed,
                                      struct gt_error *err) {
    enum gt_status status = GT_OK;
    *query = (struct gt_viewing_query){.count = 0};
    while (status == GT_OK && text.len) {
        const char *end = memchr(text.ptr, '&', text.len);
        struct gt_str part = {text.ptr, end ? (size_t)(end - text.ptr) : text.len}, key, value;
        const char *equals = part.len ? memchr(part.ptr, '=', part.len) : NULL;
        size_t key_bytes = equals ? (size_t)(equals - part.ptr) : part.len, taken = part.len + (end != NULL);
        text = (struct gt_str){text.ptr + taken, text.len - taken};
        if (!part.len)
            continue;
        status = decode((struct gt_str){part.ptr, key_bytes}, &query->arena, &key, err);
        if (status == GT_OK)
            status = decode(equals ? (struct gt_str){equals + 1, part.len - key_bytes - 1} : (struct gt_str){"", 0},
                            &query->arena, &value, err);
        if (status == GT_OK)
            status = add(query, key, value, allowed, err);
    }
    return status;
}

void gt_viewing_query_release(struct gt_viewing_query *query) {
    gt_arena_release(&query->arena);
}

/* ---- values ---- */

static struct gt_str value_of(const struct gt_viewing_query *query, const char *key) {
    for (size_t i = 0; i < query->count; i++)
        if (gt_str_eq(query->keys[i], gt_str_of(key)))
            return query->values[i];
    return (struct gt_str){NULL, 0};
}

const char *gt_viewing_query_text(const struct gt_viewing_query *query, const char *key) {
    return value_of(query, key).ptr;
}

enum gt_status gt_viewing_query_int(const struct gt_viewing_query *query, const char *key, int64_t min, int64_t max,
                                    int64_t *value, struct gt_error *err) {
    struct gt_str text = value_of(query, key);
    int64_t number;
    if (!text.ptr)
        return GT_OK;
    if (!gt_num_parse_int(text, &number) || number < min || number > max)
        return gt_fail_usage(err, "'%s' must be a whole number from %lld to %lld", key, (long long)min, (long long)max);
    *value = number;
    return GT_OK;
}

enum gt_status gt_viewing_query_time(const struct gt_viewing_query *query, const char *key, int64_t *value,
                                     struct gt_error *err) {
    return gt_viewing_query_int(query, key, -GT_VIEWING_QUERY_TIME_MAX, GT_VIEWING_QUERY_TIME_MAX, value, err);
}

enum gt_status gt_viewing_query_choice(const struct gt_viewing_query *query, const char *key, const char *choices,
                                       unsigned *value, struct gt_error *err) {
    struct gt_str text = value_of(query, key), rest = gt_str_of(choices);
    if (!text.ptr)
        return GT_OK;
    for (unsigned i = 0; rest.len; i++) {
        const char *bar = memchr(rest.ptr, '|', rest.len);
        size_t bytes = bar ? (size_t)(bar - rest.ptr) : rest.len, taken = bytes + (bar != NULL);
        if (gt_str_eq(text, (struct gt_str){rest.ptr, bytes})) {
            *value = i;
            return GT_OK;
        }
        rest = (struct gt_str){rest.ptr + taken, rest.len - taken};
    }
    return gt_fail_usage(err, "'%s' must be one of %s", key, choices);
}

/* ---- lists ---- */

/* Items of a list, at most one for each comma and one more. */
static size_t most_items(struct gt_str text) {
    size_t count = 1;
    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == ',';
    return count;
}

enum gt_status gt_viewing_query_keys(struct gt_viewing_query *query, const char *key, const char *const **out,
                                     size_t *count, struct gt_error *err) {
    struct gt_str rest = value_of(query, key), item;
    *count = 0;
    *out = NULL;
    if (!rest.ptr)
        return GT_OK;
    const char **items = gt_arena_array(&query->arena, most_items(rest), sizeof *items);
    while (items && gt_str_next_item(&rest, &item))
        if (item.len)
            items[(*count)++] = gt_arena_copy(&query->arena, item).ptr;
    *out = items;
    return gt_arena_failed(&query->arena) ? gt_fail_memory(err) : GT_OK;
}

enum gt_status gt_viewing_query_numbers(struct gt_viewing_query *query, const char *key, uint32_t **out, size_t *count,
                                        struct gt_error *err) {
    struct gt_str rest = value_of(query, key), item;
    *count = 0;
    *out = NULL;
    if (!rest.ptr)
        return GT_OK;
    *out = gt_arena_array(&query->arena, most_items(rest), sizeof **out);
    if (!*out)
        return gt_fail_memory(err);
    while (gt_str_next_item(&rest, &item)) {
        uint64_t number;
        if (!gt_num_parse_uint(item, &number) || number > UINT32_MAX)
            return gt_fail_usage(err, "'%s' must be whole numbers with commas between them", key);
        (*out)[(*count)++] = (uint32_t)number;
    }
    return GT_OK;
}
