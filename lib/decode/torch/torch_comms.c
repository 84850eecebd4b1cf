/* Collectives and the groups they run in: what PyTorch writes into the args of kernels and CPU operators, and what the
   header of a document says about groups. */
#include "base/num.h"
#include "decode/json/json_member.h"
#include "decode/torch/torch_args.h"
#include "decode/torch/torch_facts.h"
#include "decode/torch/torch_value.h"
#include "events/builder.h"

enum {
    COLLECTIVE,
    IN_ELEMENTS,
    OUT_ELEMENTS,
    GROUP_SIZE,
    DTYPE,
    IN_SPLITS,
    OUT_SPLITS,
    GROUP_NAME,
    GROUP_DESCRIPTION,
    GROUP_RANKS,
    FIRST_RANK,
    STRIDE,
    RANK,
    SRC_RANK,
    DST_RANK,
    SEQUENCE,
    COMMS_ID,
    EXTERNAL, /* the last: many events without a collective have it */
};

static const struct gt_torch_args_key keys[] = {
    {GT_STR("Collective name"), COLLECTIVE},
    {GT_STR("In msg nelems"), IN_ELEMENTS},
    {GT_STR("Out msg nelems"), OUT_ELEMENTS},
    {GT_STR("Group size"), GROUP_SIZE},
    {GT_STR("dtype"), DTYPE},
    {GT_STR("In split size"), IN_SPLITS},
    {GT_STR("Out split size"), OUT_SPLITS},
    {GT_STR("Process Group Name"), GROUP_NAME},
    {GT_STR("Process Group ID"), GROUP_NAME}, /* before April 2024 */
    {GT_STR("Process Group Id"), GROUP_NAME},
    {GT_STR("Process Group Description"), GROUP_DESCRIPTION},
    {GT_STR("Process Group Ranks"), GROUP_RANKS},
    {GT_STR("Global rank start"), FIRST_RANK},
    {GT_STR("Global rank stride"), STRIDE},
    {GT_STR("Rank"), RANK},
    {GT_STR("Src Rank"), SRC_RANK},
    {GT_STR("Dst Rank"), DST_RANK},
    {GT_STR("Seq"), SEQUENCE},
    {GT_STR("Comms Id"), COMMS_ID},
    {GT_STR("External id"), EXTERNAL},
    {GT_STR("external id"), EXTERNAL},
};
enum { KEY_COUNT = sizeof keys / sizeof *keys };

#define BIT(field) (UINT32_C(1) << (field))
static const uint32_t group_fields =
    BIT(GROUP_SIZE) | BIT(GROUP_NAME) | BIT(GROUP_DESCRIPTION) | BIT(GROUP_RANKS) | BIT(FIRST_RANK) | BIT(STRIDE);

static bool is_record(const struct gt_torch_args *args) {
    return args->seen & ~BIT(EXTERNAL);
}

bool gt_torch_facts_has_comm(const struct gt_torch_event *event) {
    struct gt_torch_args args;
    gt_torch_args_read(&args, event, keys, KEY_COUNT);
    return is_record(&args);
}

/* Bytes of one element of a PyTorch type; 0: not known. */
static uint64_t element_bytes(struct gt_str dtype) {
    static const struct {
        struct gt_str name;
        uint64_t bytes;
        bool is_prefix;
    } types[] = {
        {GT_STR("Float"), 4, false},       {GT_STR("BFloat16"), 2, false},     {GT_STR("Half"), 2, false},
        {GT_STR("Byte"), 1, false},        {GT_STR("Char"), 1, false},         {GT_STR("Bool"), 1, false},
        {GT_STR("Float8"), 1, true},       {GT_STR("Float4"), 1, true},        {GT_STR("Short"), 2, false},
        {GT_STR("UInt16"), 2, false},      {GT_STR("Int"), 4, false},          {GT_STR("UInt32"), 4, false},
        {GT_STR("ComplexHalf"), 4, false}, {GT_STR("Long"), 8, false},         {GT_STR("Double"), 8, false},
        {GT_STR("UInt64"), 8, false},      {GT_STR("ComplexFloat"), 8, false}, {GT_STR("ComplexDouble"), 16, false},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].is_prefix ? gt_str_starts(dtype, types[i].name) : gt_str_eq(dtype, types[i].name))
            return types[i].bytes;
    return 0;
}

static uint64_t total_bytes(uint64_t elements, uint64_t each) {
    uint64_t bytes;
    bool is_known = elements != UINT64_MAX && each && !__builtin_mul_overflow(elements, each, &bytes);
    return is_known ? bytes : UINT64_MAX;
}

