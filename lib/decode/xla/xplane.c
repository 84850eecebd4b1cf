/* Decoder of *.xplane.pb: the file is walked through once for its planes, names and lines, then several threads read
   pieces of its lines, each into its own builder; a store goes out. */
#include "decode/xla/xplane.h"

#include <string.h>

#include "base/mem.h"
#include "base/spool.h"
#include "base/threads.h"
#include "decode/xla/xplane_events.h"

/* Pieces do not depend on the number of threads. */
enum { PIECE_BYTES = 512 << 10, PROGRESS_BYTES = 4 << 20 };

/* Going to a line costs about as much as so many bytes of it. */
enum { LINE_BYTES = 256 };

struct worker {
    struct gt_xplane_events events;
    char *buffer;
    size_t capacity;
    enum gt_status status;
    struct gt_error error;
};

/* What a worker reads at once: a piece of a long line, or short lines that follow each other. */
struct job {
    size_t first, count; /* of pieces */
};

struct decoding {
    const struct gt_source *source;
    const struct gt_decode_options *options;
    struct gt_xplane_window window;
    struct gt_xplane_space space;
    struct gt_xla_capture capture;
    int64_t base_ns; /* what is taken off the times of lines */
    struct job *jobs;
    size_t job_count, job_capacity;
    struct gt_builder *builders;
    struct worker *workers;
    size_t count; /* of both */
    struct gt_deal deal;
    uint64_t reported_bytes;
};

/* ---- events ---- */

static enum gt_status load(struct worker *worker, const struct gt_source *source, const struct gt_xplane_piece *piece,
                           struct gt_str *bytes) {
    size_t got = 0, size = (size_t)piece->span.size;
    if (size + GT_PROTO_PADDING > worker->capacity) {
        gt_mem_free(worker->buffer);
        worker->capacity = 0;
        worker->buffer = gt_mem_alloc(size + GT_PROTO_PADDING);
        if (!worker->buffer)
            return gt_fail_memory(&worker->error);
        worker->capacity = size + GT_PROTO_PADDING;
    }
    if (gt_source_pread(source, worker->buffer, size, piece->span.offset, &got, &worker->error) != GT_OK)
        return GT_ERR;
    memset(worker->buffer + got, 0, GT_PROTO_PADDING);
    *bytes = (struct gt_str){worker->buffer, got};
    return GT_OK;
}

static void report_progress(struct decoding *decoding, const struct gt_xplane_piece *piece) {
    uint64_t done_bytes = piece->span.offset + piece->span.size;
    if (!decoding->options->progress || done_bytes < decoding->reported_bytes + PROGRESS_BYTES)
        return;
    decoding->reported_bytes = done_bytes;
    decoding->options->progress(decoding->options->progress_context, done_bytes, decoding->window.size);
}

static void read_piece(struct decoding *decoding, struct worker *worker, size_t number) {
    const struct gt_xplane_piece *piece = &decoding->space.pieces[number];
    struct gt_str bytes;
    worker->status = load(worker, decoding->source, piece, &bytes);
    if (worker->status == GT_OK)
        gt_xplane_events_take(&worker->events, number, bytes);
}

static void work(void *context, size_t index) {
    struct decoding *decoding = context;
    struct worker *worker = &decoding->workers[index];
    size_t i;
    while (worker->status == GT_OK && gt_threads_deal_take(&decoding->deal, index, &i)) {
        const struct job *job = &decoding->jobs[i];
        gt_builder_begin(&decoding->builders[index], i);
        for (size_t p = 0; p < job->count && worker->status == GT_OK; p++)
            read_piece(decoding, worker, job->first + p);
        if (index == 0)
            report_progress(decoding, &decoding->space.pieces[job->first]);
    }
}

