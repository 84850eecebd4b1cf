/* Fuzzes files of rules and class maps alone: each is an error that says why, or gives every name a category. */
#include "in_memory.h"
#include "label/rules.h"
#include "text_input.h"

static void ask(const struct gt_rules_request *request) {
    static const char *const names[] = {"void flash::flash_fwd_kernel<int>(int)", "nvjet_gemm", "ncclAllReduce", ""};
    struct gt_rules *rules = NULL;
    struct gt_error err = {0};
    fuzz_must_say(gt_rules_new(request, &rules, &err), &err);
    for (size_t i = 0; rules && i < sizeof names / sizeof *names; i++)
        fuzz_must(gt_rules_ask(rules, gt_str_of(names[i])).category);
    gt_rules_free(rules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > FUZZ_TEXT_MAX || (size && (data[0] == 0x1f || data[0] == 0x28 || data[0] == 0xfd)))
        return 0;
    const char *path = fuzz_memory_file(0, data, size);
    ask(&(struct gt_rules_request){.path = path});
    ask(&(struct gt_rules_request){.map = path});
    return 0;
}
