/* Fuzzes labelling on a made store: launch calls, steps, categories, short names and collectives of every op. */
#include "fuzz.h"
#include "label/label.h"
#include "made_store.h"
#include "whole_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct gt_store *store = fuzz_made_store(data, size, 1);
    struct gt_labels *labels = NULL;
    struct gt_error err = {0};
    fuzz_expect(store && gt_label_new(store, &labels, &err) == GT_OK);
    for (size_t i = 0; i < store->ops.count; i++)
        fuzz_expect(labels->op_category[i] < labels->category_count);
    gt_label_free(labels);
    gt_store_free(store);
    return 0;
}
