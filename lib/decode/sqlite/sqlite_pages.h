/* Rows of SQLite tables straight from the pages of the file, several times faster than through the library, in
   parallel by runs of leaf pages, and past damaged pages. For rowid tables of databases that are at rest (no
   write-ahead log, no journal); text comes as it is encoded. sqlite_db.h decides and has the general reader. */
#ifndef GT_DECODE_SQLITE_SQLITE_PAGES_H
#define GT_DECODE_SQLITE_SQLITE_PAGES_H

#include "base/fail.h"
#include "base/source.h"
#include "decode/sqlite/sqlite_plain.h"
#include "decode/sqlite/sqlite_record.h"

#define GT_SQLITE_SCHEMA_ROOT 1 /* the page at which the list of tables begins, after the header of the file */

enum {
    GT_SQLITE_FILE_HEADER = 100,
    GT_SQLITE_LEAF_HEADER = 8, /* bytes */
    GT_SQLITE_INTERIOR_HEADER = 12,
    GT_SQLITE_LEVELS_MAX = 20, /* as many as SQLite itself goes down */
};
enum gt_sqlite_page_kind { GT_SQLITE_INTERIOR = 0x05, GT_SQLITE_LEAF = 0x0D }; /* of tables */

/* The numbers are the file's. */
enum gt_sqlite_encoding { GT_SQLITE_UTF8 = 1, GT_SQLITE_UTF16_LITTLE = 2, GT_SQLITE_UTF16_BIG = 3 };

struct gt_sqlite_file {
    const struct gt_source *source;
    uint32_t page_bytes, usable_bytes; /* usable: without the reserved bytes at the end of each page */
    uint32_t page_count;               /* whole pages in the file */
    bool is_cut;                       /* its header says that there should be more */
    enum gt_sqlite_encoding encoding;  /* of all text */
};

/* Where the header of a page is on it. */
static inline uint32_t gt_sqlite_page_header(uint32_t page) {
    return page == GT_SQLITE_SCHEMA_ROOT ? GT_SQLITE_FILE_HEADER : 0;
}

/* false: these are no bytes of an SQLite database's header, or values that none has. */
bool gt_sqlite_pages_file_init(struct gt_sqlite_file *file, const struct gt_source *source, struct gt_str head,
                               uint64_t size_bytes);

/* The leaf pages of a table in the order of its rows. */
struct gt_sqlite_tree {
    uint32_t *leaves;
    size_t leaf_count;
    bool is_table;    /* false: the root is no page of a rowid table; nothing else is filled then */
    uint64_t missing; /* pages after the end of a cut file */
    uint64_t damaged; /* other pages that could not be used, with all they lead to */
    uint64_t pages;   /* looked at on the way */
};

/* root: that of a table, or GT_SQLITE_SCHEMA_ROOT. */
enum gt_status gt_sqlite_pages_tree_init(struct gt_sqlite_tree *tree, const struct gt_sqlite_file *file, uint32_t root,
                                         struct gt_error *err);
void gt_sqlite_pages_tree_release(struct gt_sqlite_tree *tree);

typedef void gt_sqlite_pages_row_fn(void *context, const struct gt_sqlite_row *row);

/* Takes plain rows of a batch, beginning with the one of this number. Returns the number of the first that it did not
   take, which then comes as a single row. */
typedef size_t gt_sqlite_pages_batch_fn(void *context, const struct gt_sqlite_batch *batch, size_t from);

/* Who takes plain rows many at once. */
struct gt_sqlite_batches {
    struct gt_sqlite_plain plain;
    gt_sqlite_pages_batch_fn *take;
    void *context;
};

/* One for each thread. */
struct gt_sqlite_reader {
    const struct gt_sqlite_batches *batches; /* of the runs to come; NULL: all rows come one by one */
    const struct gt_sqlite_file *file;
    struct gt_sqlite_layouts *layouts;
    struct gt_sqlite_row row; /* the current one */
    struct gt_sqlite_plains *plains;
    struct gt_sqlite_batch batch;
    uint8_t *buffer;   /* pages as they are read */
    uint8_t *overflow; /* a record that is longer than its page has room for */
    size_t overflow_bytes;
    uint64_t overflow_pages;   /* followed in this run: every page belongs to one record, so there is a limit */
    uint64_t missing, damaged; /* pages and rows lost since init */
    uint64_t rows, pages;      /* looked at since init; libsqlite3 does not say which pages it reads */
};

bool gt_sqlite_pages_reader_init(struct gt_sqlite_reader *reader, const struct gt_sqlite_file *file);
void gt_sqlite_pages_reader_release(struct gt_sqlite_reader *reader);

/* Calls take for every row of the count leaves, in order. What a run gives depends on its leaves alone, not on runs
   before it. Damage is counted in the reader, not an error. */
enum gt_status gt_sqlite_pages_reader_run(struct gt_sqlite_reader *reader, const uint32_t *leaves, size_t count,
                                          const struct gt_sqlite_columns *columns, gt_sqlite_pages_row_fn *take,
                                          void *context, struct gt_error *err);

#endif
