/* Reports by way of nsys: a file comes in, `nsys export` makes an SQLite database of it in a private folder, and what
   its decoder makes of that goes out. A second process guards the folder: it removes it when this one is gone without
   having done so. */
#include "decode/nsys/nsys_export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/oserror.h"
#include "decode/nsys/nsys_rep.h"

#define DEFAULT_COMMAND "nsys"

enum { LOG_TAIL_BYTES = 400, EXIT_NOT_RUN = 127 };

/* The private folder and what is in it. */
struct folder {
    char path[PATH_MAX - 32];
    char report[PATH_MAX], database[PATH_MAX], log[PATH_MAX];
    pid_t guard; /* -1: none */
    int alive;   /* socket: the guard reads a byte when the folder is gone, and its end when this process is */
};

/* ---- the command ---- */

static bool is_program(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

/* The command's path: as it is if it names a place, else the first on PATH. */
static bool find_command(const struct gt_decode_options *options, char path[PATH_MAX]) {
    const char *command = options->nsys_command ? options->nsys_command : DEFAULT_COMMAND;
    const char *folders = strchr(command, '/') ? "" : getenv("PATH");
    while (folders) {
        const char *end = strchrnul(folders, ':');
        bool has_folder = end > folders;
        int length =
            snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - folders), folders, has_folder ? "/" : "", command);
        bool is_named = has_folder || strchr(command, '/');
        if (is_named && length > 0 && length < PATH_MAX && is_program(path))
            return true;
        folders = *end ? end + 1 : NULL;
    }
    return false;
}

bool gt_nsys_export_is_possible(const struct gt_decode_options *options) {
    char path[PATH_MAX];
    return find_command(options, path);
}

/* ---- the folder ---- */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *place) {
    (void)info;
    (void)type;
    (void)place;
    remove(path);
    return 0;
}

