/* Writes sequences of packets: events come in, chunks of them are encoded by several threads, bytes go out in order. */
#include "export/perfetto_file.h"

#include "base/mem.h"
#include "base/threads.h"
#include "export/perfetto_fields.h"

enum {
    CHUNK_EVENTS = 16384,  /* that one thread encodes at once */
    BATCH_CHUNKS = 4096,   /* at most so many chunks are encoded before any is written */
    BATCH_EVENTS = 131072, /* and, beyond the first, no more events than this for each thread */
};

void gt_perfetto_file_release(struct gt_perfetto_file *file) {
    gt_mem_free(file->sequences);
    gt_wire_release(&file->single);
}

/* ---- single packets ---- */

size_t gt_perfetto_file_begin(struct gt_perfetto_file *file, uint32_t machine) {
    size_t begin = gt_wire_begin(&file->single, TRACE_PACKET);
    if (machine)
        gt_wire_uint(&file->single, PACKET_MACHINE_ID, machine);
    return begin;
}

void gt_perfetto_file_end(struct gt_perfetto_file *file, size_t begin) {
    gt_wire_end(&file->single, begin);
}

static void write_single(struct gt_perfetto_file *file) {
    file->failed |= file->single.failed;
    if (!file->single.failed)
        gt_out_write(file->out, file->single.bytes, file->single.count);
    file->single.count = 0;
}

/* ---- sequences ---- */

void gt_perfetto_file_add(struct gt_perfetto_file *file, struct gt_perfetto_sequence sequence) {
    if (!sequence.count)
        return;
    struct gt_perfetto_sequence *sequences =
        gt_mem_room(file->sequences, file->sequence_count, &file->sequence_capacity, sizeof *sequences);
    if (!sequences) {
        file->failed = true;
        return;
    }
    file->sequences = sequences;
    sequence.id = ++file->last_sequence;
    sequences[file->sequence_count++] = sequence;
}

/* Events of a sequence, to be encoded by one thread. */
struct chunk {
    const struct gt_perfetto_sequence *sequence;
    size_t first, count;
};

struct batch {
    struct chunk chunks[BATCH_CHUNKS];
    struct gt_wire wires[BATCH_CHUNKS]; /* by chunk; kept for the next batch */
    size_t chunk_count, event_count;
};

static uint64_t time_of(const struct gt_perfetto_sequence *sequence, size_t event) {
    return (uint64_t)sequence->kind->time_ns(sequence->context, event) + sequence->add_ns;
}

static size_t begin_packet(const struct gt_perfetto_sequence *sequence, struct gt_wire *wire, uint32_t flags) {
    size_t packet = gt_wire_begin(wire, TRACE_PACKET);
    gt_wire_uint(wire, PACKET_SEQUENCE_ID, sequence->id);
    gt_wire_uint(wire, PACKET_SEQUENCE_FLAGS, flags);
    if (sequence->machine)
        gt_wire_uint(wire, PACKET_MACHINE_ID, sequence->machine);
    return packet;
}

static void add_clock(struct gt_wire *wire, uint32_t id, uint64_t time_ns, bool is_incremental) {
    size_t clock = gt_wire_begin(wire, SNAPSHOT_CLOCKS);
    gt_wire_uint(wire, CLOCK_ID, id);
    gt_wire_uint(wire, CLOCK_TIMESTAMP, time_ns);
    if (is_incremental)
        gt_wire_uint(wire, CLOCK_IS_INCREMENTAL, 1);
    gt_wire_end(wire, clock);
}

