/* Reads the configuration of class statistics, a JSON file: inputs with their files and run parameters. The class map
 * in it is read when a trace is opened with it. */
#include <stdlib.h>

#include "base/json_tree.h"
#include "base/mem.h"
#include "base/num.h"
#include "config_files.h"
#include "decode/decoder.h"
#include "internal.h"

enum { MAX_FILES = 3 }; /* of one input */

struct input {
    const char *paths[MAX_FILES];
    size_t path_count;
    struct gt_run run;
};

struct gputime_config {
    struct gt_arena arena;
    const char *path;
    struct gt_str directory; /* of the file, with its slash; empty: the current one */
    bool has_map;
    struct input *inputs;
    size_t count;
};

/* ---- members ---- */

/* Values of one input in the file. NULL: not given. */
struct draft {
    const struct gt_json *format, *title, *path;
    const struct gt_json *kernel_sum, *nvtx_proj_trace, *mem_time_sum;
    const struct gt_json *report_path, *with_nvtx, *with_mem;
    const struct gt_json *iterations, *gpus, *tag;
    const struct gt_json *csv, *report;
    struct gt_str ignored; /* keys that are not needed here, quoted */
};

enum member_type { TEXT, COUNT, FLAG, OBJECT, IGNORED };

struct member {
    const char *key;
    enum member_type type;
    size_t offset;                /* of the pointer in the draft */
    const struct member *members; /* OBJECT: up to one without a key */
};

#define AT(field) offsetof(struct draft, field)

static const struct member csv_members[] = {
    {"kernel_sum", TEXT, AT(kernel_sum), NULL},
    {"nvtx_proj_trace", TEXT, AT(nvtx_proj_trace), NULL},
    {"mem_time_sum", TEXT, AT(mem_time_sum), NULL},
    {NULL, TEXT, 0, NULL},
};

static const struct member report_members[] = {
    {"path", TEXT, AT(report_path), NULL},
    {"with_nvtx", FLAG, AT(with_nvtx), NULL},
    {"with_mem", FLAG, AT(with_mem), NULL},
    {NULL, TEXT, 0, NULL},
};

/* The ignored ones give positions and units of columns, which are read from the header of the table. */
static const struct member argument_members[] = {
    {"num_of_iters", COUNT, AT(iterations), NULL},
    {"num_of_gpus", COUNT, AT(gpus), NULL},
    {"nvtx_tag_of_iter", TEXT, AT(tag), NULL},
    {"with_header", IGNORED, 0, NULL},
    {"time_scale_to_ms", IGNORED, 0, NULL},
    {"kernel_total_time_idx", IGNORED, 0, NULL},
    {"kernel_instance_idx", IGNORED, 0, NULL},
    {"kernel_name_idx", IGNORED, 0, NULL},
    {"nvtx_tag_idx", IGNORED, 0, NULL},
    {"nvtx_proj_duration_idx", IGNORED, 0, NULL},
    {"mem_name_idx", IGNORED, 0, NULL},
    {"mem_time_idx", IGNORED, 0, NULL},
    {"mem_count_idx", IGNORED, 0, NULL},
    {NULL, TEXT, 0, NULL},
};

static const struct member input_members[] = {
    {"format", TEXT, AT(format), NULL},
    {"title", TEXT, AT(title), NULL},
    {"path", TEXT, AT(path), NULL},
    {"nsys_csv_file_path", OBJECT, AT(csv), csv_members},
    {"nsys_report", OBJECT, AT(report), report_members},
    {"analysis_args", OBJECT, SIZE_MAX, argument_members},
    {NULL, TEXT, 0, NULL},
};

/* Prefixes an error with the file and the place. */
static enum gt_status fail_at(const struct gputime_config *config, const struct gt_json *item, struct gt_error *err) {
    return gt_fail_context(err, "'%s': line %u, column %u", config->path, item->line, item->column);
}

static enum gt_status fail_key(const struct gputime_config *config, const struct gt_json *item,
                               const struct member *members, struct gt_error *err) {
    struct gt_arena arena = {0};
    struct gt_str list = GT_STR("");
    for (; members->key; members++)
        if (members->type != IGNORED)
            list = gt_arena_printf(&arena, "%s%s%s", list.ptr, list.len ? ", " : "", members->key);
    gt_fail_usage(err, "unknown key '%.100s'; known keys: %s", item->key.ptr, list.ptr);
    gt_arena_release(&arena);
    return fail_at(config, item, err);
}

