/* Takes standard input and output away from everything but the protocol: what commands print goes to files in memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"
#include "mcp.h"

/* Makes `file` the standard descriptor. */
static bool replace(int file, int standard) {
    return file >= 0 && dup2(file, standard) == standard;
}

static int keep(int standard) {
    return fcntl(standard, F_DUPFD_CLOEXEC, 3);
}

enum gputime_status cli_mcp_streams_init(struct cli_mcp_streams *streams, struct gputime_error *err) {
    fflush(stdout);
    *streams = (struct cli_mcp_streams){.own_in = keep(STDIN_FILENO),
                                        .own_out = keep(STDOUT_FILENO),
                                        .own_err = keep(STDERR_FILENO),
                                        .printed = memfd_create("printed", MFD_CLOEXEC),
                                        .complained = memfd_create("complained", MFD_CLOEXEC)};
    streams->in = streams->own_in;
    streams->out = streams->own_out;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool is_done = streams->own_in >= 0 && streams->own_out >= 0 && streams->own_err >= 0 &&
                   replace(nothing, STDIN_FILENO) && replace(streams->printed, STDOUT_FILENO) &&
                   replace(streams->complained, STDERR_FILENO);
    int number = errno;
    if (nothing >= 0)
        close(nothing);
    return is_done ? GPUTIME_OK : cli_fail_system(err, number, "cannot set up standard input and output");
}

static void put_back(int *own, int standard) {
    if (*own < 0)
        return;
    dup2(*own, standard);
    close(*own);
    *own = -1;
}

void cli_mcp_streams_release(struct cli_mcp_streams *streams) {
    fflush(stdout);
    put_back(&streams->own_in, STDIN_FILENO);
    put_back(&streams->own_out, STDOUT_FILENO);
    put_back(&streams->own_err, STDERR_FILENO);
    if (streams->printed >= 0)
        close(streams->printed);
    if (streams->complained >= 0)
        close(streams->complained);
    streams->printed = streams->complained = -1;
}

/* As many bytes as there are; fewer only if they cannot be read. */
static size_t read_all(int file, char *bytes, size_t size) {
    size_t used = 0;
    while (used < size) {
        ssize_t got = pread(file, bytes + used, size - used, (off_t)used);
        if (got > 0)
            used += (size_t)got;
        else if (got == 0 || errno != EINTR)
            break;
    }
    return used;
}

bool cli_mcp_streams_take(int file, size_t most, struct cli_mcp_text *text) {
    bool has_printed = fflush(stdout) == 0, has_complained = fflush(stderr) == 0;
    off_t end = lseek(file, 0, SEEK_END);
    size_t whole_size = end > 0 ? (size_t)end : 0, size = whole_size < most ? whole_size : most;
    *text = (struct cli_mcp_text){.bytes = malloc(size + 1), .whole_size = whole_size};
    if (text->bytes)
        text->size = read_all(file, text->bytes, size);
    bool is_empty = ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0;
    if (!text->bytes)
        return false;
    text->bytes[text->size] = '\0';
    return is_empty && has_printed && has_complained && text->size == size;
}
