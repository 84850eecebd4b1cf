/* The command "view": reads traces and serves a page that explores them, until nobody looks at it any more. */
#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "actions.h"
#include "browser.h"
#include "capture.h"
#include "error.h"
#include "gather.h"
#include "make.h"
#include "memory.h"
#include "read.h"
#include "request.h"
#include "terminal.h"

struct job {
    const struct cli_command *command;
    struct cli_options options; /* the user's, with what the page reads */
    struct cli_captures captures;
    struct cli_request request;
    struct gputime_shaping shaping;
    struct gputime_report_options reporting;
    struct gputime_trace **traces; /* by capture */
    struct gputime_view *view;
    char *words;      /* the command as it was typed, for the page */
    sigset_t signals; /* that end it */
    pthread_t listener, storer;
    bool has_listener, has_storer;
    atomic_bool is_over; /* nothing is served any more */
    int unsaid;          /* errno of writing the address where nobody else can know it */
};

/* ---- planning ---- */

/* The analyses of the command as the page shows them. */
static enum gputime_status plan(struct job *job, struct gputime_error *err) {
    struct cli_destination destination = {.path = "-", .format = "html"};
    struct gputime_report_options *reporting = &job->reporting;
    enum gputime_status status = cli_captures_check(&job->captures, &job->options, err);
    if (!status && !gputime_view_can_serve())
        status = cli_fail(err, "there is no server: libmicrohttpd is not installed, or gputime was built without it; "
                               "'gputime TRACE -o page.html' writes a page that needs none");
    if (!status && cli_format_is_missing(destination.format))
        status = cli_fail(err, "this build of gputime has no page; build with 'make WEB=1' (needs npm)");
    if (!status)
        status = cli_request_build(job->command, &job->options, &destination, &job->request, err);
    job->shaping = cli_request_shaping(&job->request);
    *reporting = (struct gputime_report_options)GPUTIME_REPORT_OPTIONS_INIT;
    reporting->analyses = job->request.analyses;
    reporting->analysis_count = job->request.analysis_count;
    reporting->options = job->options.analysing;
    reporting->option_count = job->options.analysing_count;
    reporting->names = job->options.names == CLI_NAMES_SHORT ? GPUTIME_NAMES_SHORT : GPUTIME_NAMES_FULL;
    reporting->threads = job->options.opening.threads;
    reporting->selection = &job->options.selection;
    reporting->shaping = &job->shaping;
    reporting->command = job->command->name;
    return status;
}

/* As a shell reads it back. */
static void write_word(const char *word, FILE *out) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
    if (*word && word[strspn(word, plain)] == '\0') {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (const char[]){*word, '\0'}, out);
    fputc('\'', out);
}

/* "gputime view a.json b.json"; where paths are hidden, without them. NULL: memory is short. */
static char *typed_words(const struct cli_options *options, struct cli_words words) {
    struct cli_memory text;
    FILE *out = cli_memory_open(&text);
    if (!out)
        return NULL;
    fputs("gputime view", out);
    for (size_t i = 0; i < words.count && !options->opening.redact; i++) {
        fputc(' ', out);
        write_word(words.items[i], out);
    }
    cli_memory_close(&text, out);
    return text.bytes;
}

/* ---- reading ---- */

/* What comes through a pipe cannot be read again when a question needs more of it. */
static bool has_pipe(const struct cli_captures *captures) {
    for (size_t i = 0; i < captures->count; i++)
        for (size_t k = 0; k < captures->items[i].path_count; k++)
            if (strcmp(captures->items[i].paths[k], "-") == 0)
                return true;
    return false;
}

static enum gputime_status read_traces(struct job *job, struct gputime_error *err) {
    struct gputime_view_options options = GPUTIME_VIEW_OPTIONS_INIT;
    options.reporting = &job->reporting;
    options.title = job->options.run.title;
    options.command = job->words;
    job->options.opening.facts = gputime_view_facts(&options);
    if (has_pipe(&job->captures))
        job->options.opening.facts |= ((uint64_t)GPUTIME_FACT_CALL_ARGS << 1) - 1; /* up to the last one: all */
    job->traces = calloc(job->captures.count + 1, sizeof *job->traces);
    if (!job->traces)
        return cli_fail_memory(err);
    enum gputime_status status = cli_captures_read_all(&job->captures, &job->options, job->traces, err);
    if (!status && !job->options.quiet)
        cli_captures_warn_of_losses(&job->captures, job->traces);
    return status ? status : gputime_view_new(job->traces, job->captures.count, &options, &job->view, err);
}

/* What reading left behind is of no use any more, and a server may live for hours. */
static void give_memory_back(void) {
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 8 << 20);
    malloc_trim(0);
#endif
}

/* ---- the page ---- */

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

static bool is_remote(void) {
    return is_set("SSH_CONNECTION") || is_set("SSH_TTY");
}

