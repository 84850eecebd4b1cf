/* A list of connections with their deadlines. The time that a server grants between two bytes is no bound: who sends
 * one byte at a time would stay for ever. */
#include "serve/serve_clients.h"

#include <sys/socket.h>

#include "base/mem.h"

enum { ASKING_SECONDS = 20, READING_SECONDS = 120 };

void gt_serve_clients_init(struct gt_serve_clients *clients) {
    clients->first = NULL;
    pthread_mutex_init(&clients->lock, NULL); /* cannot fail without attributes */
}

void gt_serve_clients_release(struct gt_serve_clients *clients) {
    pthread_mutex_destroy(&clients->lock);
}

static int64_t end_of(enum gt_serve_clients_phase phase, int64_t now_ns) {
    int64_t seconds = phase == GT_SERVE_CLIENTS_READING ? READING_SECONDS : ASKING_SECONDS;
    return phase == GT_SERVE_CLIENTS_WAITING ? INT64_MAX : now_ns + seconds * 1000000000;
}

static void cut(struct gt_serve_client *client) {
    shutdown(client->socket, SHUT_RDWR); /* the server sees it end and closes it */
    client->phase = GT_SERVE_CLIENTS_CUT;
    client->end_ns = INT64_MAX;
}

static void make_room(struct gt_serve_clients *clients) {
    struct gt_serve_client *oldest = NULL;
    size_t askers = 0;
    for (struct gt_serve_client *client = clients->first; client; client = client->next)
        if (client->phase == GT_SERVE_CLIENTS_ASKING) {
            askers++;
            if (!oldest || client->end_ns <= oldest->end_ns)
                oldest = client;
        }
    if (askers > GT_SERVE_CLIENTS_ASKERS)
        cut(oldest);
}

struct gt_serve_client *gt_serve_clients_add(struct gt_serve_clients *clients, int socket, int64_t now_ns) {
    struct gt_serve_client *client = gt_mem_array(1, sizeof *client);
    if (!client)
        return NULL;
    *client = (struct gt_serve_client){
        .socket = socket, .phase = GT_SERVE_CLIENTS_ASKING, .end_ns = end_of(GT_SERVE_CLIENTS_ASKING, now_ns)};
    pthread_mutex_lock(&clients->lock);
    client->next = clients->first;
    if (client->next)
        client->next->previous = client;
    clients->first = client;
    make_room(clients);
    pthread_mutex_unlock(&clients->lock);
    return client;
}

void gt_serve_clients_remove(struct gt_serve_clients *clients, struct gt_serve_client *client) {
    if (!client)
        return;
    pthread_mutex_lock(&clients->lock);
    if (client->next)
        client->next->previous = client->previous;
    if (client->previous)
        client->previous->next = client->next;
    else
        clients->first = client->next;
    pthread_mutex_unlock(&clients->lock);
    gt_mem_free(client);
}

void gt_serve_clients_enter(struct gt_serve_clients *clients, struct gt_serve_client *client,
                            enum gt_serve_clients_phase phase, int64_t now_ns) {
    if (!client)
        return;
    pthread_mutex_lock(&clients->lock);
    if (client->phase != GT_SERVE_CLIENTS_CUT) {
        client->phase = phase;
        client->end_ns = end_of(phase, now_ns);
    }
    pthread_mutex_unlock(&clients->lock);
}

void gt_serve_clients_cut(struct gt_serve_clients *clients, int64_t now_ns) {
    pthread_mutex_lock(&clients->lock);
    for (struct gt_serve_client *client = clients->first; client; client = client->next)
        if (client->end_ns <= now_ns)
            cut(client);
    pthread_mutex_unlock(&clients->lock);
}