/* A job takes about as long as a whole piece, however many lines there are. */
static enum gt_status make_jobs(struct decoding *decoding, struct gt_error *err) {
    const struct gt_xplane_space *space = &decoding->space;
    uint64_t bytes = 0;
    for (size_t i = 0; i < space->piece_count; i++) {
        if (i == 0 || bytes >= space->piece_bytes) {
            struct job *grown =
                gt_mem_room(decoding->jobs, decoding->job_count, &decoding->job_capacity, sizeof *grown);
            if (!grown)
                return gt_fail_memory(err);
            decoding->jobs = grown;
            decoding->jobs[decoding->job_count++] = (struct job){.first = i};
            bytes = 0;
        }
        decoding->jobs[decoding->job_count - 1].count++;
        bytes += space->pieces[i].span.size + LINE_BYTES;
    }
    return GT_OK;
}

static enum gt_status init_workers(struct decoding *decoding, struct gt_error *err) {
    size_t threads = decoding->options->threads, jobs = decoding->job_count;
    size_t count = jobs < 1 ? 1 : jobs < threads ? jobs : threads;
    decoding->builders = gt_mem_array(count, sizeof *decoding->builders);
    decoding->workers = gt_mem_array(count, sizeof *decoding->workers);
    if (!decoding->builders || !decoding->workers)
        return gt_fail_memory(err);
    for (; decoding->count < count; decoding->count++) {
        struct gt_builder *builder = &decoding->builders[decoding->count];
        if (gt_builder_init(builder, GT_XPLANE_KEY, err) != GT_OK)
            return GT_ERR;
        if (gt_xplane_events_init(&decoding->workers[decoding->count].events, &decoding->space, builder,
                                  &decoding->capture, decoding->base_ns, err) != GT_OK) {
            gt_builder_release(builder);
            return GT_ERR;
        }
    }
    return GT_OK;
}

static enum gt_status read_events(struct decoding *decoding, struct gt_error *err) {
    if (make_jobs(decoding, err) != GT_OK || init_workers(decoding, err) != GT_OK)
        return GT_ERR;
    gt_threads_deal_init(&decoding->deal, decoding->job_count, decoding->count);
    gt_threads_run(decoding->count, work, decoding);
    for (size_t i = 0; i < decoding->count; i++)
        if (decoding->workers[i].status != GT_OK) {
            if (err)
                *err = decoding->workers[i].error;
            return decoding->workers[i].status;
        }
    return GT_OK;
}

/* ---- what is known beside the events ---- */

static bool is_amd(const struct gt_xplane_plane *plane) {
    return gt_str_find_nocase(plane->gpu.vendor, GT_STR("AMD")) != NULL;
}

/* Times of lines are counted from the beginning of the capture, or in files of older profilers since 1970. */
static void describe(struct decoding *decoding) {
    const struct gt_xplane_space *space = &decoding->space;
    decoding->capture =
        (struct gt_xla_capture){.pid = space->pid, .facts = gt_decoder_facts(decoding->options), .is_amd = false};
    for (size_t i = 0; i < space->plane_count; i++)
        decoding->capture.is_amd |= is_amd(&space->planes[i]);
    for (size_t i = 0; i < space->line_count && space->start_ns > 0; i++)
        if (space->lines[i].timestamp_ns >= space->start_ns)
            decoding->base_ns = space->start_ns;
}

static void keep_limit(uint32_t *into, uint64_t number) {
    if (number <= UINT32_MAX)
        *into = (uint32_t)number;
}

/* The name says whose GPU it is; where it does not, the vendor's goes before it. */
static void name_device(struct gt_builder *builder, uint32_t device, const struct gt_xplane_plane *plane,
                        struct gt_arena *arena) {
    static const char *const makers[] = {"AMD", "Instinct", "Radeon", "gfx9"};
    struct gt_str name = plane->gpu.name;
    if (is_amd(plane) && !gt_str_has_any_nocase(name, makers, GT_ARRAY_COUNT(makers)))
        name = gt_arena_printf(arena, "AMD %.*s", (int)gt_str_cut(name, 256).len, name.ptr);
    gt_builder_name_device(builder, device, name);
    builder->failed |= gt_arena_failed(arena);
}

