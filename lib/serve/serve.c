/* The HTTP server, by libmicrohttpd where the build has it. A thread for each connection: a question that takes long
 * holds up nobody else, and their number is bounded. */
#include "serve/serve.h"

#ifdef GT_HAVE_MICROHTTPD
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "serve/serve_clients.h"
#include "serve/serve_guard.h"
#include "serve/serve_library.h"
#include "serve/serve_life.h"
#include "serve/serve_listen.h"

enum { MOST_CONNECTIONS = 2 * GT_SERVE_CLIENTS_ASKERS, SILENT_SECONDS = 15, REQUEST_BYTES = 96 << 10, TICK_MS = 1000 };

struct server {
    const struct gt_serve_how *how;
    struct gt_serve_library mhd;
    struct gt_serve_guard guard;
    struct gt_serve_clients clients;
    pthread_mutex_t life_lock;
    struct gt_serve_life life;
};

/* One request: its target as it came, undecoded. */
struct request {
    char *target;
    bool is_complete; /* all of it is here */
};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- answers ---- */

static void add_headers(const struct gt_serve_library *mhd, struct MHD_Response *response, const char *content_type,
                        const char *policy) {
    mhd->add_response_header(response, "Content-Type", content_type);
    mhd->add_response_header(response, "Content-Security-Policy",
                             policy ? policy : "default-src 'none'; frame-ancestors 'none'");
    mhd->add_response_header(response, "X-Content-Type-Options", "nosniff");
    mhd->add_response_header(response, "X-Frame-Options", "DENY");
    mhd->add_response_header(response, "Referrer-Policy", "no-referrer");
    mhd->add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    mhd->add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    mhd->add_response_header(response, "Cache-Control", "no-store");
}

static enum MHD_Result send_answer(const struct gt_serve_library *mhd, struct MHD_Connection *connection,
                                   const struct gt_serve_answer *answer) {
    struct MHD_Response *response =
        mhd->create_response_from_buffer_with_free_callback(answer->size, answer->bytes, gt_mem_free);
    if (!response) {
        gt_mem_free(answer->bytes);
        return MHD_NO; /* closes the connection */
    }
    add_headers(mhd, response, answer->content_type, answer->policy);
    enum MHD_Result result = mhd->queue_response(connection, answer->status, response);
    mhd->destroy_response(response);
    return result;
}

