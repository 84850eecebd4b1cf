/* The jobs that traces are of: summaries with the names of their files come in, jobs and sentences about them go out.
 */
#include "job_parts.h"

#include <assert.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "events/trace_rank.h"

/* ---- dividing ---- */

/* Traces first, then logs, each in the order of the arguments. */
static void list_summaries(struct gputime_job *job) {
    size_t next[2] = {0, job->rank_count};
    for (size_t i = 0; i < job->input_count; i++)
        for (size_t k = 0; k < job->inputs[i].count; k++) {
            struct gt_rank_summary *summary = &job->inputs[i].summaries[k];
            job->list[next[summary->head.ops == 0]++] = summary;
        }
}

/* The input that a summary is of. */
static size_t input_of(const struct gputime_job *job, const struct gt_rank_summary *summary) {
    assert(summary->head.input_number < job->input_count);
    return summary->head.input_number;
}

/* Its path inside the folder that all inputs are in. */
static struct gt_str name_of(struct gputime_job *job, const struct gputime_input *input, size_t index) {
    if (job->hides_names)
        return gt_arena_printf(&job->arena, GT_REDACTED_PATH " %zu", index + 1);
    const char *path = input->path_count ? input->paths[0] : "";
    size_t before = strlen(job->folder);
    if (strcmp(path, "-") == 0)
        return GT_STR("standard input");
    if (before && strncmp(path, job->folder, before) == 0)
        path += before + (path[before] == '/');
    return gt_arena_copy(&job->arena, gt_str_of(path));
}

static struct gt_str name_of_summary(const struct gputime_job *job, size_t place) {
    return job->names[input_of(job, job->list[place])];
}

/* What is in one file is of one job, or a copy. */
static void find_parts_of_inputs(struct gputime_job *job) {
    for (size_t i = 0; i < job->summary_count; i++)
        job->part_of[input_of(job, job->list[i])] = GT_RANK_NONE;
    for (size_t i = 0; i < job->summary_count; i++)
        if (job->apart.job_of[i] != GT_RANK_NONE)
            job->part_of[input_of(job, job->list[i])] = job->apart.job_of[i];
}

enum gt_status gt_job_parts_find(struct gputime_job *job, const struct gputime_input *inputs, bool hides_names,
                                 struct gt_error *err) {
    job->list = gt_mem_array(job->summary_count, sizeof(struct gt_rank_summary *));
    job->patterns = gt_arena_array(&job->arena, job->summary_count, sizeof *job->patterns);
    job->paths = gt_arena_array(&job->arena, job->summary_count, sizeof *job->paths);
    job->part_of = gt_arena_array(&job->arena, job->input_count, sizeof *job->part_of);
    job->names = gt_arena_array(&job->arena, job->input_count, sizeof *job->names);
    job->hides_names = hides_names;
    if (!job->list || !job->patterns || !job->paths || !job->part_of || !job->names)
        return gt_fail_memory(err);
    for (size_t i = 0; i < job->input_count; i++)
        job->names[i] = name_of(job, &inputs[i], i);
    list_summaries(job);
    for (size_t i = 0; i < job->summary_count; i++) {
        const struct gputime_input *input = &inputs[input_of(job, job->list[i])];
        const char *path = input->path_count ? input->paths[0] : "";
        job->paths[i] = gt_arena_copy(&job->arena, gt_str_of(path));
        job->patterns[i] = gt_trace_rank_pattern(path, job->list[i]->head.rank, &job->arena);
    }
    bool ok =
        !gt_arena_failed(&job->arena) && gt_rank_apart_init(&job->apart, job->list, job->patterns, job->summary_count);
    if (ok)
        find_parts_of_inputs(job);
    return ok ? GT_OK : gt_fail_memory(err);
}

void gt_job_parts_release(struct gputime_job *job) {
    gt_rank_apart_release(&job->apart);
    gt_mem_free(job->list);
    gt_arena_release(&job->arena);
}

size_t gt_job_parts_list(const struct gputime_job *job, size_t part, struct gt_rank_summary **list, size_t *traces) {
    size_t count = 0;
    *traces = 0;
    for (size_t i = 0; i < job->summary_count; i++)
        if (job->apart.job_of[i] == part) {
            *traces += job->list[i]->head.ops > 0;
            list[count++] = job->list[i];
        }
    return count;
}