static void add_device(struct decoding *decoding, const struct gt_xplane_plane *plane) {
    struct gt_builder *builder = &decoding->builders[0];
    uint32_t device = gt_builder_device(builder, plane->device);
    struct gt_devices *devices = &builder->store.devices;
    if (device >= devices->count)
        return; /* memory ran out */
    const struct gt_xplane_gpu *gpu = &plane->gpu;
    name_device(builder, device, plane, &decoding->space.arena);
    devices->memory_bytes[device] = gpu->memory_bytes;
    devices->bandwidth[device] = gpu->bandwidth;
    devices->clock_hz[device] = gpu->clock_khz <= UINT32_MAX ? gpu->clock_khz * 1000 : 0;
    keep_limit(&devices->multiprocessors[device], gpu->multiprocessors);
    keep_limit(&devices->compute_major[device], gpu->compute_major);
    keep_limit(&devices->compute_minor[device], gpu->compute_minor);
}

static struct gt_str producer(struct gt_xplane_space *space) {
    if (space->jax_version.len == 0)
        return GT_STR("XLA profiler");
    struct gt_str version = gt_str_cut(space->jax_version, 64);
    return gt_arena_printf(&space->arena, "JAX %.*s, XLA profiler", (int)version.len, version.ptr);
}

static void count_losses(const struct decoding *decoding, const char *packing_damage) {
    const struct gt_xplane_window *window = &decoding->window;
    struct gt_builder *builder = &decoding->builders[0];
    if (packing_damage)
        gt_builder_issue(builder, GT_ISSUE_PACKING_DAMAGED, 1, GT_NO_OFFSET);
    else if (window->is_cut)
        gt_builder_issue(builder, GT_ISSUE_INPUT_CUT, 1, window->size);
    if (window->damage_count)
        gt_builder_issue(builder, GT_ISSUE_EVENT_DAMAGED, window->damage_count, window->first_damage);
    if (decoding->space.loss_count)
        gt_builder_issue(builder, GT_ISSUE_EVENTS_DROPPED, decoding->space.loss_count, GT_NO_OFFSET);
    if (decoding->space.tpu_count && gt_decoder_reads(decoding->options, GT_FACT_OPS))
        gt_builder_issue_of(builder, GT_ISSUE_TPU_NOT_READ, GT_FACT_OPS, decoding->space.tpu_count, GT_NO_OFFSET);
}

static bool join_workers(struct decoding *decoding) {
    struct gt_xla_rows **rows = gt_mem_array(decoding->count, sizeof *rows);
    for (size_t i = 0; rows && i < decoding->count; i++)
        rows[i] = &decoding->workers[i].events.rows;
    bool is_done = rows && gt_xla_rows_join(rows, decoding->count);
    gt_mem_free(rows);
    return is_done;
}

static enum gt_status finish(struct decoding *decoding, const char *packing_damage, struct gt_store **out,
                             struct gt_error *err) {
    struct gt_xplane_space *space = &decoding->space;
    struct gt_builder *builder = &decoding->builders[0];
    struct gt_meta *meta = &builder->store.meta;
    gt_builder_begin(builder, decoding->job_count);
    meta->base_ns = space->start_ns;
    meta->producer = gt_builder_string(builder, producer(space));
    meta->host = gt_builder_string(builder, space->host);
    meta->read_bytes = decoding->window.size;
    for (size_t i = 0; i < decoding->count; i++)
        meta->read_rows += decoding->workers[i].events.event_count;
    for (size_t i = 0; i < space->plane_count; i++)
        if (space->planes[i].kind == GT_XLA_PLANE_GPU)
            add_device(decoding, &space->planes[i]);
    count_losses(decoding, packing_damage);
    if (!join_workers(decoding) || gt_arena_failed(&space->arena))
        return gt_fail_memory(err);
    return gt_store_seal(decoding->builders, decoding->count, out, err);
}

