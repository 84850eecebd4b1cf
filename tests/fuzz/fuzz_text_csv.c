/* Fuzzes the reader of CSV rows: whatever its buffer, it finds the same rows, and what it decodes is no longer than the
   cell. */
#include "decode/csv/csv_scan.h"
#include "in_memory.h"
#include "text_input.h"

enum { ROWS_MAX = 256, SMALL_WINDOW = 16 };

struct seen {
    size_t cells[ROWS_MAX];
    uint64_t offsets[ROWS_MAX];
    size_t count;
};

static void read_rows(const char *path, struct gt_csv_sizes sizes, enum gt_csv_unit unit, struct seen *seen) {
    struct gt_source *source = NULL;
    struct gt_csv_reader reader;
    static struct gt_csv_row row;
    static char decoded[FUZZ_TEXT_MAX];
    struct gt_error err = {0};
    bool is_there = true;
    seen->count = 0;
    fuzz_must(gt_source_open(path, &source, NULL) == GT_OK);
    fuzz_must(gt_csv_scan_reader_init(&reader, source, &sizes, &err) == GT_OK);
    while (seen->count < ROWS_MAX && gt_csv_scan_reader_next(&reader, unit, &row, &is_there, &err) == GT_OK &&
           is_there) {
        for (size_t i = 0; i < row.count && i < GT_CSV_CELLS_MAX; i++)
            fuzz_must(row.cells[i].text.len <= sizeof decoded &&
                      gt_csv_scan_decode(row.cells[i].text, decoded) <= row.cells[i].text.len);
        seen->cells[seen->count] = row.count;
        seen->offsets[seen->count++] = row.offset;
    }
    gt_csv_scan_reader_release(&reader);
    gt_source_close(source);
}

/* Rows of what is packed may be longer than all that is here: other targets are about that. */
static bool is_packed(const char *path, const uint8_t *data, size_t size) {
    struct gt_source *source = NULL;
    struct gt_str head;
    if (gt_source_open(path, &source, NULL) != GT_OK)
        return true;
    bool is_same = gt_source_peek(source, &head, NULL) == GT_OK && head.len <= size && (head.len == 0) == (size == 0) &&
                   (size == 0 || memcmp(head.ptr, data, head.len) == 0);
    gt_source_close(source);
    return !is_same;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct seen large, small;
    const char *path = fuzz_memory_file(0, data, size);
    if (size > FUZZ_TEXT_MAX || is_packed(path, data, size))
        return 0;
    for (int unit = GT_CSV_LINE; unit <= GT_CSV_RECORD; unit++) {
        const struct gt_csv_sizes usual = {2 * FUZZ_TEXT_MAX, 4 * FUZZ_TEXT_MAX},
                                  tiny = {SMALL_WINDOW, 4 * FUZZ_TEXT_MAX};
        read_rows(path, usual, (enum gt_csv_unit)unit, &large);
        read_rows(path, tiny, (enum gt_csv_unit)unit, &small);
        fuzz_must(large.count == small.count);
        for (size_t i = 0; i < large.count; i++)
            fuzz_must(large.cells[i] == small.cells[i] && large.offsets[i] == small.offsets[i]);
    }
    return 0;
}