static enum gt_status check_type(const struct member *member, const struct gt_json *item, struct gt_error *err) {
    static const char *const wanted[] = {
        [TEXT] = "a string", [COUNT] = "a positive integer", [FLAG] = "true or false", [OBJECT] = "an object"};
    int64_t count;
    bool is_good = true;
    switch (member->type) {
    case TEXT:
        is_good = item->type == GT_JSON_STRING && item->text.len;
        break;
    case COUNT:
        is_good = item->type == GT_JSON_NUMBER && gt_num_parse_int(item->text, &count) && count > 0;
        break;
    case FLAG:
        is_good = item->type == GT_JSON_TRUE || item->type == GT_JSON_FALSE;
        break;
    case OBJECT:
        is_good = item->type == GT_JSON_OBJECT;
        break;
    case IGNORED:
        break;
    }
    if (is_good)
        return GT_OK;
    if (item->type == GT_JSON_NUMBER)
        return gt_fail_usage(err, "'%s' must be %s, not %.50s", member->key, wanted[member->type], item->text.ptr);
    if (item->type == GT_JSON_STRING && item->text.len)
        return gt_fail_usage(err, "'%s' must be %s, not the string \"%.50s\"", member->key, wanted[member->type],
                             item->text.ptr);
    return gt_fail_usage(err, "'%s' must be %s, not %s", member->key, wanted[member->type],
                         item->type == GT_JSON_STRING ? "empty" : gt_json_tree_type_name(item->type));
}

static enum gt_status read_members(struct gputime_config *config, const struct gt_json *object,
                                   const struct member *members, struct draft *draft, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (const struct gt_json *item = object->first; item && status == GT_OK; item = item->next) {
        const struct member *member = members;
        while (member->key && !gt_str_eq(gt_str_of(member->key), item->key))
            member++;
        if (!member->key)
            return fail_key(config, item, members, err);
        if (item->type == GT_JSON_NULL)
            continue;
        if (check_type(member, item, err) != GT_OK)
            return fail_at(config, item, err);
        if (member->type == IGNORED)
            draft->ignored = gt_arena_printf(&config->arena, "%s%s'%s'", draft->ignored.len ? draft->ignored.ptr : "",
                                             draft->ignored.len ? ", " : "", member->key);
        else if (member->offset != SIZE_MAX)
            *(const struct gt_json **)((char *)draft + member->offset) = item;
        if (member->members)
            status = read_members(config, item, member->members, draft, err);
    }
    return status;
}

/* ---- files ---- */

static void add_remark(struct gputime_config *config, struct input *input, const char *sentence) {
    const char *before = input->run.remark;
    input->run.remark =
        gt_arena_printf(&config->arena, "%s%s%s", before ? before : "", before ? " " : "", sentence).ptr;
}

static enum gt_status add_file(struct gputime_config *config, struct input *input, const struct gt_json *item,
                               bool is_optional, struct gt_error *err) {
    if (!item)
        return GT_OK;
    struct gt_error why = {0};
    const char *path = gt_config_file_find(&config->arena, config->directory, item->text);
    if (gt_config_file_check(path, config->path, &why) == GT_OK) {
        input->paths[input->path_count++] = path;
    } else if (is_optional) {
        add_remark(config, input, gt_arena_printf(&config->arena, "%s: %s.", item->key.ptr, why.message).ptr);
    } else {
        gt_fail(err, "%s", why.message);
        return fail_at(config, item, err);
    }
    return GT_OK;
}

/* ---- inputs ---- */

static enum gt_status check_format(struct gputime_config *config, const struct draft *draft, struct gt_error *err) {
    struct gt_str list = GT_STR("");
    for (size_t i = 0; draft->format && i < gt_decoder_count; i++) {
        struct gt_str key = gt_str_of(gt_decoders[i].short_key);
        if (draft->format->text.len == key.len && gt_str_find_nocase(draft->format->text, key))
            return GT_OK;
        list = gt_arena_printf(&config->arena, "%s%s%s", list.ptr, i ? ", " : "", key.ptr);
    }
    return draft->format
               ? gt_fail_usage(err, "unknown format '%.100s'; known formats: %s", draft->format->text.ptr, list.ptr)
               : GT_OK;
}

