/* Makes blocks of a sparse column when one of their items is asked for to be changed. Several threads count first how
   many each of them makes, so that all know where to put theirs. */
#include "base/sparse.h"

#include <string.h>

#include "base/mem.h"
#include "base/threads.h"

bool gt_sparse_init(struct gt_sparse *sparse, size_t count) {
    size_t blocks = count / GT_SPARSE_BLOCK + 1;
    *sparse = (struct gt_sparse){0};
    if (blocks < UINT32_MAX)
        sparse->block_of = gt_mem_array(blocks, sizeof *sparse->block_of);
    return sparse->block_of;
}

void gt_sparse_release(struct gt_sparse *sparse) {
    gt_mem_free(sparse->block_of);
    gt_mem_free(sparse->blocks);
    *sparse = (struct gt_sparse){0};
}

int64_t *gt_sparse_at(struct gt_sparse *sparse, size_t item) {
    uint32_t *block = &sparse->block_of[item / GT_SPARSE_BLOCK];
    if (!*block) {
        int64_t(*blocks)[GT_SPARSE_BLOCK] =
            gt_mem_room(sparse->blocks, sparse->block_count, &sparse->capacity, sizeof *blocks);
        if (!blocks)
            return NULL;
        sparse->blocks = blocks;
        memset(blocks[sparse->block_count], 0, sizeof *blocks);
        *block = (uint32_t)++sparse->block_count;
    }
    return &sparse->blocks[*block - 1][item % GT_SPARSE_BLOCK];
}

/* ---- on several threads ---- */

/* What no block is made of is never written, and given back when the column is closed. */
bool gt_sparse_open(struct gt_sparse *sparse, size_t count) {
    size_t capacity = count / GT_SPARSE_BLOCK + 1;
    void *blocks = gt_mem_realloc(sparse->blocks, capacity * sizeof *sparse->blocks);
    if (!blocks)
        return false;
    sparse->blocks = blocks;
    sparse->capacity = capacity;
    return true;
}

int64_t *gt_sparse_at_open(struct gt_sparse *sparse, size_t item) {
    uint32_t *block = &sparse->block_of[item / GT_SPARSE_BLOCK];
    if (!*block) {
        size_t made = __atomic_fetch_add(&sparse->block_count, 1, __ATOMIC_RELAXED);
        memset(sparse->blocks[made], 0, sizeof *sparse->blocks);
        *block = (uint32_t)made + 1;
    }
    return &sparse->blocks[*block - 1][item % GT_SPARSE_BLOCK];
}

void gt_sparse_close(struct gt_sparse *sparse) {
    void *kept = gt_mem_realloc(sparse->blocks, sparse->block_count * sizeof *sparse->blocks);
    sparse->capacity = kept ? sparse->block_count : sparse->capacity;
    sparse->blocks = kept ? kept : sparse->blocks;
}

/* ---- many amounts ---- */

struct slice {
    size_t begin, end;  /* amounts; no two slices share a block */
    size_t first, made; /* of its own blocks */
};

struct adding {
    struct gt_sparse *sparse;
    gt_sparse_ask *ask;
    const void *context;
    struct slice slices[GT_THREADS_MOST];
};

static size_t block_at(const struct adding *it, size_t index) {
    struct gt_sparse_amount amount;
    it->ask(it->context, index, index + 1, &amount);
    return amount.item / GT_SPARSE_BLOCK;
}

static void make_slices(struct adding *it, size_t count, size_t slices) {
    for (size_t i = 0; i < slices; i++) {
        size_t begin = gt_threads_slice_begin(count, slices, i), before = i ? it->slices[i - 1].begin : 0;
        begin = begin > before ? begin : before;
        while (begin > 0 && begin < count && block_at(it, begin) == block_at(it, begin - 1))
            begin++;
        it->slices[i].begin = begin;
        if (i)
            it->slices[i - 1].end = begin;
    }
    it->slices[slices - 1].end = count;
}

static size_t ask(const struct adding *it, size_t begin, size_t end, struct gt_sparse_amount *amounts) {
    size_t until = end - begin < GT_SPARSE_ASKED ? end : begin + GT_SPARSE_ASKED;
    it->ask(it->context, begin, until, amounts);
    return until;
}

static void count_blocks(void *context, size_t index) {
    struct adding *it = context;
    const uint32_t *block_of = it->sparse->block_of;
    struct gt_sparse_amount amounts[GT_SPARSE_ASKED];
    size_t made = 0, last = SIZE_MAX;
    for (size_t i = it->slices[index].begin, end; i < it->slices[index].end; i = end) {
        end = ask(it, i, it->slices[index].end, amounts);
        for (size_t k = 0; k < end - i; k++) {
            size_t block = amounts[k].item / GT_SPARSE_BLOCK;
            if (amounts[k].amount == 0 || block == last)
                continue;
            made += block_of[block] == 0;
            last = block;
        }
    }
    it->slices[index].made = made;
}

static void add_slice(void *context, size_t index) {
    const struct adding *it = context;
    struct gt_sparse *sparse = it->sparse;
    struct gt_sparse_amount amounts[GT_SPARSE_ASKED];
    size_t next = it->slices[index].first;
    for (size_t i = it->slices[index].begin, end; i < it->slices[index].end; i = end) {
        end = ask(it, i, it->slices[index].end, amounts);
        for (size_t k = 0; k < end - i; k++) {
            uint32_t *block = &sparse->block_of[amounts[k].item / GT_SPARSE_BLOCK];
            if (amounts[k].amount == 0)
                continue;
            if (!*block) {
                memset(sparse->blocks[next], 0, sizeof *sparse->blocks);
                *block = (uint32_t)++next;
            }
            sparse->blocks[*block - 1][amounts[k].item % GT_SPARSE_BLOCK] += amounts[k].amount;
        }
    }
}

/* Room for the blocks that were counted. false: memory was short. */
static bool make_room(struct adding *it, size_t slices) {
    struct gt_sparse *sparse = it->sparse;
    size_t count = sparse->block_count;
    for (size_t i = 0; i < slices; i++) {
        it->slices[i].first = count;
        count += it->slices[i].made;
    }
    if (count > sparse->capacity) {
        void *blocks = gt_mem_realloc(sparse->blocks, count * sizeof *sparse->blocks);
        if (!blocks)
            return false;
        sparse->blocks = blocks;
        sparse->capacity = count;
    }
    sparse->block_count = count;
    return true;
}

static bool add_one_by_one(const struct adding *it, size_t count) {
    struct gt_sparse_amount amounts[GT_SPARSE_ASKED];
    for (size_t i = 0, end; i < count; i = end) {
        end = ask(it, i, count, amounts);
        for (size_t k = 0; k < end - i; k++) {
            int64_t *place = amounts[k].amount ? gt_sparse_at(it->sparse, amounts[k].item) : NULL;
            if (place)
                *place += amounts[k].amount;
            else if (amounts[k].amount)
                return false;
        }
    }
    return true;
}

bool gt_sparse_add(struct gt_sparse *sparse, size_t count, size_t threads, gt_sparse_ask *asked, const void *context) {
    struct adding it = {.sparse = sparse, .ask = asked, .context = context};
    size_t slices = gt_threads_slices(threads, count, 0);
    if (slices == 1)
        return add_one_by_one(&it, count);
    make_slices(&it, count, slices);
    gt_threads_parts(slices, slices, count_blocks, &it);
    if (!make_room(&it, slices))
        return false;
    gt_threads_parts(slices, slices, add_slice, &it);
    return true;
}
