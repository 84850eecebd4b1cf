/* Reads the members of one event for whoever makes rows of it. */
#include "decode/torch/torch_subject.h"

#include "base/mem.h"
#include "base/num.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

void gt_torch_subject_issue(const struct gt_torch_subject *at, enum gt_issue_id issue) {
    at->sink->odd_count++;
    gt_builder_issue_of(at->sink->builder, issue, at->facts, 1, at->offset);
}

int64_t gt_torch_subject_int(const struct gt_torch_subject *at, enum gt_torch_field field, int64_t absent) {
    int64_t value;
    enum gt_json_number found = gt_torch_value_int(at->event, field, &value);
    if (found == GT_JSON_UNREADABLE)
        gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
    return found == GT_JSON_NUMBER ? value : absent;
}

uint64_t gt_torch_subject_correlation(const struct gt_torch_subject *at) {
    int64_t id = gt_torch_subject_int(at, GT_TORCH_CORRELATION, -1);
    return id < 0 ? GT_NO_CORRELATION : (uint64_t)id;
}

static int64_t find_micros(const struct gt_torch_subject *at, enum gt_torch_field field, int64_t absent_ns) {
    int64_t ns;
    enum gt_json_number found = gt_torch_value_micros(at->event, field, &ns);
    if (found == GT_JSON_UNREADABLE)
        gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
    return found == GT_JSON_NUMBER ? ns : absent_ns;
}

bool gt_torch_subject_times(const struct gt_torch_subject *at, int64_t *start_ns, int64_t *end_ns) {
    *start_ns = find_micros(at, GT_TORCH_TS, GT_NO_TIME);
    if (*start_ns == GT_NO_TIME)
        return false;
    if (__builtin_add_overflow(*start_ns, find_micros(at, GT_TORCH_DUR, 0), end_ns)) {
        gt_torch_subject_issue(at, GT_ISSUE_NUMBER_UNREADABLE);
        *end_ns = *start_ns;
    }
    return true;
}

struct gt_str gt_torch_subject_decode(const struct gt_torch_subject *at, const struct gt_json_value *value) {
    struct gt_torch_sink *sink = at->sink;
    const struct gt_json_value_text *text = &value->text;
    if (!value->is_string && gt_str_eq(text->raw, GT_STR("null")))
        return (struct gt_str){"", 0};
    if (text->marks == 0)
        return text->raw;
    if (text->raw.len > sink->scratch_bytes) {
        char *grown = gt_mem_realloc(sink->scratch, text->raw.len);
        if (!grown) {
            sink->builder->failed = true;
            return (struct gt_str){"", 0};
        }
        sink->scratch = grown;
        sink->scratch_bytes = text->raw.len;
    }
    bool repaired = false;
    size_t len = gt_json_scan_decode(*text, sink->scratch, &repaired);
    if (repaired)
        gt_torch_subject_issue(at, GT_ISSUE_TEXT_REPAIRED);
    return (struct gt_str){sink->scratch, len};
}

struct gt_str gt_torch_subject_text(const struct gt_torch_subject *at, enum gt_torch_field field) {
    if (!gt_torch_event_has(at->event, field))
        return (struct gt_str){"", 0};
    return gt_torch_subject_decode(at, &at->event->values[field]);
}

gt_strid gt_torch_subject_name(const struct gt_torch_subject *at) {
    return gt_builder_string(at->sink->builder, gt_torch_subject_text(at, GT_TORCH_NAME));
}

struct gt_str gt_torch_subject_label(const struct gt_torch_subject *at, enum gt_torch_field field, int64_t *number) {
    *number = -1;
    if (gt_torch_value_int(at->event, field, number) == GT_JSON_NUMBER)
        return (struct gt_str){"", 0};
    *number = -1;
    return gt_torch_subject_text(at, field);
}

uint32_t gt_torch_subject_process(const struct gt_torch_subject *at) {
    int64_t pid;
    struct gt_str label = gt_torch_subject_label(at, GT_TORCH_PID, &pid);
    return gt_builder_process(at->sink->builder, pid, label);
}

static uint32_t thread_by_label(const struct gt_torch_subject *at) {
    int64_t tid;
    uint32_t process = gt_torch_subject_process(at);
    struct gt_str label = gt_torch_subject_label(at, GT_TORCH_TID, &tid);
    return gt_builder_thread(at->sink->builder, process, tid, label);
}

uint32_t gt_torch_subject_thread(const struct gt_torch_subject *at) {
    int64_t pid, tid;
    if (gt_torch_value_int(at->event, GT_TORCH_PID, &pid) != GT_JSON_NUMBER ||
        gt_torch_value_int(at->event, GT_TORCH_TID, &tid) != GT_JSON_NUMBER)
        return thread_by_label(at);
    return gt_torch_sink_thread(at->sink, pid, tid);
}

/* The stream is in the args, else it is the thread: a number, or "stream 7" in old exports. */
int64_t gt_torch_subject_stream(const struct gt_torch_subject *at) {
    static const struct gt_str prefix = GT_STR("stream ");
    int64_t stream = gt_torch_subject_int(at, GT_TORCH_STREAM, INT64_MIN);
    if (stream != INT64_MIN)
        return stream;
    if (gt_torch_value_int(at->event, GT_TORCH_TID, &stream) == GT_JSON_NUMBER)
        return gt_torch_sink_stream_of_row(stream);
    if (!gt_torch_event_has(at->event, GT_TORCH_TID))
        return 0;
    struct gt_str words = at->event->values[GT_TORCH_TID].text.raw;
    if (!gt_str_starts(words, prefix))
        return 0;
    struct gt_str digits = {words.ptr + prefix.len, 0};
    while (prefix.len + digits.len < words.len && digits.ptr[digits.len] >= '0' && digits.ptr[digits.len] <= '9')
        digits.len++;
    return gt_num_parse_int(digits, &stream) ? stream : 0;
}

int64_t gt_torch_subject_device(const struct gt_torch_subject *at) {
    int64_t device = gt_torch_subject_int(at, GT_TORCH_DEVICE, -1);
    if (device < 0 && (gt_torch_value_int(at->event, GT_TORCH_PID, &device) != GT_JSON_NUMBER || device < 0)) {
        gt_torch_subject_issue(at, GT_ISSUE_OP_WITHOUT_DEVICE);
        device = 0;
    }
    return device;
}

uint32_t gt_torch_subject_lane(const struct gt_torch_subject *at) {
    return gt_torch_sink_lane(at->sink, gt_torch_subject_device(at), gt_torch_subject_stream(at));
}
