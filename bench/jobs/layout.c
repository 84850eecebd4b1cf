/* Ranks to groups, as Megatron orders them: tensor parallel ranks are neighbours, then data, then pipeline. Expert
   groups are parts of the data parallel groups. Groups are numbered in the order in which programs make them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

uint32_t layout_stage(const struct options *options, uint32_t rank) {
    return rank / (options->tp * options->dp);
}

uint32_t layout_position(const struct team *team, uint32_t rank) {
    return team->size == 1 ? 0 : (uint32_t)(((int64_t)rank - team->start) / team->stride);
}

uint32_t layout_member(const struct team *team, uint32_t position) {
    return (uint32_t)(team->start + team->stride * (int64_t)position);
}

static uint32_t add_team(struct job *job, struct team team) {
    job->teams[job->team_count] = team;
    return job->team_count++;
}

static uint32_t add_group(struct job *job, const char *desc, uint32_t index, uint32_t start, uint32_t stride,
                          uint32_t size) {
    struct group *group = &job->groups[job->group_count];
    *group = (struct group){.desc = desc, .start = start, .stride = stride, .size = size, .index = index};
    snprintf(group->name, sizeof group->name, "%u", job->group_count);
    return job->group_count++;
}

/* A group whose members all meet, and who uses it in which role. */
static void add_meeting_group(struct job *job, enum role role, const char *desc, uint32_t index, uint32_t start,
                              uint32_t stride, uint32_t size) {
    uint32_t group = add_group(job, desc, index, start, stride, size);
    uint32_t team = add_team(job, (struct team){.group = group, .size = size, .start = start, .stride = stride});
    for (uint32_t i = 0; i < size; i++)
        job->team_of[(start + i * stride) * ROLES + role] = team;
}

static void add_channel(struct job *job, uint32_t group, uint32_t from, uint32_t to, enum role out, enum role in) {
    uint32_t team = add_team(
        job, (struct team){
                 .group = group, .size = 2, .start = from, .stride = (int64_t)to - (int64_t)from, .is_channel = true});
    job->team_of[from * ROLES + out] = team;
    job->team_of[to * ROLES + in] = team;
}

static void add_pipelines(struct job *job) {
    const struct options *options = &job->options;
    uint32_t stride = options->tp * options->dp;
    for (uint32_t start = 0; start < stride; start++) {
        uint32_t group = add_group(job, "pp", start, start, stride, options->pp);
        for (uint32_t stage = 0; stage + 1 < options->pp; stage++) {
            uint32_t here = start + stage * stride, next = here + stride;
            add_channel(job, group, here, next, ROLE_FORWARD_OUT, ROLE_FORWARD_IN);
            add_channel(job, group, next, here, ROLE_BACKWARD_OUT, ROLE_BACKWARD_IN);
        }
    }
}

/* The groups of one description: each has `size` members, `stride` apart, inside blocks of `block` ranks. */
static void add_slices(struct job *job, enum role role, const char *desc, uint32_t stride, uint32_t size) {
    uint32_t block = stride * size, index = 0;
    for (uint32_t base = 0; base < job->options.ranks; base += block)
        for (uint32_t first = 0; first < stride; first++)
            add_meeting_group(job, role, desc, index++, base + first, stride, size);
}

static void find_slow_links(struct job *job) {
    for (uint32_t f = 0; f < job->options.fault_count; f++) {
        struct fault *fault = &job->options.faults[f];
        bool is_found = fault->kind != FAULT_SLOW_LINK;
        for (uint32_t g = 0; g < job->group_count && !is_found; g++) {
            char label[24];
            snprintf(label, sizeof label, "%s%u", job->groups[g].desc, job->groups[g].index);
            is_found = strcmp(label, fault->group) == 0 || strcmp(job->groups[g].name, fault->group) == 0;
            fault->group_index = g;
        }
        if (!is_found)
            fail("--slow-link: the job has no group '%s'", fault->group);
    }
}

void layout_groups(struct job *job) {
    const struct options *options = &job->options;
    size_t most = 2 + (size_t)options->ranks * 6;
    job->groups = draw_memory(most, sizeof *job->groups);
    job->teams = draw_memory(most, sizeof *job->teams);
    job->team_of = draw_memory((size_t)options->ranks * ROLES, sizeof *job->team_of);
    for (size_t i = 0; i < (size_t)options->ranks * ROLES; i++)
        job->team_of[i] = NO_TEAM;
    add_meeting_group(job, ROLE_WORLD, "default_pg", 0, 0, 1, options->ranks);
    if (options->tp > 1)
        add_slices(job, ROLE_TP, "tp", 1, options->tp);
    if (options->dp > 1)
        add_slices(job, ROLE_DP, "dp", options->tp, options->dp);
    if (options->ep > 1)
        add_slices(job, ROLE_EP, "ep", options->tp, options->ep);
    if (options->pp > 1)
        add_pipelines(job);
    find_slow_links(job);
}
