/* Windows onto files: a descriptor and a place come in, bytes that no signal can take away go out. */
#include "base/mapping.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

/* Windows in the process at the same time; who comes later reads. */
enum { SLOTS = 256 };

/* The bytes that are mapped now, for the handler. Only the thread that looks at them changes them: first the end
   becomes 0, then the beginning changes, then the end is set. */
struct slot {
    atomic_bool is_taken;
    atomic_bool is_cut;
    atomic_uintptr_t begin, end; /* both 0: nothing is mapped */
};

struct gt_mapping {
    struct slot *slot;
    char *pages; /* addresses for the longest window and a page of zeros after it */
    size_t page_bytes, max_bytes;
    bool is_lost;       /* a system call failed half way: nobody can tell who has the addresses now */
    size_t shown_bytes; /* mapped now, from the first page on */
    int fd;             /* ... of this file */
    uint64_t offset;    /* ... from here on */
};

/* Variables of the whole library: a signal handler has no other way to learn what is being read. */
static struct slot slots[SLOTS];
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER; /* of the next three */
static size_t user_count;
static bool may_be_called; /* by a handler that came later: with that as the one before, each would call the other */
static struct sigaction previous;
/* What the handler may read of `previous` at any time. */
static _Atomic(void (*)(int)) previous_handler;
static _Atomic(void (*)(int, siginfo_t *, void *)) previous_action; /* NULL: it is a plain handler */

/* ---- the handler ---- */

struct window {
    struct slot *slot; /* NULL: there is none */
    uintptr_t begin, end;
};

/* The window of an address. Other threads change theirs meanwhile: a beginning that is the same before and after is
   that of the end. What is of another thread never has the address, which is in a window of this one. */
static struct window find_window(uintptr_t address) {
    for (size_t i = 0; i < SLOTS; i++) {
        uintptr_t begin = atomic_load(&slots[i].begin), end = atomic_load(&slots[i].end);
        if (address >= begin && address < end && atomic_load(&slots[i].begin) == begin)
            return (struct window){&slots[i], begin, end};
    }
    return (struct window){0};
}

/* Zeros in place of the window, which is marked before. mmap() is a system call like others here: it takes no lock of
   this process. */
static bool cut(struct window window) {
    atomic_store(&window.slot->is_cut, true);
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a pointer cannot be read from a slot while others write theirs */
    return mmap((void *)window.begin, window.end - window.begin, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED;
}

/* As if this module were not there, but for the mask and the flags of the handler before. */
static void pass_on(int number, siginfo_t *info, void *context) {
    void (*action)(int, siginfo_t *, void *) = atomic_load(&previous_action);
    void (*handler)(int) = atomic_load(&previous_handler);
    bool was_sent = info->si_code <= 0; /* by a process; else the access that failed is tried again */
    if (action) {
        action(number, info, context);
    } else if (handler != SIG_DFL && handler != SIG_IGN) {
        handler(number);
    } else if (handler == SIG_DFL || !was_sent) {
        struct sigaction standard = {.sa_handler = SIG_DFL};
        sigemptyset(&standard.sa_mask);
        sigaction(number, &standard, NULL);
        if (was_sent)
            raise(number);
    }
}

static void handle(int number, siginfo_t *info, void *context) {
    int error = errno;
    struct window window = info->si_code > 0 ? find_window((uintptr_t)info->si_addr) : (struct window){0};
    if (!window.slot || !cut(window))
        pass_on(number, info, context);
    errno = error;
}

static bool is_ours(const struct sigaction *action) {
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == handle;
}

/* A host that has put back our handler after a time with its own does not become our predecessor. */
static bool install(void) {
    struct sigaction current, ours = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    if (sigaction(SIGBUS, NULL, &current) != 0)
        return false;
    if (is_ours(&current))
        return true;
    if (may_be_called)
        return false;
    previous = current;
    atomic_store(&previous_action, current.sa_flags & SA_SIGINFO ? current.sa_sigaction : NULL);
    atomic_store(&previous_handler, current.sa_flags & SA_SIGINFO ? SIG_DFL : current.sa_handler);
    sigemptyset(&ours.sa_mask);
    return sigaction(SIGBUS, &ours, NULL) == 0;
}

/* A handler that came later stays: it may call ours, which passes everything on when no window is left. */
static void uninstall(void) {
    struct sigaction current;
    may_be_called = sigaction(SIGBUS, NULL, &current) != 0 || !is_ours(&current);
    if (!may_be_called)
        sigaction(SIGBUS, &previous, NULL);
}

static bool begin_use(void) {
    pthread_mutex_lock(&guard);
    bool is_handled = user_count > 0 || install();
    user_count += is_handled;
    pthread_mutex_unlock(&guard);
    return is_handled;
}

static void end_use(void) {
    pthread_mutex_lock(&guard);
    if (--user_count == 0)
        uninstall();
    pthread_mutex_unlock(&guard);
}

/* Whether a fault of this thread would come here. Asked for every window: hosts may change their minds. */
static bool is_guarded(void) {
    struct sigaction current;
    sigset_t blocked;
    return sigaction(SIGBUS, NULL, &current) == 0 && is_ours(&current) &&
           pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGBUS);
}

