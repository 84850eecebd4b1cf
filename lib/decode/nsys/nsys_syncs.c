/* Queries of events: Nsight records them like waits, so the name of the call decides. Calls come in, kinds of syncs are
   set. */
#include "base/map.h"
#include "base/mem.h"
#include "decode/nsys/nsys.h"

static bool has_events(const struct gt_syncs *syncs) {
    for (size_t i = 0; i < syncs->count; i++)
        if (syncs->kind[i] == GT_SYNC_EVENT)
            return true;
    return false;
}

static bool is_query(struct gt_str name) {
    return gt_str_starts(name, GT_STR("cudaEventQuery")) || gt_str_starts(name, GT_STR("cuEventQuery"));
}

/* The correlations of the calls that ask for an event, by process. */
static bool find_queries(struct gt_map *queries, const struct gt_store *store) {
    const struct gt_calls *calls = &store->calls;
    bool *is_asking = gt_mem_array(store->strings.count + 1, sizeof *is_asking); /* by name */
    if (!is_asking)
        return false;
    for (gt_strid i = 0; i < store->strings.count; i++)
        is_asking[i] = is_query(gt_strtab_get(&store->strings, i));
    for (size_t i = 0; i < calls->count; i++) {
        uint32_t thread = calls->thread[i];
        uint32_t process = thread < store->threads.count ? store->threads.process[thread] : GT_NO_TRACK;
        if (is_asking[calls->name[i]] && calls->correlation[i] != GT_NSYS_NO_ID && process < store->processes.count)
            gt_map_put_if_new(queries, (uint64_t)store->processes.pid[process], calls->correlation[i], 1);
    }
    gt_mem_free(is_asking);
    return !queries->failed;
}

static void set_kinds(struct gt_store *store, const struct gt_map *queries) {
    struct gt_syncs *syncs = &store->syncs;
    for (size_t i = 0; i < syncs->count; i++) {
        uint32_t process = syncs->process[i];
        if (syncs->kind[i] == GT_SYNC_EVENT && process < store->processes.count &&
            gt_map_get(queries, (uint64_t)store->processes.pid[process], syncs->correlation[i]) != GT_MAP_NONE)
            syncs->kind[i] = GT_SYNC_QUERY;
    }
}

bool gt_nsys_finish_syncs(struct gt_nsys_sink *sinks, size_t count) {
    struct gt_map queries = {0};
    bool has_any = false, is_done = true;
    for (size_t s = 0; s < count; s++)
        has_any |= has_events(&sinks[s].builder->store.syncs);
    for (size_t s = 0; s < count && has_any && is_done; s++)
        is_done = find_queries(&queries, &sinks[s].builder->store);
    for (size_t s = 0; s < count && queries.count && is_done; s++)
        set_kinds(&sinks[s].builder->store, &queries);
    gt_map_release(&queries);
    return is_done;
}
