/* Metrics of network cards and switches: rows of the tables that name them come in, then their samples, which become
   values of counter tracks, one for each metric of each port. */
#include "decode/nsys/nsys_sqlite_network.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "decode/nsys/nsys_schema.h"

/* Names are repeated for each port and in each thread. */
enum { METRIC_NAME_MAX = 1024, UNIT_MAX = 64, CARD_NAME_MAX = 64, LABEL_MAX = CARD_NAME_MAX + 64 };

void gt_nsys_sqlite_network_release(struct gt_nsys_sqlite_network *network) {
    gt_arena_release(&network->arena);
    gt_mem_free(network->metrics);
    gt_map_release(&network->metric_of);
    if (network->cards.count)
        gt_strtab_release(&network->cards);
    gt_map_release(&network->card_of);
    gt_map_release(&network->card_of_id);
    gt_map_release(&network->shared_name);
    *network = (struct gt_nsys_sqlite_network){0};
}

void gt_nsys_sqlite_network_tracks_release(struct gt_nsys_sqlite_network_tracks *tracks) {
    gt_map_release(&tracks->port_of[0]);
    gt_map_release(&tracks->port_of[1]);
    gt_map_release(&tracks->track_of);
}

/* ---- names ---- */

/* Exports that know but one list of metrics may leave its number out. */
static uint64_t list_in(const struct gt_sqlite_row *row, size_t slot) {
    return (uint64_t)gt_sqlite_record_int(row, slot, 0);
}

void gt_nsys_sqlite_network_take_name(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_sqlite_network *network = context;
    struct gt_str name = gt_str_cut(gt_sqlite_record_text(row, 2), METRIC_NAME_MAX);
    struct gt_str unit = gt_str_cut(gt_sqlite_record_text(row, 3), UNIT_MAX);
    size_t count = network->metric_count;
    if (!gt_sqlite_record_is_int(row, 1) || name.len == 0 || name.len + unit.len > network->text_left ||
        count >= GT_MAP_NONE)
        return;
    bool is_new = gt_map_put_if_new(&network->metric_of, list_in(row, 0), (uint64_t)row->cells[1].integer,
                                    (uint32_t)count) == (uint32_t)count;
    network->has_failed |= network->metric_of.failed;
    if (!is_new)
        return;
    struct gt_nsys_sqlite_network_metric *grown =
        gt_mem_room(network->metrics, count, &network->metric_capacity, sizeof *grown);
    network->has_failed |= !grown;
    if (!grown)
        return;
    network->metrics = grown;
    network->text_left -= name.len + unit.len;
    network->metrics[network->metric_count++] = (struct gt_nsys_sqlite_network_metric){
        .name = gt_arena_copy(&network->arena, name), .unit = gt_arena_copy(&network->arena, unit)};
    network->has_failed |= gt_arena_failed(&network->arena);
}

void gt_nsys_sqlite_network_take_card(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_sqlite_network *network = context;
    struct gt_str name = gt_str_cut(gt_sqlite_record_text(row, 1), CARD_NAME_MAX);
    if (!gt_sqlite_record_is_int(row, 0) || name.len == 0 || name.len > network->text_left)
        return;
    if (network->cards.count == 0 && !gt_strtab_init(&network->cards)) {
        network->has_failed = true;
        return;
    }
    uint64_t number = (uint64_t)row->cells[0].integer;
    size_t names_before = network->cards.count, cards_before = network->card_of.count;
    gt_strid id = gt_strtab_intern(&network->cards, name);
    network->text_left -= network->cards.count > names_before ? name.len : 0;
    gt_map_put_if_new(&network->card_of, 0, number, id);
    if (network->cards.count == names_before && network->card_of.count > cards_before)
        gt_map_put(&network->shared_name, 0, id, 1);
    network->has_failed |= network->cards.failed || network->card_of.failed || network->shared_name.failed;
}

void gt_nsys_sqlite_network_take_card_id(void *context, const struct gt_sqlite_row *row) {
    struct gt_nsys_sqlite_network *network = context;
    if (!gt_sqlite_record_is_int(row, 0) || !gt_sqlite_record_is_int(row, 1))
        return;
    uint32_t id = gt_map_get(&network->card_of, 0, (uint64_t)row->cells[0].integer);
    if (id == GT_MAP_NONE)
        return;
    gt_map_put_if_new(&network->card_of_id, 0, (uint64_t)row->cells[1].integer, id);
    network->has_failed |= network->card_of_id.failed;
}

/* ---- samples ---- */

/* A port of a card or switch. Which name a switch has is not recorded, and neither is that of cards in old exports. */
struct port {
    bool is_switch;
    uint64_t global_id, number; /* GT_NSYS_NO_ID if absent */
};

