/* Work of operators by what they were called with: the same name and texts of arguments mean the same work, so each
   combination is parsed once. */
#ifndef GT_MEASURE_EFFICIENCY_WORK_ENTRIES_H
#define GT_MEASURE_EFFICIENCY_WORK_ENTRIES_H

#include "base/map.h"
#include "events/store.h"
#include "measure/efficiency/work_model.h"

struct gt_work_entry {
    const struct gt_work_model *model;
    gt_strid name;
    struct gt_str shape; /* as tables have it */
    struct gt_work work;
    bool is_known; /* false: the arguments do not suffice */
};

struct gt_work_recent;
struct gt_work_parsed;

struct gt_work_entries {
    const struct gt_store *store;
    struct gt_arena arena; /* of shapes */
    struct gt_arena kept;  /* of parsed shapes */
    struct gt_arena scratch;
    uint32_t *args_of;  /* by operator: row of operator_args; GT_NO_ROW */
    uint16_t *model_of; /* by string: 0 not looked up, 1 none, else number of the model + 2 */
    const struct gt_work_model **models;
    size_t model_count, model_capacity;
    struct gt_map shapes, entry_of; /* of texts, and of name and texts */
    struct gt_work_recent *recent;
    struct gt_work_parsed *parsed; /* of the first shapes, whichever operators have them */
    struct gt_work_entry *items;
    size_t count, capacity;
    bool failed; /* memory was short */
};

bool gt_work_entries_init(struct gt_work_entries *entries, const struct gt_store *store);
void gt_work_entries_release(struct gt_work_entries *entries);

static inline bool gt_work_entries_has_dims(const struct gt_work_entries *entries, uint32_t operator_row) {
    uint32_t args = entries->args_of[operator_row];
    return args != GT_NO_ROW && entries->store->operator_args.dims[args] != GT_STRID_EMPTY;
}

/* NULL: there is none for its name. */
const struct gt_work_model *gt_work_entries_model(struct gt_work_entries *entries, uint32_t operator_row);

/* Of an operator with dims and a model; its number. GT_NO_ROW: memory was short. */
uint32_t gt_work_entries_get(struct gt_work_entries *entries, uint32_t operator_row);

#endif
