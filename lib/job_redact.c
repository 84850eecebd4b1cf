/* Hides what single traces cannot: hosts have the same number in all of them, and errors are about their files. */
#include "job_redact.h"

#include <stdio.h>
#include <string.h>

#include "redact/redact_names.h"
#include "take.h"

bool gt_job_redact_is_asked(const struct gputime_input *inputs, size_t count) {
    struct gputime_open_options options;
    for (size_t i = 0; i < count; i++)
        if (GT_TAKE(gputime_open_options, inputs[i].options, &options, NULL) == GT_OK && options.redact)
            return true;
    return false;
}

/* ---- hosts ---- */

static bool number_host(struct gt_rank_summary *summary, struct gt_strtab *hosts) {
    char number[16];
    struct gt_str host = gt_rank_summary_text(summary, summary->head.host);
    if (!host.len)
        return true;
    int len = snprintf(number, sizeof number, "%u", gt_strtab_intern(hosts, host)); /* "" is 0 */
    summary->head.host = gt_rank_summary_put_text(summary, (struct gt_str){number, (size_t)len});
    return !hosts->failed && !summary->failed;
}

static bool number_hosts(struct gputime_job *job) {
    struct gt_strtab hosts;
    bool ok = gt_strtab_init(&hosts);
    if (!ok)
        return false;
    for (size_t i = 0; i < job->input_count; i++)
        for (size_t k = 0; k < job->inputs[i].count; k++)
            ok = ok && number_host(&job->inputs[i].summaries[k], &hosts);
    gt_strtab_release(&hosts);
    return ok;
}

/* ---- errors ---- */

static struct gt_str replace(struct gt_arena *arena, struct gt_str text, struct gt_str old, struct gt_str new) {
    const char *at = old.len && text.len ? strstr(text.ptr, old.ptr) : NULL;
    if (!at)
        return text;
    struct gt_str rest = gt_str_of(at + old.len);
    rest = replace(arena, rest, old, new);
    return gt_arena_printf(arena, "%.*s%s%s", (int)(at - text.ptr), text.ptr, new.ptr, rest.ptr);
}

/* What is still in quotes is of the file, or a part of its name that did not fit. */
static bool is_private(struct gt_str text) {
    return memchr(text.ptr, '\'', text.len) || gt_redact_names_has_path(text);
}

static void hide_files(const struct gputime_input *input, size_t index, struct gt_arena *arena,
                       struct gputime_error *error) {
    struct gt_str name = gt_arena_printf(arena, GT_REDACTED_PATH " %zu", index + 1);
    struct gt_str text = gt_arena_copy(arena, gt_str_of(error->message));
    for (size_t i = 0; i < input->path_count; i++)
        text = replace(arena, text, gt_arena_printf(arena, "'%s'", input->paths[i]), name);
    text = replace(arena, text, GT_STR("; see 'gputime list inputs'"), GT_STR("")); /* quotes that hide nothing */
    if (is_private(text))
        text = gt_arena_printf(arena, "%s could not be read", name.ptr);
    snprintf(error->message, sizeof error->message, "%s", text.ptr);
}

enum gt_status gt_job_redact(struct gputime_job *job, const struct gputime_input *inputs, struct gputime_error *errors,
                             struct gt_error *err) {
    struct gt_arena arena = {0};
    for (size_t i = 0; i < job->input_count; i++)
        if (errors[i].status)
            hide_files(&inputs[i], i, &arena, &errors[i]);
    bool ok = !gt_arena_failed(&arena) && number_hosts(job);
    gt_arena_release(&arena);
    return ok ? GT_OK : gt_fail_memory(err);
}
