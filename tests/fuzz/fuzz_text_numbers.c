/* Fuzzes what reads numbers, durations, times and lists of ranges. What is read and written again is the same. */
#include <math.h>

#include "base/num.h"
#include "text_input.h"

enum { RANGES_MAX = 16 };

static void read_numbers(struct gt_str text) {
    char written[GT_NUM_MAX];
    int64_t whole, same;
    uint64_t plain;
    double real, again;
    if (gt_num_parse_int(text, &whole)) {
        size_t size = gt_num_format_int(written, whole);
        fuzz_must(gt_num_parse_int((struct gt_str){written, size}, &same) && same == whole);
        fuzz_must(gt_num_format_grouped(written, whole) < GT_NUM_MAX);
        if (text.ptr[0] != '+') /* decimals are those of JSON */
            fuzz_must(gt_num_parse_decimal(text, 0, &same) && same == whole);
    }
    if (gt_num_parse_uint(text, &plain) && plain <= INT64_MAX)
        fuzz_must(gt_num_parse_int(text, &whole) && whole == (int64_t)plain);
    if (gt_num_parse_real(text, &real) && isfinite(real)) {
        size_t size = gt_num_format_real(written, real);
        fuzz_must(gt_num_parse_real((struct gt_str){written, size}, &again) && again == real);
        for (int decimals = 0; decimals <= 30; decimals += 10)
            fuzz_must(gt_num_format_fixed(written, real, decimals) < GT_NUM_MAX);
        fuzz_must(gt_num_format_duration(written, real) < GT_NUM_MAX &&
                  gt_num_format_bytes(written, real) < GT_NUM_MAX);
    }
}

static void read_scaled(struct gt_str text) {
    char written[GT_NUM_MAX];
    int64_t whole, same;
    for (int scale = -3; scale <= 9; scale += 3)
        gt_num_parse_decimal(text, scale, &whole);
    if (gt_num_parse_decimal(text, 3, &whole)) {
        size_t size = gt_num_format_scaled(written, whole, 3, 3);
        fuzz_must(gt_num_parse_decimal((struct gt_str){written, size}, 3, &same) && same == whole);
    }
    gt_num_parse_duration(text, &whole);
}

static void read_public(const char *text) {
    struct gputime_time time;
    struct gputime_range ranges[RANGES_MAX];
    struct gputime_error err = {.status = GPUTIME_OK};
    size_t count = 0;
    if (gputime_time_parse(text, &time, &err) == GPUTIME_OK)
        fuzz_must(time.text == text && (time.kind == GPUTIME_TIME_NS || time.kind == GPUTIME_TIME_SHARE));
    else
        fuzz_must(err.message[0]);
    if (gputime_ranges_parse(text, ranges, RANGES_MAX, &count, &err) == GPUTIME_OK) {
        for (size_t i = 0; i < count && i < RANGES_MAX; i++)
            fuzz_must(ranges[i].first <= ranges[i].last);
        fuzz_must(gputime_ranges_parse(text, NULL, 0, &count, &err) == GPUTIME_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    if (text) {
        read_numbers((struct gt_str){text, size});
        read_scaled((struct gt_str){text, size});
        read_public(text);
    }
    free(text);
    return 0;
}
