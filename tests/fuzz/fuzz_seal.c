/* Fuzzes sealing: rows in one builder and the same rows dealt to three make the same store, and it is whole. */
#include "fuzz.h"
#include "made_store.h"
#include "whole_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct gt_store *one = fuzz_made_store(data, size, 1), *three = fuzz_made_store(data, size, 3);
    fuzz_expect(one && three);
    fuzz_same_store(three, one);
    fuzz_whole_store(one);
    gt_store_free(three);
    gt_store_free(one);
    return 0;
}
