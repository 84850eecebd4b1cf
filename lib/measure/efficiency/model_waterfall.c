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
    size_t op;       /* of the last piece of compute */
    int64_t left_ns; /* of its roofline */
};

static void add_to(int64_t *sum, int64_t ns) {
    *sum = gt_ns_add(*sum, ns);
}

static void divide(struct dividing *it, size_t position, int64_t ns) {
    struct gt_work_part part = gt_work_set_part(it->view, it->set, position);
    if (part.roofline_ns < 0) {
        add_to(&it->out->unmodelled_ns, ns);
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
}

static void charge(void *context, size_t position, int64_t start_ns, int64_t end_ns) {
    struct dividing *it = context;
    int64_t ns = gt_ns_between(start_ns, end_ns);
    enum gt_class class = gt_view_op_class(it->view, position);
    if (class == GT_CLASS_COMPUTE)
        divide(it, position, ns);
    else
        add_to(class == GT_CLASS_COMM ? &it->out->rest.exposed_comm_ns : &it->out->rest.exposed_memory_ns, ns);
}

void gt_model_waterfall_of(struct gt_model_waterfall *out, const struct gt_view *view, const struct gt_work_set *set,
                           const struct gt_idle_causes *idle, size_t device) {
    const struct gt_view_device *at = &view->devices[device];
    struct dividing it = {.view = view, .set = set, .out = out, .op = SIZE_MAX};
    *out = (struct gt_model_waterfall){.rest.span_ns = gt_ns_between(at->span_start_ns, at->span_end_ns)};
    gt_charging_device(view, at, charge, &it);
    gt_idle_causes_sum(idle, device, out->rest.idle_ns);
}
