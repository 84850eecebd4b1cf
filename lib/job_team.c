/* Several processes read a job: process 0 deals the inputs by size and says who reads what; each reads its own and
   reduces them; summaries come to process 0, input by input. Results depend on the inputs alone, not on who read what.
 */
#include "job_team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "job_join.h"
#include "measure/options.h"
#include "ranks/rank_pack.h"

/* What process 0 sends first. */
enum order_kind { ORDER_END, ORDER_READ, ORDER_JOIN };

struct order {
    uint64_t kind;
    uint64_t inputs, bytes; /* ORDER_READ: how many inputs, and bytes that list them */
};

/* What another process sends about an input; packed summaries follow, each with its size. */
struct answer {
    struct gputime_error error;
    uint64_t ops, kernels, summaries;
    uint32_t is_read, loss;
};

/* ---- dealing ---- */

struct dealt {
    uint64_t bytes;
    uint32_t index;
    bool is_local; /* standard input or a pipe: only process 0 can read it */
};

static int by_size(const void *a, const void *b) {
    const struct dealt *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static struct dealt measure(const struct gputime_input *input, size_t index) {
    struct dealt dealt = {.bytes = gt_job_read_bytes(input), .index = (uint32_t)index};
    for (size_t i = 0; i < input->path_count; i++) {
        struct stat info;
        dealt.is_local |=
            strcmp(input->paths[i], "-") == 0 || (stat(input->paths[i], &info) == 0 && !S_ISREG(info.st_mode));
    }
    return dealt;
}

/* Largest first, each to the process that has fewest bytes so far. reader_of: by input. */
static bool deal(const struct gputime_input *inputs, size_t count, uint32_t processes, uint32_t *reader_of,
                 uint64_t *bytes_of) {
    struct dealt *list = gt_mem_uninitialised(count, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = measure(&inputs[i], i);
    if (list && count)
        qsort(list, count, sizeof *list, by_size);
    for (size_t i = 0; list && i < count; i++) {
        uint32_t reader = 0;
        for (uint32_t p = 1; p < processes && !list[i].is_local; p++)
            reader = bytes_of[p] < bytes_of[reader] ? p : reader;
        bytes_of[reader] += list[i].bytes ? list[i].bytes : 1; /* empty files, too, are dealt to all */
        reader_of[list[i].index] = reader;
    }
    gt_mem_free(list);
    return list != NULL;
}

/* ---- the list of inputs as bytes: for each its reader, how many paths it has, and these ---- */

static size_t listed_bytes(const struct gputime_input *inputs, size_t count) {
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += 2 * sizeof(uint32_t);
        for (size_t p = 0; p < inputs[i].path_count; p++)
            bytes += strlen(inputs[i].paths[p]) + 1;
    }
    return bytes;
}

static void list_inputs(const struct gputime_input *inputs, size_t count, const uint32_t *reader_of, char *list) {
    for (size_t i = 0; i < count; i++) {
        const uint32_t numbers[2] = {reader_of[i], (uint32_t)inputs[i].path_count};
        memcpy(list, numbers, sizeof numbers);
        list += sizeof numbers;
        for (size_t p = 0; p < inputs[i].path_count; p++) {
            size_t bytes = strlen(inputs[i].paths[p]) + 1;
            memcpy(list, inputs[i].paths[p], bytes);
            list += bytes;
        }
    }
}

/* ---- progress ---- */

/* What a process has read of its inputs; on process 0 of those of all. */
struct progress {
    const struct gputime_team *team;
    const struct gt_job_reading *reading;
    uint64_t *done; /* by input */
    uint64_t sum;
    /* Process 0: of each process its first input, which shows the progress of all of them, and their bytes. */
    size_t *shown;
    const uint64_t *bytes_of;
};

/* Of the others; process 0 shows its own inputs when it reads more of them. */
static void show_others(void *context) {
    const struct progress *progress = context;
    pthread_mutex_lock(progress->reading->lock);
    for (uint32_t p = 1; p < progress->team->process_count; p++) {
        size_t index = progress->shown[p];
        const struct gputime_open_options *options =
            index == SIZE_MAX ? NULL : progress->reading->inputs[index].options;
        if (options && options->progress)
            options->progress(options->progress_context, progress->team->progress_of(progress->team->context, p),
                              progress->bytes_of[p]);
    }
    pthread_mutex_unlock(progress->reading->lock);
}

static void add_progress(void *context, size_t index, uint64_t done_bytes) {
    struct progress *progress = context;
    progress->sum += done_bytes - progress->done[index];
    progress->done[index] = done_bytes;
    progress->team->set_progress(progress->team->context, progress->sum);
}

/* The bytes of each process are shown with its first input. */
static void choose_shown(struct progress *progress, const uint32_t *reader_of, size_t count) {
    for (uint32_t p = 0; p < progress->team->process_count; p++)
        progress->shown[p] = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        const struct gputime_open_options *options = progress->reading->inputs[i].options;
        if (reader_of[i] == 0)
            continue;
        if (progress->shown[reader_of[i]] == SIZE_MAX)
            progress->shown[reader_of[i]] = i;
        else if (options && options->progress)
            options->progress(options->progress_context, 0, 0);
    }
}

