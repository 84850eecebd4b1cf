/* What launching threads did while a GPU was idle, as far as names say it: how much of each gap was compilation, data
   loading or allocation. */
#ifndef GT_MEASURE_FINDINGS_ACTIVITIES_H
#define GT_MEASURE_FINDINGS_ACTIVITIES_H

#include "measure/findings/lead.h"
#include "measure/findings/name_sums.h"

enum gt_activity { GT_ACTIVITY_COMPILATION, GT_ACTIVITY_DATA_LOADING, GT_ACTIVITY_ALLOCATION, GT_ACTIVITY_COUNT };

/* One activity of all threads. */
struct gt_activity_times {
    int64_t *gap_ns;             /* by gap: how much of it the launching thread spent so; NULL: nowhere */
    __int128 thread_ns;          /* in all, on threads that launch, whether the GPU was idle or not */
    struct gt_name_sums names;   /* on these threads; sorted. What is nested in another one of its kind counts once */
    struct gt_lead_loss *losses; /* on all threads: by thread, then time; none overlap */
    size_t loss_count;
};

struct gt_activities {
    struct gt_activity_times of[GT_ACTIVITY_COUNT];
};

/* What a name means there, in words that users know: "torch.compile"; NULL: nothing of these. */
const char *gt_activities_words(struct gt_str name);

/* Linear in calls, ranges and operators; n log n in those that are such activities. */
enum gt_status gt_activities_init(struct gt_activities *activities, const struct gt_view *view,
                                  const struct gt_idle *idle, int64_t steady_ns, struct gt_error *err);
void gt_activities_release(struct gt_activities *activities);

#endif
