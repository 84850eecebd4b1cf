/* The socket that a server listens on. */
#ifndef GT_SERVE_SERVE_LISTEN_H
#define GT_SERVE_SERVE_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"

struct gt_serve_listen {
    int socket;
    uint16_t port;
    bool is_wildcard; /* all addresses of this machine */
};

/* address: a number or a name of this machine; port 0: any that is free. The socket is the caller's. */
enum gt_status gt_serve_listen_open(const char *address, uint16_t port, struct gt_serve_listen *out,
                                    struct gt_error *err);

#endif
