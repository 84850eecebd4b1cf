/* Exports events as a Perfetto trace: one file with all inputs, those of a job of several ranks on one clock. */
#include "base/mem.h"
#include "base/out.h"
#include "export/exporter.h"
#include "export/perfetto.h"
#include "ranks/rank_clocks.h"
#include "ranks/rank_reduce.h"

/* ---- clocks ---- */

/* Summaries of all inputs, as the analysis of a job wants them. */
struct summing {
    struct gt_rank_summary **all; /* pointers to those below */
    size_t count;
    struct gt_rank_summary **of_input;
    size_t *counts;
    size_t input_count;
};

static void free_summaries(struct summing *it) {
    for (size_t i = 0; it->of_input && it->counts && i < it->input_count; i++)
        gt_rank_reduce_free(it->of_input[i], it->counts[i]);
    gt_mem_free(it->of_input);
    gt_mem_free(it->counts);
    gt_mem_free(it->all);
}

static enum gt_status reduce_inputs(struct summing *it, const struct gt_export *export, struct gt_error *err) {
    enum gt_status status = GT_OK;
    it->input_count = export->input_count;
    it->of_input = gt_mem_array(it->input_count, sizeof *it->of_input);
    it->counts = gt_mem_array(it->input_count, sizeof *it->counts);
    if (!it->of_input || !it->counts)
        return gt_fail_memory(err);
    for (size_t i = 0; i < it->input_count && status == GT_OK; i++) {
        const struct gt_export_input *input = &export->inputs[i];
        const struct gt_rank_reduce_input reduced = {.store = input->view->store,
                                                     .labels = input->view->labels,
                                                     .path = input->real_path,
                                                     .name = input->label,
                                                     .number = (uint32_t)i,
                                                     .threads = (int64_t) export->threads};
        status = gt_rank_reduce(&reduced, &it->of_input[i], &it->counts[i], err);
        it->count += status == GT_OK ? it->counts[i] : 0;
    }
    it->all = gt_mem_array(it->count, sizeof(struct gt_rank_summary *));
    if (status == GT_OK && !it->all)
        status = gt_fail_memory(err);
    for (size_t i = 0, k = 0; status == GT_OK && i < it->input_count; i++)
        for (size_t r = 0; r < it->counts[i]; r++)
            it->all[k++] = &it->of_input[i][r];
    return status;
}

/* What they did together says how their clocks differ. Where it does not, they go by the time of day. Those that do not
   say their rank get one that is left. */
static void align_inputs(const struct gt_rank_job *job, const struct gt_export *export,
                         struct gt_perfetto_input *inputs) {
    int64_t base_ns = export->inputs[0].view->store->meta.base_ns;
    for (size_t i = 0; i < export->input_count; i++) {
        int64_t own_ns = export->inputs[i].view->store->meta.base_ns;
        inputs[i].ahead_ns = base_ns && own_ns ? base_ns - own_ns : 0;
    }
    for (size_t r = job->rank_count; r-- > 0;) { /* of several ranks of an input the first counts */
        uint32_t input = job->ranks[r].summary->head.input_number;
        if (export->inputs[input].rank.rank < 0)
            inputs[input].rank = job->ranks[r].number;
        if (job->ranks[r].tree == 0)
            inputs[input].ahead_ns = gt_rank_clocks_offset_ns(job, (uint32_t)r);
    }
}

static enum gt_status align(const struct gt_export *export, struct gt_perfetto_input *inputs, struct gt_error *err) {
    struct summing it = {0};
    struct gt_rank_job job = {0};
    struct gt_rank_job_options options = {.threads = (int64_t) export->threads};
    enum gt_status status = reduce_inputs(&it, export, err);
    if (status == GT_OK && it.count) {
        status = gt_rank_job_analyse(&job, it.all, it.count, &options, err);
        if (status == GT_OK)
            align_inputs(&job, export, inputs);
    }
    gt_rank_job_release(&job);
    free_summaries(&it);
    return status;
}

/* ---- the file ---- */

enum gt_status gt_export_perfetto(const struct gt_export *export, const char *path, struct gt_error *err) {
    struct gt_out *out = NULL;
    struct gt_perfetto_input *inputs = gt_mem_array(export->input_count, sizeof *inputs);
    enum gt_status status = inputs ? GT_OK : gt_fail_memory(err);
    for (size_t i = 0; inputs && i < export->input_count; i++)
        inputs[i] = (struct gt_perfetto_input){.view = export->inputs[i].view,
                                               .rank = export->inputs[i].rank.rank,
                                               .world_size = export->inputs[i].rank.world_size};
    if (status == GT_OK && export->input_count > 1)
        status = align(export, inputs, err);
    if (status == GT_OK)
        status = gt_out_open(path, &out, err);
    if (status == GT_OK)
        status = gt_perfetto_write(inputs, export->input_count, export->threads, out, err);
    if (status == GT_OK)
        status = gt_out_commit(out, err);
    gt_out_close(out);
    gt_mem_free(inputs);
    return status;
}
