/* Outputs: files that are whole or untouched, streams whose failures are reported, bytes in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/out.h"

#include "folder_files.h"

static char folder[] = "/tmp/gputime-out-XXXXXX";
static char path[64], other[64];

static int make_folder(void **state) {
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    umask(022);
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/report.txt", folder);
    snprintf(other, sizeof(other), "%s/other", folder);
    return 0;
}

/* Each test begins with an empty folder. */
static int empty_folder(void **state) {
    (void)state;
    unlink(path);
    unlink(other);
    return 0;
}

static int remove_folder(void **state) {
    empty_folder(state);
    return rmdir(folder); /* fails if a temporary was left */
}

static void write_file(const char *name, const char *text, mode_t mode) {
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(name, mode), 0);
}

static void assert_file_is(const char *name, const char *text) {
    char buf[100000] = "";
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    buf[fread(buf, 1, sizeof(buf) - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(buf, text);
}

static struct gt_out *open_out(const char *name) {
    struct gt_error err = {0};
    struct gt_out *out;
    if (gt_out_open(name, &out, &err) != GT_OK)
        fail_msg("%s", err.message);
    return out;
}

static void commit(struct gt_out *out) {
    struct gt_error err = {0};
    if (gt_out_commit(out, &err) != GT_OK)
        fail_msg("%s", err.message);
    gt_out_close(out);
}

static mode_t mode_of(const char *name) {
    struct stat info;
    assert_int_equal(lstat(name, &info), 0);
    return info.st_mode & 07777;
}

static void test_new_file_appears_at_commit(void **state) {
    (void)state;
    struct gt_out *out = open_out(path);
    gt_out_text(out, "hello ");
    gt_out_printf(out, "%d%s", 42, "!");
    assert_int_equal(access(path, F_OK), -1);
    commit(out);
    assert_file_is(path, "hello 42!");
    assert_int_equal(mode_of(path), 0644);
    assert_int_equal(files_in(folder), 1);
}

static void test_old_file_stays_until_commit(void **state) {
    (void)state;
    write_file(path, "old", 0640);
    struct gt_out *out = open_out(path);
    for (int i = 0; i < 50000; i++)
        gt_out_text(out, "new text\n"); /* more than the buffer holds */
    assert_file_is(path, "old");
    gt_out_close(out);
    assert_file_is(path, "old");
    assert_int_equal(files_in(folder), 1);

    out = open_out(path);
    gt_out_text(out, "new");
    assert_file_is(path, "old");
    commit(out);
    assert_file_is(path, "new");
    assert_int_equal(mode_of(path), 0640);
    assert_int_equal(files_in(folder), 1);
}

static void test_links_stay(void **state) {
    (void)state;
    write_file(other, "old", 0600);
    assert_int_equal(symlink("other", path), 0);
    struct gt_out *out = open_out(path);
    gt_out_text(out, "through the link");
    commit(out);
    assert_file_is(other, "through the link");
    assert_int_equal(mode_of(other), 0600);
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISLNK(info.st_mode));

    assert_int_equal(unlink(other), 0); /* now it leads to nothing */
    out = open_out(path);
    gt_out_text(out, "again");
    commit(out);
    assert_file_is(other, "again");
    assert_int_equal(files_in(folder), 2);

    assert_int_equal(unlink(other), 0);
    assert_int_equal(symlink("report.txt", other), 0); /* a ring */
    struct gt_error err = {0};
    assert_int_equal(gt_out_open(path, &out, &err), GT_ERR);
    assert_non_null(strstr(err.message, "too many levels of symbolic links"));
}

static void test_relative_paths(void **state) {
    (void)state;
    int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(folder), 0);
    struct gt_out *out = open_out("report.txt");
    gt_out_char(out, 'x');
    commit(out);
    assert_int_equal(fchdir(here), 0);
    close(here);
    assert_file_is(path, "x");
}

