/* Inside of lib/frame: the functions that fill columns which are not in the store, by the frame they are of. */
#ifndef GT_FRAME_FRAME_MAKERS_H
#define GT_FRAME_FRAME_MAKERS_H

#include "frame/frame_make.h"

/* Each column: MAKER(name). */
#define MAKER(name)                                                                                                    \
    enum gt_status gt_frame_makers_##name(struct gt_frames *frames, const struct gt_frame_spec *spec,                  \
                                          struct gt_frame_slot *slot, struct gt_error *err);
#define COUNTER(name)                                                                                                  \
    enum gt_status gt_frame_makers_##name(struct gt_frames *frames, size_t *count, struct gt_error *err);

/* frame_ops.c */
MAKER(op_short_name)
MAKER(op_category)
MAKER(op_class)
MAKER(op_process)
MAKER(op_call)
MAKER(op_range)
MAKER(op_step)
MAKER(op_queue_ns)
MAKER(op_delay_ns)
MAKER(op_operator)
MAKER(op_phase)
MAKER(op_wall_ns)
MAKER(op_collective)
/* frame_gaps.c */
MAKER(op_gap)
MAKER(op_gap_queued_ns)
COUNTER(gap_rows)
MAKER(gap_device)
MAKER(gap_start_ns)
MAKER(gap_end_ns)
MAKER(gap_ns)
MAKER(gap_cause)
MAKER(gap_activity)
MAKER(gap_part)
MAKER(gap_previous)
MAKER(gap_next)
MAKER(gap_call)
MAKER(gap_recoverable_ns)
MAKER(gap_meanwhile)
/* frame_cpu.c */
MAKER(call_api)
MAKER(call_operator)
MAKER(call_ops)
MAKER(call_blocks)
MAKER(call_launches)
MAKER(range_parent)
MAKER(range_level)
MAKER(range_phase)
MAKER(range_ops)
MAKER(range_gpu_start_ns)
MAKER(range_gpu_end_ns)
MAKER(range_process)
COUNTER(step_rows)
MAKER(step_number)
MAKER(step_start_ns)
MAKER(step_end_ns)
MAKER(step_dur_ns)
MAKER(step_process)
MAKER(step_range)
MAKER(step_state)
MAKER(memory_call)
MAKER(memory_operator)
MAKER(memory_range)
/* frame_tracks.c */
COUNTER(name_rows)
MAKER(name_name)
MAKER(name_short_name)
MAKER(name_category)
MAKER(name_ops)
MAKER(name_total_ns)
MAKER(name_source)
MAKER(name_pattern)
COUNTER(counter_rows)
MAKER(counter_track)
MAKER(counter_time_ns)
MAKER(counter_value)
MAKER(track_values)
COUNTER(category_rows)
MAKER(category_key)
MAKER(category_title)
MAKER(category_class)
MAKER(group_category)
COUNTER(input_rows)
MAKER(input_text)
MAKER(input_loss)
MAKER(input_number)
/* frame_comms.c */
COUNTER(collective_rows)
MAKER(collective_operation)
MAKER(collective_bytes)
MAKER(collective_bus_bytes)
MAKER(collective_number)
MAKER(collective_text)
MAKER(collective_group)
MAKER(collective_op)
MAKER(collective_ops)

#undef MAKER
#undef COUNTER

#endif