static uint32_t find_group(const struct gt_torch_subject *at, const struct gt_torch_args *args) {
    struct gt_comm_groups_row row = GT_COMM_GROUP_UNKNOWN;
    if (!(args->seen & group_fields))
        return GT_NO_TRACK;
    int64_t size = gt_torch_args_int(at, args, GROUP_SIZE, -1);
    row.size = size < 0 ? -1 : size;
    row.first_rank = gt_torch_args_int(at, args, FIRST_RANK, INT64_MIN);
    row.stride = gt_torch_args_int(at, args, STRIDE, INT64_MIN);
    row.name = gt_torch_args_text(at, args, GROUP_NAME);
    row.description = gt_torch_args_text(at, args, GROUP_DESCRIPTION);
    row.ranks = gt_torch_args_text(at, args, GROUP_RANKS);
    row.source = GT_GROUP_OF_RECORD;
    return gt_builder_comm_group(at->sink->builder, &row);
}

void gt_torch_facts_take_comm(const struct gt_torch_subject *at, bool is_kernel) {
    struct gt_torch_args args;
    struct gt_comms_row row = GT_COMM_UNKNOWN;
    gt_torch_args_take(&args, at, keys, KEY_COUNT);
    if (!is_record(&args))
        return;
    row.name = gt_torch_args_text(at, &args, COLLECTIVE);
    row.dtype = gt_torch_args_text(at, &args, DTYPE);
    uint64_t each = element_bytes(gt_store_string(&at->sink->builder->store, row.dtype));
    row.in_bytes = total_bytes(gt_torch_args_uint(at, &args, IN_ELEMENTS), each);
    row.out_bytes = total_bytes(gt_torch_args_uint(at, &args, OUT_ELEMENTS), each);
    row.in_splits = gt_torch_args_text(at, &args, IN_SPLITS);
    row.out_splits = gt_torch_args_text(at, &args, OUT_SPLITS);
    row.comms_id = gt_torch_args_uint(at, &args, COMMS_ID);
    row.external = gt_torch_args_uint(at, &args, EXTERNAL);
    row.sequence = gt_torch_args_int(at, &args, SEQUENCE, INT64_MIN);
    row.rank = gt_torch_args_int(at, &args, RANK, INT64_MIN);
    row.src_rank = gt_torch_args_int(at, &args, SRC_RANK, INT64_MIN);
    row.dst_rank = gt_torch_args_int(at, &args, DST_RANK, INT64_MIN);
    row.group = find_group(at, &args);
    if (is_kernel)
        row.op = 0;
    else
        row.cpu_op = 0;
    gt_builder_comm(at->sink->builder, &row);
}

/* ---- groups of the header ---- */

/* The first value of equal keys counts. */
static void take_member(struct gt_builder *builder, const struct gt_json_member *member,
                        struct gt_comm_groups_row *row) {
    const struct {
        struct gt_str key;
        gt_strid *text;
    } texts[] = {
        {GT_STR("pg_name"), &row->name},
        {GT_STR("pg_desc"), &row->description},
        {GT_STR("ranks"), &row->ranks},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (gt_str_eq(member->key.raw, texts[i].key) && *texts[i].text == GT_STRID_EMPTY)
            *texts[i].text = gt_json_member_intern(builder, &member->value);
    int64_t size;
    if (gt_str_eq(member->key.raw, GT_STR("pg_size")) && row->size < 0 &&
        gt_json_number_to_int(&member->value, &size) == GT_JSON_NUMBER && size >= 0)
        row->size = size;
}

void gt_torch_facts_take_groups(struct gt_builder *builder, struct gt_str config) {
    const char *p = config.ptr + 1, *end = config.ptr + config.len;
    struct gt_json_value item;
    while (config.len && gt_json_member_next_item(&p, end, &item) == GT_JSON_OK) {
        struct gt_comm_groups_row row = GT_COMM_GROUP_UNKNOWN;
        struct gt_json_member member;
        const char *at = item.text.raw.ptr + 1, *after = item.text.raw.ptr + item.text.raw.len;
        if (item.is_string || item.text.raw.len == 0 || item.text.raw.ptr[0] != '{')
            continue;
        row.source = GT_GROUP_OF_CONFIG;
        while (gt_json_member_next(&at, after, false, &member) == GT_JSON_OK)
            take_member(builder, &member, &row);
        gt_builder_comm_group(builder, &row);
    }
}