/* A file is read by its contents; a different format in the configuration may mean that the file is wrong. */
static void remark_formats(struct gputime_config *config, struct input *input, const struct gt_json *format) {
    for (size_t i = 0; format && i < input->path_count; i++) {
        const char *found = gt_config_file_format(input->paths[i]);
        if (found && !gt_str_find_nocase(gt_str_of(found), format->text))
            add_remark(config, input,
                       gt_arena_printf(&config->arena, "'format' is %s, but '%s' is %s and was read as such.",
                                       format->text.ptr, input->paths[i], found)
                           .ptr);
    }
}

/* Files are recognized by their contents, so the format only chooses between several ways to name them. */
static enum gt_status add_files(struct gputime_config *config, struct input *input, const struct draft *draft,
                                const struct gt_json *item, struct gt_error *err) {
    bool is_csv = draft->format ? gt_str_find_nocase(draft->format->text, GT_STR("csv")) != NULL : draft->csv != NULL;
    enum gt_status status;
    if (is_csv && draft->csv) {
        status = add_file(config, input, draft->kernel_sum, false, err);
        if (status == GT_OK)
            status = add_file(config, input, draft->nvtx_proj_trace, true, err);
        if (status == GT_OK)
            status = add_file(config, input, draft->mem_time_sum, true, err);
    } else {
        status = add_file(config, input, draft->report_path && !is_csv ? draft->report_path : draft->path, false, err);
    }
    bool has_main = is_csv && draft->csv ? draft->kernel_sum != NULL : input->path_count > 0;
    if (status == GT_OK && !has_main) {
        gt_fail_usage(err, "the input has no file; add %s",
                      is_csv ? "\"nsys_csv_file_path\": {\"kernel_sum\": ...}" : "\"nsys_report\": {\"path\": ...}");
        return fail_at(config, item, err);
    }
    return status;
}

static int64_t count_of(const struct gt_json *item) {
    int64_t count = 0;
    return item && gt_num_parse_int(item->text, &count) ? count : 0;
}

static bool is_true(const struct gt_json *item) {
    return item && item->type == GT_JSON_TRUE;
}

static enum gt_status read_input(struct gputime_config *config, const struct gt_json *item, struct input *input,
                                 struct gt_error *err) {
    struct draft draft = {0};
    if (item->type != GT_JSON_OBJECT) {
        gt_fail_usage(err, "an input must be an object, not %s", gt_json_tree_type_name(item->type));
        return fail_at(config, item, err);
    }
    enum gt_status status = read_members(config, item, input_members, &draft, err);
    if (status == GT_OK && check_format(config, &draft, err) != GT_OK)
        return fail_at(config, draft.format, err);
    if (status == GT_OK)
        status = add_files(config, input, &draft, item, err);
    if (status != GT_OK)
        return status;
    remark_formats(config, input, draft.format);
    input->run.title = draft.title ? draft.title->text.ptr : NULL;
    input->run.iterations = count_of(draft.iterations);
    input->run.gpus = count_of(draft.gpus);
    input->run.nvtx_tag = draft.tag ? draft.tag->text.ptr : NULL;
    bool is_report = draft.report && input->path_count && !draft.kernel_sum;
    input->run.without_memory = is_report && !is_true(draft.with_mem);
    if (is_report && !is_true(draft.with_nvtx) && draft.tag) {
        input->run.nvtx_tag = NULL;
        add_remark(config, input, "'nvtx_tag_of_iter' is ignored because 'with_nvtx' is not true.");
    }
    if (draft.ignored.len)
        add_remark(config, input,
                   gt_arena_printf(&config->arena, "Ignored: %s (columns and units come from the table's header).",
                                   draft.ignored.ptr)
                       .ptr);
    return GT_OK;
}

/* ---- the file ---- */

static size_t count_items(const struct gt_json *parent) {
    size_t count = 0;
    for (const struct gt_json *item = parent->first; item; item = item->next)
        count++;
    return count;
}

