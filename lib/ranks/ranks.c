/* The analysis of the ranks in one trace: several processes in one file are several ranks. */
#include "base/mem.h"
#include "measure/results/measure.h"
#include "ranks/rank_facts.h"
#include "ranks/rank_findings.h"
#include "ranks/rank_reduce.h"
#include "ranks/rank_report.h"
#include "ranks/rank_tables.h"

bool gt_rank_report_has_members(const struct gt_request *request) {
    return gt_rank_tables_is_wanted(request, "collective_ranks");
}

enum gt_status gt_rank_report_add(const struct gt_rank_job *job, struct gt_section *section,
                                  const struct gt_rank_report_options *options, struct gt_error *err) {
    if (!options->has_no_traces)
        gt_rank_facts_say(job, section);
    for (size_t i = 0; i < options->note_count; i++)
        if (options->notes_of_losses[i])
            gt_section_note_loss(section, options->notes[i]);
        else
            gt_section_note_warning(section, GT_FOR_ALL, options->notes[i]);
    if (!options->has_no_traces) {
        gt_rank_facts_warn(job, section);
        gt_rank_facts_add(job, section);
    }
    enum gt_status status = options->has_findings ? gt_rank_findings_add(job, section, options->why, err) : GT_OK;
    gt_rank_tables_add(job, section, options->request);
    return status;
}

/* Of the whole trace, whatever is selected: ranks wait for what is outside of any window. */
enum gt_status gt_ranks_run(const struct gt_view *view, struct gt_section *section, struct gt_error *err) {
    const struct gt_rank_reduce_input input = {.store = view->store,
                                               .labels = view->labels,
                                               .path = "-",
                                               .name = section->input.label,
                                               .step_tag = gt_option_text(view, GT_OPTION_step_tag),
                                               .threads = view->request->threads};
    const struct gt_rank_job_options options = {.match_names = gt_option_choice(view, GT_OPTION_match) == 1,
                                                .threads = view->request->threads,
                                                .is_one_trace = true,
                                                .keeps_exposed = gt_rank_report_has_members(view->request)};
    struct gt_rank_summary *summaries, **list;
    struct gt_rank_job job = {0};
    size_t count;
    enum gt_status status = gt_rank_reduce(&input, &summaries, &count, err);
    if (status != GT_OK)
        return status;
    list = gt_mem_array(count, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = &summaries[i];
    status = list ? gt_rank_job_analyse(&job, list, count, &options, err) : gt_fail_memory(err);
    if (status == GT_OK)
        status = gt_rank_report_add(&job, section, &(struct gt_rank_report_options){.request = view->request}, err);
    gt_rank_job_release(&job);
    gt_mem_free(list);
    gt_rank_reduce_free(summaries, count);
    return status;
}
