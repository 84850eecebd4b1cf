/* Fuzzes the analyses on a made store. The first byte picks the analysis, the second a selection: each gives a report
   that JSON can hold, or an error that says why. */
#include "fuzz.h"
#include "internal.h"
#include "label/label.h"
#include "made_store.h"
#include "measure/analysis.h"
#include "measure/options.h"
#include "whole_store.h"
#include "write/writer.h"

static void select_part(struct gputime_selection *selection, uint8_t choice) {
    static const struct gputime_range zero = {0, 0}, step = {3, 4};
    *selection = (struct gputime_selection)GPUTIME_SELECTION_INIT;
    if (choice & 1)
        selection->from = (struct gputime_time){GPUTIME_TIME_SHARE, 0, 0.25, "25%"};
    if (choice & 2)
        selection->to = (struct gputime_time){GPUTIME_TIME_NS, (int64_t)choice * 1000, 0, "some"};
    if (choice & 4) {
        selection->streams = &zero;
        selection->stream_count = 1;
    }
    if (choice & 8) {
        selection->steps = &step;
        selection->step_count = 1;
    }
    if (choice & 16)
        selection->name = "a";
}

static void write_json(const struct gt_report *report) {
    const struct gputime_write_options options = GPUTIME_WRITE_OPTIONS_INIT;
    struct gt_out *out = NULL;
    fuzz_expect(gt_out_open_memory(&out, NULL) == GT_OK);
    fuzz_expect(gt_write_json(report, &options, out, NULL) == GT_OK && gt_out_bytes(out).len > 0);
    gt_out_close(out);
}

static void analyse(const struct gt_store *store, const struct gt_labels *labels, const char *key, uint8_t choice) {
    struct gt_report *report = gt_report_new("fuzz", 1);
    struct gt_request request = {.threads = 1, .facts = GT_FACTS_ALL};
    struct gt_view *view = NULL;
    struct gt_error err = {0};
    fuzz_expect(report != NULL);
    select_part(&request.selection, choice);
    fuzz_expect(gt_options_complete(NULL, 0, &report->arena, &request.options, &err) == GT_OK);
    enum gt_status status = gt_view_new(store, labels, &request, &view, &err);
    if (status == GT_OK)
        status = gt_internal_analyse(view, &key, 1, &report->sections[0], &err);
    if (status == GT_OK) {
        report->sections[0].input.format = "made";
        report->roles = &gt_analysis_roles;
        fuzz_expect(gt_report_status(report, &err) == GT_OK);
        write_json(report);
    } else {
        fuzz_expect(err.message[0]);
    }
    gt_view_free(view);
    gt_report_free(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2)
        return 0;
    struct gt_store *store = fuzz_made_store(data + 2, size - 2, 1);
    struct gt_labels *labels = NULL;
    fuzz_expect(store && gt_label_new(store, &labels, NULL) == GT_OK);
    analyse(store, labels, gt_analyses[data[0] % gt_analysis_count].key, data[1]);
    gt_label_free(labels);
    gt_store_free(store);
    return 0;
}