/* The first packet: names, the track, and a clock that counts from packet to packet, which saves six bytes in each. */
static void encode_head(const struct gt_perfetto_sequence *sequence, struct gt_wire *wire) {
    uint64_t first_ns = time_of(sequence, 0);
    size_t packet = begin_packet(sequence, wire, SEQUENCE_STATE_CLEARED | SEQUENCE_NEEDS_STATE);
    size_t defaults = gt_wire_begin(wire, PACKET_DEFAULTS);
    gt_wire_uint(wire, DEFAULTS_CLOCK_ID, CLOCK_OF_SEQUENCE);
    if (sequence->track) {
        size_t events = gt_wire_begin(wire, DEFAULTS_TRACK_EVENT);
        gt_wire_uint(wire, TRACK_EVENT_DEFAULTS_TRACK_UUID, sequence->track);
        gt_wire_end(wire, events);
    }
    gt_wire_end(wire, defaults);
    size_t snapshot = gt_wire_begin(wire, PACKET_CLOCK_SNAPSHOT);
    add_clock(wire, CLOCK_OF_TRACE, first_ns, false);
    add_clock(wire, CLOCK_OF_SEQUENCE, first_ns, true);
    gt_wire_end(wire, snapshot);
    if (sequence->kind->intern) {
        size_t interned = gt_wire_begin(wire, PACKET_INTERNED_DATA);
        if (!sequence->kind->intern(sequence->context, wire))
            wire->failed = true;
        gt_wire_end(wire, interned);
    }
    gt_wire_end(wire, packet);
}

static void encode_chunk(const struct chunk *chunk, struct gt_wire *wire) {
    const struct gt_perfetto_sequence *sequence = chunk->sequence;
    if (chunk->first == 0)
        encode_head(sequence, wire);
    uint64_t before_ns = time_of(sequence, chunk->first ? chunk->first - 1 : 0);
    for (size_t i = chunk->first; i < chunk->first + chunk->count; i++) {
        uint64_t now_ns = time_of(sequence, i);
        size_t packet = begin_packet(sequence, wire, SEQUENCE_NEEDS_STATE);
        gt_wire_uint(wire, PACKET_TIMESTAMP, now_ns - before_ns);
        sequence->kind->encode(sequence->context, i, wire);
        gt_wire_end(wire, packet);
        before_ns = now_ns;
    }
}

static void encode_one(void *context, size_t index) {
    struct batch *batch = context;
    encode_chunk(&batch->chunks[index], &batch->wires[index]);
}

static void write_batch(struct gt_perfetto_file *file, struct batch *batch) {
    gt_threads_deal(file->threads, batch->chunk_count, encode_one, batch);
    for (size_t i = 0; i < batch->chunk_count; i++) {
        struct gt_wire *wire = &batch->wires[i];
        file->failed |= wire->failed;
        if (!file->failed)
            gt_out_write(file->out, wire->bytes, wire->count);
        wire->count = 0;
    }
    batch->chunk_count = batch->event_count = 0;
}

static void add_chunk(struct gt_perfetto_file *file, struct batch *batch, struct chunk chunk) {
    size_t most = BATCH_EVENTS * file->threads;
    if (batch->chunk_count == BATCH_CHUNKS || (batch->chunk_count && batch->event_count + chunk.count > most))
        write_batch(file, batch);
    batch->chunks[batch->chunk_count++] = chunk;
    batch->event_count += chunk.count;
}

void gt_perfetto_file_write(struct gt_perfetto_file *file) {
    struct batch *batch = gt_mem_array(1, sizeof *batch);
    write_single(file);
    file->failed |= !batch;
    for (size_t i = 0; batch && i < file->sequence_count; i++) {
        const struct gt_perfetto_sequence *sequence = &file->sequences[i];
        for (size_t first = 0; first < sequence->count && !file->failed; first += CHUNK_EVENTS) {
            size_t left = sequence->count - first;
            add_chunk(file, batch, (struct chunk){sequence, first, left < CHUNK_EVENTS ? left : CHUNK_EVENTS});
        }
    }
    if (batch && !file->failed)
        write_batch(file, batch);
    for (size_t i = 0; batch && i < BATCH_CHUNKS; i++)
        gt_wire_release(&batch->wires[i]);
    gt_mem_free(batch);
    file->sequence_count = 0;
}
