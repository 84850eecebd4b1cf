/* Decoder of rocprofv3's JSON: one pass where names come before the records, as the profiler writes them, else two. */
#include "decode/rocm/rocprof_json.h"

#include <string.h>

#include "base/mem.h"
#include "base/spool.h"

enum { KEY_MAX = 64 };

struct decoding {
    const struct gt_decode_options *options;
    struct gt_rocprof_json_text text;
    struct gt_builder builder;
    struct gt_rocm_capture capture;
    struct gt_rocm_sink sink;
    struct gt_rocprof_json_facts facts;
    struct gt_rocprof_json_rows rows;
    struct gt_rocprof_json_process *processes;
    size_t process_count, process_capacity;
    size_t next_process; /* of this pass */
    struct gt_rocm_segments counter_segments;
    uint64_t next_order;
    bool is_second;  /* names are known, only records are read */
    bool has_facts;  /* something of the profiler was met */
    bool needs_more; /* records came before names */
};

int gt_rocprof_json_sniff(struct gt_str head, const char *path) {
    (void)path;
    const char *p = gt_json_scan_skip_space(head.ptr, head.ptr + head.len);
    if (gt_str_starts(head, GT_STR("\xef\xbb\xbf")))
        p = gt_json_scan_skip_space(head.ptr + 3, head.ptr + head.len);
    if (p == head.ptr + head.len || *p != '{')
        return 0;
    return gt_str_contains(head, GT_STR("\"rocprofiler-sdk-tool\"")) ? 99 : 0;
}

/* ---- arrays ---- */

typedef void take_element(struct decoding *decoding, struct gt_str value);

/* Elements of an array, or members of an object that stands for one. */
static void read_elements(struct decoding *decoding, take_element *take) {
    struct gt_rocprof_json_text *text = &decoding->text;
    char sign = gt_rocprof_json_text_peek(text), key[KEY_MAX];
    struct gt_str value;
    if (sign != '[' && sign != '{') {
        gt_rocprof_json_text_skip(text);
        return;
    }
    gt_rocprof_json_text_take(text, sign);
    char closing = sign == '[' ? ']' : '}';
    for (bool is_first = true; gt_rocprof_json_text_next(text, closing, is_first); is_first = false)
        if ((sign == '[' || gt_rocprof_json_text_key(text, key, sizeof key)) &&
            gt_rocprof_json_text_whole(text, &value))
            take(decoding, value);
}

static void take_agent(struct decoding *decoding, struct gt_str value) {
    gt_rocprof_json_take_agent(&decoding->facts, value);
}

static void take_counter(struct decoding *decoding, struct gt_str value) {
    gt_rocprof_json_take_counter(&decoding->facts, value);
}

static void take_kind(struct decoding *decoding, struct gt_str value) {
    gt_rocprof_json_take_kind(&decoding->facts, value);
}

static void take_message(struct decoding *decoding, struct gt_str value) {
    gt_rocprof_json_take_message(&decoding->facts, value);
}

static void take_symbol(struct decoding *decoding, struct gt_str value) {
    gt_rocprof_json_take_symbol(&decoding->facts, value);
}

/* ---- names ---- */

static void read_metadata(struct decoding *decoding) {
    struct gt_str value;
    if (gt_rocprof_json_text_whole(&decoding->text, &value))
        gt_rocprof_json_take_metadata(&decoding->facts, value);
}

static void read_strings(struct decoding *decoding) {
    struct gt_rocprof_json_text *text = &decoding->text;
    char key[KEY_MAX];
    if (!gt_rocprof_json_text_take(text, '{')) {
        gt_rocprof_json_text_skip(text);
        return;
    }
    for (bool is_first = true; gt_rocprof_json_text_next(text, '}', is_first); is_first = false) {
        if (!gt_rocprof_json_text_key(text, key, sizeof key))
            return;
        if (strcmp(key, "buffer_records") == 0)
            read_elements(decoding, take_kind);
        else if (strcmp(key, "marker_api") == 0)
            read_elements(decoding, take_message);
        else
            gt_rocprof_json_text_skip(text);
    }
    decoding->facts.process->has_strings = true;
}

