/* Questions about collectives: records, names and groups come in, merged records, places of ranks and bytes go out. */
#include "events/comms.h"

#include <math.h>

#include "base/mem.h"
#include "base/num.h"

static const struct {
    const char *key;
    enum gt_comm_kind kind;
} ops[GT_COMM_OP_COUNT] = {
    {NULL, GT_COMM_KIND_OTHER},
#define GT_COMM_OP(key, kind) {#key, GT_COMM_KIND_##kind},
#include "events/comm_ops.def"
#undef GT_COMM_OP
};

const char *gt_comms_op_key(enum gt_comm_op op) {
    return ops[op].key;
}

enum gt_comm_kind gt_comms_op_kind(enum gt_comm_op op) {
    return ops[op].kind;
}

/* ---- names ---- */

enum { NAME_MAX_BYTES = 64 };

/* Variants of one operation: what they do to buffers and how many they take says nothing about it. */
static struct gt_str without_variant(struct gt_str name) {
    static const struct gt_str variants[] = {GT_STR("_base"),   GT_STR("_into_tensor"), GT_STR("_tensor"),
                                             GT_STR("_single"), GT_STR("_coalesced"),   GT_STR("_oop"),
                                             GT_STR("_sparse"), GT_STR("anysource")};
    for (size_t i = 0; i < GT_ARRAY_COUNT(variants); i++)
        if (gt_str_take_end(&name, variants[i]))
            i = SIZE_MAX; /* from the first again */
    return name;
}

/* The same without underscores; in place. */
static struct gt_str joined(char *text, size_t bytes) {
    size_t length = 0;
    for (size_t i = 0; i < bytes; i++)
        if (text[i] != '_')
            text[length++] = text[i];
    return (struct gt_str){text, length};
}

/* Whether it is the key without underscores. */
static bool is_op(struct gt_str name, const char *key) {
    size_t at = 0;
    for (; *key; key++)
        if (*key != '_' && (at == name.len || name.ptr[at++] != *key))
            return false;
    return at == name.len;
}

enum gt_comm_op gt_comms_op_of_name(struct gt_str name) {
    char lower[NAME_MAX_BYTES];
    if (name.len > sizeof lower)
        return GT_COMM_OTHER;
    for (size_t i = 0; i < name.len; i++)
        lower[i] = (char)(name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? name.ptr[i] - 'A' + 'a' : name.ptr[i]);
    size_t skipped = name.len >= 4 && memcmp(lower, "nccl", 4) == 0 ? 4 : 0;
    skipped += skipped && name.len > skipped && lower[skipped] == ':';
    struct gt_str plain = without_variant((struct gt_str){lower + skipped, name.len - skipped});
    plain = joined(lower + skipped, plain.len);
    if (gt_str_eq(plain, GT_STR("alltoallv")) || gt_str_eq(plain, GT_STR("allgatherv")))
        plain.len--;
    if (gt_str_eq(plain, GT_STR("bcast")))
        return GT_COMM_broadcast;
    for (int op = GT_COMM_OTHER + 1; op < GT_COMM_OP_COUNT; op++)
        if (is_op(plain, ops[op].key))
            return (enum gt_comm_op)op;
    return GT_COMM_OTHER;
}

/* ---- records ---- */

/* Every column of a record, with the value that means that it is missing. */
#define FIELDS(FIELD)                                                                                                  \
    FIELD(in_bytes, UINT64_MAX)                                                                                        \
    FIELD(out_bytes, UINT64_MAX)                                                                                       \
    FIELD(comms_id, UINT64_MAX)                                                                                        \
    FIELD(external, UINT64_MAX)                                                                                        \
    FIELD(sequence, INT64_MIN)                                                                                         \
    FIELD(src_rank, INT64_MIN)                                                                                         \
    FIELD(dst_rank, INT64_MIN)                                                                                         \
    FIELD(rank, INT64_MIN)                                                                                             \
    FIELD(root, INT64_MIN)                                                                                             \
    FIELD(peer, INT64_MIN)                                                                                             \
    FIELD(name, GT_STRID_EMPTY)                                                                                        \
    FIELD(dtype, GT_STRID_EMPTY)                                                                                       \
    FIELD(reduction, GT_STRID_EMPTY)                                                                                   \
    FIELD(in_splits, GT_STRID_EMPTY)                                                                                   \
    FIELD(out_splits, GT_STRID_EMPTY)                                                                                  \
    FIELD(group, GT_NO_TRACK)                                                                                          \
    FIELD(op, GT_NO_ROW)                                                                                               \
    FIELD(cpu_op, GT_NO_ROW)                                                                                           \
    FIELD(range, GT_NO_ROW)

