/* Fuzzes what reads names: the short name of a kernel, mangled names, what NCCL's names say, globs and UTF-8. The bytes
   up to the first 0xff are a glob, the rest is a name. */
#include "base/glob.h"
#include "base/mangled.h"
#include "base/utf8.h"
#include "label/label.h"
#include "label/nccl_name.h"
#include "text_input.h"

static bool is_inside(struct gt_str part, struct gt_str whole) {
    return part.len == 0 || (part.ptr >= whole.ptr && part.ptr + part.len <= whole.ptr + whole.len);
}

static void read_name(struct gt_str name) {
    const char *algorithm = NULL, *protocol = NULL;
    struct gt_str simple = gt_label_simplify_name(name), own = gt_mangled_name(name);
    fuzz_must(is_inside(simple, name) && (simple.len > 0) == (name.len > 0));
    fuzz_must(is_inside(own, name) && is_inside(gt_mangled_argument(name, own), name));
    struct gt_str again = gt_label_simplify_name(simple);
    fuzz_must(is_inside(again, simple));
    gt_nccl_name_read(simple, &algorithm, &protocol);
}

static void read_characters(struct gt_str name) {
    size_t bytes = gt_utf8_valid_bytes(name);
    fuzz_must(bytes <= 3 * name.len);
    char *valid = malloc(bytes + 1);
    if (!valid)
        return;
    fuzz_must(gt_utf8_put_valid(valid, name) == valid + bytes);
    struct gt_str made = {valid, bytes};
    fuzz_must(gt_utf8_is_valid(made) && (!gt_utf8_is_valid(name) || gt_str_eq(made, name)));
    free(valid);
}

/* As plainly as can be; with a bound on the work, beyond which it does not know (-1). */
static int matches_plainly(struct gt_str glob, struct gt_str text, int *work) {
    if (--*work < 0)
        return -1;
    if (glob.len == 0)
        return text.len == 0;
    struct gt_str rest = {glob.ptr + 1, glob.len - 1};
    if (glob.ptr[0] == '*') {
        for (size_t i = 0; i <= text.len; i++) {
            int found = matches_plainly(rest, (struct gt_str){text.ptr + i, text.len - i}, work);
            if (found)
                return found;
        }
        return 0;
    }
    bool is_any = glob.ptr[0] == '?';
    if (glob.ptr[0] == '\\' && rest.len && strchr("*?\\", rest.ptr[0]) && rest.ptr[0]) {
        glob = rest;
        rest = (struct gt_str){glob.ptr + 1, glob.len - 1};
    }
    if (text.len == 0 || (!is_any && glob.ptr[0] != text.ptr[0]))
        return 0;
    return matches_plainly(rest, (struct gt_str){text.ptr + 1, text.len - 1}, work);
}

static void match(struct gt_str glob, struct gt_str name) {
    int work = 20000, found = matches_plainly(glob, name, &work);
    fuzz_must(found < 0 || gt_glob_matches(glob, name) == (found > 0));
    struct gt_arena arena = {0};
    struct gt_str only = gt_glob_of_name(&arena, name);
    fuzz_must(gt_glob_matches(only, name));
    gt_glob_plain(&arena, glob);
    gt_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = fuzz_text(data, size);
    if (text) {
        const char *stop = memchr(text, 0xff, size);
        struct gt_str glob = {text, stop ? (size_t)(stop - text) : 0};
        struct gt_str name = {stop ? stop + 1 : text, stop ? size - glob.len - 1 : size};
        read_name(name);
        read_characters(name);
        match(glob, name);
    }
    free(text);
    return 0;
}
