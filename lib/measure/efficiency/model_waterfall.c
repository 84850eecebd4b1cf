/* Divides the time that is charged to each kernel into what its work needs at least and the rest. */
#include "measure/efficiency/model_waterfall.h"

#include "base/mem.h"
#include "measure/results/charging.h"

/* An op may be charged in several pieces: what of its roofline is left for the next one is kept for the last op, and
   pieces of one op follow each other but for those of other classes. */
struct dividing {
    const struct gt_view *view;
    const struct gt_work_set *set;
    struct gt_model_waterfall *out;
    struct gt_waterfall_spread *spread; /* NULL: nobody asks for it */
    size_t op;                          /* of the last piece of compute */
    int64_t left_ns;                    /* of its roofline */
};

static void add_to(int64_t *sum, int64_t ns) {
    *sum = gt_ns_add(*sum, ns);
}

static void note(const struct dividing *it, size_t position, size_t part, int64_t ns) {
    if (it->spread && ns > 0)
        gt_waterfall_spread_note(it->spread, it->view->labels->op_step[it->view->row[position]], part, ns);
}

static void divide(struct dividing *it, size_t position, int64_t ns) {
    struct gt_work_part part = gt_work_set_part(it->view, it->set, position);
    if (part.roofline_ns < 0) {
        bool is_known = part.instance != GT_NO_ROW;
        add_to(is_known ? &it->out->peak_unknown_ns : &it->out->unmodelled_ns, ns);
        note(it, position, is_known ? GT_WATERFALL_PEAK_UNKNOWN : GT_WATERFALL_UNMODELLED, ns);
        return;
    }
    if (it->op != position) {
        it->op = position;
        it->left_ns = part.roofline_ns;
    }
    const struct gt_work_instance *instance = &it->set->instances[part.instance];
    uint8_t family = gt_work_set_kind(it->set, instance)->family;
    int64_t ideal_ns = it->left_ns < ns ? it->left_ns : ns;
    it->left_ns -= ideal_ns;
    it->out->has_family[family] = true;
    add_to(&it->out->ideal_ns[family], ideal_ns);
    add_to(&it->out->lost_ns[family], ns - ideal_ns);
    add_to(&it->out->lost_bound_ns[family][instance->bound], ns - ideal_ns);
    note(it, position, GT_WATERFALL_IDEAL + family, ideal_ns);
    note(it, position, GT_WATERFALL_LOST + family, ns - ideal_ns);
}

static void charge(void *context, size_t position, int64_t start_ns, int64_t end_ns) {
    struct dividing *it = context;
    int64_t ns = gt_ns_between(start_ns, end_ns);
    enum gt_class class = gt_view_op_class(it->view, position);
    if (class == GT_CLASS_COMPUTE) {
        divide(it, position, ns);
        return;
    }
    bool is_comm = class == GT_CLASS_COMM;
    add_to(is_comm ? &it->out->rest.exposed_comm_ns : &it->out->rest.exposed_memory_ns, ns);
    note(it, position, is_comm ? GT_WATERFALL_EXPOSED_COMM : GT_WATERFALL_EXPOSED_MEMORY, ns);
}

static void note_gaps(const struct dividing *it, const struct gt_idle *idle, size_t device) {
    const struct gt_idle_device *of = &idle->devices[device];
    for (size_t i = of->first; i < of->first + of->count; i++)
        gt_waterfall_spread_note(it->spread, gt_idle_gap_step(idle, i), GT_WATERFALL_IDLE + gt_idle_gap_cause(idle, i),
                                 gt_idle_gap_ns(idle, i));
}

void gt_model_waterfall_of(struct gt_model_waterfall *out, const struct gt_view *view, const struct gt_work_set *set,
                           const struct gt_idle *idle, size_t device, struct gt_waterfall_spread *spread) {
    const struct gt_view_device *at = &view->devices[device];
    struct dividing it = {.view = view, .set = set, .out = out, .spread = spread, .op = SIZE_MAX};
    *out = (struct gt_model_waterfall){.rest.span_ns = gt_ns_between(at->span_start_ns, at->span_end_ns)};
    gt_charging_device(view, at, charge, &it);
    struct gt_idle_sum sums[GT_IDLE_CAUSE_COUNT];
    gt_idle_sum_causes(idle, device, sums);
    for (size_t c = 0; c < GT_IDLE_CAUSE_COUNT; c++)
        out->rest.idle_ns[c] = gt_ns_of_sum(sums[c].gaps.sum);
    if (spread)
        note_gaps(&it, idle, device);
}