/* false: it is no member with names. */
static bool read_names(struct decoding *decoding, const char *key) {
    struct gt_rocprof_json_process *process = decoding->facts.process;
    if (strcmp(key, "metadata") == 0) {
        read_metadata(decoding);
        process->has_metadata = true;
    } else if (strcmp(key, "agents") == 0) {
        read_elements(decoding, take_agent);
        process->has_agents = true;
    } else if (strcmp(key, "counters") == 0) {
        read_elements(decoding, take_counter);
    } else if (strcmp(key, "strings") == 0) {
        read_strings(decoding);
    } else if (strcmp(key, "kernel_symbols") == 0) {
        read_elements(decoding, take_symbol);
        process->has_symbols = true;
    } else {
        return false;
    }
    return true;
}

/* ---- records ---- */

static void take_record(struct decoding *decoding, enum gt_rocprof_json_array array, struct gt_str value) {
    static const uint32_t facts[] = {
        [GT_ROCPROF_JSON_KERNELS] = GT_FACT_OPS,
        [GT_ROCPROF_JSON_COPIES] = GT_FACT_OPS,
        [GT_ROCPROF_JSON_REGIONS] = GT_FACT_CALLS | GT_FACT_RANGES,
        [GT_ROCPROF_JSON_ALLOCATIONS] = GT_ROCM_FACTS_OF_MEMORY,
        [GT_ROCPROF_JSON_COUNTERS] = GT_FACT_OPS | GT_FACT_METRICS,
    };
    if (!gt_rocprof_json_take_record(&decoding->rows, array, value))
        gt_builder_issue_of(&decoding->builder, GT_ISSUE_EVENT_DAMAGED, facts[array], 1,
                            decoding->text.window.bytes.offset - value.len);
}

/* An array of records of one kind. */
static void read_records(struct decoding *decoding, const char *key) {
    struct gt_rocprof_json_text *text = &decoding->text;
    enum gt_rocprof_json_array array = gt_rocprof_json_array_of(key);
    const struct gt_rocprof_json_process *process = decoding->facts.process;
    struct gt_str value;
    if (array == GT_ROCPROF_JSON_NONE || !gt_rocprof_json_text_take(text, '[')) {
        gt_rocprof_json_text_skip(text);
        return;
    }
    bool has_names = process->has_metadata && process->has_strings && process->has_symbols && process->has_agents;
    bool is_ready = decoding->is_second || has_names;
    size_t segment = gt_builder_begin(&decoding->builder, decoding->next_order++);
    if (array == GT_ROCPROF_JSON_COUNTERS)
        gt_rocm_segments_add(&decoding->counter_segments, &decoding->builder, segment);
    gt_rocprof_json_seal_names(&decoding->facts);
    decoding->rows.domain = gt_rocm_domain_of(gt_str_of(key));
    for (bool is_first = true; gt_rocprof_json_text_next(text, ']', is_first); is_first = false) {
        if (!gt_rocprof_json_text_whole(text, &value))
            return;
        decoding->needs_more |= !is_ready;
        if (is_ready)
            take_record(decoding, array, value);
    }
}

static void read_all_records(struct decoding *decoding) {
    struct gt_rocprof_json_text *text = &decoding->text;
    char key[KEY_MAX];
    if (!gt_rocprof_json_text_take(text, '{')) {
        gt_rocprof_json_text_skip(text);
        return;
    }
    for (bool is_first = true; gt_rocprof_json_text_next(text, '}', is_first); is_first = false) {
        if (!gt_rocprof_json_text_key(text, key, sizeof key))
            return;
        read_records(decoding, key);
    }
}

/* ---- processes ---- */

static bool open_process(struct decoding *decoding) {
    size_t number = decoding->next_process++;
    if (number == decoding->process_count && !decoding->is_second) {
        struct gt_rocprof_json_process *grown =
            gt_mem_room(decoding->processes, decoding->process_count, &decoding->process_capacity, sizeof *grown);
        decoding->builder.failed |= !grown;
        if (!grown)
            return false;
        decoding->processes = grown;
        grown[decoding->process_count++] = (struct gt_rocprof_json_process){.place = GT_ROCM_NO_PROCESS};
    }
    if (number >= decoding->process_count)
        return false;
    decoding->facts.process = &decoding->processes[number];
    decoding->rows.process = &decoding->processes[number];
    decoding->rows.part = number;
    return true;
}

