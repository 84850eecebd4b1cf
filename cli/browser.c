/* Where the page of --open goes, and the browser that shows it. */
#include "browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "error.h"

static enum gputime_status make_file(struct cli_destination *page, struct gputime_error *err) {
    const char *directory = getenv("TMPDIR");
    int bytes =
        snprintf(page->file, sizeof page->file, "%s/gputime-XXXXXX.html", directory && *directory ? directory : "/tmp");
    int fd = bytes > 0 && (size_t)bytes < sizeof page->file ? mkstemps(page->file, (int)strlen(".html")) : -1;
    if (fd < 0)
        return cli_fail_system(err, errno, "cannot create a file for the page in '%s'", directory ? directory : "/tmp");
    close(fd);
    page->path = page->file;
    page->format = "html";
    return GPUTIME_OK;
}

enum gputime_status cli_browser_plan(struct cli_destination destinations[CLI_MAX_DESTINATIONS], size_t *count,
                                     const char **page, struct gputime_error *err) {
    size_t printed = *count;
    for (size_t i = 0; i < *count; i++) {
        const struct cli_destination *destination = &destinations[i];
        if (!destination->path || strcmp(destination->path, "/dev/null") == 0) {
            printed = i;
        } else if (cli_format_is_page(destination->format)) {
            *page = destination->path;
            return GPUTIME_OK;
        }
    }
    if (printed == CLI_MAX_DESTINATIONS)
        return cli_fail_usage(err, "too many output files with --open");
    if (printed == *count)
        (*count)++;
    destinations[printed] = (struct cli_destination){0};
    enum gputime_status status = make_file(&destinations[printed], err);
    *page = destinations[printed].path;
    return status;
}

void cli_browser_cancel(const struct cli_destination destinations[CLI_MAX_DESTINATIONS], size_t count) {
    for (size_t i = 0; i < count; i++)
        if (destinations[i].path == destinations[i].file && !destinations[i].makes_directory)
            unlink(destinations[i].file);
}

/* In the child: detaches from the terminal and its signals, so that the browser outlives this program. */
static void run_browser(const char *program, const char *page, int report_fd) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    int null = open("/dev/null", O_RDWR);
    for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    execlp(program, program, page, (char *)NULL);
    int number = errno;
    if (write(report_fd, &number, sizeof number) < 0)
        _exit(126);
    _exit(127);
}

enum gputime_status cli_browser_open(const char *page, struct gputime_error *err) {
    const char *wish = getenv("BROWSER");
    const char *program = wish && *wish ? wish : "xdg-open";
    int ends[2], number = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) /* the write end closes when the browser starts */
        return cli_fail_system(err, errno, "cannot start '%s'", program);
    pid_t child = fork();
    if (child == 0)
        run_browser(program, page, ends[1]);
    close(ends[1]);
    if (child < 0 || read(ends[0], &number, sizeof number) < 0)
        number = errno;
    close(ends[0]);
    if (number && child > 0)
        waitpid(child, NULL, 0);
    return number ? cli_fail_system(err, number, "cannot open '%s' with '%s' (set BROWSER)", page, program)
                  : GPUTIME_OK;
}