static void release(struct decoding *decoding) {
    for (size_t i = 0; i < decoding->count; i++) {
        gt_xplane_events_release(&decoding->workers[i].events);
        gt_mem_free(decoding->workers[i].buffer);
        gt_builder_release(&decoding->builders[i]);
    }
    gt_mem_free(decoding->workers);
    gt_mem_free(decoding->builders);
    gt_mem_free(decoding->jobs);
    gt_xplane_space_release(&decoding->space);
    gt_xplane_walk_window_release(&decoding->window);
}

/* ---- the input ---- */

static enum gt_status decode_seekable(const struct gt_source *source, uint64_t size, const char *packing_damage,
                                      size_t piece_bytes, const struct gt_decode_options *options,
                                      struct gt_store **out, struct gt_error *err) {
    struct decoding decoding = {.source = source, .options = options};
    enum gt_status status = gt_xplane_walk_window_init(&decoding.window, source, size, err);
    if (status == GT_OK)
        status = gt_xplane_space_init(&decoding.space, &decoding.window, piece_bytes, err);
    if (status == GT_OK) {
        describe(&decoding);
        status = read_events(&decoding, err);
    }
    if (status == GT_OK)
        status = finish(&decoding, packing_damage, out, err);
    release(&decoding);
    return status;
}

enum gt_status gt_xplane_decode_sized(struct gt_source *source, const struct gt_decode_options *options,
                                      size_t piece_bytes, struct gt_store **out, struct gt_error *err) {
    struct gt_spool *spool;
    uint64_t size;
    *out = NULL;
    if (gt_source_is_seekable(source, &size))
        return decode_seekable(source, size, NULL, piece_bytes, options, out, err);
    enum gt_status status = gt_spool_open(source, &spool, err);
    if (status != GT_OK)
        return status;
    if (gt_source_is_seekable(gt_spool_source(spool), &size))
        status =
            decode_seekable(gt_spool_source(spool), size, gt_source_damage(source), piece_bytes, options, out, err);
    else
        status = gt_fail(err, "'%s' is empty", gt_source_path(source));
    gt_spool_close(spool);
    return status;
}

enum gt_status gt_xplane_decode(struct gt_source *const *sources, size_t count, const struct gt_decode_options *options,
                                struct gt_store **out, struct gt_error *err) {
    *out = NULL;
    if (count != 1)
        return gt_fail(err, "a profile of XLA is one file, not %zu", count);
    return gt_xplane_decode_sized(sources[0], options, PIECE_BYTES, out, err);
}

/* The first plane, as far as it goes: a number perhaps, then its name. */
int gt_xplane_sniff(struct gt_str head, const char *path) {
    static const struct gt_str beginnings[] = {GT_STR("/host:"),          GT_STR("/device:"),
                                               GT_STR("/virtualdevice:"), GT_STR("Task Environment"),
                                               GT_STR("Host CPUs"),       GT_STR("Syscalls")};
    char padded[64 + GT_PROTO_PADDING] = {0};
    size_t size = head.len < 64 ? head.len : 64;
    (void)path;
    memcpy(padded, head.ptr, size);
    struct gt_proto bytes = gt_proto_of((struct gt_str){padded, size});
    uint64_t tag, length, number;
    if (!gt_proto_varint(&bytes, &tag) || tag != GT_PROTO_BYTES(1) || !gt_proto_varint(&bytes, &length))
        return 0;
    if (bytes.p < bytes.end && *bytes.p == GT_PROTO_VARINT(1)) {
        bytes.p++;
        if (!gt_proto_varint(&bytes, &number))
            return 0;
    }
    if (bytes.p >= bytes.end || *bytes.p++ != GT_PROTO_BYTES(2) || !gt_proto_varint(&bytes, &length))
        return 0;
    size_t left = (size_t)(bytes.end - bytes.p);
    struct gt_str name = {(const char *)bytes.p, length < left ? (size_t)length : left};
    for (size_t i = 0; i < GT_ARRAY_COUNT(beginnings); i++)
        if (gt_str_starts(name, beginnings[i]))
            return 95;
    return 0;
}