static enum gt_status read_inputs(struct gputime_config *config, const struct gt_json *root, struct gt_error *err) {
    const struct gt_json *inputs = gt_json_tree_find(root, "inputs");
    size_t count = inputs && inputs->type == GT_JSON_ARRAY ? count_items(inputs) : 0;
    if (count == 0) {
        gt_fail_usage(err, "\"inputs\" must be a non-empty list");
        return fail_at(config, inputs ? inputs : root, err);
    }
    config->inputs = gt_arena_array(&config->arena, count, sizeof *config->inputs);
    if (!config->inputs)
        return gt_fail_memory(err);
    enum gt_status status = GT_OK;
    for (const struct gt_json *item = inputs->first; item && status == GT_OK; item = item->next)
        status = read_input(config, item, &config->inputs[config->count++], err);
    return status;
}

static enum gt_status read_root(struct gputime_config *config, const struct gt_json *root, struct gt_error *err) {
    static const struct member members[] = {
        {"inputs", TEXT, 0, NULL}, {"kernel_to_class_map", OBJECT, 0, NULL}, {NULL, TEXT, 0, NULL}};
    if (root->type != GT_JSON_OBJECT) {
        gt_fail_usage(err, "a configuration must be an object with \"inputs\", not %s",
                      gt_json_tree_type_name(root->type));
        return fail_at(config, root, err);
    }
    for (const struct gt_json *item = root->first; item; item = item->next) {
        bool is_map = gt_str_eq(item->key, GT_STR("kernel_to_class_map"));
        if (!is_map && !gt_str_eq(item->key, GT_STR("inputs")))
            return fail_key(config, item, members, err);
        if (is_map && item->type != GT_JSON_NULL && check_type(&members[1], item, err) != GT_OK)
            return fail_at(config, item, err);
        config->has_map = is_map ? item->type == GT_JSON_OBJECT : config->has_map;
    }
    return read_inputs(config, root, err);
}

static enum gt_status read_config(struct gputime_config *config, const char *path, struct gt_error *err) {
    const char *slash = strrchr(path, '/');
    struct gt_json *root;
    config->path = gt_arena_copy(&config->arena, gt_str_of(path)).ptr;
    config->directory = gt_arena_copy(&config->arena, (struct gt_str){path, slash ? (size_t)(slash + 1 - path) : 0});
    enum gt_status status = gt_json_tree_read(path, &config->arena, &root, err);
    if (status == GT_OK)
        status = read_root(config, root, err);
    return status == GT_OK && gt_arena_failed(&config->arena) ? gt_fail_memory(err) : status;
}

API enum gputime_status gputime_config_open(const char *path, struct gputime_config **out, struct gputime_error *err) {
    struct gt_error error = {0};
    *out = NULL;
    struct gputime_config *config = gt_mem_array(1, sizeof *config);
    enum gt_status status = config ? read_config(config, path, &error) : gt_fail_memory(&error);
    if (status == GT_OK)
        *out = config;
    else
        gputime_config_free(config);
    return gt_internal_fail(status, &error, err);
}

API void gputime_config_free(struct gputime_config *config) {
    if (!config)
        return;
    gt_arena_release(&config->arena);
    gt_mem_free(config);
}

API size_t gputime_config_input_count(const struct gputime_config *config) {
    return config->count;
}

API const char *const *gputime_config_paths(const struct gputime_config *config, size_t index, size_t *path_count) {
    bool is_there = index < config->count;
    *path_count = is_there ? config->inputs[index].path_count : 0;
    return is_there ? config->inputs[index].paths : NULL;
}

API void gputime_config_run(const struct gputime_config *config, size_t index, struct gputime_run *out) {
    struct gputime_run answer = GPUTIME_RUN_INIT;
    size_t size = out->size < sizeof answer ? out->size : sizeof answer;
    if (index >= config->count || size < sizeof out->size)
        return;
    const struct gt_run *run = &config->inputs[index].run;
    answer.title = run->title;
    answer.iterations = run->iterations;
    answer.gpus = run->gpus;
    answer.iteration_range = run->nvtx_tag;
    answer.without_memory = run->without_memory;
    answer.remark = run->remark;
    answer.size = out->size;
    memcpy(out, &answer, size); /* a program of an older header has fewer fields */
}

API const char *gputime_config_map_path(const struct gputime_config *config) {
    return config->has_map ? config->path : NULL;
}
