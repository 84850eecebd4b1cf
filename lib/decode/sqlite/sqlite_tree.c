/* From a table's root page to the list of its leaf pages, reading only the pages between. Pages are reached once at
   most, so that damaged or hostile links end. */
#include "base/mem.h"
#include "decode/sqlite/sqlite_pages.h"

bool gt_sqlite_pages_file_init(struct gt_sqlite_file *file, const struct gt_source *source, struct gt_str head,
                               uint64_t size_bytes) {
    const uint8_t *bytes = (const uint8_t *)head.ptr;
    if (head.len < GT_SQLITE_FILE_HEADER || !gt_str_starts(head, (struct gt_str){"SQLite format 3", 16}))
        return false;
    uint32_t page_bytes = gt_sqlite_record_load16(bytes + 16) == 1 ? 65536 : gt_sqlite_record_load16(bytes + 16);
    if (page_bytes < 512 || (page_bytes & (page_bytes - 1)) != 0 || page_bytes - bytes[20] < 480)
        return false;
    uint64_t page_count = size_bytes / page_bytes;
    /* The count in the header is valid if the last writer knew of it. */
    uint32_t stated = gt_sqlite_record_load32(bytes + 24) == gt_sqlite_record_load32(bytes + 92)
                          ? gt_sqlite_record_load32(bytes + 28)
                          : 0;
    uint32_t encoding = gt_sqlite_record_load32(bytes + 56) & 3; /* 0: nothing was ever stored */
    *file = (struct gt_sqlite_file){
        .source = source,
        .page_bytes = page_bytes,
        .usable_bytes = page_bytes - bytes[20],
        .page_count = page_count < UINT32_MAX - 1 ? (uint32_t)page_count : UINT32_MAX - 1,
        .is_cut = stated ? stated > page_count : size_bytes % page_bytes != 0,
        .encoding = encoding ? (enum gt_sqlite_encoding)encoding : GT_SQLITE_UTF8,
    };
    return true;
}

/* A list of page numbers under construction. */
struct level {
    uint32_t *pages;
    size_t count, capacity;
};

struct walk {
    const struct gt_sqlite_file *file;
    struct gt_sqlite_tree *tree;
    uint64_t *seen; /* one bit for each page */
    uint8_t *page;
};

/* The first bytes of a page. */
static enum gt_status read_page(const struct walk *walk, uint32_t number, size_t size, bool *is_there,
                                struct gt_error *err) {
    size_t got;
    uint64_t offset = (uint64_t)(number - 1) * walk->file->page_bytes;
    enum gt_status status = gt_source_pread(walk->file->source, walk->page, size, offset, &got, err);
    *is_there = got == size;
    return status;
}

static bool append(struct level *level, uint32_t page) {
    if (level->count == level->capacity) {
        size_t capacity = level->capacity ? level->capacity * 2 : 64;
        uint32_t *grown = gt_mem_realloc(level->pages, capacity * sizeof *grown);
        if (!grown)
            return false;
        level->pages = grown;
        level->capacity = capacity;
    }
    level->pages[level->count++] = page;
    return true;
}

/* Takes a link to a page if it can be one. false: memory is short. */
static bool follow(struct walk *walk, struct level *below, uint32_t page) {
    if (page > walk->file->page_count && walk->file->is_cut) {
        walk->tree->missing++;
        return true;
    }
    if (page < 2 || page > walk->file->page_count || (walk->seen[page / 64] >> page % 64 & 1)) {
        walk->tree->damaged++;
        return true;
    }
    walk->seen[page / 64] |= UINT64_C(1) << page % 64;
    return append(below, page);
}

