/* What the name of a kernel says about its work: whether it only helps another one, which units it uses, sizes of
   elements, and of optimizers with many tensors all of it. */
#ifndef GT_MEASURE_EFFICIENCY_KERNEL_WORK_H
#define GT_MEASURE_EFFICIENCY_KERNEL_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct gt_kernel_work {
    bool is_read;                 /* by gt_kernel_work_read: callers keep these by name */
    bool is_helper;               /* converts or reduces for the kernel that does the work */
    bool is_tf32;                 /* products of 32-bit numbers on matrix units */
    uint8_t element_bytes;        /* of what is concatenated; 0: not known */
    uint16_t chunk_element_bytes; /* of all accesses of an optimizer to an element; 0: it is none */
};

/* Elements that a block of an optimizer with many tensors works on at most. */
enum { GT_KERNEL_WORK_CHUNK = 65536 };

struct gt_kernel_work gt_kernel_work_read(struct gt_str name);

#endif
