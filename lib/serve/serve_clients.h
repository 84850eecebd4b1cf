/* The connections of a server and how long each may take: a slow one is cut off, so that it cannot keep a place. */
#ifndef GT_SERVE_SERVE_CLIENTS_H
#define GT_SERVE_SERVE_CLIENTS_H

#include <pthread.h>
#include <stdint.h>

/* What a connection is doing. */
enum gt_serve_clients_phase {
    GT_SERVE_CLIENTS_ASKING,  /* or idle: a request has to come soon, and whole */
    GT_SERVE_CLIENTS_WAITING, /* for its answer, as long as that takes */
    GT_SERVE_CLIENTS_READING, /* its answer */
    GT_SERVE_CLIENTS_CUT,     /* off: it is about to be removed */
};

struct gt_serve_client {
    int socket;
    enum gt_serve_clients_phase phase;
    int64_t end_ns; /* when it is cut off */
    void *request;  /* what the server knows of the one that it reads or answers; not freed here */
    struct gt_serve_client *previous, *next;
};

struct gt_serve_clients {
    pthread_mutex_t lock;
    struct gt_serve_client *first;
};

void gt_serve_clients_init(struct gt_serve_clients *clients);
void gt_serve_clients_release(struct gt_serve_clients *clients); /* all have been removed */

/* Of those that ask or are idle only so many may be there; one more, and the one that asks for longest is cut off, so
   that nobody is kept out by connections that never ask. */
enum { GT_SERVE_CLIENTS_ASKERS = 256 };

/* NULL: memory is short. */
struct gt_serve_client *gt_serve_clients_add(struct gt_serve_clients *clients, int socket, int64_t now_ns);
void gt_serve_clients_remove(struct gt_serve_clients *clients, struct gt_serve_client *client);
void gt_serve_clients_enter(struct gt_serve_clients *clients, struct gt_serve_client *client,
                            enum gt_serve_clients_phase phase, int64_t now_ns);

/* Cuts off those that took too long. */
void gt_serve_clients_cut(struct gt_serve_clients *clients, int64_t now_ns);

#endif