static bool follow_cells(struct walk *walk, uint32_t number, struct level *below) {
    const uint8_t *page = walk->page, *header = page + gt_sqlite_page_header(number);
    const uint8_t *pointers = header + GT_SQLITE_INTERIOR_HEADER;
    uint32_t usable = walk->file->usable_bytes, cell_count = gt_sqlite_record_load16(header + 3);
    uint32_t cells_from = (uint32_t)(pointers - page) + 2 * cell_count;
    if (header[0] != GT_SQLITE_INTERIOR || cells_from > usable) {
        walk->tree->damaged++;
        return true;
    }
    for (uint32_t i = 0; i < cell_count; i++) {
        uint32_t cell = gt_sqlite_record_load16(pointers + 2 * i);
        if (cell < cells_from || cell > usable - 4)
            walk->tree->damaged++;
        else if (!follow(walk, below, gt_sqlite_record_load32(page + cell)))
            return false;
    }
    return follow(walk, below, gt_sqlite_record_load32(header + 8));
}

/* The kind of the first page of a level that is of either kind; 0: there is none. All leaves are equally deep. */
static enum gt_status find_kind(const struct walk *walk, const struct level *level, uint8_t *kind,
                                struct gt_error *err) {
    *kind = 0;
    for (size_t i = 0; i < level->count && *kind == 0; i++) {
        uint32_t at = gt_sqlite_page_header(level->pages[i]);
        bool is_there;
        if (read_page(walk, level->pages[i], at + 1, &is_there, err) != GT_OK)
            return GT_ERR;
        if (is_there && (walk->page[at] == GT_SQLITE_INTERIOR || walk->page[at] == GT_SQLITE_LEAF))
            *kind = walk->page[at];
    }
    return GT_OK;
}

static enum gt_status expand(struct walk *walk, const struct level *level, struct level *below, struct gt_error *err) {
    for (size_t i = 0; i < level->count; i++) {
        bool is_there;
        if (read_page(walk, level->pages[i], walk->file->page_bytes, &is_there, err) != GT_OK)
            return GT_ERR;
        walk->tree->pages++;
        if (!is_there)
            walk->tree->missing++;
        else if (!follow_cells(walk, level->pages[i], below))
            return gt_fail_memory(err);
    }
    return GT_OK;
}

/* Goes down level by level; *level ends as the list of leaves. */
static enum gt_status descend(struct walk *walk, struct level *level, struct gt_error *err) {
    for (int depth = 0; depth < GT_SQLITE_LEVELS_MAX; depth++) {
        uint8_t kind;
        struct level below = {0};
        if (find_kind(walk, level, &kind, err) != GT_OK)
            return GT_ERR;
        walk->tree->is_table |= kind != 0;
        if (kind == GT_SQLITE_LEAF)
            return GT_OK;
        if (kind == 0)
            break;
        enum gt_status status = expand(walk, level, &below, err);
        gt_mem_free(level->pages);
        *level = below;
        if (status != GT_OK)
            return status;
    }
    if (walk->tree->is_table)
        walk->tree->damaged += level->count;
    level->count = 0;
    return GT_OK;
}

enum gt_status gt_sqlite_pages_tree_init(struct gt_sqlite_tree *tree, const struct gt_sqlite_file *file, uint32_t root,
                                         struct gt_error *err) {
    struct walk walk = {.file = file, .tree = tree};
    struct level level = {0};
    enum gt_status status = GT_ERR;
    *tree = (struct gt_sqlite_tree){0};
    if (root < GT_SQLITE_SCHEMA_ROOT || root > file->page_count) {
        tree->is_table = root > file->page_count && file->is_cut;
        tree->missing = tree->is_table;
        return GT_OK;
    }
    walk.seen = gt_mem_array((size_t)file->page_count / 64 + 1, sizeof *walk.seen);
    walk.page = gt_mem_alloc(file->page_bytes);
    if (!walk.seen || !walk.page || !append(&level, root)) {
        gt_fail_memory(err);
    } else {
        walk.seen[root / 64] |= UINT64_C(1) << root % 64;
        status = descend(&walk, &level, err);
    }
    if (status == GT_OK) {
        tree->leaves = level.pages;
        tree->leaf_count = level.count;
    } else {
        gt_mem_free(level.pages);
    }
    gt_mem_free(walk.seen);
    gt_mem_free(walk.page);
    return status;
}

void gt_sqlite_pages_tree_release(struct gt_sqlite_tree *tree) {
    gt_mem_free(tree->leaves);
    *tree = (struct gt_sqlite_tree){0};
}
