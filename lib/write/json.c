/* The whole report as JSON in the one shape that docs/json.md describes, a row on a line, written as it goes. The page
   gets the same with its rows packed, and what the screen knows of columns and facts next to it. */
#include "write/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/threads.h"
#include "write/escape.h"
#include "write/json_tables.h"
#include "write/json_timeline.h"
#include "write/json_value.h"
#include "write/writer.h"

/* ---- facts ---- */

/* Two analyses may state the same fact; a key is once in an object. */
static bool is_repeated(const struct gt_section *section, enum gt_audience audience,
                        const struct gt_report_fact *fact) {
    for (size_t b = 0; b < section->block_count; b++) {
        const struct gt_block *block = &section->blocks[b];
        for (size_t f = 0; block->kind == GT_BLOCK_FACTS && f < block->fact_count; f++) {
            if (&block->facts[f] == fact)
                return false;
            if ((block->audience & audience) && strcmp(block->facts[f].key, fact->key) == 0)
                return true;
        }
    }
    return false;
}

static void write_fact(struct gt_out *out, const struct gt_report_fact *fact) {
    gt_json_value_key(out, fact->key);
    gt_json_value_cell(out, &fact->value);
}

static void write_titled_fact(struct gt_out *out, const struct gt_report_fact *fact) {
    gt_out_char(out, '{');
    gt_json_value_text(out, "key", gt_str_of(fact->key));
    gt_out_text(out, ", ");
    gt_json_value_text(out, "title", gt_str_of(fact->title));
    gt_out_printf(out, ", \"unit\": \"%s\", \"value\": ", gt_cell_unit_name(fact->unit));
    gt_json_value_exact_cell(out, &fact->value);
    gt_out_char(out, '}');
}

static void walk_facts(struct gt_out *out, const struct gt_section *section, enum gt_audience audience,
                       void (*write)(struct gt_out *out, const struct gt_report_fact *fact)) {
    const char *separator = "";
    for (size_t b = 0; b < section->block_count; b++) {
        const struct gt_block *block = &section->blocks[b];
        if (block->kind != GT_BLOCK_FACTS || !(block->audience & audience))
            continue;
        for (size_t f = 0; f < block->fact_count; f++) {
            if (is_repeated(section, audience, &block->facts[f]))
                continue;
            gt_out_text(out, separator);
            write(out, &block->facts[f]);
            separator = ", ";
        }
    }
}

static void write_facts(struct gt_out *out, const struct gt_section *section) {
    gt_out_char(out, '{');
    walk_facts(out, section, GT_FOR_DATA, write_fact);
    gt_out_char(out, '}');
}

static void write_all_facts(struct gt_out *out, const struct gt_report *report) {
    gt_out_text(out, "  \"facts\": ");
    if (report->section_count == 1) {
        write_facts(out, &report->sections[0]);
    } else {
        gt_out_char(out, '{');
        for (size_t s = 0; s < report->section_count; s++) {
            gt_out_text(out, s ? ",\n    " : "\n    ");
            gt_escape_json(out, report->sections[s].input.label);
            gt_out_text(out, ": ");
            write_facts(out, &report->sections[s]);
        }
        gt_out_text(out, "\n  }");
    }
    gt_out_text(out, ",\n");
}

/* ---- inputs ---- */

static void write_notes(struct gt_out *out, const struct gt_section *section, enum gt_audience audience,
                        bool warnings_alone) {
    const char *separator = "";
    gt_out_char(out, '[');
    for (size_t b = 0; b < section->block_count; b++) {
        const struct gt_block *block = &section->blocks[b];
        if (block->kind != GT_BLOCK_NOTE || !(block->audience & audience) || (warnings_alone && !block->is_warning))
            continue;
        gt_out_text(out, separator);
        gt_escape_json(out, block->note);
        separator = ", ";
    }
    gt_out_char(out, ']');
}

static bool has_warnings(const struct gt_section *section, enum gt_audience audience) {
    for (size_t b = 0; b < section->block_count; b++)
        if (section->blocks[b].is_warning && (section->blocks[b].audience & audience))
            return true;
    return false;
}

static void write_known(struct gt_out *out, const char *key, int64_t value, bool is_known) {
    if (is_known)
        gt_out_printf(out, ", \"%s\": %" PRId64, key, value);
    else
        gt_out_printf(out, ", \"%s\": null", key);
}

static void write_count(struct gt_out *out, const char *key, uint64_t count) {
    if (count == GT_NOT_COUNTED)
        gt_out_printf(out, ", \"%s\": null", key);
    else
        gt_out_printf(out, ", \"%s\": %" PRIu64, key, count);
}

