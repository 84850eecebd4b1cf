/* Counts the ops of the usual steps by name. What a longer step has beyond that is its surplus. */
#include "measure/findings/step_surplus.h"

#include "base/mem.h"
#include "base/ns.h"
#include "measure/findings/thresholds.h"
#include "measure/findings/training.h"

/* Ops of one name on one device. */
struct tally {
    size_t usual;       /* in usual steps */
    size_t usual_steps; /* how many of these have it */
    size_t latest;      /* 1 + the item that was looked at last */
    size_t seen;        /* in that item */
    size_t more;        /* beyond the usual ones */
    int64_t more_ns;
};

struct search {
    struct gt_step_surplus *surplus;
    const struct gt_view *view;
    const struct gt_step_times *times;
    struct tally *tallies; /* by name */
    int64_t *samples;
    size_t usual_items, usual_ops, more_ops, surplus_items;
    __int128 usual_items_ns;
};

/* ---- kinds of steps ---- */

static bool is_usual(const struct gt_step_loop *loop, const struct gt_step_time *time) {
    double usual = (double)loop->usual_ops;
    return fabs((double)time->ops - usual) <= gt_thresholds.usual_ops_spread * usual;
}

static bool is_longer(const struct gt_step_times *times, const struct gt_step_time *time) {
    return (double)gt_step_time_ns(time) >= (1 + gt_thresholds.extra_share) * (double)times->loops[time->loop].usual_ns;
}

static bool has_more(const struct gt_step_times *times, const struct gt_step_time *time) {
    const struct gt_step_loop *loop = &times->loops[time->loop];
    return (double)time->ops >= gt_thresholds.more_ops_ratio * (double)loop->usual_ops && is_longer(times, time);
}

/* Every step is one or the other, most are usual, and not only the first has more: it may be the program's start. */
static bool sort_items(struct search *it, const struct gt_step_loop *loop) {
    size_t usual = 0, more = 0;
    for (size_t i = loop->first; i < loop->first + loop->count; i++) {
        const struct gt_step_time *time = &it->times->items[i];
        it->surplus->has_it[i] = has_more(it->times, time);
        more += it->surplus->has_it[i] && i > loop->first;
        usual += is_usual(loop, time);
        if (!it->surplus->has_it[i] && !is_usual(loop, time))
            return false;
    }
    it->usual_items = usual;
    return usual == loop->count || (more > 0 && (double)usual >= gt_thresholds.fewest_steps &&
                                    (double)usual >= gt_thresholds.usual_steps_share * (double)loop->count);
}

/* ---- ops ---- */

static void count_usual(struct search *it, size_t index) {
    const struct gt_view_device *device = &it->view->devices[index];
    size_t next = 0;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        size_t item = gt_step_times_at(it->times, &it->times->devices[index], it->view->start_ns[i], &next);
        if (item == SIZE_MAX || it->surplus->has_it[item])
            continue;
        struct tally *tally = &it->tallies[it->view->name[i]];
        tally->usual++;
        tally->usual_steps += tally->latest != item + 1;
        tally->latest = item + 1;
    }
}

/* Nearly all ops of the usual steps have names that all of them have. */
static bool are_alike(const struct search *it) {
    size_t all = 0, same = 0;
    for (size_t i = 0; i < it->view->store->strings.count; i++) {
        all += it->tallies[i].usual;
        same += it->tallies[i].usual_steps == it->usual_items ? it->tallies[i].usual : 0;
    }
    return all > 0 && (double)same >= gt_thresholds.same_kernels_share * (double)all;
}

/* Whether the step has one more of this name than usual steps. */
static bool take_op(struct search *it, size_t position, size_t item) {
    struct tally *tally = &it->tallies[it->view->name[position]];
    tally->seen = tally->latest == item + 1 ? tally->seen + 1 : 1;
    tally->latest = item + 1;
    if (tally->seen <= (tally->usual + it->usual_items / 2) / it->usual_items)
        return false;
    tally->more++;
    tally->more_ns = gt_ns_add(tally->more_ns, gt_view_op_ns(it->view, position));
    return true;
}

/* Marks the ops of the surplus. false: the steps lack work of the usual ones, so they do something else, or what they
   have more is what some programs do once in several steps. */
static bool mark_surplus(struct search *it, size_t index, const struct gt_step_loop *loop) {
    const struct gt_view_device *device = &it->view->devices[index];
    size_t next = 0, covered = 0, items = loop->count - it->usual_items;
    __int128 all_ns = 0, accumulated_ns = 0;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        size_t item = gt_step_times_at(it->times, &it->times->devices[index], it->view->start_ns[i], &next);
        if (item == SIZE_MAX || !it->surplus->has_it[item])
            continue;
        it->surplus->is_op[i] = take_op(it, i, item);
        covered += !it->surplus->is_op[i];
        if (!it->surplus->is_op[i])
            continue;
        bool is_accumulated =
            gt_view_op_class(it->view, i) == GT_CLASS_COMM || gt_training_is_update(it->view, (uint32_t)i);
        all_ns += gt_view_op_ns(it->view, i);
        accumulated_ns += is_accumulated ? gt_view_op_ns(it->view, i) : 0;
        it->more_ops++;
    }
    return (double)covered >= gt_thresholds.same_kernels_share * (double)(loop->usual_ops * items) &&
           2 * accumulated_ns < all_ns;
}

