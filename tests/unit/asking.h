/* Requests for tests, written as people write options; what the library reads is made from them. */
#ifndef TESTS_UNIT_ASKING_H
#define TESTS_UNIT_ASKING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "measure/options.h"
#include "report/report.h"

struct asking {
    const char *from, *to, *step, *device, *stream, *process, *name, *category;
    int64_t threads;
    enum gputime_names names;
    const struct gt_shape *shapes;
    size_t shape_count;
    bool has_linear_bins, has_bounds; /* of the histogram */
    int64_t bin_count, hist_min_ns, hist_max_ns;
};

enum { ASKED_MAX = 8 };

/* A request and what it points to. */
struct asked {
    struct gt_request request;
    struct gputime_range ranges[4][ASKED_MAX];
    const char *categories[ASKED_MAX];
    char category_text[128];
    struct gputime_option options[GT_OPTION_COUNT];
};

static inline void ask_time(const char *text, struct gputime_time *time) {
    if (text)
        assert_int_equal(gputime_time_parse(text, time, NULL), GPUTIME_OK);
}

static inline void ask_ranges(const char *text, struct gputime_range ranges[ASKED_MAX],
                              const struct gputime_range **list, size_t *count) {
    if (!text)
        return;
    assert_int_equal(gputime_ranges_parse(text, ranges, ASKED_MAX, count, NULL), GPUTIME_OK);
    assert_true(*count <= ASKED_MAX);
    *list = ranges;
}

static inline void ask_categories(const char *text, struct asked *asked) {
    if (!text)
        return;
    snprintf(asked->category_text, sizeof asked->category_text, "%s", text);
    for (char *rest = asked->category_text, *key; (key = strsep(&rest, ","));)
        asked->categories[asked->request.selection.category_count++] = key;
    asked->request.selection.categories = asked->categories;
}

static inline const struct gt_request *ask(const struct asking *asking, struct asked *asked) {
    *asked = (struct asked){.request = {.threads = asking->threads,
                                        .names = asking->names,
                                        .shapes = asking->shapes,
                                        .shape_count = asking->shape_count,
                                        .facts = GT_FACTS_ALL,
                                        .selection = GPUTIME_SELECTION_INIT}};
    struct gputime_selection *selection = &asked->request.selection;
    ask_time(asking->from, &selection->from);
    ask_time(asking->to, &selection->to);
    ask_ranges(asking->step, asked->ranges[0], &selection->steps, &selection->step_count);
    ask_ranges(asking->device, asked->ranges[1], &selection->devices, &selection->device_count);
    ask_ranges(asking->stream, asked->ranges[2], &selection->streams, &selection->stream_count);
    ask_ranges(asking->process, asked->ranges[3], &selection->processes, &selection->process_count);
    ask_categories(asking->category, asked);
    selection->name = asking->name;
    for (size_t i = 0; i < GT_OPTION_COUNT; i++)
        asked->options[i] = gt_option_infos[i].automatic;
    if (asking->has_linear_bins)
        asked->options[GT_OPTION_bins].text = "linear";
    if (asking->bin_count)
        asked->options[GT_OPTION_bin_count].integer = asking->bin_count;
    if (asking->has_bounds) {
        asked->options[GT_OPTION_hist_min_ns].integer = asking->hist_min_ns;
        asked->options[GT_OPTION_hist_max_ns].integer = asking->hist_max_ns;
    }
    asked->request.options = asked->options;
    return &asked->request;
}

#endif
