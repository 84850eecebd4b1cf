/* Metrics of network cards and switches of an export: what they are called, and the tracks of their samples. */
#ifndef GT_DECODE_NSYS_NSYS_SQLITE_NETWORK_H
#define GT_DECODE_NSYS_NSYS_SQLITE_NETWORK_H

#include "base/map.h"
#include "base/strtab.h"
#include "decode/nsys/nsys.h"
#include "decode/sqlite/sqlite_pages.h"

struct gt_nsys_sqlite_network_metric {
    struct gt_str name, unit;
};

/* Filled before the samples are read, and then shared by all threads. */
struct gt_nsys_sqlite_network {
    struct gt_arena arena;
    struct gt_nsys_sqlite_network_metric *metrics;
    size_t metric_count, metric_capacity;
    struct gt_map metric_of;   /* (list of metrics, index in it) -> place in metrics */
    struct gt_strtab cards;    /* names of network cards; empty until there is one */
    struct gt_map card_of;     /* (0, number of a card) -> its name */
    struct gt_map card_of_id;  /* (0, global id as in samples) -> its name */
    struct gt_map shared_name; /* (0, name): cards of several numbers have it */
    uint64_t text_left;        /* bytes of text that may be kept */
    bool has_failed;           /* memory was short */
};

void gt_nsys_sqlite_network_release(struct gt_nsys_sqlite_network *network);

/* Rows of the tables that name metrics and cards, the cards before their ids; context: struct gt_nsys_sqlite_network.
 */
void gt_nsys_sqlite_network_take_name(void *context, const struct gt_sqlite_row *row);
void gt_nsys_sqlite_network_take_card(void *context, const struct gt_sqlite_row *row);
void gt_nsys_sqlite_network_take_card_id(void *context, const struct gt_sqlite_row *row);

/* The tracks that a thread has met. */
struct gt_nsys_sqlite_network_tracks {
    struct gt_map port_of[2]; /* of cards, of switches: (global id, port) -> a number for it */
    struct gt_map track_of;   /* (metric, number of the port) -> track in the builder */
};

void gt_nsys_sqlite_network_tracks_release(struct gt_nsys_sqlite_network_tracks *tracks);

/* A row of the samples of cards, or of switches: adds its value to its track. */
void gt_nsys_sqlite_network_take_sample(const struct gt_nsys_sqlite_network *network,
                                        struct gt_nsys_sqlite_network_tracks *tracks, struct gt_nsys_sink *sink,
                                        const struct gt_sqlite_row *row, bool is_switch);

#endif
