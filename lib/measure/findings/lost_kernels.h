/* Lost kernels: kernels that lose time, summed by name. Those that lose most are claimed, and what it would save if
   they did not is simulated. */
#ifndef GT_MEASURE_FINDINGS_LOST_KERNELS_H
#define GT_MEASURE_FINDINGS_LOST_KERNELS_H

#include "measure/findings/findings.h"
#include "measure/findings/kernel_roofs.h"

/* So many names at most: each is a part of the command that repeats the simulation. */
enum { GT_LOST_KERNELS = 8 };

struct gt_lost_kernel {
    gt_strid name; /* with its template arguments */
    size_t count;
    int64_t ns;      /* that its ops have to themselves */
    double lost_ns;  /* of it */
    double share_ns; /* sum of the share of the roof x ns */
    double lost_max; /* of the op that decides the following */
    struct gt_kernel_roof roof;
    size_t position;
};

struct gt_lost_kernels {
    struct gt_lost_kernel items[GT_LOST_KERNELS]; /* those that lose most, the most first */
    size_t count;
};

/* The part of an op's time that it loses; 0: none. */
typedef double gt_lost_kernels_part(const struct gt_kernel_roofs *roofs, size_t position,
                                    const struct gt_kernel_roof *roof);

/* Claims the part of each op that no other finding has claimed, for the names that lose most. Ops without a known roof
   are not asked about. Linear, but for the logarithm of the number of names. */
void gt_lost_kernels_claim(struct gt_evidence *evidence, gt_lost_kernels_part *part_of, struct gt_lost_kernels *lost);

/* Simulates the kernels without what is lost. */
void gt_lost_kernels_settle(struct gt_evidence *evidence, struct gt_finding *finding,
                            const struct gt_lost_kernels *lost);

/* A finding on such kernels: claims them, settles what they save, then describes them and advises on the first. false:
   there are none. */
struct gt_lost_kernels_finding {
    gt_lost_kernels_part *part_of;
    void (*describe)(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_lost_kernels *lost);
    void (*advise)(struct gt_evidence *evidence, struct gt_finding *finding, const struct gt_lost_kernel *kernel);
};
bool gt_lost_kernels_find(struct gt_evidence *evidence, struct gt_finding *finding,
                          const struct gt_lost_kernels_finding *how);

/* "16.2% of its roof (compute-bound, by shapes)" */
const char *gt_lost_kernels_say_roof(struct gt_evidence *evidence, const struct gt_lost_kernel *kernel);

#endif