enum {
#define COUNT(column, missing) +1
    FIELD_COUNT = 0 FIELDS(COUNT),
#undef COUNT
    COLUMN_COUNT = 0
#define GT_TABLE(table, columns)             columns
#define GT_COLUMN(table, type, name, refers) +(GT_TABLE_##table == GT_TABLE_comms)
#include "events/columns.def"
#undef GT_TABLE
#undef GT_COLUMN
};
_Static_assert((int)FIELD_COUNT == (int)COLUMN_COUNT, "a column of comms is not in the list");

/* Kineto writes one number: of messages the peer, of collectives with a root the root, of others the own place. */
static void assign_rank(const struct gt_store *store, struct gt_comms_row *row) {
    enum gt_comm_kind kind = gt_comms_op_kind(gt_comms_op_of_name(gt_store_string(store, row->name)));
    int64_t *meant = kind == GT_COMM_KIND_MESSAGE ? &row->peer : kind == GT_COMM_KIND_DIRECTED ? &row->root : NULL;
    if (!meant)
        return;
    *meant = *meant == INT64_MIN ? row->rank : *meant;
    row->rank = INT64_MIN;
}

struct gt_comms_row gt_comms_merged(const struct gt_store *store, const struct gt_collective *collective) {
    const struct gt_comms *comms = &store->comms;
    struct gt_comms_row row;
#define TAKE(column, missing)                                                                                          \
    row.column = comms->column[collective->record];                                                                    \
    if (row.column == (missing) && collective->more != GT_NO_ROW)                                                      \
        row.column = comms->column[collective->more];
    FIELDS(TAKE)
#undef TAKE
    if (row.name == GT_STRID_EMPTY && row.range != GT_NO_ROW)
        row.name = store->ranges.name[row.range];
    if (row.rank != INT64_MIN && row.range == GT_NO_ROW)
        assign_rank(store, &row);
    return row;
}

bool gt_comms_is_collective(const struct gt_store *store, const struct gt_collective *collective, enum gt_comm_op *op) {
    struct gt_comms_row row = gt_comms_merged(store, collective);
    *op = gt_comms_op_of_name(gt_store_string(store, row.name));
    bool has_bytes = row.in_bytes != UINT64_MAX || row.out_bytes != UINT64_MAX;
    return *op != GT_COMM_OTHER || (has_bytes && (row.op != GT_NO_ROW || row.range != GT_NO_ROW));
}

uint64_t gt_comms_bytes(const struct gt_comms_row *record, enum gt_comm_op op) {
    uint64_t first = op == GT_COMM_reduce_scatter ? record->out_bytes : record->in_bytes;
    uint64_t other = op == GT_COMM_reduce_scatter ? record->in_bytes : record->out_bytes;
    return first != UINT64_MAX ? first : other;
}

/* ---- bandwidth ---- */

static double known(uint64_t bytes) {
    return bytes == UINT64_MAX ? NAN : (double)bytes;
}

/* Of the bytes that are divided by these splits, those of all places but the own; NAN if the splits do not say. */
static double bytes_of_others(struct gt_str splits, uint64_t bytes, int64_t size, int64_t own) {
    uint64_t sum = 0, of_own = 0;
    int64_t number, place = 0;
    enum gt_comm_list state;
    for (; (state = gt_comms_next_number(&splits, &number)) == GT_COMM_LIST_NUMBER; place++) {
        if (number < 0 || __builtin_add_overflow(sum, (uint64_t)number, &sum))
            return NAN;
        of_own = place == own ? (uint64_t)number : of_own;
    }
    if (state != GT_COMM_LIST_END || place != size || bytes == UINT64_MAX)
        return NAN;
    return sum ? (double)(bytes - (uint64_t)((unsigned __int128)bytes * of_own / sum)) : 0;
}

