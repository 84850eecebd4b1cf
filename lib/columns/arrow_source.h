/* What the parts of an Arrow stream share: the columns, their dictionaries, and how many parts are still in use. */
#ifndef GT_COLUMNS_ARROW_SOURCE_H
#define GT_COLUMNS_ARROW_SOURCE_H

#include <stdatomic.h>

#include "base/arena.h"
#include "columns/arrow.h"

/* The texts of a column as Arrow has them: all bytes in a row, and where each text begins. */
struct gt_arrow_words {
    const struct gt_batch_texts *from; /* several columns may have the same */
    size_t count;
    void *offsets; /* count + 1, int32_t, or int64_t where is_large */
    char *bytes;
    bool is_large; /* more than 2^31 bytes */
};

struct gt_arrow_source {
    atomic_size_t users;
    struct gt_arena arena; /* texts and lists below */
    const char *key;
    char *about;      /* metadata of the table, as Arrow encodes them */
    char **about_one; /* by column; NULL: none */
    struct gt_batch batch;
    const struct gt_arrow_words **words; /* by column; NULL: no texts */
    struct gt_arrow_words *dictionaries;
    size_t dictionary_count;
    struct gt_arrow_owner owner;
};

/* One user; takes the owner over, also on failure. NULL: memory was short. */
struct gt_arrow_source *gt_arrow_source_new(const struct gt_arrow_table *table, const struct gt_batch *batch,
                                            struct gt_arrow_owner owner);
struct gt_arrow_source *gt_arrow_source_hold(struct gt_arrow_source *source); /* one user more */
void gt_arrow_source_let_go(struct gt_arrow_source *source);

#endif