static void read_process(struct decoding *decoding) {
    struct gt_rocprof_json_text *text = &decoding->text;
    char key[KEY_MAX];
    if (gt_rocprof_json_text_peek(text) != '{' || !open_process(decoding)) {
        gt_rocprof_json_text_skip(text);
        return;
    }
    gt_rocprof_json_text_take(text, '{');
    for (bool is_first = true; gt_rocprof_json_text_next(text, '}', is_first); is_first = false) {
        if (!gt_rocprof_json_text_key(text, key, sizeof key))
            return;
        if (strcmp(key, "buffer_records") == 0 || strcmp(key, "callback_records") == 0)
            read_all_records(decoding);
        else if (decoding->is_second || !read_names(decoding, key))
            gt_rocprof_json_text_skip(text);
    }
}

static void read_document(struct decoding *decoding) {
    struct gt_rocprof_json_text *text = &decoding->text;
    char key[KEY_MAX];
    const struct gt_json_bytes *bytes = &text->window.bytes;
    if (gt_rocprof_json_text_peek(text) == '\xef' && bytes->end - bytes->p >= 3)
        gt_json_window_move(&text->window.bytes, bytes->p + 3);
    if (!gt_rocprof_json_text_take(text, '{')) {
        text->is_damaged |= !gt_rocprof_json_text_ends(text);
        return;
    }
    for (bool is_first = true; gt_rocprof_json_text_next(text, '}', is_first); is_first = false) {
        if (!gt_rocprof_json_text_key(text, key, sizeof key))
            return;
        if (strcmp(key, "rocprofiler-sdk-tool") != 0) {
            gt_rocprof_json_text_skip(text);
            continue;
        }
        decoding->has_facts = true;
        if (gt_rocprof_json_text_peek(text) != '[') {
            read_process(decoding);
            continue;
        }
        gt_rocprof_json_text_take(text, '[');
        for (bool is_only = true; gt_rocprof_json_text_next(text, ']', is_only); is_only = false)
            read_process(decoding);
    }
}

/* ---- the decoder ---- */

/* Records that came before the names of what they are: once more, from the beginning, and into a new builder. The old
   one has records of processes whose names came first; it would give their strings and tracks the same numbers again,
   which are gone with these records. */
static enum gt_status read_again(struct decoding *decoding, struct gt_error *err) {
    gt_builder_release(&decoding->builder);
    gt_rocm_sink_release(&decoding->sink);
    if (gt_builder_init(&decoding->builder, GT_ROCPROF_JSON_KEY, err) != GT_OK)
        return GT_ERR;
    gt_rocm_sink_init(&decoding->sink, &decoding->builder, &decoding->capture, gt_decoder_facts(decoding->options));
    for (size_t i = 0; i < decoding->process_count; i++) {
        decoding->facts.process = &decoding->processes[i];
        struct gt_rocpd_names *const names[] = {&decoding->processes[i].symbols, &decoding->processes[i].messages};
        for (size_t n = 0; n < GT_ARRAY_COUNT(names); n++)
            gt_rocpd_names_unseal(names[n]);
        gt_rocprof_json_seal_names(&decoding->facts);
    }
    decoding->counter_segments.count = decoding->next_process = 0;
    decoding->rows.kernels = 0;
    decoding->text.is_cut = decoding->text.is_damaged = false;
    decoding->is_second = true;
    gt_json_window_seek(&decoding->text.window, 0);
    gt_builder_begin(&decoding->builder, decoding->next_order++);
    read_document(decoding);
    return decoding->text.status;
}

static void finish(struct decoding *decoding, const char *packing_damage) {
    const struct gt_rocprof_json_text *text = &decoding->text;
    decoding->capture.producer = GT_STR("rocprofv3");
    gt_rocm_finish(&decoding->sink, 1, &decoding->capture);
    if (text->is_cut)
        gt_builder_issue(&decoding->builder, GT_ISSUE_INPUT_CUT, 1, text->window.bytes.offset);
    if (text->is_damaged)
        gt_builder_issue(&decoding->builder, GT_ISSUE_EVENT_DAMAGED, 1, text->window.bytes.offset);
    if (packing_damage)
        gt_builder_issue(&decoding->builder, GT_ISSUE_PACKING_DAMAGED, 1, GT_NO_OFFSET);
    /* Kernels of counters are those of the trace, where there is one. */
    if (decoding->rows.kernels)
        gt_rocm_segments_drop(&decoding->counter_segments, &decoding->builder);
    decoding->builder.failed |= gt_arena_failed(&decoding->capture.arena) || decoding->facts.has_failed;
}