/* "mlx5_0 port 1", "NIC 0x2a port 1" where it has no name; where several cards share a name, it has its id, too. */
static struct gt_str label_of(const struct gt_nsys_sqlite_network *network, const struct port *port,
                              char text[static LABEL_MAX]) {
    uint32_t card = port->is_switch ? GT_MAP_NONE : gt_map_get(&network->card_of_id, 0, port->global_id);
    bool has_name = card != GT_MAP_NONE;
    bool is_shared = has_name && gt_map_get(&network->shared_name, 0, card) != GT_MAP_NONE;
    struct gt_str name = has_name          ? gt_strtab_get(&network->cards, card)
                         : port->is_switch ? GT_STR("switch")
                                           : GT_STR("NIC");
    size_t len = name.len;
    memcpy(text, name.ptr, len);
    if ((!has_name || is_shared) && port->global_id != GT_NSYS_NO_ID)
        len += (size_t)snprintf(text + len, LABEL_MAX - len, " 0x%" PRIx64, port->global_id);
    if (port->number != GT_NSYS_NO_ID)
        len += (size_t)snprintf(text + len, LABEL_MAX - len, " port %" PRId64, (int64_t)port->number);
    return (struct gt_str){text, len};
}

static uint32_t make_track(const struct gt_nsys_sqlite_network *network, struct gt_builder *builder, uint32_t metric,
                           const struct port *port) {
    char text[LABEL_MAX];
    return gt_builder_counter_track(builder, &(struct gt_counter_tracks_row){
                                                 .process = GT_NO_TRACK,
                                                 .device = -1,
                                                 .name = gt_builder_string(builder, network->metrics[metric].name),
                                                 .series = gt_builder_string(builder, label_of(network, port, text)),
                                                 .unit = gt_builder_string(builder, network->metrics[metric].unit),
                                                 .kind = GT_COUNTER_SAMPLED,
                                             });
}

static uint32_t track_of(const struct gt_nsys_sqlite_network *network, struct gt_nsys_sqlite_network_tracks *tracks,
                         struct gt_builder *builder, uint32_t metric, const struct port *port) {
    uint32_t next = (uint32_t)(tracks->port_of[0].count + tracks->port_of[1].count);
    uint32_t number = gt_map_put_if_new(&tracks->port_of[port->is_switch], port->global_id, port->number, next);
    uint32_t track = gt_map_get(&tracks->track_of, metric, number);
    if (track == GT_MAP_NONE) {
        track = make_track(network, builder, metric, port);
        if (track != GT_NO_TRACK)
            gt_map_put(&tracks->track_of, metric, number, track);
    }
    builder->failed |= tracks->port_of[port->is_switch].failed || tracks->track_of.failed;
    return track;
}

void gt_nsys_sqlite_network_take_sample(const struct gt_nsys_sqlite_network *network,
                                        struct gt_nsys_sqlite_network_tracks *tracks, struct gt_nsys_sink *sink,
                                        const struct gt_sqlite_row *row, bool is_switch) {
    bool is_real = row->types[GT_NSYS_NETWORK_VALUE] == GT_SQLITE_REAL;
    uint32_t metric = GT_MAP_NONE;
    if ((is_real || gt_sqlite_record_is_int(row, GT_NSYS_NETWORK_VALUE)) &&
        gt_sqlite_record_is_int(row, GT_NSYS_NETWORK_START) && gt_sqlite_record_is_int(row, GT_NSYS_NETWORK_INDEX))
        metric = gt_map_get(&network->metric_of, list_in(row, GT_NSYS_NETWORK_LIST),
                            (uint64_t)row->cells[GT_NSYS_NETWORK_INDEX].integer);
    if (metric >= network->metric_count) {
        gt_builder_issue_of(sink->builder, GT_ISSUE_PAYLOAD_UNREADABLE, GT_FACT_METRICS, 1, GT_NO_OFFSET);
        return;
    }
    struct port port = {
        .is_switch = is_switch,
        .global_id = (uint64_t)gt_sqlite_record_int(row, GT_NSYS_NETWORK_DEVICE, (int64_t)GT_NSYS_NO_ID),
        .number = (uint64_t)gt_sqlite_record_int(row, GT_NSYS_NETWORK_PORT, (int64_t)GT_NSYS_NO_ID),
    };
    union gt_sqlite_cell cell = row->cells[GT_NSYS_NETWORK_VALUE];
    uint32_t track = track_of(network, tracks, sink->builder, metric, &port);
    if (track != GT_NO_TRACK)
        gt_builder_counter(sink->builder, track, row->cells[GT_NSYS_NETWORK_START].integer,
                           is_real ? cell.real : (double)cell.integer);
}
