/* Names of kernels, ranges and calls come in; names fit to share go out. */
#include "redact/redact_names.h"

#include <stdio.h>

#include "label/builtin.h"
#include "label/label.h"

enum { PLAIN_MAX = 128 };

bool gt_redact_names_init(struct gt_redact_names *names, bool hides_all) {
    *names = (struct gt_redact_names){.hides_all = hides_all, .builtin = gt_builtin_new()};
    return names->builtin != NULL;
}

void gt_redact_names_release(struct gt_redact_names *names) {
    if (names->builtin)
        gt_builtin_free(names->builtin);
    gt_map_release(&names->digits);
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

/* Slashes that are after a word or a closing bracket divide, as in "jit(step)/add": they begin no path. */
static bool begins_word(struct gt_str text, size_t at) {
    if (at == 0)
        return true;
    char before = text.ptr[at - 1];
    return !is_word(before) && !(before && strchr(")]}.-/\\", before));
}

/* Folders of a file system, wherever they are: "-I/usr/include". */
static bool is_known_folder_at(struct gt_str rest) {
    static const struct gt_str folders[] = {GT_STR("/home/"), GT_STR("/Users/"), GT_STR("/root/"),
                                            GT_STR("/tmp/"),  GT_STR("/opt/"),   GT_STR("/usr/"),
                                            GT_STR("/var/"),  GT_STR("/mnt/"),   GT_STR("/etc/")};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (gt_str_starts(rest, folders[i]))
            return true;
    return false;
}

static bool is_path_at(struct gt_str text, size_t at) {
    struct gt_str rest = {text.ptr + at, text.len - at};
    if (is_known_folder_at(rest))
        return true;
    if (!begins_word(text, at))
        return false;
    if (gt_str_starts(rest, GT_STR("~/")) || gt_str_starts(rest, GT_STR("../")) || gt_str_starts(rest, GT_STR("./")))
        return true;
    if (rest.len >= 2 && rest.ptr[0] == '/' && (is_word(rest.ptr[1]) || rest.ptr[1] == '.' || rest.ptr[1] == '/'))
        return true;
    return rest.len >= 3 && is_word(rest.ptr[0]) && rest.ptr[1] == ':' && rest.ptr[2] == '\\';
}

bool gt_redact_names_has_path(struct gt_str text) {
    for (size_t i = 0; i < text.len; i++)
        if (is_path_at(text, i))
            return true;
    return false;
}

bool gt_redact_names_is_plain(struct gt_str text) {
    for (size_t i = 0; i < text.len; i++)
        if ((text.ptr[i] & 0x80) || !(is_word(text.ptr[i]) || (text.ptr[i] && strchr(" .:-", text.ptr[i]))))
            return false;
    return text.len <= PLAIN_MAX;
}

/* FNV-1a, then mixed so that all digits depend on all bytes. */
static uint64_t hash(struct gt_str text) {
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.len; i++)
        value = (value ^ (unsigned char)text.ptr[i]) * UINT64_C(0x100000001b3);
    value = (value ^ value >> 33) * UINT64_C(0xff51afd7ed558ccd);
    value = (value ^ value >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return value ^ value >> 33;
}

static const char *prefix(struct gt_redact_names *names, enum gt_redact_role role, struct gt_str name) {
    if (role == GT_REDACT_RANGE)
        return "r_";
    if (role == GT_REDACT_CALL)
        return "c_";
    struct gt_builtin_answer answer = gt_builtin_kernel(names->builtin, name, gt_label_simplify_name(name));
    return answer.category == GT_CATEGORY_comm ? "nccl_" : "k_";
}

/* Eight digits, unless a different name of the file has the same eight. */
struct gt_str gt_redact_names_hash(struct gt_redact_names *names, enum gt_redact_role role, struct gt_str name) {
    uint64_t value = hash(name);
    uint32_t rest = (uint32_t)value & INT32_MAX; /* any but GT_MAP_NONE */
    const char *begin = prefix(names, role, name);
    int len = gt_map_put_if_new(&names->digits, role, value >> 32, rest) == rest
                  ? snprintf(names->text, sizeof names->text, "%s%08x", begin, (uint32_t)(value >> 32))
                  : snprintf(names->text, sizeof names->text, "%s%016llx", begin, (unsigned long long)value);
    return (struct gt_str){names->text, (size_t)len};
}

struct gt_str gt_redact_names_digits(struct gt_redact_names *names, struct gt_str text) {
    int len = snprintf(names->text, sizeof names->text, "%016llx", (unsigned long long)hash(text));
    return (struct gt_str){names->text, (size_t)len};
}

/* "dlopen(libname.so)": the library may be the user's. */
static struct gt_str cut_arguments(struct gt_str name) {
    const char *bracket = name.len ? memchr(name.ptr, '(', name.len) : NULL;
    return bracket ? (struct gt_str){name.ptr, (size_t)(bracket - name.ptr)} : name;
}

struct gt_str gt_redact_names_hide(struct gt_redact_names *names, enum gt_redact_role role, struct gt_str name) {
    if (role == GT_REDACT_CALL) {
        struct gt_str call = cut_arguments(name);
        return gt_redact_names_is_plain(call) ? call : gt_redact_names_hash(names, role, name);
    }
    return name.len && (names->hides_all || gt_redact_names_has_path(name)) ? gt_redact_names_hash(names, role, name)
                                                                            : name;
}