/* ---- sentences ---- */

static struct gt_str why_words(const struct gputime_job *job, struct gt_arena *arena) {
    if (job->apart.why == GT_APART_WORLDS)
        return gt_arena_printf(arena, "These traces are of %zu jobs, whose world sizes differ", job->apart.job_count);
    if (job->apart.why == GT_APART_STRAYS)
        return gt_arena_printf(arena,
                               "These traces are of %zu jobs, since some traces have no rank and do not fit the others",
                               job->apart.job_count);
    return gt_arena_printf(arena, "These traces are of %zu jobs or runs, since some ranks appear more than once",
                           job->apart.job_count);
}

/* Whether a shell finds the traces of this job by the pattern, and no others but copies of them. */
static bool names_alone(const struct gputime_job *job, size_t part, struct gt_str pattern) {
    bool is_right = true;
    for (size_t i = 0; i < job->summary_count && is_right; i++) {
        uint32_t same = job->apart.same_as[i];
        bool is_own = job->apart.job_of[same == GT_RANK_NONE ? i : same] == part;
        bool is_found = fnmatch(pattern.ptr, job->paths[i].ptr, FNM_PATHNAME) == 0;
        is_right = is_own ? is_found || same != GT_RANK_NONE || job->list[i]->head.ops == 0 : !is_found;
    }
    return is_right;
}

/* "'job/a_rank*.json'" where all have that in common and no other has, else their names: "'a.json', 'b.json' and 6
 * more". */
static struct gt_str names_of(const struct gputime_job *job, size_t part, struct gt_arena *arena) {
    enum { NAMED = 8 };
    struct gt_str names = {"", 0}, pattern = {"", 0};
    size_t count = 0;
    bool is_common = true;
    for (size_t i = 0; i < job->summary_count; i++) {
        if (job->apart.job_of[i] != part || job->list[i]->head.ops == 0)
            continue;
        struct gt_str name = name_of_summary(job, i);
        pattern = count ? pattern : job->patterns[i];
        is_common &= !job->hides_names && gt_str_eq(pattern, job->patterns[i]);
        if (count++ < NAMED)
            names = gt_arena_printf(arena, "%s%s'%.*s'", names.ptr, names.len ? ", " : "", (int)name.len, name.ptr);
    }
    if (is_common && count > 1 && names_alone(job, part, pattern))
        return gt_arena_printf(arena, "'%s'", pattern.ptr);
    return count > NAMED ? gt_arena_printf(arena, "%s and %zu more", names.ptr, count - NAMED) : names;
}

void gt_job_parts_note(const struct gputime_job *job, size_t part, struct gt_section *section) {
    struct gt_arena *arena = &section->report->arena;
    if (job->apart.job_count < 2)
        return;
    if (part == 0)
        gt_job_parts_note_first(gt_arena_printf(arena,
                                                "%s: each is judged by itself. To judge one alone, name its traces.",
                                                why_words(job, arena).ptr),
                                section);
    gt_section_note(section, GT_FOR_ALL, gt_arena_printf(arena, "Traces: %s.", names_of(job, part, arena).ptr));
}

void gt_job_parts_note_first(struct gt_str text, struct gt_section *first) {
    gt_section_note(&first->report->joint, GT_FOR_SCREEN, text);
    gt_section_note_warning(first, GT_FOR_DATA | GT_FOR_PAGE, text);
}

size_t gt_job_parts_copies(const struct gputime_job *job, struct gt_str *notes, size_t capacity,
                           struct gt_arena *arena) {
    size_t count = 0;
    for (size_t i = 0; i < job->summary_count; i++) {
        uint32_t same = job->apart.same_as[i];
        if (same == GT_RANK_NONE || count++ >= capacity)
            continue;
        struct gt_str name = name_of_summary(job, i), other = name_of_summary(job, same);
        notes[count - 1] = gt_arena_printf(arena, "Left out: '%.*s' has the same events as '%.*s', rank %" PRId64 ".",
                                           (int)name.len, name.ptr, (int)other.len, other.ptr, job->list[i]->head.rank);
    }
    return count;
}