static void assert_open_fails(const char *name, const char *message) {
    struct gt_error err = {0};
    struct gt_out *out = (void *)1;
    assert_int_equal(gt_out_open(name, &out, &err), GT_ERR);
    assert_null(out);
    assert_string_equal(err.message, message);
    assert_true(fcntl(STDOUT_FILENO, F_GETFD) >= 0);
}

static void test_errors_name_the_file(void **state) {
    (void)state;
    char message[256];
    snprintf(message, sizeof(message), "cannot write '%s': it is a directory", folder);
    assert_open_fails(folder, message);
    assert_open_fails("/nowhere/at/all.csv", "cannot write '/nowhere/at/all.csv': its directory does not exist");
    assert_open_fails("nowhere/", "cannot write 'nowhere/': no such directory");
    assert_open_fails("", "cannot write '': no such file or directory");
    assert_open_fails("/dev/fd/987", "cannot write '/dev/fd/987': bad file descriptor");
    if (geteuid() == 0)
        return; /* may write anywhere */
    write_file(path, "old", 0400);
    snprintf(message, sizeof(message), "cannot write '%s': permission denied", path);
    assert_open_fails(path, message);
    chmod(folder, 0500);
    snprintf(message, sizeof(message), "cannot write '%s': permission denied", other);
    assert_open_fails(other, message);
    chmod(folder, 0700);
}

static void test_full_device(void **state) {
    (void)state;
    struct gt_error err = {0};
    struct gt_out *out = open_out("/dev/full");
    gt_out_text(out, "does not fit");
    assert_int_equal(gt_out_commit(out, &err), GT_ERR);
    assert_string_equal(err.message, "cannot write '/dev/full': no space left on device");
    gt_out_close(out);
    out = open_out("/dev/null");
    for (int i = 0; i < 100000; i++)
        gt_out_text(out, "fits");
    commit(out);
}

/* Calls work with standard output replaced by fd, and puts it back. */
static void with_stdout(int fd, void (*work)(void *context), void *context) {
    fflush(stdout);
    int saved = dup(1);
    if (fd >= 0)
        dup2(fd, 1);
    else
        close(1);
    work(context);
    dup2(saved, 1);
    close(saved);
}

static void write_to_stdout(void *context) {
    struct gt_error *err = context;
    struct gt_out *out;
    gt_out_open(NULL, &out, err);
    for (int i = 0; i < 20000; i++)
        gt_out_text(out, "some line\n");
    gt_out_commit(out, err);
    gt_out_close(out);
}

static void test_stdout_failures(void **state) {
    (void)state;
    struct gt_error err = {0};
    int full = open("/dev/full", O_WRONLY);
    with_stdout(full, write_to_stdout, &err);
    close(full);
    assert_string_equal(err.message, "cannot write standard output: no space left on device");

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    with_stdout(ends[1], write_to_stdout, &err);
    close(ends[1]);
    assert_string_equal(err.message, "cannot write standard output: broken pipe");

    with_stdout(-1, write_to_stdout, &err);
    assert_string_equal(err.message, "cannot write standard output: bad file descriptor");
}

static void write_by_names(void *context) {
    const char **names = context;
    for (size_t i = 0; names[i]; i++) {
        struct gt_out *out;
        if (gt_out_open(names[i], &out, NULL) != GT_OK)
            continue;
        gt_out_text(out, names[i]);
        gt_out_char(out, '\n');
        gt_out_commit(out, NULL);
        gt_out_close(out);
    }
}

/* Names of what is open already append to it and do not replace that file. */
static void test_names_of_stdout(void **state) {
    (void)state;
    write_file(path, "log\n", 0644);
    int fd = open(path, O_WRONLY | O_APPEND);
    const char *names[] = {"-", "/dev/stdout", "/dev/fd/1", NULL};
    with_stdout(fd, write_by_names, names);
    assert_int_equal(fcntl(fd, F_GETFD) >= 0, 1);
    close(fd);
    assert_file_is(path, "log\n-\n/dev/stdout\n/dev/fd/1\n");
}

