/* Finds the different texts of a column chunk. Texts are interned already: equal ones have equal numbers. */
#include "columns/parquet_texts.h"

#include "base/mem.h"
#include "base/utf8.h"

enum { LENGTH_BYTES = 4 };
#define DICTIONARY_MAX ((size_t)2000 << 20) /* lengths of pages have 31 bits, also of those that do not compress */
#define PAGE_MAX       ((size_t)64 << 20)
#define TEXT_MAX       ((size_t)1 << 30)

enum gt_status gt_parquet_texts_init(struct gt_parquet_texts *texts, const struct gt_batch_texts *all,
                                     struct gt_error *err) {
    *texts = (struct gt_parquet_texts){.all = all, .numbers = gt_mem_uninitialised(all->count, sizeof(uint32_t))};
    for (size_t i = 0; texts->numbers && i < all->count; i++)
        texts->numbers[i] = UINT32_MAX;
    return texts->numbers ? GT_OK : gt_fail_memory(err);
}

void gt_parquet_texts_release(struct gt_parquet_texts *texts) {
    gt_mem_free(texts->numbers);
    gt_mem_free(texts->chosen);
    *texts = (struct gt_parquet_texts){0};
}

static enum gt_status add(struct gt_parquet_texts *texts, uint32_t text, struct gt_error *err) {
    size_t bytes = gt_utf8_valid_bytes(texts->all->items[text]);
    if (bytes > TEXT_MAX)
        return gt_fail(err, "a text of %zu bytes is too long for Parquet", bytes);
    uint32_t *chosen = gt_mem_room(texts->chosen, texts->count, &texts->capacity, sizeof *chosen);
    if (!chosen)
        return gt_fail_memory(err);
    texts->chosen = chosen;
    texts->numbers[text] = (uint32_t)texts->count;
    chosen[texts->count++] = text;
    texts->bytes += bytes;
    texts->longest = bytes > texts->longest ? bytes : texts->longest;
    return GT_OK;
}

enum gt_status gt_parquet_texts_add(struct gt_parquet_texts *texts, const uint64_t *values, size_t count,
                                    uint32_t *numbers, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        if (values[i] >= texts->all->count)
            return gt_fail(err, "internal error: text %llu of %zu", (unsigned long long)values[i], texts->all->count);
        if (texts->numbers[values[i]] == UINT32_MAX)
            status = add(texts, (uint32_t)values[i], err);
        numbers[i] = texts->numbers[values[i]];
    }
    return status;
}

bool gt_parquet_texts_fit(const struct gt_parquet_texts *texts) {
    return texts->count && texts->bytes + texts->count * LENGTH_BYTES <= DICTIONARY_MAX;
}

size_t gt_parquet_texts_page(const struct gt_parquet_texts *texts, size_t rows) {
    size_t fitting = PAGE_MAX / (texts->longest + LENGTH_BYTES);
    return fitting == 0 ? 1 : fitting < rows ? fitting : rows;
}

size_t gt_parquet_texts_bytes(const struct gt_parquet_texts *texts, size_t number) {
    return gt_utf8_valid_bytes(texts->all->items[texts->chosen[number]]);
}

size_t gt_parquet_texts_put(const struct gt_parquet_texts *texts, size_t number, uint8_t *out) {
    char *begin = (char *)out + LENGTH_BYTES;
    size_t bytes = (size_t)(gt_utf8_put_valid(begin, texts->all->items[texts->chosen[number]]) - begin);
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        out[i] = (uint8_t)(bytes >> 8 * i);
    return bytes + LENGTH_BYTES;
}

bool gt_parquet_texts_range(const struct gt_parquet_texts *texts, size_t longest, struct gt_str *smallest,
                            struct gt_str *largest) {
    for (size_t i = 0; i < texts->count; i++) {
        struct gt_str text = texts->all->items[texts->chosen[i]];
        if (i == 0 || gt_str_cmp(text, *smallest) < 0)
            *smallest = text;
        if (i == 0 || gt_str_cmp(text, *largest) > 0)
            *largest = text;
        if (!gt_utf8_is_valid(text)) /* replaced characters have another place in the order */
            return false;
    }
    return texts->count && smallest->len <= longest && largest->len <= longest;
}
