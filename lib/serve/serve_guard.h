/* Who may ask: the token in the address, and the names that a browser may know the server by. */
#ifndef GT_SERVE_SERVE_GUARD_H
#define GT_SERVE_SERVE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"

enum { GT_SERVE_GUARD_TOKEN = 32, GT_SERVE_GUARD_NAME = 256 };

struct gt_serve_guard {
    char token[GT_SERVE_GUARD_TOKEN + 1]; /* 128 random bits as hexadecimal digits */
    char address[GT_SERVE_GUARD_NAME];    /* that was asked for, as it is in addresses: IPv6 in brackets */
    char machine[GT_SERVE_GUARD_NAME];    /* its name; empty: only this machine reaches the server */
    bool is_wildcard;                     /* listens on all addresses: any numeric one is right */
    uint16_t port;
};

/* address: as the user wrote it, a name or a number; is_wildcard: 0.0.0.0 or ::. Fails where there are no random
   numbers. */
enum gt_status gt_serve_guard_init(struct gt_serve_guard *guard, const char *address, bool is_wildcard, uint16_t port,
                                   struct gt_error *err);

/* What follows "/TOKEN/" in the target of a request; NULL: the token is wrong. Takes the same time for every wrong one.
 */
const char *gt_serve_guard_path(const struct gt_serve_guard *guard, const char *target);

/* Whether a request with this Host is for this server. Names of others that lead here (DNS rebinding) are not. */
bool gt_serve_guard_knows(const struct gt_serve_guard *guard, const char *host);

/* What a browser says about the page that asks; NULL: it does not say. is_page: the request is for the page itself. */
struct gt_serve_guard_asker {
    const char *host, *origin, *site, *mode, *destination;
    bool is_page;
};

/* Whether it is this server's page, or the user's own wish. */
bool gt_serve_guard_trusts(const struct gt_serve_guard_asker *asker);

#endif
