/* Windows onto files: the bytes of the file, zeros where it shrinks meanwhile, and signals that are not ours go where
   they went before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mapping.h"

/* A multiple of every system's pages. */
enum { PAGE = 65536, WINDOW = 4 * PAGE, FILE_BYTES = 10 * PAGE + 100 };

static int new_file(void) {
    char path[] = "/tmp/gputime-mapping-XXXXXX", bytes[PAGE];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    for (int i = 0; i < FILE_BYTES; i += PAGE) {
        memset(bytes, 'a' + i / PAGE, sizeof bytes);
        assert_int_equal(write(fd, bytes, sizeof bytes), sizeof bytes);
    }
    assert_int_equal(ftruncate(fd, FILE_BYTES), 0);
    return fd;
}

static struct sigaction handler_now(void) {
    struct sigaction action;
    assert_int_equal(sigaction(SIGBUS, NULL, &action), 0);
    return action;
}

static void windows_show_the_file(void **state) {
    (void)state;
    int fd = new_file();
    struct gt_mapping *mapping = gt_mapping_new(WINDOW - 1);
    assert_non_null(mapping);
    for (uint64_t from = 0; from < FILE_BYTES; from += 777) {
        struct gt_str shown = gt_mapping_show(mapping, fd, from, FILE_BYTES);
        if (from >= 10 * PAGE) { /* the last page is not whole */
            assert_int_equal(shown.len, 0);
            continue;
        }
        assert_true(shown.len > 0 && shown.len <= WINDOW && from + shown.len <= 10 * PAGE);
        for (size_t i = 0; i < shown.len; i++)
            assert_int_equal(shown.ptr[i], 'a' + (from + i) / PAGE);
        for (size_t i = 0; i < GT_MAPPING_PADDING; i++)
            assert_int_equal(shown.ptr[shown.len + i], 0);
    }
    assert_int_equal(gt_mapping_show(mapping, fd, 0, 100).len, 0);
    assert_int_equal(gt_mapping_show(mapping, fd, PAGE, PAGE).len, 0);
    assert_false(*gt_mapping_is_cut(mapping));
    gt_mapping_free(mapping);
    gt_mapping_free(NULL);
    close(fd);
}

static void what_cannot_be_mapped_is_not_shown(void **state) {
    (void)state;
    int ends[2], fd = new_file();
    struct gt_mapping *mapping = gt_mapping_new(WINDOW);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(gt_mapping_show(mapping, fd, 0, FILE_BYTES).len, WINDOW);
    assert_int_equal(gt_mapping_show(mapping, ends[0], 0, FILE_BYTES).len, 0);
    assert_int_equal(gt_mapping_show(mapping, fd, 0, FILE_BYTES).len, 0); /* nor anything after it */
    gt_mapping_free(mapping);
    assert_null(gt_mapping_new((size_t)1 << 62));
    close(ends[0]);
    close(ends[1]);
    close(fd);
}

/* ---- files that change ---- */

static void a_file_that_shrinks_becomes_zeros(void **state) {
    (void)state;
    int fd = new_file();
    struct gt_mapping *mapping = gt_mapping_new(WINDOW), *other = gt_mapping_new(WINDOW);
    struct gt_str shown = gt_mapping_show(mapping, fd, 10, FILE_BYTES);
    assert_int_equal(*shown.ptr, 'a');
    assert_int_equal(ftruncate(fd, PAGE), 0);
    volatile const char *bytes = shown.ptr;
    assert_int_equal(bytes[2], 'a');
    assert_false(*gt_mapping_is_cut(mapping));
    for (size_t i = 2 * PAGE; i < shown.len + GT_MAPPING_PADDING; i += 99)
        assert_int_equal(bytes[i], 0);
    assert_true(*gt_mapping_is_cut(mapping));
    assert_int_equal(bytes[2], 0);
    assert_int_equal(gt_mapping_show(mapping, fd, 0, PAGE).len, 0);
    assert_false(*gt_mapping_is_cut(other));
    assert_int_equal(gt_mapping_show(other, fd, 0, PAGE).len, PAGE);
    gt_mapping_free(mapping);
    gt_mapping_free(other);
    mapping = gt_mapping_new(WINDOW);
    assert_false(*gt_mapping_is_cut(mapping));
    gt_mapping_free(mapping);
    close(fd);
}

