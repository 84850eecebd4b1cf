/* Opens the socket of a server, with errors that say what to do. */
#include "serve/serve_listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/oserror.h"

enum { BACKLOG = 128 };

static bool is_wildcard(const struct sockaddr *address) {
    if (address->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr == htonl(INADDR_ANY);
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

static uint16_t port_of(int socket) {
    struct sockaddr_storage address = {0};
    socklen_t bytes = sizeof address;
    if (getsockname(socket, (struct sockaddr *)&address, &bytes) != 0)
        return 0;
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&address)->sin6_port
                                               : ((struct sockaddr_in *)(void *)&address)->sin_port);
}

/* -1 with errno. */
static int bind_to(const struct addrinfo *place) {
    int one = 1, fd = socket(place->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one); /* the same port again, right after the last server */
    if (bind(fd, place->ai_addr, place->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int number = errno;
    close(fd);
    errno = number;
    return -1;
}

enum gt_status gt_serve_listen_open(const char *address, uint16_t port, struct gt_serve_listen *out,
                                    struct gt_error *err) {
    struct addrinfo wish = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM}, *places = NULL;
    char service[8], reason[GT_OSERROR_MAX];
    snprintf(service, sizeof service, "%u", (unsigned)port);
    int failure = getaddrinfo(address, service, &wish, &places);
    if (failure == EAI_MEMORY)
        return gt_fail_memory(err);
    if (failure)
        return gt_fail_usage(err, "'%s' is no address of this machine: %s", address, gai_strerror(failure));
    out->socket = bind_to(places);
    int number = errno;
    out->is_wildcard = is_wildcard(places->ai_addr);
    freeaddrinfo(places);
    if (out->socket < 0 && number == EADDRINUSE)
        return gt_fail(err, "port %u is in use; choose another with --port, or none for any that is free",
                       (unsigned)port);
    if (out->socket < 0)
        return gt_fail(err, "cannot listen on %s, port %u: %s", address, (unsigned)port,
                       gt_oserror_text(number, reason));
    out->port = port_of(out->socket);
    return GT_OK;
}
