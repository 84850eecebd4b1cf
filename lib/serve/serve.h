/* A small HTTP server for one page and what it asks for: every answer is made by one function. */
#ifndef GT_SERVE_SERVE_H
#define GT_SERVE_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

struct gt_serve_answer {
    unsigned status;          /* of HTTP */
    const char *content_type; /* lives as long as the server, as does policy */
    const char *policy;       /* Content-Security-Policy; NULL: the strictest */
    char *bytes;              /* to be freed with gt_mem_free */
    size_t size;
};

struct gt_serve_how {
    const char *address;  /* NULL: 127.0.0.1 */
    uint16_t port;        /* 0: any */
    int64_t idle_seconds; /* serve_life.h */
    int stop_fd;          /* ends when there is something to read */
    void *context;
    /* Any thread. path: what follows the token in the address. NULL bytes: memory was short. is_gone(asker): nobody
       waits for the answer any more. */
    void (*answer)(void *context, const char *path, int (*is_gone)(void *asker), void *asker,
                   struct gt_serve_answer *out);
    void (*ready)(void *context, const char *url, int port); /* NULL: nobody asks */
};

/* Whether this build has one, and its library can be loaded. */
bool gt_serve_is_there(void);

/* Returns when it is told to stop or no page is left. */
enum gt_status gt_serve_run(const struct gt_serve_how *how, struct gt_error *err);

#endif