static void a_file_written_anew_is_shown_as_it_is(void **state) {
    (void)state;
    int fd = new_file();
    struct gt_mapping *mapping = gt_mapping_new(WINDOW);
    volatile const char *bytes = gt_mapping_show(mapping, fd, 0, FILE_BYTES).ptr;
    assert_int_equal(bytes[5], 'a');
    assert_int_equal(pwrite(fd, "z", 1, 5), 1);
    assert_int_equal(bytes[5], 'z');
    assert_false(*gt_mapping_is_cut(mapping));
    gt_mapping_free(mapping);
    close(fd);
}

struct shrinking {
    int fd;
    atomic_bool is_over;
};

static void *shrink_and_grow(void *context) {
    struct shrinking *shrinking = context;
    for (unsigned i = 0; !atomic_load(&shrinking->is_over); i++) {
        assert_int_equal(ftruncate(shrinking->fd, (off_t)(i * 1237 % FILE_BYTES)), 0);
        assert_int_equal(ftruncate(shrinking->fd, FILE_BYTES), 0);
    }
    return NULL;
}

static void *look(void *context) {
    struct shrinking *shrinking = context;
    for (int round = 0; round < 300; round++) {
        struct gt_mapping *mapping = gt_mapping_new(WINDOW);
        struct gt_str shown;
        for (uint64_t from = 0; (shown = gt_mapping_show(mapping, shrinking->fd, from, FILE_BYTES)).len;
             from += shown.len)
            for (size_t i = 0; i < shown.len; i += 64) {
                char byte = *(volatile const char *)(shown.ptr + i);
                assert_true(byte == 0 || (byte >= 'a' && byte <= 'j'));
            }
        gt_mapping_free(mapping);
    }
    return NULL;
}

static void other_threads_may_shrink_it(void **state) {
    (void)state;
    struct sigaction before = handler_now();
    struct shrinking shrinking = {new_file(), false};
    pthread_t threads[3];
    assert_int_equal(pthread_create(&threads[0], NULL, shrink_and_grow, &shrinking), 0);
    for (int i = 1; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look, &shrinking), 0);
    for (int i = 1; i < 3; i++)
        pthread_join(threads[i], NULL);
    atomic_store(&shrinking.is_over, true);
    pthread_join(threads[0], NULL);
    assert_ptr_equal(handler_now().sa_handler, before.sa_handler);
    close(shrinking.fd);
}

/* ---- signals of others ---- */

static volatile sig_atomic_t heard;

static void hear(int number) {
    heard = number;
}

static void hear_more(int number, siginfo_t *info, void *context) {
    heard = info->si_signo == number && context ? -number : 0;
}

static void set_handler(void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    assert_int_equal(sigaction(SIGBUS, &action, NULL), 0);
}

static void the_handler_is_there_while_something_is_mapped(void **state) {
    (void)state;
    set_handler(hear);
    struct gt_mapping *first = gt_mapping_new(WINDOW), *second = gt_mapping_new(WINDOW);
    assert_ptr_not_equal(handler_now().sa_handler, hear);
    gt_mapping_free(first);
    assert_ptr_not_equal(handler_now().sa_handler, hear);
    heard = 0;
    raise(SIGBUS); /* goes to who was there before */
    assert_int_equal(heard, SIGBUS);
    gt_mapping_free(second);
    assert_ptr_equal(handler_now().sa_handler, hear);
    struct sigaction action = {.sa_sigaction = hear_more, .sa_flags = SA_SIGINFO};
    assert_int_equal(sigaction(SIGBUS, &action, NULL), 0);
    first = gt_mapping_new(WINDOW);
    raise(SIGBUS);
    assert_int_equal(heard, -SIGBUS);
    gt_mapping_free(first);
    assert_ptr_equal(handler_now().sa_sigaction, hear_more);
    set_handler(SIG_IGN);
    first = gt_mapping_new(WINDOW);
    raise(SIGBUS);
    gt_mapping_free(first);
    assert_ptr_equal(handler_now().sa_handler, SIG_IGN);
    set_handler(SIG_DFL);
}