/* With all that is in it; links are removed, not followed. */
static void remove_folder(const char *path) {
    enum { DESCRIPTORS = 8 };
    nftw(path, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
}

/* For systems that cannot close a range of descriptors. */
static void close_listed_but(int kept) {
    DIR *list = opendir("/proc/self/fd");
    const struct dirent *entry;
    while (list && (entry = readdir(list))) {
        int fd = atoi(entry->d_name);
        if (*entry->d_name != '.' && fd != kept && fd != dirfd(list))
            close(fd);
    }
    if (list)
        closedir(list);
}

/* A guard outlives no file of this process: other threads, and other programs, wait for the ends of theirs. */
static void close_all_but(int kept) {
    bool is_done = kept == 0 || close_range(0, (unsigned)kept - 1, 0) == 0;
    if (!is_done || close_range((unsigned)kept + 1, ~0U, 0) != 0)
        close_listed_but(kept);
}

/* Waits for word that the folder is gone. If the socket ends without any, the first process was killed. */
static _Noreturn void guard_folder(const char *path, int alive) {
    char byte;
    ssize_t got;
    const int ignored[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    setsid();
    close_all_but(alive);
    while ((got = read(alive, &byte, 1)) < 0 && errno == EINTR)
        ;
    if (got <= 0)
        remove_folder(path);
    _exit(0);
}

static void start_guard(struct folder *folder) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return;
    folder->guard = fork();
    if (folder->guard == 0)
        guard_folder(folder->path, ends[0]);
    close(ends[0]);
    if (folder->guard > 0)
        folder->alive = ends[1];
    else
        close(ends[1]);
}

static int wait_for(pid_t process, int *wait_status) {
    while (waitpid(process, wait_status, 0) < 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

/* The guard is sent word, for the end of the socket may not come: another thread may just be starting a process, which
   has it open until it runs its program. */
static void close_folder(struct folder *folder) {
    int ignored;
    remove_folder(folder->path);
    if (folder->alive >= 0) {
        send(folder->alive, "", 1, MSG_NOSIGNAL);
        close(folder->alive);
    }
    if (folder->guard > 0)
        wait_for(folder->guard, &ignored);
}

static enum gt_status fail_folder(int number, struct gt_error *err) {
    char text[GT_OSERROR_MAX];
    return gt_fail(err, "cannot create a temporary directory: %s; set TMPDIR to a writable directory",
                   gt_oserror_text(number, text));
}

/* nsys uses the suffix of what it reads, so it gets a link with one. */
static bool link_report(const struct folder *folder, const char *path) {
    char target[PATH_MAX];
    if (*path != '/')
        path = realpath(path, target);
    return path && symlink(path, folder->report) == 0;
}

static enum gt_status open_folder(struct folder *folder, const char *path, struct gt_error *err) {
    const char *parent = secure_getenv("TMPDIR");
    int length = snprintf(folder->path, sizeof folder->path, "%s/gputime-XXXXXX", parent && *parent ? parent : "/tmp");
    if (length < 0 || (size_t)length >= sizeof folder->path)
        return fail_folder(ENAMETOOLONG, err);
    if (!mkdtemp(folder->path))
        return fail_folder(errno, err);
    size_t suffix_at = strlen(path) < 6 ? 0 : strlen(path) - 6;
    bool is_old = strcmp(path + suffix_at, ".qdrep") == 0;
    snprintf(folder->report, sizeof folder->report, "%s/report.%s", folder->path, is_old ? "qdrep" : "nsys-rep");
    snprintf(folder->database, sizeof folder->database, "%s/report.sqlite", folder->path);
    snprintf(folder->log, sizeof folder->log, "%s/log", folder->path);
    start_guard(folder);
    if (link_report(folder, path))
        return GT_OK;
    int number = errno;
    close_folder(folder);
    return fail_folder(number, err);
}

/* ---- the run ---- */

/* In the child: only calls that are safe between fork and exec. */
static _Noreturn void become(const char *command, char *const arguments[], int input, int log, int failure,
                             pid_t parent) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() == parent && dup2(input, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 &&
        dup2(log, STDERR_FILENO) >= 0)
        execv(command, arguments);
    int number = errno;
    (void)!write(failure, &number, sizeof number);
    _exit(EXIT_NOT_RUN);
}

/* Runs the command to its end. 0, or why it could not be run; *wait_status: how it ended. */
static int run(const char *command, char *const arguments[], const char *log_path, int *wait_status) {
    int failure[2], number = 0;
    int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int log = open(log_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    pid_t parent = getpid(), child = -1;
    bool has_pipe = false;
    if (input < 0 || log < 0 || !(has_pipe = pipe2(failure, O_CLOEXEC) == 0) || (child = fork()) < 0)
        number = errno;
    if (child == 0)
        become(command, arguments, input, log, failure[1], parent);
    if (has_pipe)
        close(failure[1]);
    if (child > 0) {
        ssize_t got;
        while ((got = read(failure[0], &number, sizeof number)) < 0 && errno == EINTR)
            ;
        int waited = wait_for(child, wait_status);
        if (got != (ssize_t)sizeof number)
            number = waited == ECHILD ? 0 : waited; /* the host program reaps children itself: use what they left */
    }
    if (has_pipe)
        close(failure[0]);
    if (log >= 0)
        close(log);
    if (input >= 0)
        close(input);
    return number;
}

/* The last line of what the command printed. */
static void read_last_line(const char *log_path, char line[LOG_TAIL_BYTES]) {
    FILE *log = fopen(log_path, "re");
    size_t got = 0;
    line[0] = '\0';
    if (!log)
        return;
    if (fseek(log, -(LOG_TAIL_BYTES - 1), SEEK_END) != 0)
        rewind(log);
    got = fread(line, 1, LOG_TAIL_BYTES - 1, log);
    fclose(log);
    while (got > 0 && (unsigned char)line[got - 1] <= ' ')
        got--;
    line[got] = '\0';
    char *last = strrchr(line, '\n');
    memmove(line, last ? last + 1 : line, strlen(last ? last + 1 : line) + 1);
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
}

/* What programs attach to ranges is left out of exports unless it is asked for. */
static int run_once(struct folder *folder, const char *command, bool has_payloads, int *wait_status) {
    char *const arguments[] = {(char *)(uintptr_t)command,
                               "export",
                               "--type",
                               "sqlite",
                               "--output",
                               folder->database,
                               has_payloads ? "--include-blobs=true" : folder->report,
                               has_payloads ? folder->report : NULL,
                               NULL};
    unlink(folder->log);
    unlink(folder->database);
    return run(command, arguments, folder->log, wait_status);
}

static bool is_exported(const struct folder *folder, int wait_status) {
    return WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0 && access(folder->database, R_OK) == 0;
}

static enum gt_status run_export(struct folder *folder, const char *command, const char *subject, bool has_payloads,
                                 struct gt_error *err) {
    char line[LOG_TAIL_BYTES], text[GT_OSERROR_MAX];
    int wait_status = 0;
    int number = run_once(folder, command, has_payloads, &wait_status);
    /* Older ones do not know the option. */
    if (number == 0 && has_payloads && WIFEXITED(wait_status) && !is_exported(folder, wait_status))
        number = run_once(folder, command, false, &wait_status);
    if (number)
        return gt_fail(err, "cannot run '%s': %s", command, gt_oserror_text(number, text));
    if (is_exported(folder, wait_status))
        return GT_OK;
    read_last_line(folder->log, line);
    if (WIFSIGNALED(wait_status))
        return gt_fail(err, "'%s export' of '%s' was killed by signal %d", command, subject, WTERMSIG(wait_status));
    return gt_fail(err, "'%s export' of '%s' failed with status %d%s%s", command, subject, WEXITSTATUS(wait_status),
                   *line ? ": " : " and wrote nothing", line);
}

static enum gt_status decode_database(const struct folder *folder, const struct gt_decode_options *options,
                                      struct gt_store **out, struct gt_error *err) {
    struct gt_source *source;
    const struct gt_decoder *decoder;
    enum gt_status status = gt_source_open(folder->database, &source, err);
    if (status != GT_OK)
        return status;
    status = gt_decoder_choose(source, &decoder, err);
    if (status == GT_OK && decoder->decode == gt_nsys_rep_decode)
        status = gt_fail(err, "not an SQLite database");
    if (status == GT_OK)
        status = decoder->decode(&source, 1, options, out, err);
    gt_source_close(source);
    return status;
}

enum gt_status gt_nsys_export_decode(const char *path, const char *subject, const struct gt_decode_options *options,
                                     struct gt_store **out, struct gt_error *err) {
    struct folder folder = {.guard = -1, .alive = -1};
    char command[PATH_MAX];
    if (!find_command(options, command))
        return gt_fail(err,
                       "cannot read '%s' with nsys: no program '%s'; install Nsight Systems or give the path of nsys",
                       subject, options->nsys_command ? options->nsys_command : DEFAULT_COMMAND);
    enum gt_status status = open_folder(&folder, path, err);
    if (status != GT_OK)
        return status;
    status = run_export(&folder, command, subject, gt_decoder_reads(options, GT_FACT_COMMS), err);
    if (status == GT_OK && (status = decode_database(&folder, options, out, err)) != GT_OK)
        status = gt_fail_context(err, "cannot read the nsys export of '%s'", subject);
    close_folder(&folder);
    return status;
}