static void test_name_of_stderr(void **state) {
    (void)state;
    write_file(path, "log\n", 0644);
    int fd = open(path, O_WRONLY | O_APPEND), before = dup(STDERR_FILENO);
    const char *names[] = {"/dev/stderr", NULL};
    assert_int_equal(dup2(fd, STDERR_FILENO), STDERR_FILENO);
    write_by_names(names);
    assert_int_equal(dup2(before, STDERR_FILENO), STDERR_FILENO);
    close(before);
    close(fd);
    assert_file_is(path, "log\n/dev/stderr\n");
}

/* In another process: whether so many bytes come. */
static _Noreturn void read_slowly(int fd, size_t expected) {
    char bytes[4096];
    size_t total = 0;
    usleep(20000); /* the pipe is full by then, most of the time */
    for (ssize_t got; (got = read(fd, bytes, sizeof bytes)) > 0;)
        total += (size_t)got;
    _exit(total == expected ? 0 : 1);
}

/* A descriptor that we were given may be set not to block. */
static void test_pipe_that_does_not_block(void **state) {
    (void)state;
    int ends[2];
    char name[32], *text = calloc(1, 300000);
    struct gt_error err = {0};
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    pid_t reader = fork();
    assert_true(reader >= 0);
    if (reader == 0) {
        close(ends[1]);
        read_slowly(ends[0], 300000);
    }
    snprintf(name, sizeof name, "/dev/fd/%d", ends[1]);
    struct gt_out *out = open_out(name);
    gt_out_write(out, text, 300000);
    assert_int_equal(gt_out_commit(out, &err), GT_OK);
    gt_out_close(out);
    close(ends[1]);
    int status = -1;
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
    close(ends[0]);
    free(text);
}

static void test_pipe_is_written_in_place(void **state) {
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    struct gt_out *out = open_out(path);
    gt_out_text(out, "in place");
    commit(out);
    char buf[20] = "";
    assert_int_equal(read(reader, buf, sizeof(buf)), 8);
    assert_string_equal(buf, "in place");
    close(reader);
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
}

/* The same writes give the same bytes in memory and in a file, with pieces of all sizes around the buffer's. */
static void test_memory_equals_file(void **state) {
    (void)state;
    struct gt_out *memory, *file = open_out(path);
    assert_int_equal(gt_out_open_memory(&memory, NULL), GT_OK);
    assert_int_equal(gt_out_bytes(memory).len, 0);
    char *text = malloc(200001);
    for (int i = 0; i < 200000; i++)
        text[i] = (char)('a' + i % 26);
    text[200000] = '\0';
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 200000, 3, 511, 512, 513};
    struct gt_out *outs[] = {memory, file};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            gt_out_write(outs[k], text, sizes[i]);
            gt_out_str(outs[k], (struct gt_str){text, sizes[i] / 2});
            gt_out_printf(outs[k], "%.*s", (int)sizes[i], text);
            gt_out_repeat(outs[k], "-=", i);
        }
        gt_out_text(outs[k], text + 199990);
    }
    struct gt_str bytes = gt_out_bytes(memory);
    size_t expected = 10;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        expected += sizes[i] * 2 + sizes[i] / 2 + 2 * i;
    assert_int_equal(bytes.len, expected);
    assert_int_equal(gt_out_commit(file, NULL), GT_OK);
    assert_int_equal(gt_out_commit(memory, NULL), GT_OK);
    char *back = malloc(expected + 1);
    FILE *stream = fopen(path, "r");
    assert_int_equal(fread(back, 1, expected + 1, stream), expected);
    fclose(stream);
    assert_true(memcmp(back, bytes.ptr, expected) == 0);
    gt_out_close(memory);
    gt_out_close(file);
    gt_out_close(NULL);
    free(back);
    free(text);
}

