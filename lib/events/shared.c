/* Results that analyses of a view share: in come ways to make them, out go the view's own, each made once whatever the
   number of threads that ask. */
#include <pthread.h>

#include "base/mem.h"
#include "events/view.h"

struct gt_shared {
    pthread_mutex_t lock; /* held while it is made */
    void *what;           /* NULL: nobody has asked yet */
    void (*release)(void *what);
};

struct gt_shared *gt_shared_new(void) {
    struct gt_shared *shared = gt_mem_array(GT_SHARED_COUNT, sizeof *shared);
    for (size_t kind = 0; kind < GT_SHARED_COUNT && shared; kind++)
        pthread_mutex_init(&shared[kind].lock, NULL); /* cannot fail without attributes */
    return shared;
}

static void forget(struct gt_shared *shared) {
    if (shared->what)
        shared->release(shared->what);
    gt_mem_free(shared->what);
    shared->what = NULL;
}

void gt_shared_free(struct gt_shared *shared) {
    for (size_t kind = 0; kind < GT_SHARED_COUNT && shared; kind++) {
        forget(&shared[kind]);
        pthread_mutex_destroy(&shared[kind].lock);
    }
    gt_mem_free(shared);
}

static void *make(const struct gt_view *view, const struct gt_sharing *how, struct gt_error *err) {
    void *what = gt_mem_array(1, how->bytes);
    if (!what) {
        gt_fail_memory(err);
        return NULL;
    }
    if (how->init(what, view, err) == GT_OK)
        return what;
    gt_mem_free(what);
    return NULL;
}

const void *gt_view_share(const struct gt_view *view, enum gt_shared_kind kind, const struct gt_sharing *how,
                          struct gt_error *err) {
    struct gt_shared *shared = &view->shared[kind];
    pthread_mutex_lock(&shared->lock);
    if (!shared->what) {
        shared->release = how->release;
        shared->what = make(view, how, err);
    }
    const void *what = shared->what;
    pthread_mutex_unlock(&shared->lock);
    return what;
}

void gt_view_forget(const struct gt_view *view) {
    for (size_t kind = 0; kind < GT_SHARED_COUNT; kind++)
        forget(&view->shared[kind]);
}