static void write_input(struct gt_out *out, const struct gt_section *section, enum gt_audience audience) {
    const struct gt_report_input *input = &section->input;
    gt_out_char(out, '{');
    gt_json_value_key(out, "input");
    gt_escape_json(out, input->label);
    gt_out_text(out, ", ");
    gt_json_value_text(out, "path", input->path);
    gt_out_text(out, ", ");
    gt_json_value_text(out, "format", gt_str_of(input->format));
    gt_out_text(out, ", ");
    gt_json_value_text(out, "producer", input->producer);
    gt_out_text(out, ", ");
    gt_json_value_text(out, "selection", input->selection);
    gt_out_printf(out, ",\n     \"ops\": %" PRIu64, input->ops);
    write_count(out, "kernels", input->kernels);
    write_count(out, "calls", input->calls);
    write_count(out, "ranges", input->ranges);
    write_count(out, "cpu_ops", input->cpu_ops);
    gt_out_printf(out, ",\n     \"origin_ns\": \"%" PRId64 "\"", input->origin_ns);
    if (input->base_ns)
        gt_out_printf(out, ", \"base_ns\": \"%" PRId64 "\"", input->base_ns);
    else
        gt_out_text(out, ", \"base_ns\": null");
    write_known(out, "rank", input->rank, input->rank >= 0);
    write_known(out, "world_size", input->world_size, input->world_size > 0);
    gt_out_text(out, ", ");
    gt_json_value_text(out, "rank_source", gt_str_of(input->rank_source));
    gt_out_text(out, ", ");
    gt_json_value_text(out, "host", input->host);
    gt_out_text(out, ",\n     \"facts\": ");
    write_facts(out, section);
    if (audience == GT_FOR_PAGE) {
        gt_out_text(out, ",\n     \"shown\": [");
        walk_facts(out, section, audience, write_titled_fact);
        gt_out_char(out, ']');
    }
    gt_out_text(out, ",\n     \"notes\": ");
    write_notes(out, section, audience, false);
    if (has_warnings(section, audience)) {
        gt_out_text(out, ",\n     \"warnings\": ");
        write_notes(out, section, audience, true);
    }
    gt_out_char(out, '}');
}

static void write_inputs(struct gt_out *out, const struct gt_report *report, enum gt_audience audience) {
    gt_out_text(out, "  \"inputs\": [");
    for (size_t s = 0; s < report->section_count; s++) {
        gt_out_text(out, s ? ",\n    " : "\n    ");
        write_input(out, &report->sections[s], audience);
    }
    gt_out_text(out, report->section_count ? "\n  ],\n" : "],\n");
}

/* ---- findings ---- */

static void write_sentences(struct gt_out *out, const char *key, const struct gt_str *sentences, size_t count) {
    gt_json_value_key(out, key);
    gt_out_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        gt_out_text(out, i ? ", " : "");
        gt_escape_json(out, sentences[i]);
    }
    gt_out_text(out, "],");
}

/* In ns since the start of the first op, as all times of a report. */
static void write_windows(struct gt_out *out, const struct gt_finding *finding) {
    gt_out_text(out, ",\n     \"windows\": [");
    for (size_t i = 0; i < finding->window_count; i++)
        gt_out_printf(out, "%s{\"start_ns\": %" PRId64 ", \"end_ns\": %" PRId64 ", \"device\": %" PRId64 "}",
                      i ? ", " : "", finding->windows[i].start_ns, finding->windows[i].end_ns,
                      finding->windows[i].device);
    gt_out_char(out, ']');
}

static void write_savings(struct gt_out *out, const struct gt_finding *finding) {
    gt_out_text(out, ",\n     \"savings\": [");
    for (size_t i = 0; i < finding->saving_count; i++)
        gt_out_printf(out, "%s{\"device\": %" PRId64 ", \"waiting_ns\": %" PRId64 ", \"compute_ns\": %" PRId64 "}",
                      i ? ", " : "", finding->savings[i].device, finding->savings[i].waiting_ns,
                      finding->savings[i].compute_ns);
    gt_out_char(out, ']');
}

static void write_simulation(struct gt_out *out, const struct gt_finding_simulation *simulation) {
    bool is_known = simulation->base_ns >= 0;
    gt_out_text(out, ",\n     \"simulation\": ");
    if (!simulation->trust) {
        gt_out_text(out, "null");
        return;
    }
    gt_out_char(out, '{');
    gt_json_value_text(out, "command", gt_str_of(simulation->command));
    gt_out_text(out, ", ");
    gt_json_value_text(out, "trust", gt_str_of(simulation->trust));
    write_known(out, "base_ns", simulation->base_ns, is_known);
    write_known(out, "predicted_ns", simulation->predicted_ns, is_known);
    write_known(out, "low_ns", simulation->low_ns, is_known);
    gt_out_char(out, '}');
}

