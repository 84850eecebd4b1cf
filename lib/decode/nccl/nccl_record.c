/* Reads the objects of a record: whose it is (header, metadata), and what was done (coll_perf, p2p_perf). Keys that are
   not known are passed over, and of equal keys the first counts. */
#include "decode/nccl/nccl_record.h"

#include <math.h>

#include "base/num.h"
#include "decode/json/json_member.h"
#include "decode/json/json_number.h"

enum part { HEADER, METADATA, COLLECTIVE, MESSAGE, PART_COUNT };

enum field {
    ID,
    COMM_NAME,
    RANK,
    RANKS,
    NODES,
    VERSION,
    WRITTEN,
    HOST,
    PID,
    NAME,
    SEQUENCE,
    PEER,
    BYTES,
    LENGTH,
    TIMING,
    ALGBW,
    BUSBW,
    TIMES,
    START,
    FIELD_COUNT
};

struct key {
    struct gt_str key;
    enum field field;
};

static const struct key header_keys[] = {
    {GT_STR("id"), ID},         {GT_STR("comm_name"), COMM_NAME}, {GT_STR("rank"), RANK},
    {GT_STR("n_ranks"), RANKS}, {GT_STR("nnodes"), NODES},
};
static const struct key metadata_keys[] = {
    {GT_STR("inspector_output_format_version"), VERSION},
    {GT_STR("dump_timestamp_us"), WRITTEN},
    {GT_STR("hostname"), HOST},
    {GT_STR("pid"), PID},
};
static const struct key collective_keys[] = {
    {GT_STR("coll"), NAME},
    {GT_STR("coll_sn"), SEQUENCE},
    {GT_STR("coll_msg_size_bytes"), BYTES},
    {GT_STR("coll_exec_time_us"), LENGTH},
    {GT_STR("coll_timing_source"), TIMING},
    {GT_STR("coll_algobw_gbs"), ALGBW},
    {GT_STR("coll_busbw_gbs"), BUSBW},
    {GT_STR("event_trace_ts"), TIMES},
};
static const struct key message_keys[] = {
    {GT_STR("p2p"), NAME},
    {GT_STR("p2p_sn"), SEQUENCE},
    {GT_STR("p2p_peer"), PEER},
    {GT_STR("p2p_msg_size_bytes"), BYTES},
    {GT_STR("p2p_exec_time_us"), LENGTH},
    {GT_STR("p2p_timing_source"), TIMING},
    {GT_STR("p2p_algobw_gbs"), ALGBW},
    {GT_STR("p2p_busbw_gbs"), BUSBW},
    {GT_STR("event_trace_ts"), TIMES},
};
static const struct key time_keys[] = {{GT_STR("coll_start_ts"), START}, {GT_STR("p2p_start_ts"), START}};

static const struct {
    struct gt_str key;
    const struct key *keys;
    size_t count;
} parts[PART_COUNT] = {
    [HEADER] = {GT_STR("header"), header_keys, sizeof header_keys / sizeof *header_keys},
    [METADATA] = {GT_STR("metadata"), metadata_keys, sizeof metadata_keys / sizeof *metadata_keys},
    [COLLECTIVE] = {GT_STR("coll_perf"), collective_keys, sizeof collective_keys / sizeof *collective_keys},
    [MESSAGE] = {GT_STR("p2p_perf"), message_keys, sizeof message_keys / sizeof *message_keys},
};

/* A record taken apart. */
struct record {
    struct gt_nccl_record_sink *sink;
    uint64_t offset;
    uint32_t seen;       /* bits of enum field */
    uint32_t seen_parts; /* bits of enum part */
    struct gt_json_value values[FIELD_COUNT];
};

/* ---- members ---- */

static void read_members(struct record *record, struct gt_str text, const struct key *keys, size_t count) {
    struct gt_json_member member;
    if (text.len == 0 || *text.ptr != '{')
        return;
    const char *p = text.ptr + 1, *end = text.ptr + text.len;
    while (gt_json_member_next(&p, end, false, &member) == GT_JSON_OK)
        for (size_t i = 0; i < count; i++)
            if (gt_str_eq(member.key.raw, keys[i].key)) {
                if (!(record->seen >> keys[i].field & 1))
                    record->values[keys[i].field] = member.value;
                record->seen |= UINT32_C(1) << keys[i].field;
                break;
            }
}

/* false: its members are not those of an object. */
static bool read_parts(struct record *record, struct gt_str text) {
    struct gt_json_member member;
    const char *p = text.ptr + 1, *end = text.ptr + text.len;
    while (gt_json_member_next(&p, end, false, &member) == GT_JSON_OK)
        for (size_t part = 0; part < PART_COUNT; part++)
            if (gt_str_eq(member.key.raw, parts[part].key) && !(record->seen_parts >> part & 1)) {
                record->seen_parts |= UINT32_C(1) << part;
                read_members(record, member.value.text.raw, parts[part].keys, parts[part].count);
            }
    if (record->seen >> TIMES & 1)
        read_members(record, record->values[TIMES].text.raw, time_keys, sizeof time_keys / sizeof *time_keys);
    return p < end && *p == '}';
}

