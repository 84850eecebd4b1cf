/* Slots of a view: in come ways to make results, out go the view's own, each made once. */
#include "events/view_slots.h"

#include <assert.h>

#include "base/mem.h"
#include "base/threads.h"
#include "events/view.h"

struct slot {
    struct gt_threads_gate gate; /* held while the result is made */
    void *result;                /* NULL: nobody has asked yet */
    void (*release)(void *result);
};

struct gt_view_slots {
    struct slot slots[GT_VIEW_SLOTS_COUNT];
};

struct gt_view_slots *gt_view_slots_new(void) {
    struct gt_view_slots *slots = gt_mem_array(1, sizeof *slots);
    for (size_t i = 0; i < GT_VIEW_SLOTS_COUNT && slots; i++)
        gt_threads_gate_init(&slots->slots[i].gate);
    return slots;
}

void gt_view_slots_clear(struct gt_view_slots *slots) {
    for (size_t i = 0; i < GT_VIEW_SLOTS_COUNT; i++) {
        struct slot *slot = &slots->slots[i];
        if (slot->result)
            slot->release(slot->result);
        gt_mem_free(slot->result);
        slot->result = NULL;
    }
}

void gt_view_slots_free(struct gt_view_slots *slots) {
    if (!slots)
        return;
    gt_view_slots_clear(slots);
    for (size_t i = 0; i < GT_VIEW_SLOTS_COUNT; i++)
        gt_threads_gate_release(&slots->slots[i].gate);
    gt_mem_free(slots);
}

static void *make(const struct gt_view *view, const struct gt_view_slots_maker *maker, struct gt_error *err) {
    void *result = gt_mem_array(1, maker->bytes);
    if (!result) {
        gt_fail_memory(err);
        return NULL;
    }
    if (maker->init(result, view, err) == GT_OK)
        return result;
    gt_mem_free(result);
    return NULL;
}

const void *gt_view_slots_get(const struct gt_view *view, size_t index, const struct gt_view_slots_maker *maker,
                              struct gt_error *err) {
    assert(index < GT_VIEW_SLOTS_COUNT);
    struct slot *slot = &view->slots->slots[index];
    gt_threads_gate_enter(&slot->gate);
    if (!slot->result) {
        slot->release = maker->release;
        slot->result = make(view, maker, err);
    }
    const void *result = slot->result;
    gt_threads_gate_leave(&slot->gate);
    return result;
}