/* ---- reading ---- */

static size_t list_own(const uint32_t *reader_of, size_t count, uint32_t process, uint32_t *own) {
    size_t filled = 0;
    for (size_t i = 0; i < count; i++)
        if (reader_of[i] == process)
            own[filled++] = (uint32_t)i;
    return filled;
}

static enum gt_status read_own(const struct gputime_team *team, struct gt_job_reading *reading,
                               struct progress *progress, struct gt_error *err) {
    reading->progress = add_progress;
    reading->progress_context = progress;
    progress->reading = reading;
    team->set_reading(team->context, 1);
    enum gt_status status = gt_job_read(reading, err);
    team->set_reading(team->context, 0);
    return status;
}

/* ---- another process ---- */

static void send_answer(const struct gputime_team *team, struct gt_job_ranks *ranks,
                        const struct gputime_error *error) {
    struct answer answer;
    memset(&answer, 0, sizeof answer);
    answer.error = *error;
    answer.ops = ranks->ops;
    answer.kernels = ranks->kernels;
    answer.summaries = ranks->count;
    answer.is_read = ranks->is_read;
    answer.loss = ranks->loss;
    team->send(team->context, 0, &answer, sizeof answer);
    for (size_t i = 0; i < ranks->count; i++) {
        const uint64_t size = gt_rank_pack_size(&ranks->summaries[i]);
        unsigned char *bytes = gt_mem_alloc((size_t)size);
        if (!bytes) {
            team->give_up(team->context, "out of memory for the summary of a rank");
            return;
        }
        gt_rank_pack_write(&ranks->summaries[i], bytes);
        team->send(team->context, 0, &size, sizeof size);
        team->send(team->context, 0, bytes, (size_t)size);
        gt_mem_free(bytes);
    }
}

/* What it was told to read, and with what. */
struct served {
    const struct gputime_team *team;
    const struct gputime_open_options *opening;
    const struct gputime_option *options;
    size_t option_count;
    const struct gputime_error *failure;
    /* By input. */
    char *list;
    struct gputime_input *inputs;
    uint32_t *reader_of, *own;
    struct gt_job_ranks *ranks;
    struct gputime_error *errors;
    const char **paths; /* of all of them */
    uint64_t *done;
};

static void served_release(struct served *served) {
    gt_mem_free(served->list);
    gt_mem_free(served->inputs);
    gt_mem_free(served->reader_of);
    gt_mem_free(served->own);
    gt_mem_free(served->ranks);
    gt_mem_free(served->errors);
    gt_mem_free(served->paths);
    gt_mem_free(served->done);
}

/* A path takes two bytes or more of the list. */
static bool served_init(struct served *served, const struct order *order) {
    size_t count = (size_t)order->inputs;
    served->list = gt_mem_alloc((size_t)order->bytes + 1);
    served->inputs = gt_mem_array(count, sizeof *served->inputs);
    served->reader_of = gt_mem_array(count, sizeof *served->reader_of);
    served->own = gt_mem_array(count, sizeof *served->own);
    served->ranks = gt_mem_array(count, sizeof *served->ranks);
    served->errors = gt_mem_array(count, sizeof *served->errors);
    served->paths = gt_mem_array((size_t)order->bytes / 2 + 1, sizeof *served->paths);
    served->done = gt_mem_array(count, sizeof *served->done);
    return served->list && served->inputs && served->reader_of && served->own && served->ranks && served->errors &&
           served->paths && served->done;
}

