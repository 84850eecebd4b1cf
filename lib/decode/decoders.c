/* The table of all input formats, and the choice among them by an input's first bytes. */
#include "decode/csv/nsys_csv.h"
#include "decode/decoder.h"
#include "decode/foreign.h"
#include "decode/nccl/nccl_inspector.h"
#include "decode/nsys/nsys_rep.h"
#include "decode/nsys/nsys_sqlite.h"
#include "decode/proto/pftrace.h"
#include "decode/rocm/rocpd.h"
#include "decode/rocm/rocprof_csv.h"
#include "decode/rocm/rocprof_json.h"
#include "decode/torch/torch_json.h"
#include "decode/xla/xla_json.h"
#include "decode/xla/xplane.h"

#include <stdio.h>

#define USUAL_FACTS (GT_FACT_OPS | GT_FACT_CORRELATION | GT_FACT_BYTES)
#define NSYS_FACTS                                                                                                     \
    (USUAL_FACTS | GT_FACT_CALLS | GT_FACT_RANGES | GT_FACT_OVERHEADS | GT_FACT_GRAPHS | GT_FACT_RANGE_TEXTS |         \
     GT_FACT_METRICS | GT_FACT_COUNTERS | GT_FACT_COMMS | GT_FACT_SYNCS | GT_FACT_CONFIGS | GT_FACT_MEMORY |           \
     GT_FACT_HOST_CALLS | GT_FACT_STACKS)
#define TORCH_FACTS                                                                                                    \
    (USUAL_FACTS | GT_FACT_CALLS | GT_FACT_RANGES | GT_FACT_CPU_OPS | GT_FACT_OVERHEADS | GT_FACT_METRICS |            \
     GT_FACT_COUNTERS | GT_FACT_COMMS | GT_FACT_SYNCS | GT_FACT_FLOWS | GT_FACT_ARGUMENTS | GT_FACT_CONFIGS |          \
     GT_FACT_MEMORY | GT_FACT_STACKS | GT_FACT_GRAPHS | GT_FACT_DETAILS)

#define PERFETTO_FACTS                                                                                                 \
    (USUAL_FACTS | GT_FACT_CALLS | GT_FACT_RANGES | GT_FACT_CPU_OPS | GT_FACT_OVERHEADS | GT_FACT_GRAPHS |             \
     GT_FACT_METRICS | GT_FACT_COUNTERS | GT_FACT_CONFIGS | GT_FACT_STACKS)
#define XLA_FACTS                                                                                                      \
    (USUAL_FACTS | GT_FACT_CALLS | GT_FACT_RANGES | GT_FACT_OVERHEADS | GT_FACT_GRAPHS | GT_FACT_METRICS |             \
     GT_FACT_COUNTERS | GT_FACT_CONFIGS | GT_FACT_STACKS)

#define ROCM_FACTS                                                                                                     \
    (USUAL_FACTS | GT_FACT_CALLS | GT_FACT_RANGES | GT_FACT_GRAPHS | GT_FACT_METRICS | GT_FACT_COUNTERS |              \
     GT_FACT_CONFIGS | GT_FACT_MEMORY)

/* A suffix, and that of files that were compressed since: every decoder reads what a source unpacks. */
#define PACKED(suffix) suffix " " suffix ".gz " suffix ".zst " suffix ".xz " suffix ".zip"

