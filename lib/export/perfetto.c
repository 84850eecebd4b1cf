/* Writes Perfetto traces: each input becomes a part with its tracks, GPU work, slices and counters. */
#include "export/perfetto.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/ns.h"
#include "export/perfetto_fields.h"
#include "export/perfetto_part.h"

/* Times of a Perfetto trace are not negative. Where one would be, all are moved. */
static uint64_t offset_of_all(const struct gt_perfetto_input *inputs, size_t count) {
    int64_t first_ns = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t own_ns = gt_ns_between(inputs[i].ahead_ns, gt_perfetto_part_first_ns(inputs[i].view));
        first_ns = own_ns < first_ns ? own_ns : first_ns;
    }
    return 0 - (uint64_t)first_ns;
}

static void add_clock(struct gt_wire *wire, uint32_t id, uint64_t time_ns) {
    size_t clock = gt_wire_begin(wire, SNAPSHOT_CLOCKS);
    gt_wire_uint(wire, CLOCK_ID, id);
    gt_wire_uint(wire, CLOCK_TIMESTAMP, time_ns);
    gt_wire_end(wire, clock);
}

/* What the time of day was, where the trace says so. */
static void describe_clock(struct gt_perfetto_part *part) {
    int64_t origin_ns = part->store->origin_ns, utc_ns = gt_ns_add(origin_ns, part->store->meta.base_ns);
    struct gt_wire *wire = &part->file->single;
    if (!part->store->meta.base_ns || utc_ns <= 0)
        return;
    size_t packet = gt_perfetto_file_begin(part->file, part->machine);
    size_t snapshot = gt_wire_begin(wire, PACKET_CLOCK_SNAPSHOT);
    add_clock(wire, CLOCK_OF_TRACE, (uint64_t)origin_ns + part->add_ns);
    add_clock(wire, CLOCK_OF_REALTIME, (uint64_t)utc_ns);
    gt_wire_end(wire, snapshot);
    gt_perfetto_file_end(part->file, packet);
}

static void add_attribute(struct gt_wire *wire, const char *key, struct gt_str text) {
    size_t attribute = gt_wire_begin(wire, ATTRIBUTES_ATTRIBUTE);
    gt_wire_text(wire, ATTRIBUTE_KEY, gt_str_of(key));
    gt_wire_text(wire, ATTRIBUTE_STRING, text);
    gt_wire_end(wire, attribute);
}

static void add_number(struct gt_wire *wire, const char *key, int64_t number) {
    if (number < 0)
        return;
    size_t attribute = gt_wire_begin(wire, ATTRIBUTES_ATTRIBUTE);
    gt_wire_text(wire, ATTRIBUTE_KEY, gt_str_of(key));
    gt_wire_int(wire, ATTRIBUTE_LONG, number);
    gt_wire_end(wire, attribute);
}

/* Data problems of the input are those of what is made from it. */
static void add_issues(struct gt_wire *wire, const struct gt_perfetto_part *part) {
    for (int i = 0; i < GT_ISSUE_COUNT; i++) {
        struct gt_issue issue = gt_store_issue(part->store, (enum gt_issue_id)i, part->view->request->facts);
        char key[80];
        snprintf(key, sizeof key, "gputime.issue.%s", gt_issue_infos[i].id);
        if (issue.count)
            add_number(wire, key, (int64_t)issue.count);
    }
}

/* Who wrote the file, and of what. */
static void describe_origin(struct gt_perfetto_part *part) {
    const struct gt_store *store = part->store;
    struct gt_wire *wire = &part->file->single;
    size_t packet = gt_perfetto_file_begin(part->file, part->machine);
    size_t attributes = gt_wire_begin(wire, PACKET_TRACE_ATTRIBUTES);
    add_attribute(wire, "gputime.version", gt_str_of(GPUTIME_VERSION));
    add_attribute(wire, "gputime.format", gt_store_format(store));
    if (store->meta.producer != GT_STRID_EMPTY)
        add_attribute(wire, "gputime.producer", gt_store_string(store, store->meta.producer));
    if (store->meta.host != GT_STRID_EMPTY)
        add_attribute(wire, "gputime.host", gt_store_string(store, store->meta.host));
    add_number(wire, "gputime.rank", part->rank);
    add_number(wire, "gputime.world_size", part->world_size);
    add_issues(wire, part);
    gt_wire_end(wire, attributes);
    gt_perfetto_file_end(part->file, packet);
}

static enum gt_status write_part(struct gt_perfetto_part *part, struct gt_error *err) {
    describe_origin(part);
    describe_clock(part);
    gt_perfetto_part_describe(part);
    bool is_done = gt_perfetto_part_add_slices(part) && gt_perfetto_part_add_ops(part) &&
                   gt_perfetto_part_add_counters(part) && !gt_arena_failed(&part->arena);
    if (!is_done)
        return gt_fail_memory(err);
    gt_perfetto_file_write(part->file);
    return part->file->failed ? gt_fail_memory(err) : GT_OK;
}

enum gt_status gt_perfetto_write(const struct gt_perfetto_input *inputs, size_t count, size_t threads,
                                 struct gt_out *out, struct gt_error *err) {
    struct gt_perfetto_file file = {.out = out, .threads = threads};
    uint64_t add_ns = offset_of_all(inputs, count), event_id = 1;
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < count && status == GT_OK; i++) {
        struct gt_perfetto_part part;
        status = gt_perfetto_part_init(&part, &inputs[i], count > 1 ? (uint32_t)i + 1 : 0, &file, err);
        part.add_ns = add_ns - (uint64_t)inputs[i].ahead_ns;
        part.event_id = event_id;
        if (status == GT_OK)
            status = write_part(&part, err);
        event_id += inputs[i].view->op_count;
        gt_perfetto_part_release(&part);
    }
    gt_perfetto_file_release(&file);
    return status;
}