/* ---- windows ---- */

static struct slot *take_slot(void) {
    for (size_t i = 0; i < SLOTS; i++) {
        bool expected = false;
        if (atomic_compare_exchange_strong(&slots[i].is_taken, &expected, true)) {
            atomic_store(&slots[i].is_cut, false);
            return &slots[i];
        }
    }
    return NULL;
}

static void give_slot(struct slot *slot) {
    atomic_store(&slot->end, 0);
    atomic_store(&slot->begin, 0);
    atomic_store(&slot->is_taken, false);
}

/* Addresses that read as zeros. */
static void *map_zeros(void *at, size_t bytes, int flags) {
    return mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static bool reserve(struct gt_mapping *mapping, size_t max_bytes) {
    long page_bytes = sysconf(_SC_PAGESIZE);
    if (page_bytes < GT_MAPPING_PADDING || sizeof(void *) < sizeof(uint64_t)) /* addresses are scarce there */
        return false;
    mapping->page_bytes = (size_t)page_bytes;
    mapping->max_bytes = (max_bytes + mapping->page_bytes - 1) / mapping->page_bytes * mapping->page_bytes;
    void *pages = map_zeros(NULL, mapping->max_bytes + mapping->page_bytes, 0);
    mapping->pages = pages == MAP_FAILED ? NULL : pages;
    return mapping->pages != NULL;
}

struct gt_mapping *gt_mapping_new(size_t max_bytes) {
    struct gt_mapping *mapping = gt_mem_array(1, sizeof *mapping);
    if (!mapping)
        return NULL;
    mapping->fd = -1;
    if (!reserve(mapping, max_bytes) || !(mapping->slot = take_slot()) || !begin_use()) {
        if (mapping->slot)
            give_slot(mapping->slot);
        if (mapping->pages)
            munmap(mapping->pages, mapping->max_bytes + mapping->page_bytes);
        gt_mem_free(mapping);
        return NULL;
    }
    return mapping;
}

void gt_mapping_free(struct gt_mapping *mapping) {
    if (!mapping)
        return;
    give_slot(mapping->slot);
    size_t doubtful_bytes = mapping->is_lost ? mapping->max_bytes : 0; /* addresses, not memory, that are given up */
    munmap(mapping->pages + doubtful_bytes, mapping->max_bytes + mapping->page_bytes - doubtful_bytes);
    end_use();
    gt_mem_free(mapping);
}

const atomic_bool *gt_mapping_is_cut(const struct gt_mapping *mapping) {
    return &mapping->slot->is_cut;
}

/* Puts a new window in place of the old one. The handler knows it before its first byte is looked at. While the kernel
   replaces a mapping no other thread can have memory: to forget the old pages, which takes longest, is done before. */
static bool move_window(struct gt_mapping *mapping, int fd, uint64_t offset, size_t bytes) {
    struct slot *slot = mapping->slot;
    size_t before_bytes = mapping->shown_bytes;
    mapping->shown_bytes = 0;
    atomic_store(&slot->end, 0);
    if (before_bytes)
        madvise(mapping->pages, before_bytes, MADV_DONTNEED);
    mapping->is_lost = mmap(mapping->pages, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (off_t)offset) == MAP_FAILED;
    if (!mapping->is_lost && before_bytes > bytes)
        mapping->is_lost = map_zeros(mapping->pages + bytes, before_bytes - bytes, MAP_FIXED) == MAP_FAILED;
    if (mapping->is_lost)
        return false;
    atomic_store(&slot->begin, (uintptr_t)mapping->pages);
    atomic_store(&slot->end, (uintptr_t)mapping->pages + bytes);
    mapping->shown_bytes = bytes;
    mapping->fd = fd;
    mapping->offset = offset;
    return true;
}

/* What is left of a window is shown again, unless it is short and more could be had. */
static bool is_shown(const struct gt_mapping *mapping, int fd, uint64_t from, uint64_t last) {
    uint64_t end = mapping->offset + mapping->shown_bytes;
    return mapping->shown_bytes && mapping->fd == fd && from >= mapping->offset && from < end &&
           (end >= last || end - from >= mapping->max_bytes / 8);
}

struct gt_str gt_mapping_show(struct gt_mapping *mapping, int fd, uint64_t from, uint64_t to) {
    const struct gt_str none = {"", 0};
    uint64_t page_bytes = mapping->page_bytes, first = from / page_bytes * page_bytes,
             last = to / page_bytes * page_bytes;
    if (last <= from || last > INT64_MAX || mapping->is_lost || atomic_load(&mapping->slot->is_cut))
        return none;
    if (!is_shown(mapping, fd, from, last)) {
        size_t bytes = last - first < mapping->max_bytes ? (size_t)(last - first) : mapping->max_bytes;
        if (!is_guarded() || !move_window(mapping, fd, first, bytes))
            return none;
    }
    uint64_t skipped = from - mapping->offset;
    return (struct gt_str){mapping->pages + skipped, (size_t)(mapping->shown_bytes - skipped)};
}