/* What a rank of an all_to_all of unequal parts has to move: the larger of what it sends to others and gets from them;
   NAN if the splits do not say. */
static double load_of(const struct gt_store *store, const struct gt_comms_row *record,
                      const struct gt_comm_group *group) {
    bool has_place = record->rank >= 0 && record->rank < group->size;
    int64_t own = has_place ? record->rank : group->own_place;
    if (own < 0)
        return NAN;
    double sent = bytes_of_others(gt_store_string(store, record->in_splits), record->in_bytes, group->size, own);
    double received = bytes_of_others(gt_store_string(store, record->out_splits), record->out_bytes, group->size, own);
    return isnan(sent) || isnan(received) ? NAN : fmax(sent, received);
}

/* What goes in or comes out in all. NCCL's own records have the bytes of one rank, of all_to_all for one other. */
static double whole_bytes(const struct gt_comms_row *record, enum gt_comm_op op, double size) {
    double in = known(record->in_bytes), out = known(record->out_bytes);
    bool is_of_nccl = record->range != GT_NO_ROW;
    double either = isnan(in) ? out : in;
    switch (op) {
    case GT_COMM_all_gather:
        return is_of_nccl || isnan(out) ? either * size : out;
    case GT_COMM_reduce_scatter:
        return is_of_nccl || isnan(in) ? either * size : in;
    case GT_COMM_all_to_all:
        return is_of_nccl ? either * size : fmax(in, out); /* of a number and NAN fmax gives the number */
    case GT_COMM_gather:
        return either * size;
    case GT_COMM_scatter:
        return (isnan(out) ? in : out) * size;
    default:
        return either;
    }
}

double gt_comms_bus_bytes(const struct gt_store *store, const struct gt_comms_row *record, enum gt_comm_op op,
                          const struct gt_comm_group *group) {
    double size = group && group->size > 0 ? (double)group->size : NAN;
    double whole = whole_bytes(record, op, size), load = NAN;
    switch (op) {
    case GT_COMM_all_reduce:
        return whole * 2 * (size - 1) / size;
    case GT_COMM_all_to_all:
        load = group && record->range == GT_NO_ROW ? load_of(store, record, group) : NAN;
        return isnan(load) ? whole * (size - 1) / size : load;
    case GT_COMM_all_gather:
    case GT_COMM_reduce_scatter:
    case GT_COMM_gather:
    case GT_COMM_scatter:
        return whole * (size - 1) / size;
    case GT_COMM_OTHER:
        return NAN;
    default:
        return whole;
    }
}

/* ---- groups ---- */

int64_t gt_comms_member(const struct gt_comm_group *group, int64_t place) {
    if (!gt_comms_has_members(group) || place < 0 || place >= group->size)
        return -1;
    return group->rank_list ? group->rank_list[place] : group->first_rank + place * group->stride;
}

int64_t gt_comms_place(const struct gt_comm_group *group, int64_t rank) {
    if (!gt_comms_has_members(group) || rank < 0)
        return -1;
    if (!group->rank_list) {
        int64_t distance = rank - group->first_rank, place = distance / group->stride;
        return distance % group->stride == 0 && place >= 0 && place < group->size ? place : -1;
    }
    for (int64_t place = 0; place < group->size; place++)
        if (group->rank_list[place] == rank)
            return place;
    return -1;
}

/* ---- lists ---- */

static bool is_filler(char c) {
    return c == ' ' || c == ',' || c == '[' || c == ']' || c == '"' || c == '\t' || c == '\n';
}

enum gt_comm_list gt_comms_next_number(struct gt_str *rest, int64_t *number) {
    while (rest->len && is_filler(rest->ptr[0]))
        *rest = (struct gt_str){rest->ptr + 1, rest->len - 1};
    if (!rest->len)
        return GT_COMM_LIST_END;
    if (gt_str_starts(*rest, GT_STR("...")))
        return GT_COMM_LIST_CUT;
    size_t length = 0;
    while (length < rest->len && !is_filler(rest->ptr[length]))
        length++;
    if (!gt_num_parse_int((struct gt_str){rest->ptr, length}, number))
        return GT_COMM_LIST_BROKEN;
    *rest = (struct gt_str){rest->ptr + length, rest->len - length};
    return GT_COMM_LIST_NUMBER;
}
