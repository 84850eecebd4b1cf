/* Shared results: in come the lines of results.def, out go their accessors, which fill a slot of the view. */
#include "measure/results/results.h"

#include "events/view_slots.h"

_Static_assert((size_t)GT_RESULT_COUNT <= GT_VIEW_SLOTS_COUNT, "each result has a slot of the view");

#define GT_RESULT(kind, type, init, release, accessor)                                                                 \
    static enum gt_status kind##_init(void *result, const struct gt_view *view, struct gt_error *err) {                \
        return init(result, view, err);                                                                                \
    }                                                                                                                  \
    static void kind##_release(void *result) {                                                                         \
        release(result);                                                                                               \
    }
#include "measure/results/results.def"
#undef GT_RESULT

static const struct gt_view_slots_maker makers[GT_RESULT_COUNT] = {
#define GT_RESULT(kind, type, init, release, accessor) [GT_RESULT_##kind] = {sizeof(type), kind##_init, kind##_release},
#include "measure/results/results.def"
#undef GT_RESULT
};

static const void *get(const struct gt_view *view, enum gt_result kind, struct gt_error *err) {
    return gt_view_slots_get(view, kind, &makers[kind], err);
}

#define GT_RESULT(kind, type, init, release, accessor)                                                                 \
    const type *accessor(const struct gt_view *view, struct gt_error *err) {                                           \
        return get(view, GT_RESULT_##kind, err);                                                                       \
    }
#include "measure/results/results.def"
#undef GT_RESULT

enum gt_status gt_results_make(const struct gt_view *view, enum gt_result kind, struct gt_error *err) {
    return get(view, kind, err) ? GT_OK : err->code;
}
