/* Packets inside a packet, compressed: bytes of one come in, those of packets go out to whom reads packets. Memory is
   that of the largest packet, however much there is. */
#include "base/inflate.h"
#include "base/mem.h"
#include "decode/proto/pftrace_fields.h"
#include "decode/proto/pftrace_reading.h"

enum { ROOM_BYTES = 256 << 10, LONGEST_PACKET = 256 << 20 };

/* Inflated bytes that are not read yet. */
struct window {
    unsigned char *bytes;
    size_t end, capacity;
};

static bool make_room(struct window *window) {
    if (window->capacity - window->end >= ROOM_BYTES)
        return true;
    size_t capacity = window->capacity ? 2 * window->capacity : 2 * (size_t)ROOM_BYTES;
    unsigned char *bytes =
        capacity <= 2 * (size_t)LONGEST_PACKET ? gt_mem_realloc(window->bytes, capacity + GT_PROTO_PADDING) : NULL;
    if (!bytes)
        return false;
    window->bytes = bytes;
    window->capacity = capacity;
    return true;
}

/* Reads the packets that are whole, and keeps the rest. false: there is something else. */
static bool read_packets(struct gt_pftrace_reading *reading, struct window *window) {
    const unsigned char *p = window->bytes, *end = p + window->end;
    memset(window->bytes + window->end, 0, GT_PROTO_PADDING);
    while (p < end) {
        struct gt_proto_number tag = gt_proto_read(p, end);
        struct gt_proto_number length = tag.p ? gt_proto_read(tag.p, end) : tag;
        if (!length.p && end - p >= 20)
            return false;
        if (!length.p || (length.value <= LONGEST_PACKET && length.value > (size_t)(end - length.p)))
            break;
        if ((tag.value & 7) != 2 || tag.value < GT_PROTO_BYTES(1) || length.value > LONGEST_PACKET)
            return false;
        if (tag.value == GT_PROTO_BYTES(1))
            gt_pftrace_reading_packet(reading, (struct gt_str){(const char *)length.p, (size_t)length.value});
        p = length.p + length.value;
    }
    window->end = (size_t)(end - p);
    memmove(window->bytes, p, window->end);
    return true;
}

/* false: something is damaged, or memory was short, which the reading knows. */
static bool inflate_all(struct gt_pftrace_reading *reading, const struct gt_codec *codec, void *state,
                        struct gt_str packed) {
    struct window window = {0};
    struct gt_inflate_io io = {.in = (const unsigned char *)packed.ptr, .in_size = packed.len, .in_is_last = true};
    enum gt_codec_status status = GT_CODEC_MORE;
    bool is_whole = true, goes_on = codec->reset(state);
    reading->failed |= !goes_on;
    while (goes_on && status == GT_CODEC_MORE) {
        const char *damage;
        if (!make_room(&window)) {
            reading->failed = true;
            break;
        }
        io.out = window.bytes + window.end;
        io.out_size = window.capacity - window.end;
        size_t room = io.out_size, left = io.in_size;
        status = codec->step(state, &io, &damage);
        goes_on = io.out_size < room || io.in_size < left;
        window.end += room - io.out_size;
        is_whole = read_packets(reading, &window);
        goes_on &= is_whole && !reading->failed;
    }
    reading->failed |= status == GT_CODEC_NO_MEMORY;
    gt_mem_free(window.bytes);
    return is_whole && status == GT_CODEC_MEMBER_END && window.end == 0;
}

void gt_pftrace_reading_packed(struct gt_pftrace_reading *reading, struct gt_str packed, bool is_zstd) {
    const struct gt_codec *codec = is_zstd ? &gt_codec_zstd : &gt_codec_zlib;
    void **state = &reading->inflate[is_zstd];
    if (!*state)
        *state = codec->new_state();
    reading->failed |= !*state;
    /* Nobody packs packets twice, but for those who want to see readers fail. */
    bool is_good = *state && !reading->is_packed;
    if (is_good) {
        reading->is_packed = true;
        is_good = inflate_all(reading, codec, *state, packed);
        reading->is_packed = false;
    }
    if (!is_good && !reading->failed)
        gt_builder_issue(reading->builder, GT_ISSUE_PACKING_DAMAGED, 1, reading->offset);
}

void gt_pftrace_reading_packed_free(struct gt_pftrace_reading *reading) {
    gt_codec_zlib.free_state(reading->inflate[0]);
    gt_codec_zstd.free_state(reading->inflate[1]);
}
