/* The table of labelling passes and the life of a label set: in comes a sealed store, out goes all that is known next
   to it. */
#include "base/mem.h"
#include "base/threads.h"
#include "label/label.h"

/* The longest first. */
#define PASSES(PASS)                                                                                                   \
    PASS(correlate)                                                                                                    \
    PASS(trees) PASS(steps) PASS(classify) PASS(attribute) PASS(comms) PASS(memory)

#define DECLARE(pass) extern const struct gt_label_pass gt_label_pass_##pass;
PASSES(DECLARE)

#define LIST(pass) &gt_label_pass_##pass,
const struct gt_label_pass *const gt_label_passes[] = {PASSES(LIST)};
const size_t gt_label_pass_count = sizeof gt_label_passes / sizeof *gt_label_passes;

struct round {
    const struct gt_store *store;
    struct gt_labels *labels;
    struct gt_label_scratch *scratch;
    const struct gt_label_pass *passes[GT_PASS_COUNT];
    size_t count;
    enum gt_status status[GT_PASS_COUNT];
    struct gt_error err[GT_PASS_COUNT];
};

static void run_pass(void *context, size_t index) {
    struct round *round = context;
    round->status[index] = round->passes[index]->run(round->store, round->labels, round->scratch, &round->err[index]);
}

static enum gt_status run_round(enum gt_label_round which, const struct gt_store *store, struct gt_labels *labels,
                                struct gt_label_scratch *scratch, size_t threads, struct gt_error *err) {
    struct round round = {.store = store, .labels = labels, .scratch = scratch};
    for (size_t i = 0; i < gt_label_pass_count; i++)
        if (gt_label_passes[i]->round == which)
            round.passes[round.count++] = gt_label_passes[i];
    gt_threads_deal(threads, round.count, run_pass, &round);
    for (size_t i = 0; i < round.count; i++)
        if (round.status[i] != GT_OK) {
            *err = round.err[i];
            return round.status[i];
        }
    return GT_OK;
}

enum gt_status gt_label_new_by_rules(const struct gt_store *store, const struct gt_rules *rules, size_t threads,
                                     struct gt_labels **out, struct gt_error *err) {
    *out = NULL;
    struct gt_labels *labels = gt_mem_array(1, sizeof *labels);
    if (!labels)
        return gt_fail_memory(err);
    labels->rules = rules;
    struct gt_label_scratch scratch = {.threads = threads};
    enum gt_status status = run_round(GT_LABEL_FIRST, store, labels, &scratch, threads, err);
    if (status == GT_OK)
        status = run_round(GT_LABEL_SECOND, store, labels, &scratch, threads, err);
    gt_arena_release(&scratch.range_arena);
    gt_arena_release(&scratch.step_arena);
    if (status == GT_OK)
        *out = labels;
    else
        gt_label_free(labels);
    return status;
}

enum gt_status gt_label_new(const struct gt_store *store, struct gt_labels **out, struct gt_error *err) {
    return gt_label_new_by_rules(store, NULL, 1, out, err);
}

void gt_label_free(struct gt_labels *labels) {
    if (!labels)
        return;
    gt_strtab_release(&labels->short_names);
    for (size_t i = 0; i < GT_PASS_COUNT; i++)
        gt_arena_release(&labels->arenas[i]);
    gt_mem_free(labels);
}
