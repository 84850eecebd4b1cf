/* Names that packets of a sequence refer to by number: which ones it has already, and how they are written. */
#ifndef GT_EXPORT_PERFETTO_NAMES_H
#define GT_EXPORT_PERFETTO_NAMES_H

#include "base/map.h"
#include "base/mem.h"
#include "export/perfetto_fields.h"
#include "export/wire.h"

/* A bit for each name, or a map where the sequence is short and names are many. */
struct gt_perfetto_names {
    uint64_t *bits;
    struct gt_map map;
};

/* false: memory was short. */
static inline bool gt_perfetto_names_init(struct gt_perfetto_names *names, size_t name_count, size_t event_count) {
    *names = (struct gt_perfetto_names){0};
    if (name_count / 256 > event_count + 1024)
        return true;
    names->bits = gt_mem_array(name_count / 64 + 1, sizeof *names->bits);
    return names->bits != NULL;
}

/* Once for each name. */
static inline bool gt_perfetto_names_is_new(struct gt_perfetto_names *names, uint32_t name) {
    if (!names->bits) {
        size_t before = names->map.count;
        gt_map_put_if_new(&names->map, 0, name, 1);
        return names->map.count > before;
    }
    uint64_t bit = UINT64_C(1) << name % 64, *word = &names->bits[name / 64];
    bool is_new = !(*word & bit);
    *word |= bit;
    return is_new;
}

/* false: memory was short, and names were lost. */
static inline bool gt_perfetto_names_release(struct gt_perfetto_names *names) {
    bool is_done = !names->map.failed;
    gt_mem_free(names->bits);
    gt_map_release(&names->map);
    return is_done;
}

/* A number with its text, in a field of an InternedData message. */
static inline void gt_perfetto_names_add(struct gt_wire *wire, uint32_t field, uint64_t iid, struct gt_str text) {
    size_t entry = gt_wire_begin(wire, field);
    gt_wire_uint(wire, INTERNED_IID, iid);
    gt_wire_text(wire, INTERNED_NAME, text);
    gt_wire_end(wire, entry);
}

#endif
