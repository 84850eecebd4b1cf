/* A column of amounts of which most are 0: memory for those that are not, in blocks of a few neighbours. */
#ifndef GT_BASE_SPARSE_H
#define GT_BASE_SPARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GT_SPARSE_BLOCK = 8 };

struct gt_sparse {
    uint32_t *block_of;                 /* by GT_SPARSE_BLOCK items: 1 + their block; 0: all are 0 */
    int64_t (*blocks)[GT_SPARSE_BLOCK]; /* of neighbours */
    size_t block_count, capacity;
};

/* All 0. false: memory was short, or there are too many. Release in any case. */
bool gt_sparse_init(struct gt_sparse *sparse, size_t count);
void gt_sparse_release(struct gt_sparse *sparse);

static inline int64_t gt_sparse_get(const struct gt_sparse *sparse, size_t item) {
    uint32_t block = sparse->block_of[item / GT_SPARSE_BLOCK];
    return block ? sparse->blocks[block - 1][item % GT_SPARSE_BLOCK] : 0;
}

/* Whether an item and all others of its block are 0, without a look at them. */
static inline bool gt_sparse_is_empty(const struct gt_sparse *sparse, size_t item) {
    return sparse->block_of[item / GT_SPARSE_BLOCK] == 0;
}

/* To be changed, before another one is asked for. NULL: memory was short. */
int64_t *gt_sparse_at(struct gt_sparse *sparse, size_t item);

/* For several threads at once, none of which asks for an item of a block that another one makes: opened for so many
   items, there is room for all blocks until it is closed. false: memory was short. */
bool gt_sparse_open(struct gt_sparse *sparse, size_t count);
int64_t *gt_sparse_at_open(struct gt_sparse *sparse, size_t item);
void gt_sparse_close(struct gt_sparse *sparse);

/* Amounts of so many items, with numbers that ascend; 0: there is nothing to add. */
struct gt_sparse_amount {
    size_t item;
    int64_t amount;
};
enum { GT_SPARSE_ASKED = 256 };
/* Those from begin to before end, GT_SPARSE_ASKED at most. */
typedef void gt_sparse_ask(const void *context, size_t begin, size_t end, struct gt_sparse_amount *amounts);

/* Adds so many amounts, on several threads. false: memory was short. */
bool gt_sparse_add(struct gt_sparse *sparse, size_t count, size_t threads, gt_sparse_ask *ask, const void *context);

#endif