static void hosts_may_change_their_minds(void **state) {
    (void)state;
    int fd = new_file();
    struct sigaction before = handler_now();
    struct gt_mapping *mapping = gt_mapping_new(WINDOW);
    struct sigaction ours = handler_now();
    assert_int_equal(gt_mapping_show(mapping, fd, 0, FILE_BYTES).len, WINDOW);
    set_handler(hear);
    assert_int_equal(gt_mapping_show(mapping, fd, WINDOW, FILE_BYTES).len, 0);
    gt_mapping_free(mapping);
    assert_ptr_equal(handler_now().sa_handler, hear); /* it stays */
    assert_int_equal(sigaction(SIGBUS, &ours, NULL), 0);
    mapping = gt_mapping_new(WINDOW); /* it came back by itself, and does not pass on to itself */
    assert_int_equal(gt_mapping_show(mapping, fd, 0, FILE_BYTES).len, WINDOW);
    gt_mapping_free(mapping);
    assert_ptr_equal(handler_now().sa_handler, before.sa_handler);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGBUS);
    mapping = gt_mapping_new(WINDOW);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &blocked, NULL), 0);
    assert_int_equal(gt_mapping_show(mapping, fd, 0, FILE_BYTES).len, 0);
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &blocked, NULL), 0);
    gt_mapping_free(mapping);
    close(fd);
}

/* A child process with a window and this handler before it dies of the signal. */
static void child_dies(void (*handler)(int), void (*act)(int fd)) {
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        int fd = new_file();
        setrlimit(RLIMIT_CORE, &no_core);
        set_handler(handler);
        struct gt_mapping *mapping = gt_mapping_new(WINDOW);
        if (gt_mapping_show(mapping, fd, 0, FILE_BYTES).len)
            act(fd);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
}

static void send_signal(int fd) {
    (void)fd;
    raise(SIGBUS);
}

/* A file of somebody else, who takes no care. */
static void look_after_the_end(int fd) {
    volatile char *bytes = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
    if (ftruncate(fd, 0) == 0)
        (void)bytes[0];
}

static void faults_of_others_still_kill(void **state) {
    (void)state;
    child_dies(SIG_DFL, send_signal);
    child_dies(SIG_DFL, look_after_the_end);
    child_dies(SIG_IGN, look_after_the_end);
}

static void slots_run_out(void **state) {
    (void)state;
    enum { MANY = 300 };
    struct gt_mapping *mappings[MANY];
    size_t count = 0;
    struct sigaction before = handler_now();
    for (size_t i = 0; i < MANY; i++)
        count += (mappings[i] = gt_mapping_new(WINDOW)) != NULL;
    assert_int_equal(count, 256);
    for (size_t i = 0; i < MANY; i++)
        gt_mapping_free(mappings[i]);
    assert_ptr_equal(handler_now().sa_handler, before.sa_handler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_show_the_file),
        cmocka_unit_test(what_cannot_be_mapped_is_not_shown),
        cmocka_unit_test(a_file_that_shrinks_becomes_zeros),
        cmocka_unit_test(a_file_written_anew_is_shown_as_it_is),
        cmocka_unit_test(other_threads_may_shrink_it),
        cmocka_unit_test(the_handler_is_there_while_something_is_mapped),
        cmocka_unit_test(hosts_may_change_their_minds),
        cmocka_unit_test(faults_of_others_still_kill),
        cmocka_unit_test(slots_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