/* What the system was told to begin with: it does nothing of the kind here, and says so. */
static struct {
    int calls;
    int64_t end;
    bool has_gap;
} begun;

int __wrap_sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags);
int __wrap_sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags) {
    assert_true(fd >= 0);
    assert_int_equal(flags, SYNC_FILE_RANGE_WRITE);
    begun.calls++;
    begun.has_gap |= offset != begun.end || bytes <= 0;
    begun.end = offset + bytes;
    errno = EIO;
    return -1;
}

static void test_large_file_is_begun_with(void **state) {
    (void)state;
    enum { PIECE = 999983, PIECES = 50 };
    char *piece = malloc(PIECE), *back = malloc(PIECE);
    begun.calls = 0;
    begun.end = 0;
    struct gt_out *out = open_out(path), *memory;
    assert_int_equal(gt_out_open_memory(&memory, NULL), GT_OK);
    for (int i = 0; i < PIECES; i++) {
        memset(piece, 'a' + i % 26, PIECE);
        gt_out_write(out, piece, PIECE);
        gt_out_write(memory, piece, PIECE);
    }
    assert_in_range(begun.calls, 2, 3); /* of 16 MiB or a little more; memory has none */
    assert_false(begun.has_gap);
    assert_in_range(begun.end, 32 << 20, PIECE * PIECES);
    commit(out);
    FILE *stream = fopen(path, "r");
    for (int i = 0; i < PIECES; i++) {
        memset(piece, 'a' + i % 26, PIECE);
        assert_int_equal(fread(back, 1, PIECE, stream), PIECE);
        assert_memory_equal(back, piece, PIECE);
    }
    assert_int_equal(fgetc(stream), EOF);
    fclose(stream);
    gt_out_close(memory);
    free(piece);
    free(back);
}

static bool cannot_reserve;
static int reservations;

int __real_fallocate(int fd, int mode, off_t offset, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes) {
    reservations++;
    errno = ENOSPC;
    return cannot_reserve ? -1 : __real_fallocate(fd, mode, offset, bytes);
}

static void check_reserved(int expected) {
    enum { PIECE = 1 << 20, PIECES = 100 };
    static char piece[PIECE];
    struct stat info;
    struct gt_out *out = open_out(path);
    reservations = 0;
    for (int i = 0; i < PIECES; i++)
        gt_out_write(out, piece, PIECE);
    commit(out);
    assert_int_equal(reservations, expected);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, PIECE * PIECES);
    assert_true(info.st_blocks * INT64_C(512) < PIECE * (PIECES + 10)); /* a file system adds little of its own */
}

/* Room for what is to come is asked for ahead; what is not used is given back. Without it, the file is the same. */
static void test_room_for_a_large_file(void **state) {
    (void)state;
    cannot_reserve = false;
    check_reserved(2);
    cannot_reserve = true;
    check_reserved(1);
    cannot_reserve = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_new_file_appears_at_commit, empty_folder),
        cmocka_unit_test_setup(test_old_file_stays_until_commit, empty_folder),
        cmocka_unit_test_setup(test_links_stay, empty_folder),
        cmocka_unit_test_setup(test_relative_paths, empty_folder),
        cmocka_unit_test_setup(test_errors_name_the_file, empty_folder),
        cmocka_unit_test_setup(test_full_device, empty_folder),
        cmocka_unit_test_setup(test_stdout_failures, empty_folder),
        cmocka_unit_test_setup(test_names_of_stdout, empty_folder),
        cmocka_unit_test_setup(test_name_of_stderr, empty_folder),
        cmocka_unit_test_setup(test_pipe_that_does_not_block, empty_folder),
        cmocka_unit_test_setup(test_pipe_is_written_in_place, empty_folder),
        cmocka_unit_test_setup(test_memory_equals_file, empty_folder),
        cmocka_unit_test_setup(test_large_file_is_begun_with, empty_folder),
        cmocka_unit_test_setup(test_room_for_a_large_file, empty_folder),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
