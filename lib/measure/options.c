/* The table of the analyses' options, from options.def: values that a user gives come in, one for each option goes out.
 */
#include "measure/options.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "measure/efficiency/gpu_peaks.h"

#define INFO(analysis_, key_, type_, ...)                                                                              \
    [GT_OPTION_##key_] = {.analysis = #analysis_, .automatic = {.key = #key_, .type = (type_)}, __VA_ARGS__},
#define GT_FLAG(analysis, key, value, text)                                                                            \
    INFO(analysis, key, GPUTIME_OPTION_FLAG, .automatic.integer = (value), .min = 0, .max = 1, .unit = "",             \
         .help = (text))
#define GT_INT(analysis, key, value, least, most, of, text)                                                            \
    INFO(analysis, key, GPUTIME_OPTION_INT, .automatic.integer = (value), .min = (double)(least),                      \
         .max = (double)(most), .unit = (of), .help = (text))
#define GT_REAL(analysis, key, value, least, most, of, text)                                                           \
    INFO(analysis, key, GPUTIME_OPTION_REAL, .automatic.real = (value), .min = (least), .max = (most), .unit = (of),   \
         .help = (text))
#define GT_TEXT(analysis, key, text) INFO(analysis, key, GPUTIME_OPTION_TEXT, .unit = "", .help = (text))
#define GT_CHOICE(analysis, key, all, text)                                                                            \
    INFO(analysis, key, GPUTIME_OPTION_CHOICE, .choices = (all), .unit = "", .help = (text))
const struct gputime_option_info gt_option_infos[GT_OPTION_COUNT] = {
#include "measure/options.def"
};

static const char *const type_names[] = {[GPUTIME_OPTION_FLAG] = "a flag",
                                         [GPUTIME_OPTION_INT] = "a whole number",
                                         [GPUTIME_OPTION_REAL] = "a number",
                                         [GPUTIME_OPTION_TEXT] = "text",
                                         [GPUTIME_OPTION_CHOICE] = "a choice"};

/* Place of the text in "a|b|c"; SIZE_MAX: it is not there. No text is the first. */
static size_t find_choice(const char *choices, const char *text) {
    size_t index = 0, bytes = text ? strlen(text) : 0;
    if (!text)
        return 0;
    for (const char *choice = choices; choice; index++) {
        size_t length = strcspn(choice, "|");
        if (length == bytes && memcmp(choice, text, bytes) == 0)
            return index;
        choice = choice[length] ? choice + length + 1 : NULL;
    }
    return SIZE_MAX;
}

static enum gt_status fail_range(const struct gputime_option_info *info, double value, struct gt_error *err) {
    char least[GT_NUM_MAX], most[GT_NUM_MAX], given[GT_NUM_MAX];
    gt_num_format_real(least, info->min);
    gt_num_format_real(most, info->max);
    gt_num_format_real(given, value);
    return gt_fail_usage(err, "option '%s' of analysis '%s' must be from %s to %s, not %s", info->automatic.key,
                         info->analysis, least, most, given);
}

static enum gt_status check(const struct gputime_option_info *info, const struct gputime_option *given,
                            struct gt_error *err) {
    double number = given->type == GPUTIME_OPTION_REAL ? given->real : (double)given->integer;
    bool is_number = given->type == GPUTIME_OPTION_INT || given->type == GPUTIME_OPTION_REAL;
    if (given->type != info->automatic.type)
        return gt_fail_usage(err, "option '%s' of analysis '%s' takes %s, not %s", given->key, info->analysis,
                             type_names[info->automatic.type],
                             given->type <= GPUTIME_OPTION_CHOICE ? type_names[given->type] : "something else");
    if (is_number && !(number >= info->min && number <= info->max))
        return fail_range(info, number, err);
    if (given->type == GPUTIME_OPTION_CHOICE && find_choice(info->choices, given->text) == SIZE_MAX)
        return gt_fail_usage(err, "option '%s' of analysis '%s' cannot be '%.80s'; available: %s", given->key,
                             info->analysis, given->text, info->choices);
    return GT_OK;
}

static enum gt_status fail_key(const char *key, struct gt_error *err) {
    char keys[600] = "";
    size_t used = 0;
    for (size_t i = 0; i < GT_OPTION_COUNT; i++) {
        const char *known = gt_option_infos[i].automatic.key;
        if (used + strlen(known) + sizeof ", " > sizeof keys)
            break;
        used += (size_t)snprintf(keys + used, sizeof keys - used, "%s%s", used ? ", " : "", known);
    }
    return gt_fail_usage(err, "no analysis has an option '%.80s'; available: %s", key ? key : "", keys);
}

enum gt_status gt_options_complete(const struct gputime_option *given, size_t count, struct gt_arena *arena,
                                   const struct gputime_option **out, struct gt_error *err) {
    struct gputime_option *all = gt_arena_array(arena, GT_OPTION_COUNT, sizeof *all);
    if (!all)
        return gt_fail_memory(err);
    for (size_t i = 0; i < GT_OPTION_COUNT; i++)
        all[i] = gt_option_infos[i].automatic;
    for (size_t g = 0; g < count; g++) {
        size_t i = 0;
        while (i < GT_OPTION_COUNT && (!given[g].key || strcmp(all[i].key, given[g].key) != 0))
            i++;
        if (i == GT_OPTION_COUNT)
            return fail_key(given[g].key, err);
        enum gt_status status = check(&gt_option_infos[i], &given[g], err);
        if (status != GT_OK)
            return status;
        all[i] = given[g];
    }
    *out = all;
    /* texts that are read by an analysis: wrong ones should not wait for the whole trace */
    struct gt_gpu_given gpu;
    return gt_gpu_peaks_parse(all[GT_OPTION_peak].text, all[GT_OPTION_bandwidth].text, all[GT_OPTION_gpu].text, &gpu,
                              err);
}

const struct gputime_option *gt_option_of(const struct gt_view *view, enum gt_option_id id) {
    return view->request->options ? &view->request->options[id] : &gt_option_infos[id].automatic;
}

size_t gt_option_choice(const struct gt_view *view, enum gt_option_id id) {
    return find_choice(gt_option_infos[id].choices, gt_option_text(view, id));
}