static enum gt_status decode(struct decoding *decoding, struct gt_source *source, const struct gt_json_sizes *sizes,
                             const char *subject, const char *packing_damage, struct gt_store **out,
                             struct gt_error *err) {
    if (gt_json_window_init(&decoding->text.window, source, sizes, decoding->options, err) != GT_OK)
        return GT_ERR;
    decoding->text.err = err;
    gt_builder_begin(&decoding->builder, decoding->next_order++);
    read_document(decoding);
    enum gt_status status = decoding->text.status;
    if (decoding->needs_more && status == GT_OK && !decoding->builder.failed)
        status = read_again(decoding, err);
    if (status != GT_OK)
        return status;
    if (!decoding->has_facts && !decoding->builder.failed)
        return gt_fail(err, "'%s': no records of rocprofv3 ('rocprofiler-sdk-tool') in it", subject);
    finish(decoding, packing_damage);
    return gt_store_seal(&decoding->builder, 1, out, err);
}

static enum gt_status decode_file(struct gt_source *source, const struct gt_json_sizes *sizes,
                                  const struct gt_decode_options *options, const char *subject,
                                  const char *packing_damage, struct gt_store **out, struct gt_error *err) {
    struct decoding *decoding = gt_mem_array(1, sizeof *decoding);
    *out = NULL;
    if (!decoding)
        return gt_fail_memory(err);
    decoding->options = options;
    enum gt_status status = gt_builder_init(&decoding->builder, GT_ROCPROF_JSON_KEY, err);
    if (status == GT_OK) {
        bool is_ready = gt_rocm_capture_init(&decoding->capture);
        gt_rocm_sink_init(&decoding->sink, &decoding->builder, &decoding->capture, gt_decoder_facts(options));
        decoding->facts.capture = decoding->rows.capture = &decoding->capture;
        decoding->rows.sink = &decoding->sink;
        status = is_ready ? decode(decoding, source, sizes, subject, packing_damage, out, err) : gt_fail_memory(err);
        gt_rocm_sink_release(&decoding->sink);
        gt_rocm_capture_release(&decoding->capture);
        gt_builder_release(&decoding->builder);
    }
    for (size_t i = 0; i < decoding->process_count; i++)
        gt_rocprof_json_process_release(&decoding->processes[i]);
    gt_mem_free(decoding->processes);
    gt_mem_free(decoding->counter_segments.list);
    gt_mem_free(decoding->facts.room);
    gt_json_window_release(&decoding->text.window);
    gt_mem_free(decoding);
    return status;
}

/* Packed files and pipes are copied: they may have to be read twice. */
enum gt_status gt_rocprof_json_decode_sized(struct gt_source *source, const struct gt_decode_options *options,
                                            const struct gt_json_sizes *sizes, struct gt_store **out,
                                            struct gt_error *err) {
    struct gt_spool *spool;
    uint64_t size_bytes;
    if (gt_source_is_seekable(source, &size_bytes))
        return decode_file(source, sizes, options, gt_source_path(source), NULL, out, err);
    if (gt_spool_open(source, &spool, err) != GT_OK)
        return GT_ERR;
    enum gt_status status =
        decode_file(gt_spool_source(spool), sizes, options, gt_source_path(source), gt_source_damage(source), out, err);
    gt_spool_close(spool);
    return status;
}

enum gt_status gt_rocprof_json_decode(struct gt_source *const *sources, size_t count,
                                      const struct gt_decode_options *options, struct gt_store **out,
                                      struct gt_error *err) {
    static const struct gt_json_sizes sizes = {.window_bytes = 1 << 20, .max_bytes = 64 << 20};
    if (count != 1)
        return gt_fail(err, "a trace of rocprofv3 as JSON is one file, not %zu", count);
    return gt_rocprof_json_decode_sized(sources[0], options, &sizes, out, err);
}
