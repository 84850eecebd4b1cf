/* Checks of requests. A page of another site may send requests to this machine, and a program of another user may
 * connect; neither knows the token, and a site that points its own name at 127.0.0.1 has the wrong Host. */
#include "serve/serve_guard.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

enum gt_status gt_serve_guard_init(struct gt_serve_guard *guard, const char *address, bool is_wildcard, uint16_t port,
                                   struct gt_error *err) {
    unsigned char bytes[GT_SERVE_GUARD_TOKEN / 2];
    *guard = (struct gt_serve_guard){.port = port, .is_wildcard = is_wildcard};
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return gt_fail(err, "no random numbers for the address of the page");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(guard->token + 2 * i, 3, "%02x", bytes[i]);
    if (strlen(address) + 3 > sizeof guard->address)
        return gt_fail_usage(err, "the address is too long");
    bool is_six = strchr(address, ':') && address[0] != '[';
    snprintf(guard->address, sizeof guard->address, "%s%s%s", is_six ? "[" : "", address, is_six ? "]" : "");
    if (is_wildcard && gethostname(guard->machine, sizeof guard->machine - 1) != 0)
        guard->machine[0] = '\0';
    return GT_OK;
}

/* ---- the token ---- */

const char *gt_serve_guard_path(const struct gt_serve_guard *guard, const char *target) {
    unsigned difference = target[0] != '/';
    size_t length = difference ? 0 : strnlen(target + 1, GT_SERVE_GUARD_TOKEN + 1);
    if (length != GT_SERVE_GUARD_TOKEN + 1)
        return NULL;
    for (size_t i = 0; i < GT_SERVE_GUARD_TOKEN; i++) /* to the end: where it differs is nobody's business */
        difference |= (unsigned char)(target[1 + i] ^ guard->token[i]);
    difference |= target[1 + GT_SERVE_GUARD_TOKEN] != '/';
    return difference ? NULL : target + GT_SERVE_GUARD_TOKEN + 2;
}

/* ---- the host ---- */

/* "NAME:PORT". Browsers leave port 80 out. */
static bool is_host(const char *host, const char *name, uint16_t port) {
    char text[GT_SERVE_GUARD_NAME + 8];
    snprintf(text, sizeof text, "%s:%u", name, (unsigned)port);
    return strcasecmp(host, text) == 0 || (port == 80 && strcasecmp(host, name) == 0);
}

/* An address in numbers, "10.0.0.7:8000" or "[fe80::1]:8000", cannot be somebody else's name. */
static bool is_number(const char *host, uint16_t port) {
    char name[INET6_ADDRSTRLEN + 2], number[INET6_ADDRSTRLEN];
    unsigned char address[sizeof(struct in6_addr)];
    bool is_six = host[0] == '[';
    size_t bytes = is_six ? strcspn(host, "]") + 1 : strcspn(host, ":");
    if (bytes >= sizeof name || bytes < 2)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)bytes, host);
    snprintf(number, sizeof number, "%.*s", (int)(is_six ? bytes - 2 : bytes), name + is_six);
    return inet_pton(is_six ? AF_INET6 : AF_INET, number, address) == 1 && is_host(host, name, port);
}

bool gt_serve_guard_knows(const struct gt_serve_guard *guard, const char *host) {
    static const char *const own[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (is_host(host, own[i], guard->port))
            return true;
    return is_host(host, guard->address, guard->port) ||
           (guard->machine[0] && is_host(host, guard->machine, guard->port)) ||
           (guard->is_wildcard && is_number(host, guard->port));
}

/* ---- the page that asks ---- */

bool gt_serve_guard_trusts(const struct gt_serve_guard_asker *asker) {
    static const char scheme[] = "http://";
    if (asker->origin && (strncasecmp(asker->origin, scheme, strlen(scheme)) != 0 || !asker->host ||
                          strcasecmp(asker->origin + strlen(scheme), asker->host) != 0))
        return false;
    if (!asker->site || strcmp(asker->site, "same-origin") == 0 || strcmp(asker->site, "none") == 0)
        return true;
    /* A click on the address, as terminals in a browser show it: whoever shows it knows the token, and cannot read what
       the new page shows. */
    return asker->is_page && asker->mode && strcmp(asker->mode, "navigate") == 0 && asker->destination &&
           strcmp(asker->destination, "document") == 0;
}