/* A browser that was named is one that can be used, as editors on other machines name theirs. */
static bool has_browser(void) {
    return is_set("BROWSER") || (!is_remote() && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")));
}

static bool is_loopback(const char *address) {
    return !address || strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 ||
           strcmp(address, "localhost") == 0;
}

/* For the user's own machine: the same port there, since the page checks it. */
static void print_tunnel(int port) {
    char host[256] = "", name[1024];
    const struct passwd *user = getpwuid(getuid());
    if (gethostname(host, sizeof host - 1) != 0 || !*host)
        snprintf(host, sizeof host, "HOST");
    snprintf(name, sizeof name, "%s%s%s", user ? user->pw_name : "", user ? "@" : "", host);
    printf("On your own machine, before you open it:  ssh -N -L %d:127.0.0.1:%d %s\n", port, port, name);
}

static void warn_of_others(const char *address) {
    char text[1024];
    fprintf(stderr,
            "gputime: WARNING: --address %s: other machines can connect, and the connection is not encrypted; whoever "
            "learns the address of the page can read these traces\n",
            cli_terminal_text(text, sizeof text, address));
}

static void announce(void *context, const char *url, int port) {
    struct job *job = context;
    struct gputime_error err;
    if (!is_loopback(job->options.address))
        warn_of_others(job->options.address);
    printf("%s\n", url);
    if (is_remote() && is_loopback(job->options.address))
        print_tunnel(port);
    if (!job->options.quiet)
        printf("Ctrl-C ends it.\n");
    int unsaid = fflush(stdout) != 0 ? errno : 0;
    bool is_opened = false;
    if (!job->options.no_open && has_browser()) {
        is_opened = !cli_browser_open(url, &err);
        if (!is_opened)
            cli_terminal_print_error(&err);
    }
    if (unsaid && !is_opened) {
        job->unsaid = unsaid;
        gputime_view_stop(job->view);
    }
}

/* ---- signals ---- */

/* WAKING is what the main thread wakes this one with: cancelling a thread loads a library, for which memory may be
 * short. */
enum { GRACE_SECONDS = 2, WAKING = SIGUSR2 };

/* Waits for a signal that ends the program. A question that is being answered then is not waited for much longer. */
static void *listen_for_end(void *context) {
    struct job *job = context;
    struct timespec grace = {.tv_sec = GRACE_SECONDS};
    int number;
    sigset_t waking;
    sigemptyset(&waking);
    sigaddset(&waking, WAKING);
    sigwait(&job->signals, &number);
    if (!job->is_over) {
        gputime_view_stop(job->view);
        sigtimedwait(&waking, NULL, &grace);
    }
    if (!job->is_over) {
        gputime_remove_unfinished();
        _exit(0);
    }
    return NULL;
}

static void *store_cache(void *context) {
    const struct job *job = context;
    for (size_t i = 0; i < job->captures.count; i++)
        gputime_trace_store_cache(job->traces[i]);
    return NULL;
}

static void start_threads(struct job *job) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction before;
    sigemptyset(&job->signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
            sigaddset(&job->signals, numbers[i]);
    sigaddset(&job->signals, WAKING);
    pthread_sigmask(SIG_BLOCK, &job->signals, NULL); /* in all threads that are started from here on */
    job->has_listener = pthread_create(&job->listener, NULL, listen_for_end, job) == 0;
    if (!job->has_listener)
        pthread_sigmask(SIG_UNBLOCK, &job->signals, NULL); /* a signal ends the program in the usual way */
    job->has_storer = !job->options.opening.no_cache && pthread_create(&job->storer, NULL, store_cache, job) == 0;
}

static void end_threads(struct job *job) {
    if (job->has_storer)
        pthread_join(job->storer, NULL);
    if (job->has_listener) {
        job->is_over = true;
        pthread_kill(job->listener, WAKING);
        pthread_join(job->listener, NULL);
        pthread_sigmask(SIG_UNBLOCK, &job->signals, NULL);
    }
}

/* ---- the command ---- */

static enum gputime_status serve(struct job *job, struct gputime_error *err) {
    struct gputime_serve_options options = GPUTIME_SERVE_OPTIONS_INIT;
    options.address = job->options.address;
    options.port = job->options.port;
    options.idle_seconds = job->options.idle_seconds == 0           ? -1
                           : job->options.idle_seconds == CLI_UNSET ? 0
                                                                    : job->options.idle_seconds;
    options.ready = announce;
    options.context = job;
    start_threads(job);
    enum gputime_status status = gputime_view_serve(job->view, &options, err);
    end_threads(job);
    if (!status && job->unsaid)
        status = cli_fail_system(err, job->unsaid, "cannot write the address of the page to standard output");
    return status;
}

static void release(struct job *job) {
    gputime_view_free(job->view);
    for (size_t i = 0; job->traces && i < job->captures.count; i++)
        gputime_trace_free(job->traces[i]);
    free(job->traces);
    free(job->words);
    cli_captures_release(&job->captures);
    free(job);
}

static enum gputime_status run(struct job *job, struct cli_words typed, struct cli_words traces,
                               struct gputime_error *err) {
    enum gputime_status status =
        cli_captures_init(&job->captures, traces.items, traces.count, false, traces.count, err);
    job->words = typed_words(&job->options, typed);
    if (!status && !job->words)
        status = cli_fail_memory(err);
    if (!status)
        status = plan(job, err);
    if (!status)
        status = read_traces(job, err);
    if (!status) {
        give_memory_back();
        status = serve(job, err);
    }
    return status;
}

enum gputime_status cli_view_run(const struct cli_command *command, const struct cli_options *options,
                                 struct cli_words words, struct gputime_error *err) {
    struct cli_gathered gathered = {0};
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return cli_fail_memory(err);
    job->command = command;
    job->options = *options;
    enum gputime_status status = words.count ? cli_gather(&gathered, words, false, err)
                                             : cli_fail_usage(err, "'%s' needs a trace; usage: gputime %s %s",
                                                              command->name, command->name, command->usage);
    if (!status)
        status = run(job, words, (struct cli_words){gathered.items, gathered.count}, err);
    release(job);
    cli_gather_release(&gathered);
    return status;
}
