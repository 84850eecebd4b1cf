/* Names that are cut to a width: different ones look different, and no name is wider than allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/out.h"
#include "null_row.h"
#include "write/name_cuts.h"

enum { MOST_NAMES = 8, LINE_BYTES = 512 };

static const struct gt_report_column columns[] = {{"name", "Name", GT_UNIT_NONE, NULL, GT_COLUMN_NAME}};

/* What is shown of each name, NULL for none. */
static void cut_names(const char *const names[], size_t count, size_t width, bool utf8,
                      char lines[MOST_NAMES][LINE_BYTES]) {
    struct gt_error err = {0};
    struct gt_report *report = gt_report_new("test", 1);
    struct gt_table *table = gt_section_table(&report->sections[0], "t", "T", columns, 1);
    for (size_t i = 0; i < count; i++)
        *null_row(table) = names[i] ? gt_cell_text(gt_str_of(names[i])) : gt_cell_null();
    struct gt_cut *cuts = gt_name_cuts_new(table, 0, count, width, utf8);
    assert_non_null(cuts);
    for (size_t i = 0; i < count; i++) {
        struct gt_out *out;
        assert_int_equal(gt_out_open_memory(&out, &err), GT_OK);
        size_t taken = gt_glyph_cut_put(out, &cuts[i], utf8);
        struct gt_str text = gt_out_bytes(out);
        assert_true(taken <= width && text.len < LINE_BYTES);
        assert_int_equal(taken, gt_glyph_text_width(text, utf8));
        snprintf(lines[i], LINE_BYTES, "%.*s", (int)text.len, text.len ? text.ptr : "");
        gt_out_close(out);
    }
    gt_mem_free(cuts);
    gt_report_free(report);
}

static void assert_cuts(const char *const names[], const char *const expected[], size_t count, size_t width) {
    char lines[MOST_NAMES][LINE_BYTES];
    cut_names(names, count, width, true, lines);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(lines[i], expected[i]);
}

static void names_that_differ_at_an_end_stay_as_they_are(void **state) {
    (void)state;
    assert_cuts((const char *const[]){"abcdefghij", "abcdefghik", NULL, "short"},
                (const char *const[]){"abc…hij", "abc…hik", "", "short"}, 4, 7);
}

static void names_that_look_alike_are_cut_where_they_differ(void **state) {
    (void)state;
    assert_cuts(
        (const char *const[]){"cudnn_generated_sdpa_bprop_wgmma_f16_kernel0_0",
                              "cudnn_generated_sdpa_fprop_wgmma_f16_kernel0_0",
                              "cudnn_generated_sdpa_fprop_wgmma_f16_kernel0_0", "another_name"},
        (const char *const[]){"cudnn_g…bprop_wgmma…", "cudnn_g…fprop_wgmma…", "cudnn_g…fprop_wgmma…", "another_name"},
        4, 20);
    assert_cuts((const char *const[]){"void at::native::elementwise_kernel<128, 4, at::AddFunctor<float>>(int)",
                                      "void at::native::elementwise_kernel<128, 4, at::MulFunctor<float>>(int)"},
                (const char *const[]){"…elementw…AddFunctor<f…", "…elementw…MulFunctor<f…"}, 2, 23);
    /* What follows fits: more of the beginning is shown. */
    assert_cuts((const char *const[]){"a_very_long_name_of_a_kernel_12_of_so_very_many",
                                      "a_very_long_name_of_a_kernel_34_of_so_very_many"},
                (const char *const[]){"a_very_long_n…12_of_so_very_many", "a_very_long_n…34_of_so_very_many"}, 2, 33);
}

/* What is in front of the kernel's name goes first, however it is written. */
static void the_own_name_is_shown(void **state) {
    (void)state;
    assert_cuts((const char *const[]){"std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::BFloat16>::exists, "
                                      "void>::type vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(float*, long)",
                                      "void f<(ns::A<int>::value > 3), ns::B<int> >(int, int, int, int, int)",
                                      "_ZN2at6native29vectorized_elementwise_kernelILi4EEEvi"},
                (const char *const[]){"…fused_add_rms_norm_kernel<c10…", "…f<(ns::A<int>::value > 3), ns…",
                                      "…vectorized_elementwise_kernel…"},
                3, 31);
}

static void any_bytes_fit_any_width(void **state) {
    (void)state;
    const char *const names[] = {
        "\xe6\xa0\xb8\xe5\xbf\x83\xe6\xa0\xb8\xe5\xbf\x83\xe6\xa0\xb8\x31\xe6\xa0\xb8\xe5\xbf\x83",
        "\xe6\xa0\xb8\xe5\xbf\x83\xe6\xa0\xb8\xe5\xbf\x83\xe6\xa0\xb9\x32\xe6\xa0\xb8\xe5\xbf\x83",
        "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81 x y z \xff\xfe a e\xcc\x81\xcc\x81\xcc\x81 q",
        "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81 x y z \xff\xff a e\xcc\x81\xcc\x81\xcc\x81 q",
        "::<((({{",
        "void ::f<a>(b)\x1b[31m, c, d, e",
        "void ::f<a>(b)\x1b[32m, c, d, e",
        ""};
    char lines[MOST_NAMES][LINE_BYTES];
    for (size_t width = 1; width < 40; width++) {
        cut_names(names, MOST_NAMES, width, true, lines);
        cut_names(names, MOST_NAMES, width, false, lines);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_differ_at_an_end_stay_as_they_are),
        cmocka_unit_test(names_that_look_alike_are_cut_where_they_differ),
        cmocka_unit_test(the_own_name_is_shown),
        cmocka_unit_test(any_bytes_fit_any_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