/* Says no more than needed. */
static enum MHD_Result refuse(const struct gt_serve_library *mhd, struct MHD_Connection *connection, unsigned status) {
    static char nothing[] = "";
    struct MHD_Response *response = mhd->create_response_from_buffer(0, nothing, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    add_headers(mhd, response, "text/plain; charset=utf-8", NULL);
    mhd->add_response_header(response, "Connection", "close");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        mhd->add_response_header(response, "Allow", "GET, HEAD");
    enum MHD_Result result = mhd->queue_response(connection, status, response);
    mhd->destroy_response(response);
    return result;
}

/* ---- requests ---- */

/* The headers that matter. Those that come twice are for somebody else. */
struct headers {
    struct gt_serve_guard_asker asker;
    bool has_body, is_ambiguous;
};

static void take_once(struct headers *headers, const char **place, const char *value) {
    headers->is_ambiguous |= *place != NULL;
    *place = value ? value : "";
}

static enum MHD_Result take_header(void *context, enum MHD_ValueKind kind, const char *key, const char *value) {
    struct headers *headers = context;
    (void)kind;
    if (strcasecmp(key, "Host") == 0)
        take_once(headers, &headers->asker.host, value);
    else if (strcasecmp(key, "Origin") == 0)
        take_once(headers, &headers->asker.origin, value);
    else if (strcasecmp(key, "Sec-Fetch-Site") == 0)
        take_once(headers, &headers->asker.site, value);
    else if (strcasecmp(key, "Sec-Fetch-Mode") == 0)
        take_once(headers, &headers->asker.mode, value);
    else if (strcasecmp(key, "Sec-Fetch-Dest") == 0)
        take_once(headers, &headers->asker.destination, value);
    else if (strcasecmp(key, "Content-Length") == 0)
        headers->has_body |= !value || strcmp(value, "0") != 0;
    else if (strcasecmp(key, "Transfer-Encoding") == 0)
        headers->has_body = true;
    return MHD_YES;
}

/* The status to refuse it with; 0: it may ask, and *path is what for. */
static unsigned judge(const struct server *server, struct MHD_Connection *connection, const char *target,
                      const char *method, const char **path) {
    struct headers headers = {.has_body = false};
    *path = gt_serve_guard_path(&server->guard, target);
    headers.asker.is_page = *path && (*path)[0] == '\0';
    server->mhd.get_connection_values(connection, MHD_HEADER_KIND, take_header, &headers);
    if (headers.is_ambiguous || !headers.asker.host)
        return MHD_HTTP_BAD_REQUEST;
    if (!gt_serve_guard_knows(&server->guard, headers.asker.host) || !gt_serve_guard_trusts(&headers.asker))
        return MHD_HTTP_FORBIDDEN;
    if (!*path)
        return MHD_HTTP_NOT_FOUND;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    return headers.has_body ? MHD_HTTP_CONTENT_TOO_LARGE : 0;
}

static struct gt_serve_client *client_of(const struct server *server, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        server->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static int socket_of(const struct server *server, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        server->mhd.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/* Whether the client has closed the connection. */
static int is_gone(void *socket) {
    struct pollfd client = {.fd = *(int *)socket, .events = POLLRDHUP};
    return poll(&client, 1, 0) > 0 && (client.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static void hear(struct server *server, const char *path) {
    pthread_mutex_lock(&server->life_lock);
    gt_serve_life_hear(&server->life, strcmp(path, "gone") == 0, now_ns());
    pthread_mutex_unlock(&server->life_lock);
}

/* Called when the headers are here, and again when all is. Refusals come at once, and end the connection. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_bytes, void **request_place) {
    struct server *server = context;
    struct request *request = *request_place;
    const char *path;
    (void)url, (void)version, (void)upload, (void)upload_bytes;
    if (!request)
        return MHD_NO;
    unsigned status = judge(server, connection, request->target, method, &path);
    if (status)
        return refuse(&server->mhd, connection, status);
    if (!request->is_complete) {
        request->is_complete = true;
        return MHD_YES;
    }
    struct gt_serve_answer answer = {0};
    struct gt_serve_client *client = client_of(server, connection);
    int socket = socket_of(server, connection);
    gt_serve_clients_enter(&server->clients, client, GT_SERVE_CLIENTS_WAITING, now_ns());
    hear(server, path);
    server->how->answer(server->how->context, path, is_gone, &socket, &answer);
    gt_serve_clients_enter(&server->clients, client, GT_SERVE_CLIENTS_READING, now_ns());
    return answer.bytes ? send_answer(&server->mhd, connection, &answer)
                        : refuse(&server->mhd, connection, MHD_HTTP_INTERNAL_SERVER_ERROR);
}

/* ---- connections ---- */

static void free_request(struct gt_serve_client *client) {
    struct request *request = client ? client->request : NULL;
    if (!request)
        return;
    gt_mem_free(request->target);
    gt_mem_free(request);
    client->request = NULL;
}

/* The target before anything is decoded. The client owns it, since the library forgets some requests that are broken
   after their first line. NULL: memory is short. */
static void *begin_request(void *context, const char *target, struct MHD_Connection *connection) {
    const struct server *server = context;
    struct gt_serve_client *client = client_of(server, connection);
    struct request *request = client ? gt_mem_array(1, sizeof *request) : NULL;
    size_t bytes = strlen(target) + 1;
    free_request(client);
    if (!request)
        return NULL;
    client->request = request;
    request->target = gt_mem_alloc(bytes);
    if (!request->target) {
        free_request(client);
        return NULL;
    }
    memcpy(request->target, target, bytes);
    return request;
}

static void end_request(void *context, struct MHD_Connection *connection, void **request_place,
                        enum MHD_RequestTerminationCode code) {
    struct server *server = context;
    (void)code;
    gt_serve_clients_enter(&server->clients, client_of(server, connection), GT_SERVE_CLIENTS_ASKING, now_ns());
    free_request(client_of(server, connection));
    *request_place = NULL;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **client_place,
                            enum MHD_ConnectionNotificationCode code) {
    struct server *server = context;
    int socket = socket_of(server, connection);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *client_place = socket >= 0 ? gt_serve_clients_add(&server->clients, socket, now_ns()) : NULL;
    } else {
        free_request(*client_place);
        gt_serve_clients_remove(&server->clients, *client_place);
    }
}

/* ---- the server ---- */

static struct MHD_Daemon *start(struct server *server, const struct gt_serve_listen *listening) {
    return server->mhd.start_daemon(
        MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ITC, 0, NULL, NULL, handle, server,
        MHD_OPTION_LISTEN_SOCKET, listening->socket, MHD_OPTION_URI_LOG_CALLBACK, begin_request, server,
        MHD_OPTION_NOTIFY_COMPLETED, end_request, server, MHD_OPTION_NOTIFY_CONNECTION, note_connection, server,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)SILENT_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
}

static void announce(const struct server *server, const struct gt_serve_listen *listening) {
    char url[2 * GT_SERVE_GUARD_NAME];
    const struct gt_serve_guard *guard = &server->guard;
    snprintf(url, sizeof url, "http://%s:%u/%s/", guard->machine[0] ? guard->machine : guard->address,
             (unsigned)listening->port, guard->token);
    if (server->how->ready)
        server->how->ready(server->how->context, url, listening->port);
}

/* Until something is written to the pipe, or nobody is there any more. */
static void wait_for_end(struct server *server) {
    bool is_over = false;
    while (!is_over) {
        struct pollfd stop = {.fd = server->how->stop_fd, .events = POLLIN};
        is_over = poll(&stop, 1, TICK_MS) > 0;
        gt_serve_clients_cut(&server->clients, now_ns());
        pthread_mutex_lock(&server->life_lock);
        is_over |= gt_serve_life_end_ns(&server->life) <= now_ns();
        pthread_mutex_unlock(&server->life_lock);
    }
}

static enum gt_status serve(struct server *server, const struct gt_serve_listen *listening, struct gt_error *err) {
    struct MHD_Daemon *daemon = start(server, listening);
    if (!daemon) {
        close(listening->socket);
        return gt_fail(err, "cannot start the server");
    }
    announce(server, listening);
    wait_for_end(server);
    server->mhd.stop_daemon(daemon);
    return GT_OK;
}

bool gt_serve_is_there(void) {
    struct gt_serve_library library;
    struct gt_error err;
    return gt_serve_library_load(&library, &err) == GT_OK;
}

enum gt_status gt_serve_run(const struct gt_serve_how *how, struct gt_error *err) {
    const char *address = how->address ? how->address : "127.0.0.1";
    struct gt_serve_listen listening;
    struct server server = {.how = how};
    enum gt_status status = gt_serve_library_load(&server.mhd, err);
    if (status == GT_OK)
        status = gt_serve_listen_open(address, how->port, &listening, err);
    if (status != GT_OK)
        return status;
    status = gt_serve_guard_init(&server.guard, address, listening.is_wildcard, listening.port, err);
    if (status != GT_OK) {
        close(listening.socket);
        return status;
    }
    gt_serve_clients_init(&server.clients);
    pthread_mutex_init(&server.life_lock, NULL);
    gt_serve_life_init(&server.life, how->idle_seconds, now_ns());
    status = serve(&server, &listening, err);
    pthread_mutex_destroy(&server.life_lock);
    gt_serve_clients_release(&server.clients);
    return status;
}

#else

bool gt_serve_is_there(void) {
    return false;
}

enum gt_status gt_serve_run(const struct gt_serve_how *how, struct gt_error *err) {
    (void)how;
    return gt_fail(err,
                   "this gputime has no server: it was built without libmicrohttpd; --format html writes a page that "
                   "needs none");
}

#endif