static void write_finding(struct gt_out *out, const struct gt_section *section, const struct gt_finding *finding,
                          bool has_recommendation) {
    gt_out_char(out, '{');
    gt_json_value_key(out, "input");
    gt_escape_json(out, section->input.label);
    gt_out_text(out, ", ");
    gt_json_value_text(out, "id", gt_str_of(finding->id));
    gt_out_printf(out, ", \"severity\": \"%s\", ", gt_finding_list_severity_name(finding->severity));
    gt_json_value_text(out, "title", finding->title);
    gt_out_text(out, ",\n     ");
    write_sentences(out, "evidence", finding->evidence, finding->evidence_count);
    gt_out_text(out, "\n     ");
    write_sentences(out, "advice", finding->advice, finding->advice_count);
    gt_out_text(out, "\n     ");
    if (has_recommendation) {
        write_sentences(out, "recommendation", finding->advice, finding->advice_count);
        gt_out_text(out, "\n     ");
    }
    gt_json_value_text(out, "table", gt_str_of(finding->table));
    write_known(out, "recoverable_ns", finding->recoverable_ns, finding->recoverable_ns >= 0);
    write_known(out, "recoverable_step_ns", finding->step_ns, finding->step_ns >= 0);
    gt_out_text(out, ", ");
    gt_json_value_key(out, "share");
    struct gt_cell share = finding->share >= 0 ? gt_cell_real(finding->share) : gt_cell_null();
    gt_json_value_cell(out, &share);
    gt_out_text(out, ", ");
    gt_json_value_text(out, "saving_by", gt_str_of(gt_finding_list_saving_by(finding)));
    write_simulation(out, &finding->simulation);
    gt_out_text(out, ",\n     ");
    gt_json_value_text(out, "rule", gt_str_of(finding->rule));
    write_windows(out, finding);
    write_savings(out, finding);
    gt_out_char(out, '}');
}

static void write_findings(struct gt_out *out, const struct gt_report *report, bool has_recommendations) {
    const char *separator = "\n    ";
    gt_out_text(out, "  \"findings\": [");
    for (size_t s = 0; s < report->section_count; s++) {
        const struct gt_section *section = &report->sections[s];
        const struct gt_table *table = gt_section_find(section, "findings");
        for (size_t row = 0; table && row < table->row_count; row++) {
            gt_out_text(out, separator);
            write_finding(out, section, gt_finding_list_at(section, table, row), has_recommendations);
            separator = ",\n    ";
        }
    }
    gt_out_text(out, separator[0] == ',' ? "\n  ],\n" : "],\n");
}

/* ---- issues ---- */

static void write_issue(struct gt_out *out, const struct gt_section *section, const struct gt_report_issue *issue) {
    gt_out_char(out, '{');
    gt_json_value_key(out, "input");
    gt_escape_json(out, section->input.label);
    gt_out_text(out, ", ");
    gt_json_value_text(out, "id", gt_str_of(issue->id));
    gt_out_printf(out, ", \"count\": %" PRIu64 ", ", issue->count);
    gt_json_value_text(out, "help", gt_str_of(issue->help));
    gt_out_printf(out, ", \"loss\": %s, \"first_offset\": ", issue->is_loss ? "true" : "false");
    if (issue->first_offset == UINT64_MAX)
        gt_out_text(out, "null}");
    else
        gt_out_printf(out, "%" PRIu64 "}", issue->first_offset);
}

static void write_issues(struct gt_out *out, const struct gt_report *report) {
    const char *separator = "\n    ";
    gt_out_text(out, "  \"issues\": [");
    for (size_t s = 0; s < report->section_count; s++) {
        const struct gt_section *section = &report->sections[s];
        for (size_t i = 0; i < section->issue_count; i++) {
            gt_out_text(out, separator);
            write_issue(out, section, &section->issues[i]);
            separator = ",\n    ";
        }
    }
    gt_out_text(out, separator[0] == ',' ? "\n  ]" : "]");
}

enum gt_status gt_json_report(const struct gt_report *report, const struct gt_json_how *how, struct gt_out *out,
                              struct gt_error *err) {
    gt_out_text(out, "{\n  \"tool\": {\"name\": \"gputime\", \"version\": \"" GPUTIME_VERSION "\"},\n  ");
    gt_json_value_text(out, "command", gt_str_of(report->command));
    if (report->heading.len) {
        gt_out_text(out, ",\n  ");
        gt_json_value_text(out, "heading", report->heading);
    }
    if (how->audience == GT_FOR_PAGE && report->main_table) {
        gt_out_text(out, ",\n  ");
        gt_json_value_text(out, "main_table", gt_str_of(report->main_table));
    }
    gt_out_text(out, ",\n");
    if (report->generated_at) {
        gt_out_text(out, "  ");
        gt_json_value_text(out, "generated_at", gt_str_of(report->generated_at));
        gt_out_text(out, ",\n");
    }
    write_inputs(out, report, how->audience);
    enum gt_status status = gt_json_tables(out, report, how, err);
    if (status)
        return status;
    write_all_facts(out, report);
    gt_json_timeline_write_all(out, report, how->audience);
    write_findings(out, report, how->has_recommendations);
    write_issues(out, report);
    gt_out_text(out, how->is_open ? "" : "\n}\n");
    return GT_OK;
}

enum gt_status gt_write_json(const struct gt_report *report, const struct gputime_write_options *options,
                             struct gt_out *out, struct gt_error *err) {
    struct gt_json_how how = {.audience = GT_FOR_DATA,
                              .row_limit = (size_t)options->row_limit,
                              .threads = gt_threads_count(options->threads)};
    return gt_json_report(report, &how, out, err);
}
