/* Joins pairs of lists: what each takes is not known beforehand, so threads take one after the other. */
#include "ranks/rank_joins.h"

#include "base/threads.h"

struct joins {
    struct gt_rank_join_pair *pairs;
    atomic_bool failed;
};

static void join_one(void *context, size_t index) {
    struct joins *joins = context;
    struct gt_rank_join_pair *pair = &joins->pairs[index];
    if (!gt_rank_join(&pair->a, &pair->b, pair->are_messages, pair->partner, &pair->is_guessed))
        atomic_store(&joins->failed, true);
}

bool gt_rank_joins_run_here(struct gt_rank_join_pair *pairs, size_t count, int64_t threads) {
    enum { WORTH_THREADS = 10000 };
    struct joins joins = {.pairs = pairs};
    size_t items = 0;
    for (size_t i = 0; i < count; i++)
        items += pairs[i].b.count;
    atomic_init(&joins.failed, false);
    gt_threads_deal(items < WORTH_THREADS ? 1 : gt_threads_count(threads), count, join_one, &joins);
    return !atomic_load(&joins.failed);
}

bool gt_rank_joins_run(struct gt_rank_join_pair *pairs, size_t count, const struct gt_rank_job_options *options) {
    return options->join ? options->join(options->join_context, pairs, count, options->threads)
                         : gt_rank_joins_run_here(pairs, count, options->threads);
}