/* ---- devices ---- */

static void measure_usual(struct search *it, size_t index, const struct gt_step_loop *loop) {
    size_t count = 0;
    for (size_t i = loop->first; i < loop->first + loop->count; i++) {
        const struct gt_step_time *time = &it->times->items[i];
        if (it->surplus->has_it[i])
            continue;
        it->samples[count++] = gt_step_time_ns(time);
        it->usual_items_ns += gt_step_time_ns(time);
        it->usual_ops += time->ops;
    }
    it->surplus->usual_ns[index] = gt_step_times_lower_median(it->samples, count);
}

static void add_name(struct gt_step_surplus *surplus, gt_strid name, const struct tally *tally) {
    struct gt_step_surplus_name added = {name, tally->more, tally->more_ns};
    for (size_t i = 0; i < GT_STEP_SURPLUS_NAMES && added.count; i++) {
        struct gt_step_surplus_name other = surplus->names[i];
        if (other.count && other.ns >= added.ns)
            continue;
        surplus->names[i] = added;
        added = other;
    }
}

/* Counts of one device do not matter to the next; what the steps have more does. */
static void forget_usual(struct search *it) {
    for (size_t i = 0; i < it->view->store->strings.count; i++) {
        struct tally *tally = &it->tallies[i];
        *tally = (struct tally){.more = tally->more, .more_ns = tally->more_ns};
    }
}

static bool look_at_device(struct search *it, size_t index, size_t *all_usual) {
    const struct gt_step_times_device *device = &it->times->devices[index];
    if (device->count == 0)
        return true;
    const struct gt_step_loop *loop = &it->times->loops[device->first_loop];
    if (device->loop_count != 1 || !sort_items(it, loop))
        return false;
    measure_usual(it, index, loop);
    *all_usual += it->usual_items;
    if (it->usual_items == loop->count)
        return true;
    forget_usual(it);
    count_usual(it, index);
    it->surplus_items += loop->count - it->usual_items;
    return are_alike(it) && mark_surplus(it, index, loop);
}

static bool look(struct search *it) {
    size_t all_usual = 0;
    for (size_t d = 0; d < it->view->device_count; d++)
        if (!look_at_device(it, d, &all_usual))
            return false;
    if (it->surplus_items == 0)
        return false;
    it->surplus->usual_ops = it->usual_ops / all_usual;
    it->surplus->more_ops = it->more_ops / it->surplus_items;
    it->surplus->others_ns = (double)it->usual_items_ns / (double)all_usual;
    for (gt_strid i = 0; i < it->view->store->strings.count; i++)
        if (it->tallies[i].more)
            add_name(it->surplus, i, &it->tallies[i]);
    return true;
}

/* Most traces have no such steps, which costs nothing to see: ops are counted only where times do not say it. */
static bool may_have_surplus(struct gt_evidence *evidence, const struct gt_step_times *times) {
    bool has_several = false, has_longer = false, may = false;
    for (size_t d = 0; d < evidence->view->device_count && times->devices; d++)
        has_several |= times->devices[d].loop_count > 1;
    for (size_t i = 0; i < times->count && !has_several && !has_longer; i++)
        has_longer = is_longer(times, &times->items[i]);
    if (has_longer)
        gt_evidence_count_step_ops(evidence);
    for (size_t i = 0; i < times->count && has_longer && !may; i++)
        may = has_more(times, &times->items[i]);
    return may;
}

void gt_step_surplus_find(struct gt_step_surplus *surplus, struct gt_evidence *evidence,
                          const struct gt_step_times *times) {
    const struct gt_view *view = evidence->view;
    *surplus = (struct gt_step_surplus){0};
    if (!may_have_surplus(evidence, times) || !gt_training_is_seen(evidence))
        return;
    surplus->has_it = gt_mem_array(times->count, 1);
    surplus->is_op = gt_mem_array(view->op_count, 1);
    surplus->usual_ns = gt_mem_array(view->device_count, sizeof *surplus->usual_ns);
    struct search it = {.surplus = surplus,
                        .view = view,
                        .times = times,
                        .tallies = gt_mem_array(view->store->strings.count, sizeof *it.tallies),
                        .samples = gt_mem_uninitialised(times->count, sizeof *it.samples)};
    bool ok = surplus->has_it && surplus->is_op && surplus->usual_ns && it.tallies && it.samples;
    if (!ok)
        gt_evidence_fail(evidence);
    else if (look(&it))
        surplus->runs = it.surplus_items;
    gt_mem_free(it.tallies);
    gt_mem_free(it.samples);
}

void gt_step_surplus_release(struct gt_step_surplus *surplus) {
    gt_mem_free(surplus->has_it);
    gt_mem_free(surplus->is_op);
    gt_mem_free(surplus->usual_ns);
    *surplus = (struct gt_step_surplus){0};
}
