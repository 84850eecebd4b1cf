/* Splits CSV bytes into rows and cells. Cells are found eight bytes at a time, quoted ones with memchr. */
#include "decode/csv/csv_scan.h"

#include <string.h>

#include "base/mem.h"

/* Bytes of the file between two calls of the progress callback. */
enum { PROGRESS_BYTES = 4 << 20 };

const struct gt_csv_sizes gt_csv_default_sizes = {.window_bytes = 256 << 10, .max_bytes = 16 << 20};

/* ---- rows ---- */

/* 0x80 in every byte that is zero, and in no other. */
static uint64_t zero_bytes(uint64_t word) {
    return ~(((word & 0x7f7f7f7f7f7f7f7fu) + 0x7f7f7f7f7f7f7f7fu) | word | 0x7f7f7f7f7f7f7f7fu);
}

/* The commas and line ends among eight bytes, the first in the lowest bits. */
static uint64_t find_separators(const char *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        word = __builtin_bswap64(word);
    return zero_bytes(word ^ 0x2c2c2c2c2c2c2c2cu) | zero_bytes(word ^ 0x0a0a0a0a0a0a0a0au);
}

/* The quote that closes a cell opened before p; `end` if none. */
static const char *find_closing_quote(const char *p, const char *end, bool *has_quotes) {
    while (p < end) {
        const char *quote = memchr(p, '"', (size_t)(end - p));
        if (!quote)
            return end;
        if (quote + 1 == end || quote[1] != '"')
            return quote;
        *has_quotes = true;
        p = quote + 2;
    }
    return end;
}

static void add_cell(struct gt_csv_row *row, const char *begin, const char *end, bool has_quotes) {
    if (row->count < GT_CSV_CELLS_MAX)
        row->cells[row->count] = (struct gt_csv_cell){{begin, (size_t)(end - begin)}, has_quotes};
    row->count++;
}

static bool is_separator(char c) {
    return c == ',' || c == '\n';
}

/* Ends a cell without quotes around it at `at`, a separator or the end of the bytes; true: no such cell follows. */
static inline bool cut_plain(struct gt_csv_row *row, const char **cell, const char *at, const char *end) {
    bool ends_row = at == end || *at == '\n';
    bool has_return = ends_row && at > *cell && at[-1] == '\r';
    add_cell(row, *cell, at - has_return, false);
    if (ends_row)
        return true;
    *cell = at + 1;
    return *cell < end && **cell == '"';
}

/* Cuts cells until one begins with a quote. Comes to the separator before that one, to the line end, or to `end`. */
static const char *scan_plain(const char *p, const char *end, struct gt_csv_row *row) {
    const char *cell = p;
    for (; end - p >= 8; p += 8)
        for (uint64_t found = find_separators(p); found; found &= found - 1) {
            const char *at = p + __builtin_ctzll(found) / 8;
            if (cut_plain(row, &cell, at, end))
                return at;
        }
    for (; p < end; p++)
        if (is_separator(*p) && cut_plain(row, &cell, p, end))
            return p;
    cut_plain(row, &cell, end, end);
    return end;
}

/* The cell whose quote p is at. Comes to the separator after it, or to `end`. */
static const char *scan_quoted(const char *p, const char *end, struct gt_csv_row *row) {
    bool has_quotes = false;
    const char *begin = p + 1, *quote = find_closing_quote(begin, end, &has_quotes);
    add_cell(row, begin, quote, has_quotes);
    row->is_broken |= quote == end;
    const char *next = quote + (quote < end);
    if (next < end && *next == '\r')
        next++;
    for (p = next; p < end && !is_separator(*p); p++)
        row->is_broken = true;
    return p;
}

static const char *line_end(const char *p, const char *end) {
    const char *found = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    return found ? found : end;
}

static const char *skip_mark(const char *p, const char *end) {
    return end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? p + 3 : p;
}

bool gt_csv_scan_row(const char **p, const char *end, bool is_all, enum gt_csv_unit unit, struct gt_csv_row *row) {
    const char *stop = unit == GT_CSV_LINE ? line_end(*p, end) : end;
    const char *at = skip_mark(*p, stop);
    row->count = 0;
    row->is_broken = row->is_cut = false;
    for (;;) {
        at = at < stop && *at == '"' ? scan_quoted(at, stop, row) : scan_plain(at, stop, row);
        if (at == stop || *at == '\n')
            break;
        at++;
    }
    if (at == end && !is_all)
        return false;
    row->raw = (struct gt_str){*p, (size_t)(at - *p)};
    row->is_cut = at == end;
    *p = at + (at < end);
    return true;
}

size_t gt_csv_scan_decode(struct gt_str text, char *buf) {
    size_t length = 0;
    for (size_t i = 0; i < text.len; i++) {
        buf[length++] = text.ptr[i];
        if (text.ptr[i] == '"' && i + 1 < text.len && text.ptr[i + 1] == '"')
            i++;
    }
    return length;
}

