/* The table of all input formats, and the choice among them by an input's first bytes. */
#include "decode/csv/nsys_csv.h"
#include "decode/decoder.h"
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
    {GT_ROCPROF_CSV_KEY, "rocprof-csv", "ROCm profiler CSV (rocprofv3, rocprof)", PACKED(".csv"), ROCM_FACTS,
     gt_rocprof_csv_sniff, gt_rocprof_csv_decode, gt_rocprof_csv_capture_prefix},
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

/* Files that people mistake for traces, or that no decoder reads. Advice follows a semicolon. */
static const struct {
    struct gt_str magic;
    size_t offset;
    const char *what;
} kinds[] = {
    {GT_STR("SQLite format 3"), 0, "an SQLite database"},
    {GT_STR("NVIDIA Tegra Profiler Report"), 0, "an Nsight Systems report; it is damaged or cut, copy it again"},
    {GT_STR("NVIDIA Tegra Profiler Report"), 4, "an Nsight Systems report; it is damaged or cut, copy it again"},
    {GT_STR("NVR\0"), 0, "an Nsight Compute report; record a timeline with Nsight Systems ('nsys profile')"},
    {GT_STR("\x89PNG"), 0, "a PNG image"},
    {GT_STR("\xff\xd8\xff"), 0, "a JPEG image"},
    {GT_STR("%PDF-"), 0, "a PDF document"},
    {GT_STR("\x7f"
            "ELF"),
     0, "a program or library"},
    {GT_STR("PAR1"), 0, "a Parquet file; give the trace that it was made from"},
    {GT_STR("ARROW1"), 0, "an Arrow file; give the trace that it was made from"},
    {GT_STR("\x89HDF"), 0, "an HDF5 file; export the report with 'nsys export --type sqlite'"},
    {GT_STR("\x80\x02"), 0, "a Python pickle; gputime reads traces, not memory snapshots"},
    {GT_STR("\x80\x03"), 0, "a Python pickle; gputime reads traces, not memory snapshots"},
    {GT_STR("\x80\x04"), 0, "a Python pickle; gputime reads traces, not memory snapshots"},
    {GT_STR("\x80\x05"), 0, "a Python pickle; gputime reads traces, not memory snapshots"},
    {GT_STR("7z\xbc\xaf\x27\x1c"), 0, "a 7-Zip archive; extract it first"},
    {GT_STR("Rar!"), 0, "a RAR archive; extract it first"},
    {GT_STR("BZh"), 0, "bzip2 data; decompress it first"},
    {GT_STR("\xfd"
            "7zXZ"),
     0, "xz data; decompress it first"},
    {GT_STR("\x04\x22\x4d\x18"), 0, "LZ4 data; decompress it first"},
    {GT_STR("\xff\xfe"), 0, "UTF-16 text; save it as UTF-8"},
    {GT_STR("\xfe\xff"), 0, "UTF-16 text; save it as UTF-8"},
    {GT_STR("version https://git-lfs"), 0, "a Git LFS pointer; fetch the file with 'git lfs pull'"},
};

/* Ways in which pages begin, after white space. */
static const struct gt_str page_begins[] = {GT_STR("<!doctype html"), GT_STR("<html"), GT_STR("<?xml"),
                                            GT_STR("<head")};

static bool is_page(struct gt_str head) {
    while (head.len && strchr(" \t\r\n", head.ptr[0]))
        head.ptr++, head.len--;
    for (size_t i = 0; i < sizeof page_begins / sizeof *page_begins; i++)
        if (head.len >= page_begins[i].len &&
            gt_str_find_nocase((struct gt_str){head.ptr, page_begins[i].len}, page_begins[i]))
            return true;
    return false;
}

static bool is_text(struct gt_str head) {
    for (size_t i = 0; i < head.len; i++) {
        unsigned char c = (unsigned char)head.ptr[i];
        if (c < ' ' && c != '\n' && c != '\r' && c != '\t')
            return false;
    }
    return true;
}

/* So little of a report that its mark is not whole. */
static bool is_cut_report(struct gt_str head) {
    static const struct gt_str mark = GT_STR("NVIDIA Tegra Profiler Report");
    enum { LEAST = 6 };
    return head.len >= LEAST && gt_str_starts(mark, head);
}

static const char *describe(struct gt_str head) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (head.len > kinds[i].offset &&
            gt_str_starts((struct gt_str){head.ptr + kinds[i].offset, head.len - kinds[i].offset}, kinds[i].magic))
            return kinds[i].what;
    if (is_page(head))
        return "a web page; a download may have given an error or a login page instead";
    if (is_cut_report(head))
        return "the beginning of an Nsight Systems report; it is cut, copy it again";
    return is_text(head) ? "text" : "unknown binary data";
}

/* The header of a tar archive begins with the name of its first member. */
static bool is_tar(struct gt_str head) {
    static const struct gt_str mark = GT_STR("ustar");
    enum { MARK_AT = 257 };
    return head.len > MARK_AT + mark.len && memcmp(head.ptr + MARK_AT, mark.ptr, mark.len) == 0;
}

static enum gt_status fail_tar(const char *path, struct gt_str head, struct gt_error *err) {
    enum { NAME_BYTES = 100, SHOWN = 60 };
    char name[SHOWN + 1] = "";
    for (size_t i = 0; i < SHOWN && i < NAME_BYTES && head.ptr[i]; i++)
        name[i] = (unsigned char)head.ptr[i] < ' ' || head.ptr[i] == 0x7f ? '?' : head.ptr[i];
    return gt_fail(err, "'%s': a tar archive (its first file is '%s'); extract it ('tar -xf') and name the trace in it",
                   path, name);
}

static enum gt_status fail_unknown(const struct gt_source *source, struct gt_str head, struct gt_error *err) {
    const char *path = gt_source_path(source), *damage = gt_source_damage(source);
    if (head.len == 0 && damage)
        return gt_fail(err, "'%s': no readable data: %s", path, damage);
    if (head.len == 0)
        return gt_fail(err, "'%s' is empty", path);
    if (is_tar(head))
        return fail_tar(path, head, err);
    const char *what = describe(head);
    size_t kind_bytes = strcspn(what, ";"); /* advice follows */
    return gt_fail(err, "'%s': unrecognized trace format (looks like %.*s)%s", path, (int)kind_bytes, what,
                   what + kind_bytes);
}

/* The decoder with the highest score for what the source gives now; *out NULL: none. */
static enum gt_status find_decoder(struct gt_source *source, const char *path, struct gt_str *head,
                                   const struct gt_decoder **out, struct gt_error *err) {
    int best = 0;
    *out = NULL;
    enum gt_status status = gt_source_peek(source, head, err);
    if (status == GT_OK && is_tar(*head))
        return GT_OK; /* its names and files look like anything */
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
    return status != GT_OK || *out ? status : fail_unknown(source, head, err);
}
