/* The JSON of rocprofv3: one document with the names of everything, then the records of each process as arrays. It is
   read piece by piece: an element of an array is the most that is held at once. */
#ifndef GT_DECODE_ROCM_ROCPROF_JSON_H
#define GT_DECODE_ROCM_ROCPROF_JSON_H

#include "decode/decoder.h"
#include "decode/json/json_scan.h"
#include "decode/json/json_window.h"
#include "decode/rocm/rocm.h"
#include "decode/rocm/rocpd.h"

#define GT_ROCPROF_JSON_KEY "rocprof-json"

int gt_rocprof_json_sniff(struct gt_str head, const char *path);
enum gt_status gt_rocprof_json_decode(struct gt_source *const *sources, size_t count,
                                      const struct gt_decode_options *options, struct gt_store **out,
                                      struct gt_error *err);
/* The same with other buffers, for tests. */
enum gt_status gt_rocprof_json_decode_sized(struct gt_source *source, const struct gt_decode_options *options,
                                            const struct gt_json_sizes *sizes, struct gt_store **out,
                                            struct gt_error *err);

/* ---- rocprof_json_text.c: the document as a stream ---- */

struct gt_rocprof_json_text {
    struct gt_json_window window;
    enum gt_status status; /* of the input */
    struct gt_error *err;
    bool is_cut;     /* the document ends before it should */
    bool is_damaged; /* no JSON follows */
};

/* Whether nothing more can be read. */
static inline bool gt_rocprof_json_text_ends(const struct gt_rocprof_json_text *text) {
    return text->status != GT_OK || text->is_cut || text->is_damaged;
}
/* The next sign, which stays; '\0' where there is none. */
char gt_rocprof_json_text_peek(struct gt_rocprof_json_text *text);
/* Takes the next sign if it is this one. */
bool gt_rocprof_json_text_take(struct gt_rocprof_json_text *text, char sign);
/* Begins the next member or element after `{`, `[` or the one before: false at the closing bracket, which is taken.
   `is_first`: there is none before it. */
bool gt_rocprof_json_text_next(struct gt_rocprof_json_text *text, char closing, bool is_first);
/* The key of a member, up to its colon, as it is written; lives until the next call. false: there is none. */
bool gt_rocprof_json_text_key(struct gt_rocprof_json_text *text, char *key, size_t room);
/* The whole of the next value, which lives until the next call; a value that is too long is damage. */
bool gt_rocprof_json_text_whole(struct gt_rocprof_json_text *text, struct gt_str *value);
/* Passes over the next value, of any size. */
void gt_rocprof_json_text_skip(struct gt_rocprof_json_text *text);

/* ---- values inside of an element ---- */

struct gt_rocprof_json_value {
    struct gt_str key, parent; /* of the member, and of the object that it is in; empty at the top */
    struct gt_json_value_text text;
    bool is_text;
};
/* Calls take for each number and text in a value, however deep; arrays of objects are entered, too. Members whose key
   is `except` are passed over. false: it is no JSON. */
typedef void gt_rocprof_json_take_fn(void *context, const struct gt_rocprof_json_value *value);
bool gt_rocprof_json_values(struct gt_str element, const char *except, gt_rocprof_json_take_fn *take, void *context);
/* A number, decimal or "0x..." in quotes; false: it is none. */
bool gt_rocprof_json_number(const struct gt_rocprof_json_value *value, uint64_t *number);

/* ---- rocprof_json_facts.c: what a process is, and names ---- */

struct gt_rocprof_json_kind {
    struct gt_str name;
    struct gt_str *operations;
    size_t count, capacity;
    enum gt_rocm_domain domain;
};

struct gt_rocprof_json_process {
    uint32_t place; /* in the capture */
    bool has_metadata, has_strings, has_symbols, has_agents;
    struct gt_rocprof_json_kind *kinds;
    size_t kind_count, kind_capacity;
    struct gt_rocpd_names symbols, messages; /* by kernel; by correlation */
    struct gt_rocpd_symbol *symbol_facts;
    size_t symbol_capacity;
    struct gt_map agent_of, counter_of; /* handle -> place in the capture */
    size_t gpus;
};
void gt_rocprof_json_process_release(struct gt_rocprof_json_process *process);

struct gt_rocprof_json_facts {
    struct gt_rocm_capture *capture;
    struct gt_rocprof_json_process *process; /* the current one */
    char *room;                              /* for a text without its escapes */
    size_t room_bytes;
    bool has_failed;
};
/* Each takes one value of a process: its metadata, an element of its agents and so on. */
void gt_rocprof_json_take_metadata(struct gt_rocprof_json_facts *facts, struct gt_str value);
void gt_rocprof_json_take_agent(struct gt_rocprof_json_facts *facts, struct gt_str value);
void gt_rocprof_json_take_counter(struct gt_rocprof_json_facts *facts, struct gt_str value);
void gt_rocprof_json_take_kind(struct gt_rocprof_json_facts *facts, struct gt_str value);
void gt_rocprof_json_take_message(struct gt_rocprof_json_facts *facts, struct gt_str value);
void gt_rocprof_json_take_symbol(struct gt_rocprof_json_facts *facts, struct gt_str value);
/* Names can be looked up from then on. */
void gt_rocprof_json_seal_names(struct gt_rocprof_json_facts *facts);

/* ---- rocprof_json_rows.c: records ---- */

enum gt_rocprof_json_array {
    GT_ROCPROF_JSON_KERNELS,
    GT_ROCPROF_JSON_COPIES,
    GT_ROCPROF_JSON_REGIONS,
    GT_ROCPROF_JSON_ALLOCATIONS,
    GT_ROCPROF_JSON_COUNTERS,
    GT_ROCPROF_JSON_NONE
};
enum gt_rocprof_json_array gt_rocprof_json_array_of(const char *key);

struct gt_rocprof_json_rows {
    struct gt_rocm_sink *sink;
    struct gt_rocm_capture *capture;
    const struct gt_rocprof_json_process *process; /* the current one */
    uint64_t part;                                 /* its number */
    enum gt_rocm_domain domain;                    /* of regions whose kind has no name */
    uint64_t kernels;                              /* of their own array */
};
/* false: it is no record. */
bool gt_rocprof_json_take_record(struct gt_rocprof_json_rows *rows, enum gt_rocprof_json_array array,
                                 struct gt_str value);

#endif
