/* What only some analyses ask for: sizes and groups of collectives, arguments of operators, launch configurations,
   waits, flows, counters and memory. Events come in, rows go into the builder. Their args are read from text; of these
   the fast reader knows only arguments and configurations, and those by what was made of them here before. */
#ifndef GT_DECODE_TORCH_TORCH_FACTS_H
#define GT_DECODE_TORCH_TORCH_FACTS_H

#include "decode/torch/torch_args.h"
#include "decode/torch/torch_subject.h"

/* The operator that PyTorch records a collective with. */
#define GT_TORCH_COMM_RECORD "record_param_comms"

/* What is asked for about the kernel or operator that was added last. */
void gt_torch_facts_of_kernel(const struct gt_torch_subject *at);
void gt_torch_facts_of_cpu_op(const struct gt_torch_subject *at, gt_strid name);

/* What a member of the args of an operator or kernel is for: one of GT_TORCH_TEXT_FIELDS; GT_TORCH_ARGS: one that many
   events have alike; GT_TORCH_OTHER: nothing here. */
enum gt_torch_field gt_torch_facts_field(enum gt_torch_category category, struct gt_str key);

/* Members of args that are all of GT_TORCH_ARGS: of an operator as texts, of a kernel as the row that they make. false:
   something is odd about them, which gt_torch_facts_of_cpu_op() or gt_torch_facts_of_kernel() has to see. */
bool gt_torch_facts_read_arguments(struct gt_str text, struct gt_torch_args *args);
bool gt_torch_facts_read_config(struct gt_str text, struct gt_kernel_configs_row *row);

/* The row of the former. */
struct gt_operator_args_row gt_torch_facts_arguments(struct gt_builder *builder, const struct gt_torch_args *args);

/* Complete events of their category. */
void gt_torch_facts_take_sync(const struct gt_torch_subject *at);
void gt_torch_facts_take_event_record(const struct gt_torch_subject *at);

/* Events of other phases. false: they made no row. */
bool gt_torch_facts_take_flow(const struct gt_torch_subject *at, enum gt_flow_phase phase);
enum { GT_TORCH_DEVICE_OF_PROCESS = -2 }; /* of a counter: its process is a GPU, if its name says so */
/* The number in "GPU 0" and "GPU 0 Counters"; -1: it is no GPU. */
int64_t gt_torch_facts_device_named(struct gt_str words);
bool gt_torch_facts_take_counter(const struct gt_torch_subject *at);
bool gt_torch_facts_take_instant(const struct gt_torch_subject *at);

/* Whether the category alone says that a flow leads from a launch to its kernel, which correlation ids say better. */
bool gt_torch_facts_is_launch_flow(const struct gt_torch_event *event);

/* torch_comms.c: the record of a collective in the args of a kernel or of a CPU operator. */
bool gt_torch_facts_has_comm(const struct gt_torch_event *event);
void gt_torch_facts_take_comm(const struct gt_torch_subject *at, bool is_kernel);

/* The list of groups in a document's header. */
void gt_torch_facts_take_groups(struct gt_builder *builder, struct gt_str config);

#endif
