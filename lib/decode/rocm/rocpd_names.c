/* Texts by id. */
#include "base/mem.h"
#include "decode/rocm/rocpd.h"

enum { DENSE_SPARE = 65536 };

bool gt_rocpd_names_add(struct gt_rocpd_names *names, uint64_t id, struct gt_str text, struct gt_arena *arena) {
    struct gt_str *texts = gt_mem_room(names->texts, names->count, &names->capacity, sizeof *texts);
    names->texts = texts ? texts : names->texts;
    uint64_t *ids = gt_mem_room(names->ids, names->count, &names->id_capacity, sizeof *ids);
    names->ids = ids ? ids : names->ids;
    if (!texts || !ids || names->count >= GT_MAP_NONE - 1)
        return false;
    texts[names->count] = gt_arena_copy(arena, text);
    ids[names->count++] = id;
    return true;
}

/* Ids that lie far out, as hashes do, are looked up. */
bool gt_rocpd_names_seal(struct gt_rocpd_names *names) {
    uint64_t limit = 4 * (uint64_t)names->count + DENSE_SPARE, dense = 0;
    for (size_t i = 0; i < names->count; i++)
        if (names->ids[i] < limit && names->ids[i] >= dense)
            dense = names->ids[i] + 1;
    names->dense = gt_mem_array((size_t)dense, sizeof *names->dense);
    if (!names->dense)
        return false;
    names->dense_count = (size_t)dense;
    for (size_t i = 0; i < names->count; i++) {
        uint64_t id = names->ids[i];
        if (id >= limit)
            gt_map_put_if_new(&names->sparse, 0, id, (uint32_t)i);
        else if (names->dense[id] == 0)
            names->dense[id] = (uint32_t)i + 1;
    }
    return !names->sparse.failed;
}

void gt_rocpd_names_unseal(struct gt_rocpd_names *names) {
    gt_mem_free(names->dense);
    gt_map_release(&names->sparse);
    names->dense = NULL;
    names->dense_count = 0;
}

void gt_rocpd_names_release(struct gt_rocpd_names *names) {
    gt_mem_free(names->texts);
    gt_mem_free(names->ids);
    gt_mem_free(names->dense);
    gt_map_release(&names->sparse);
    *names = (struct gt_rocpd_names){0};
}
