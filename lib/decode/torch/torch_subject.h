/* The event that is being turned into rows: its members as numbers, texts and tracks. What is odd about one is counted.
 */
#ifndef GT_DECODE_TORCH_TORCH_SUBJECT_H
#define GT_DECODE_TORCH_TORCH_SUBJECT_H

#include "decode/torch/torch_sink.h"

struct gt_torch_subject {
    struct gt_torch_sink *sink;
    const struct gt_torch_event *event;
    uint64_t offset; /* of its first byte in the input */
    uint32_t facts;  /* what is being read of it, which problems belong to; 0: something that is always read */
};

/* The same event, read for another fact. */
static inline struct gt_torch_subject gt_torch_subject_for(const struct gt_torch_subject *at, enum gt_fact fact) {
    struct gt_torch_subject other = *at;
    other.facts = fact;
    return other;
}

void gt_torch_subject_issue(const struct gt_torch_subject *at, enum gt_issue_id issue);

/* Numbers; those that cannot be read count as absent. */
int64_t gt_torch_subject_int(const struct gt_torch_subject *at, enum gt_torch_field field, int64_t absent);
uint64_t gt_torch_subject_correlation(const struct gt_torch_subject *at);

/* Start and end; false without a start. An end that does not fit 64 bits counts as no duration. */
bool gt_torch_subject_times(const struct gt_torch_subject *at, int64_t *start_ns, int64_t *end_ns);

/* The text of a value or member, decoded; valid until the next call. Nothing where it is absent, null or nested. */
struct gt_str gt_torch_subject_decode(const struct gt_torch_subject *at, const struct gt_json_value *value);
struct gt_str gt_torch_subject_text(const struct gt_torch_subject *at, enum gt_torch_field field);
gt_strid gt_torch_subject_name(const struct gt_torch_subject *at);

/* pid and tid are numbers, or words such as "Spans": then -1 and the words are the key. */
struct gt_str gt_torch_subject_label(const struct gt_torch_subject *at, enum gt_torch_field field, int64_t *number);

uint32_t gt_torch_subject_process(const struct gt_torch_subject *at);
uint32_t gt_torch_subject_thread(const struct gt_torch_subject *at);
/* Of an event of a GPU. */
int64_t gt_torch_subject_device(const struct gt_torch_subject *at);
int64_t gt_torch_subject_stream(const struct gt_torch_subject *at);
uint32_t gt_torch_subject_lane(const struct gt_torch_subject *at);

#endif