const struct gt_decoder gt_decoders[] = {
    {GT_TORCH_JSON_KEY, "torch-json", "PyTorch profiler (Kineto) / Chrome trace JSON", PACKED(".json") " .zip",
     TORCH_FACTS, gt_torch_json_sniff, gt_torch_json_decode, NULL},
    {GT_NSYS_REP_KEY, "nsys-rep", "Nsight Systems report", PACKED(".nsys-rep") " .qdrep", NSYS_FACTS, gt_nsys_rep_sniff,
     gt_nsys_rep_decode, NULL},
    {GT_ROCPD_KEY, "rocpd", "ROCm profiler database (rocprofv3's rocpd, rpd)", PACKED(".db") " .rpd",
     ROCM_FACTS | GT_FACT_SOURCE | GT_FACT_CALL_ARGS, gt_rocpd_sniff, gt_rocpd_decode, NULL},
    {GT_NSYS_SQLITE_KEY, "sqlite", "Nsight Systems SQLite export", PACKED(".sqlite"), NSYS_FACTS | GT_FACT_SOURCE,
     gt_nsys_sqlite_sniff, gt_nsys_sqlite_decode, NULL},
    {GT_NSYS_CSV_KEY, "csv", "Nsight Systems 'nsys stats' CSV", PACKED(".csv"),
     USUAL_FACTS | GT_FACT_GROUPS | GT_FACT_PROJECTIONS | GT_FACT_CONFIGS, gt_nsys_csv_sniff, gt_nsys_csv_decode,
     gt_nsys_csv_capture_prefix},
    {GT_ROCPROF_CSV_KEY, "rocprof-csv", "ROCm profiler CSV (rocprofv3, rocprof)", PACKED(".csv"),
     ROCM_FACTS | GT_FACT_GROUPS, gt_rocprof_csv_sniff, gt_rocprof_csv_decode, gt_rocprof_csv_capture_prefix},
    {GT_ROCPROF_JSON_KEY, "rocprof-json", "ROCm profiler JSON (rocprofv3)", PACKED(".json"), ROCM_FACTS,
     gt_rocprof_json_sniff, gt_rocprof_json_decode, NULL},
    {GT_PFTRACE_KEY, "perfetto", "Perfetto trace (of gputime, PyTorch, rocprofv3)",
     PACKED(".pftrace") " .perfetto-trace", PERFETTO_FACTS, gt_pftrace_sniff, gt_pftrace_decode, NULL},
    {GT_XPLANE_KEY, "xplane", "JAX / XLA profiler (XSpace protobuf)", PACKED(".xplane.pb"), XLA_FACTS | GT_FACT_MEMORY,
     gt_xplane_sniff, gt_xplane_decode, NULL},
    {GT_XLA_JSON_KEY, "xla-json", "JAX / XLA profiler (Chrome trace JSON)", PACKED(".json"), XLA_FACTS,
     gt_xla_json_sniff, gt_xla_json_decode, NULL},
    {GT_NCCL_INSPECTOR_KEY, "nccl-inspector", "NCCL Inspector log (NDJSON)",
     PACKED(".jsonl") " .ndjson " PACKED(".log"), GT_FACT_COMM_LOGS, gt_nccl_inspector_sniff, gt_nccl_inspector_decode,
     NULL},
};
const size_t gt_decoder_count = sizeof gt_decoders / sizeof *gt_decoders;

/* The decoder with the highest score for what the source gives now; *out NULL: none. */
static enum gt_status find_decoder(struct gt_source *source, const char *path, struct gt_str *head,
                                   const struct gt_decoder **out, struct gt_error *err) {
    int best = 0;
    *out = NULL;
    enum gt_status status = gt_source_peek(source, head, err);
    if (status == GT_OK && gt_foreign_is_known(*head))
        return GT_OK;
    for (size_t i = 0; status == GT_OK && i < gt_decoder_count; i++) {
        int score = gt_decoders[i].sniff(*head, path);
        if (score > best) {
            best = score;
            *out = &gt_decoders[i];
        }
    }
    return status;
}

/* ---- members of archives ---- */

/* Traces among the members of an archive; without any, all members. */
struct found {
    size_t count, first;
    char names[256]; /* of some */
};

static void note_name(struct found *found, const char *name) {
    enum { SHOWN = 4 };
    size_t used = strlen(found->names);
    if (found->count++ < SHOWN)
        snprintf(found->names + used, sizeof found->names - used, "%s'%.60s'", used ? ", " : "", name);
    else if (found->count == SHOWN + 1)
        snprintf(found->names + used, sizeof found->names - used, " ...");
}

static enum gt_status fail_members(const struct gt_source *source, const struct found *traces, struct gt_error *err) {
    struct found all = {0};
    if (traces->count > 1)
        return gt_fail(err, "'%s': zip archive with %zu traces: %s; extract it and name one, or the folder",
                       gt_source_path(source), traces->count, traces->names);
    for (size_t i = 0; i < gt_source_member_count(source); i++)
        note_name(&all, gt_source_member_name(source, i));
    return gt_fail(err, "'%s': zip archive without a trace: it has %s", gt_source_path(source), all.names);
}

/* The one trace of an archive. A member that is packed in another way or locked may be the one that is meant. */
static enum gt_status choose_member(struct gt_source *source, const struct gt_decoder **out, struct gt_error *err) {
    const struct gt_decoder *decoder;
    struct found traces = {0};
    struct gt_str head;
    for (size_t i = 0; i < gt_source_member_count(source); i++) {
        const char *name = gt_source_member_name(source, i);
        if (gt_source_select(source, i, err) != GT_OK)
            return GT_ERR;
        if (find_decoder(source, name, &head, &decoder, NULL) != GT_OK || !decoder)
            continue;
        if (traces.count == 0) {
            traces.first = i;
            *out = decoder;
        }
        note_name(&traces, name);
    }
    if (traces.count == 1)
        return gt_source_select(source, traces.first, err);
    *out = NULL;
    return fail_members(source, &traces, err);
}

enum gt_status gt_decoder_choose(struct gt_source *source, const struct gt_decoder **out, struct gt_error *err) {
    struct gt_str head;
    *out = NULL;
    if (gt_source_member_count(source) > 1)
        return choose_member(source, out, err);
    const char *path = gt_source_member_count(source) ? gt_source_member_name(source, 0) : gt_source_path(source);
    enum gt_status status = find_decoder(source, path, &head, out, err);
    return status != GT_OK || *out ? status : gt_foreign_fail(source, head, err);
}
