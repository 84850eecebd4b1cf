/* Name patterns: a user's text comes in, yes or no for each name goes out; hostile expressions end by limits. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "base/pattern.h"

#include <pcre2.h>
#include <stdint.h>

#include "base/mem.h"

/* A name is a few hundred bytes: what needs more steps than this at one place of it never ends in practice. */
#define MAX_STEPS    100000
#define MAX_HEAP_KIB 16384

struct gt_pattern {
    char *needle; /* NULL for an expression */
    size_t needle_len;
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

static void *pcre2_alloc(size_t size_bytes, void *context) {
    (void)context;
    return gt_mem_alloc(size_bytes);
}

static void pcre2_release(void *block, void *context) {
    (void)context;
    gt_mem_free(block);
}

static enum gt_status bad_expression(const char *expression, int code, size_t offset, struct gt_error *err) {
    PCRE2_UCHAR reason[160];

    if (code == PCRE2_ERROR_HEAP_FAILED)
        return gt_fail_memory(err);
    pcre2_get_error_message(code, reason, sizeof(reason));
    return gt_fail_usage(err, "bad pattern '%.200s': %s at offset %zu", expression, (const char *)reason, offset);
}

static enum gt_status compile(struct gt_pattern *pattern, const char *expression, struct gt_error *err) {
    pcre2_general_context *memory = pcre2_general_context_create(pcre2_alloc, pcre2_release, NULL);
    pcre2_compile_context *options = memory ? pcre2_compile_context_create(memory) : NULL;
    enum gt_status status = GT_OK;
    int code;
    size_t offset;

    pattern->limits = memory ? pcre2_match_context_create(memory) : NULL;
    if (!options || !pattern->limits) {
        status = gt_fail_memory(err);
        goto out;
    }
    /* Bytes, not UTF-8: "(*UTF)" inside the expression would refuse names with other bytes. */
    pattern->code = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED, PCRE2_NEVER_UTF | PCRE2_NEVER_UCP,
                                  &code, &offset, options);
    if (!pattern->code) {
        status = bad_expression(expression, code, offset, err);
        goto out;
    }
    /* Where no executable memory can be had, matching interprets. */
    pcre2_jit_compile(pattern->code, PCRE2_JIT_COMPLETE);
    pcre2_set_match_limit(pattern->limits, MAX_STEPS);
    pcre2_set_depth_limit(pattern->limits, MAX_STEPS);
    pcre2_set_heap_limit(pattern->limits, MAX_HEAP_KIB);
    pattern->match = pcre2_match_data_create(1, memory);
    if (!pattern->match)
        status = gt_fail_memory(err);
out:
    pcre2_compile_context_free(options);
    pcre2_general_context_free(memory);
    return status;
}

static enum gt_status copy_needle(struct gt_pattern *pattern, const char *text, struct gt_error *err) {
    pattern->needle_len = strlen(text);
    pattern->needle = gt_mem_alloc(pattern->needle_len);
    if (!pattern->needle)
        return gt_fail_memory(err);
    memcpy(pattern->needle, text, pattern->needle_len);
    return GT_OK;
}

enum gt_status gt_pattern_new(const char *text, struct gt_pattern **out, struct gt_error *err) {
    struct gt_pattern *pattern = gt_mem_array(1, sizeof(*pattern));
    enum gt_status status;

    *out = NULL;
    if (!pattern)
        return gt_fail_memory(err);
    if (gt_str_starts(gt_str_of(text), GT_STR("re:")))
        status = compile(pattern, text + 3, err);
    else
        status = copy_needle(pattern, text, err);
    if (status != GT_OK) {
        gt_pattern_free(pattern);
        return status;
    }
    *out = pattern;
    return GT_OK;
}

void gt_pattern_free(struct gt_pattern *pattern) {
    if (!pattern)
        return;
    pcre2_match_data_free(pattern->match);
    pcre2_match_context_free(pattern->limits);
    pcre2_code_free(pattern->code);
    gt_mem_free(pattern->needle);
    gt_mem_free(pattern);
}

bool gt_pattern_matches(const struct gt_pattern *pattern, struct gt_str text) {
    PCRE2_SPTR bytes = (PCRE2_SPTR)(text.ptr ? text.ptr : "");
    int found;

    if (pattern->needle)
        return gt_str_find_nocase(text, (struct gt_str){pattern->needle, pattern->needle_len}) != NULL;
    found = pcre2_match(pattern->code, bytes, text.len, 0, 0, pattern->match, pattern->limits);
    /* The compiled code has a small fixed stack; the interpreter takes what the heap limit allows. */
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
        found = pcre2_match(pattern->code, bytes, text.len, 0, PCRE2_NO_JIT, pattern->match, pattern->limits);
    return found >= 0;
}
