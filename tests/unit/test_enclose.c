/* The search for spans around spans against a plain one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "label/enclose.h"
#include "random.h"

enum { MOST = 60 };

static void keep(void *context, uint32_t inner, uint32_t outer) {
    ((uint32_t *)context)[inner] = outer;
}

static uint32_t plain_innermost(const struct gt_enclose_span *outer, size_t count, const struct gt_enclose_span *span) {
    const struct gt_enclose_span *best = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct gt_enclose_span *one = &outer[i];
        if (one->track != span->track || one->start_ns > span->start_ns || one->end_ns < span->end_ns)
            continue;
        if (!best || one->start_ns > best->start_ns ||
            (one->start_ns == best->start_ns &&
             (one->end_ns < best->end_ns || (one->end_ns == best->end_ns && one->id > best->id))))
            best = one;
    }
    return best ? best->id : UINT32_MAX;
}

static void fill(struct gt_enclose_span *spans, size_t count, uint64_t *random, int64_t longest) {
    for (uint32_t i = 0; i < count; i++) {
        int64_t start = random_between(random, 0, 40);
        spans[i] = (struct gt_enclose_span){start, start + random_between(random, 0, longest),
                                            (uint32_t)random_below(random, 3), i};
    }
}

static void the_innermost_span_is_found_however_they_overlap(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed < 500; seed++) {
        uint64_t random = seed;
        struct gt_enclose_span outer[MOST], inner[MOST];
        size_t outer_count = (size_t)random_below(&random, MOST), inner_count = (size_t)random_below(&random, MOST);
        uint32_t found[MOST], expected[MOST];
        fill(outer, outer_count, &random, 30);
        fill(inner, inner_count, &random, 6);
        memset(found, 0xFF, sizeof found);
        for (size_t i = 0; i < inner_count; i++)
            expected[i] = plain_innermost(outer, outer_count, &inner[i]);
        assert_true(gt_enclose(outer, outer_count, inner, inner_count, keep, found));
        for (size_t i = 0; i < inner_count; i++)
            assert_int_equal(found[i], expected[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_span_is_found_however_they_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