static void find_inputs(struct served *served, size_t count) {
    const char *at = served->list;
    const char **paths = served->paths;
    for (size_t i = 0; i < count; i++) {
        uint32_t numbers[2];
        memcpy(numbers, at, sizeof numbers);
        at += sizeof numbers;
        served->reader_of[i] = numbers[0];
        served->inputs[i] =
            (struct gputime_input){.paths = paths, .path_count = numbers[1], .options = served->opening};
        for (uint32_t p = 0; p < numbers[1]; p++) {
            *paths++ = at;
            at += strlen(at) + 1;
        }
    }
}

static void serve_reading(struct served *served, const struct order *order) {
    const struct gputime_team *team = served->team;
    size_t count = (size_t)order->inputs;
    struct gt_error error = {0};
    struct gputime_error failure = {0};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (!served_init(served, order)) {
        team->give_up(team->context, "out of memory for the list of traces");
        return;
    }
    team->broadcast(team->context, served->list, (size_t)order->bytes);
    find_inputs(served, count);
    struct progress progress = {.team = team, .done = served->done};
    struct gt_job_reading reading = {.inputs = served->inputs,
                                     .own = served->own,
                                     .own_count = list_own(served->reader_of, count, team->process, served->own),
                                     .options = served->options,
                                     .option_count = served->option_count,
                                     .threads = served->opening ? served->opening->threads : 0,
                                     .ranks = served->ranks,
                                     .errors = served->errors,
                                     .lock = &lock};
    if (served->failure)
        failure = *served->failure;
    else
        gt_internal_fail(read_own(team, &reading, &progress, &error), &error, &failure);
    for (size_t i = 0; i < reading.own_count; i++) {
        uint32_t index = served->own[i];
        send_answer(team, &served->ranks[index], failure.status ? &failure : &served->errors[index]);
        gt_job_read_release(&served->ranks[index]);
    }
}

API void gputime_team_serve(const struct gputime_team *team, const struct gputime_open_options *opening,
                            const struct gputime_option *options, size_t option_count,
                            const struct gputime_error *failure) {
    struct gputime_open_options quiet = GPUTIME_OPEN_OPTIONS_INIT;
    struct order order;
    if (opening)
        quiet = *opening;
    quiet.progress = NULL; /* process 0 shows it */
    for (;;) {
        team->broadcast(team->context, &order, sizeof order);
        if (order.kind == ORDER_JOIN) {
            gt_job_join_serve(team, quiet.threads);
            continue;
        }
        if (order.kind != ORDER_READ)
            return;
        struct served served = {
            .team = team, .opening = &quiet, .options = options, .option_count = option_count, .failure = failure};
        serve_reading(&served, &order);
        served_release(&served);
    }
}

API void gputime_team_end(const struct gputime_team *team) {
    struct order order = {.kind = ORDER_END};
    if (team->process_count > 1)
        team->broadcast(team->context, &order, sizeof order);
}

/* ---- process 0 ---- */

bool gt_job_team_join(void *context, struct gt_rank_join_pair *pairs, size_t count, int64_t threads) {
    const struct gputime_team *team = context;
    struct order order = {.kind = ORDER_JOIN};
    if (!gt_job_join_is_worth(pairs, count))
        return gt_rank_joins_run_here(pairs, count, threads);
    team->broadcast(team->context, &order, sizeof order);
    return gt_job_join_lead(team, pairs, count, threads);
}

/* Says where it failed, if that is another machine. */
static void name_place(const struct gputime_team *team, uint32_t reader, struct gputime_error *error) {
    const char *place = team->place_of(team->context, reader);
    size_t used = strnlen(error->message, sizeof error->message - 1);
    if (error->status && strcmp(place, team->place_of(team->context, 0)) != 0)
        snprintf(error->message + used, sizeof error->message - used, " (on %s)", place);
}