/* ---- values ---- */

static bool has(const struct record *record, enum field field) {
    return record->seen >> field & 1;
}

static void count_unreadable(const struct record *record) {
    gt_builder_issue_of(record->sink->builder, GT_ISSUE_NUMBER_UNREADABLE, GT_FACT_COMM_LOGS, 1, record->offset);
}

static int64_t natural_of(const struct record *record, enum field field) {
    int64_t number = -1;
    if (has(record, field) && (gt_json_number_to_int(&record->values[field], &number) == GT_JSON_UNREADABLE))
        count_unreadable(record);
    return number < 0 ? -1 : number;
}

/* ns; absent: GT_NO_TIME. */
static int64_t micros_of(const struct record *record, enum field field) {
    int64_t ns;
    if (!has(record, field) || gt_str_eq(record->values[field].text.raw, GT_STR("null")))
        return GT_NO_TIME;
    if (gt_num_parse_decimal(record->values[field].text.raw, 3, &ns))
        return ns;
    count_unreadable(record);
    return GT_NO_TIME;
}

/* Plugins write "nan" and inf where a collective took no time that they could measure. */
static double rate_of(const struct record *record, enum field field) {
    double rate = -1;
    if (has(record, field) && gt_json_number_to_real(&record->values[field], &rate) == GT_JSON_UNREADABLE)
        count_unreadable(record);
    return isfinite(rate) && rate >= 0 ? rate : -1;
}

static gt_strid text_of(const struct record *record, enum field field) {
    return has(record, field) ? gt_json_member_intern(record->sink->builder, &record->values[field]) : GT_STRID_EMPTY;
}

/* ---- whose it is ---- */

/* "0x7f8c496ae9f661", as NCCL prints it. UINT64_MAX: it is no such number. */
static uint64_t communicator_of(struct gt_str text) {
    uint64_t number = 0;
    if (!gt_str_take_start(&text, GT_STR("0x")) && !gt_str_take_start(&text, GT_STR("0X")))
        return gt_num_parse_uint(text, &number) ? number : UINT64_MAX;
    return gt_num_parse_hex(text, &number) ? number : UINT64_MAX;
}

static uint32_t group_of(const struct record *record) {
    struct gt_comm_groups_row row = GT_COMM_GROUP_UNKNOWN;
    struct gt_builder *builder = record->sink->builder;
    if (!has(record, ID))
        return GT_NO_TRACK;
    row.communicator = communicator_of(record->values[ID].text.raw);
    row.size = natural_of(record, RANKS);
    row.name = text_of(record, COMM_NAME);
    if (gt_str_eq(gt_strtab_get(&builder->store.strings, row.name), GT_STR("unknown")))
        row.name = GT_STRID_EMPTY;
    if (row.communicator == UINT64_MAX) {
        count_unreadable(record);
        row.name = text_of(record, ID);
    }
    return gt_builder_comm_group(builder, &row);
}

static uint32_t process_of(const struct record *record) {
    struct gt_nccl_record_sink *sink = record->sink;
    gt_strid host = text_of(record, HOST);
    int64_t pid = natural_of(record, PID);
    if (sink->host == GT_STRID_EMPTY)
        sink->host = host;
    sink->has_several_hosts |= host != sink->host;
    if (pid < 0 && host == GT_STRID_EMPTY)
        return GT_NO_TRACK;
    return gt_builder_process(sink->builder, pid, gt_strtab_get(&sink->builder->store.strings, host));
}

/* ---- records ---- */

static void add_row(const struct record *record) {
    struct gt_builder *builder = record->sink->builder;
    int64_t sequence = natural_of(record, SEQUENCE), bytes = natural_of(record, BYTES);
    const struct gt_comm_logs_row row = {
        .start_ns = micros_of(record, START),
        .time_ns = micros_of(record, WRITTEN),
        .length_ns = micros_of(record, LENGTH),
        .bytes = bytes < 0 ? UINT64_MAX : (uint64_t)bytes,
        .sequence = sequence < 0 ? INT64_MIN : sequence,
        .rank = natural_of(record, RANK),
        .peer = natural_of(record, PEER),
        .nodes = natural_of(record, NODES),
        .algbw = rate_of(record, ALGBW),
        .busbw = rate_of(record, BUSBW),
        .name = text_of(record, NAME),
        .timing = text_of(record, TIMING),
        .group = group_of(record),
        .process = process_of(record),
    };
    gt_builder_comm_log(builder, &row);
    if (record->sink->version == GT_STRID_EMPTY)
        record->sink->version = text_of(record, VERSION);
}

bool gt_nccl_record_take(struct gt_nccl_record_sink *sink, struct gt_str text, uint64_t offset) {
    struct record record = {.sink = sink, .offset = offset};
    bool is_whole = read_parts(&record, text);
    if (!(record.seen_parts & (1u << COLLECTIVE | 1u << MESSAGE)))
        return false;
    sink->record_count++;
    if (!is_whole || !has(&record, NAME))
        gt_builder_issue_of(sink->builder, GT_ISSUE_EVENT_DAMAGED, GT_FACT_COMM_LOGS, 1, offset);
    else
        add_row(&record);
    return true;
}
