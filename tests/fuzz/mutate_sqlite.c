/* Mutations of SQLite databases: a cell of one page is changed (its sizes, the types of its values, the values), or the
   list of cells is; the header of the file stays, so that the page is read. */
#include <string.h>

#include "mutate.h"

enum { FILE_HEADER = 100, PAGE_HEADER = 8, LEAF = 13, PAGE_MAX = 65536 };

struct page {
    uint8_t *data;
    size_t size, header; /* where its header begins */
};

static size_t read16(const uint8_t *p) {
    return (size_t)p[0] << 8 | p[1];
}

/* What is between the header and the end is the fuzzer's. */
static void mutate_bytes(const struct page *page, size_t from) {
    static uint8_t copy[PAGE_MAX];
    size_t room = page->size - from;
    memcpy(copy, page->data + from, room);
    memcpy(page->data + from, copy, LLVMFuzzerMutate(copy, room, room));
}

/* One byte of a cell: near its beginning are sizes and types, which say how the rest is read. */
static void change_cell(const struct page *page, size_t cell, uint64_t *chance) {
    static const uint8_t hard[] = {0, 1, 2, 6, 7, 8, 9, 10, 12, 13, 0x7f, 0x80, 0x81, 0xff};
    size_t reach = page->size - cell < 24 ? page->size - cell : 24;
    uint8_t *place = page->data + cell + fuzz_chance(chance) % reach;
    switch (fuzz_chance(chance) % 3) {
    case 0:
        *place = hard[fuzz_chance(chance) % sizeof hard];
        break;
    case 1:
        *place = (uint8_t)(*place + fuzz_chance(chance) % 5 - 2);
        break;
    default:
        *place ^= (uint8_t)(1u << fuzz_chance(chance) % 8);
    }
}

static void change_list(const struct page *page, size_t count, uint64_t *chance) {
    uint8_t *list = page->data + page->header + PAGE_HEADER;
    size_t a = fuzz_chance(chance) % count, b = fuzz_chance(chance) % count;
    if (fuzz_chance(chance) % 2) {
        memcpy(list + 2 * a, list + 2 * b, 2); /* the same cell twice */
    } else {
        list[2 * a] = (uint8_t)fuzz_chance(chance);
        list[2 * a + 1] = (uint8_t)fuzz_chance(chance);
    }
}

size_t fuzz_mutate_sqlite(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    uint64_t chance = seed;
    (void)max_size;
    size_t page_bytes = size < FILE_HEADER ? 0 : read16(data + 16);
    if (page_bytes < 512 || size < page_bytes)
        return 0;
    size_t number = fuzz_chance(&chance) % (size / page_bytes);
    struct page page = {data + number * page_bytes, page_bytes, number ? 0 : FILE_HEADER};
    size_t count = read16(page.data + page.header + 3), list_end = page.header + PAGE_HEADER + 2 * count;
    uint32_t what = fuzz_chance(&chance) % 4;
    if (page.data[page.header] != LEAF || count == 0 || list_end > page_bytes || what == 0) {
        mutate_bytes(&page, page.header + PAGE_HEADER);
        return size;
    }
    size_t cell = read16(page.data + page.header + PAGE_HEADER + 2 * (fuzz_chance(&chance) % count));
    if (what == 1 || cell >= page_bytes)
        change_list(&page, count, &chance);
    else
        change_cell(&page, cell, &chance);
    return size;
}
