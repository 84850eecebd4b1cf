/* Fuzzes what reads one limit: the text is a limit, or an error that says why. */
#include "measure/analysis.h"
#include "text_input.h"
#include "verdict/limit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    struct gt_limit limit;
    struct gt_error err = {0};
    if (!text)
        return 0;
    enum gt_status status = gt_limit_parse(text, &gt_analysis_roles, &limit, &err);
    fuzz_must_say(status, &err);
    if (status == GT_OK) {
        char written[GT_NUM_MAX];
        fuzz_must(limit.measure || limit.kind.len);
        fuzz_must(gt_limit_holds(&limit, limit.bound) == limit.takes_equal);
        gt_limit_format(written, limit.unit, limit.bound);
        gt_limit_name_matches(limit.pattern, limit.text);
        gt_limit_table(text, &gt_analysis_roles);
    }
    free(text);
    return 0;
}