static void receive_answer(const struct gputime_team *team, uint32_t reader, struct gt_job_ranks *ranks,
                           struct gputime_error *error) {
    struct answer answer;
    struct gt_error failure = {0};
    team->receive(team->context, reader, &answer, sizeof answer);
    *error = answer.error;
    error->message[sizeof error->message - 1] = '\0';
    name_place(team, reader, error);
    ranks->ops = answer.ops;
    ranks->kernels = answer.kernels;
    ranks->is_read = answer.is_read;
    ranks->loss = answer.loss < GT_ISSUE_COUNT ? (enum gt_issue_id)answer.loss : GT_ISSUE_COUNT;
    ranks->summaries = gt_mem_array((size_t)answer.summaries + 1, sizeof *ranks->summaries);
    for (uint64_t i = 0; ranks->summaries && i < answer.summaries; i++) {
        uint64_t size;
        team->receive(team->context, reader, &size, sizeof size);
        unsigned char *bytes = gt_mem_alloc((size_t)size);
        if (!bytes)
            break;
        team->receive(team->context, reader, bytes, (size_t)size);
        enum gt_status status = gt_rank_pack_read(&ranks->summaries[ranks->count++], bytes, (size_t)size, &failure);
        gt_mem_free(bytes);
        if (status != GT_OK)
            team->give_up(team->context, failure.message);
    }
    if (ranks->count < answer.summaries)
        team->give_up(team->context, "out of memory for the summaries of ranks");
}

struct leading {
    uint32_t *reader_of, *own;
    uint64_t *bytes_of, *done;
    size_t *shown;
    char *list;
};

static enum gt_status lead(const struct gputime_team *team, struct gt_job_reading *reading, size_t count,
                           struct leading *it, struct gt_error *err) {
    struct order order = {ORDER_READ, count, listed_bytes(reading->inputs, count)};
    it->list = gt_mem_alloc((size_t)order.bytes + 1);
    if (!it->list || !deal(reading->inputs, count, team->process_count, it->reader_of, it->bytes_of))
        return gt_fail_memory(err);
    list_inputs(reading->inputs, count, it->reader_of, it->list);
    team->broadcast(team->context, &order, sizeof order);
    team->broadcast(team->context, it->list, (size_t)order.bytes);
    struct progress progress = {
        .team = team, .reading = reading, .done = it->done, .shown = it->shown, .bytes_of = it->bytes_of};
    choose_shown(&progress, it->reader_of, count);
    team->set_tick(team->context, show_others, &progress);
    reading->own = it->own;
    reading->own_count = list_own(it->reader_of, count, 0, it->own);
    enum gt_status status = read_own(team, reading, &progress, err);
    if (status != GT_OK)
        team->give_up(team->context, err->message);
    for (size_t i = 0; i < count; i++)
        if (it->reader_of[i] != 0)
            receive_answer(team, it->reader_of[i], &reading->ranks[i], &reading->errors[i]);
    team->set_tick(team->context, NULL, NULL);
    return status;
}

enum gt_status gt_job_team_read(const struct gputime_team *team, const struct gt_job_reading *reading, size_t count,
                                struct gt_error *err) {
    struct leading it = {.reader_of = gt_mem_array(count, sizeof *it.reader_of),
                         .own = gt_mem_array(count, sizeof *it.own),
                         .bytes_of = gt_mem_array(team->process_count, sizeof *it.bytes_of),
                         .done = gt_mem_array(count, sizeof *it.done),
                         .shown = gt_mem_array(team->process_count, sizeof *it.shown)};
    struct gt_job_reading own = *reading;
    struct gt_arena arena = {0};
    const struct gputime_option *options;
    /* What can be said before anybody begins. */
    enum gt_status status = gt_options_complete(reading->options, reading->option_count, &arena, &options, err);
    gt_arena_release(&arena);
    if (status == GT_OK)
        status = it.reader_of && it.own && it.bytes_of && it.done && it.shown ? lead(team, &own, count, &it, err)
                                                                              : gt_fail_memory(err);
    gt_mem_free(it.reader_of);
    gt_mem_free(it.own);
    gt_mem_free(it.bytes_of);
    gt_mem_free(it.done);
    gt_mem_free(it.shown);
    gt_mem_free(it.list);
    return status;
}
