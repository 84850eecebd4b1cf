/* Finds the clock of a GPU's matrix units: the data sheet's by the name of the GPU, else the highest that the trace
   states. */
#include "measure/counters/matrix_clock.h"

#include "base/mem.h"

static const struct {
    struct gt_str name;
    uint64_t mhz;
} clocks[] = {
#define GT_MATRIX_CLOCK(name, mhz) {GT_STR(name), mhz},
#include "measure/counters/matrix_clocks.def"
#undef GT_MATRIX_CLOCK
};

static const struct gt_str vendors[] = {GT_STR("NVIDIA "), GT_STR("Tesla "), GT_STR("AMD Instinct ")};

static struct gt_str without_vendor(struct gt_str name) {
    for (size_t i = 0; i < GT_ARRAY_COUNT(vendors); i++)
        if (gt_str_starts(name, vendors[i]))
            return (struct gt_str){name.ptr + vendors[i].len, name.len - vendors[i].len};
    return name;
}

uint64_t gt_matrix_clock_hz(const struct gt_view *view, uint32_t device) {
    const struct gt_devices *devices = &view->store->devices;
    struct gt_str name = without_vendor(gt_store_string(view->store, devices->name[device]));
    for (size_t i = 0; i < GT_ARRAY_COUNT(clocks); i++)
        if (gt_str_eq(name, clocks[i].name))
            return clocks[i].mhz * 1000000;
    return devices->clock_hz[device];
}