/* ---- the window ---- */

enum gt_status gt_csv_scan_reader_init(struct gt_csv_reader *reader, struct gt_source *source,
                                       const struct gt_csv_sizes *sizes, struct gt_error *err) {
    memset(reader, 0, sizeof *reader);
    reader->source = source;
    reader->sizes = *sizes;
    reader->capacity = sizes->window_bytes;
    reader->buffer = gt_mem_alloc(reader->capacity);
    if (!reader->buffer)
        return gt_fail_memory(err);
    reader->p = reader->end = reader->buffer;
    return GT_OK;
}

void gt_csv_scan_reader_release(struct gt_csv_reader *reader) {
    gt_mem_free(reader->buffer);
    memset(reader, 0, sizeof *reader);
}

static void move_to(struct gt_csv_reader *reader, const char *p) {
    reader->offset += (uint64_t)(p - reader->p);
    reader->p = p;
}

static void report_progress(struct gt_csv_reader *reader) {
    uint64_t done_bytes, total_bytes;
    if (!reader->progress)
        return;
    gt_source_progress(reader->source, &done_bytes, &total_bytes);
    if (done_bytes - reader->reported_bytes < PROGRESS_BYTES)
        return;
    reader->reported_bytes = done_bytes;
    reader->progress(reader->progress_context, done_bytes, total_bytes);
}

static bool is_full(const struct gt_csv_reader *reader) {
    return (size_t)(reader->end - reader->p) >= reader->sizes.max_bytes;
}

/* Appends to the current bytes: what was read is given up first, and only a row that fills the buffer makes it grow. */
static enum gt_status fill(struct gt_csv_reader *reader, struct gt_error *err) {
    size_t left = (size_t)(reader->end - reader->p), got;
    memmove(reader->buffer, reader->p, left);
    if (left == reader->capacity) {
        size_t capacity = left > reader->sizes.max_bytes / 2 ? reader->sizes.max_bytes : left * 2;
        char *grown = gt_mem_realloc(reader->buffer, capacity);
        if (!grown)
            return gt_fail_memory(err);
        reader->buffer = grown;
        reader->capacity = capacity;
    }
    reader->p = reader->buffer;
    enum gt_status status = gt_source_read(reader->source, reader->buffer + left, reader->capacity - left, &got, err);
    if (status != GT_OK)
        return status;
    reader->end = reader->buffer + left + got;
    reader->is_all = got == 0;
    report_progress(reader);
    return GT_OK;
}

/* Gives up the rest of a line that is too long to hold. */
static enum gt_status skip_line(struct gt_csv_reader *reader, struct gt_error *err) {
    while (reader->skips_line) {
        const char *stop = line_end(reader->p, reader->end);
        reader->skips_line = stop == reader->end && !reader->is_all;
        move_to(reader, stop + (stop < reader->end));
        if (reader->skips_line && fill(reader, err) != GT_OK)
            return GT_ERR;
    }
    return GT_OK;
}

/* A row that does not end in all the bytes that may be held: its first line is broken, reading goes on after it. */
static void give_up_row(struct gt_csv_reader *reader, struct gt_csv_row *row) {
    const char *stop = line_end(reader->p, reader->end);
    row->count = 0;
    row->is_broken = true;
    row->is_cut = false;
    row->raw = (struct gt_str){reader->p, (size_t)(stop - reader->p)};
    reader->skips_line = stop == reader->end;
    move_to(reader, stop + (stop < reader->end));
}

enum gt_status gt_csv_scan_reader_next(struct gt_csv_reader *reader, enum gt_csv_unit unit, struct gt_csv_row *row,
                                       bool *has_row, struct gt_error *err) {
    *has_row = false;
    if (skip_line(reader, err) != GT_OK)
        return GT_ERR;
    for (;;) {
        const char *p = reader->p;
        row->offset = reader->offset;
        *has_row = p < reader->end && gt_csv_scan_row(&p, reader->end, reader->is_all, unit, row);
        if (*has_row) {
            move_to(reader, p);
            return GT_OK;
        }
        if (reader->is_all)
            return GT_OK;
        if (is_full(reader)) {
            give_up_row(reader, row);
            *has_row = true;
            return GT_OK;
        }
        if (fill(reader, err) != GT_OK)
            return GT_ERR;
    }
}

void gt_csv_scan_reader_reread(struct gt_csv_reader *reader, const struct gt_csv_row *row) {
    const char *stop = line_end(row->raw.ptr, row->raw.ptr + row->raw.len);
    if (stop == row->raw.ptr + row->raw.len)
        return;
    reader->offset = row->offset + (uint64_t)(stop + 1 - row->raw.ptr);
    reader->p = stop + 1;
    reader->skips_line = false;
}
