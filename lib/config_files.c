/* Finds the files that a configuration names, or says what is wrong with them. */
#include "config_files.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/oserror.h"
#include "base/source.h"
#include "decode/decoder.h"

const char *gt_config_file_find(struct gt_arena *arena, struct gt_str directory, struct gt_str given) {
    if (given.ptr[0] == '/' || access(given.ptr, F_OK) == 0)
        return given.ptr;
    const char *next_to_it = gt_arena_printf(arena, "%s%s", directory.ptr, given.ptr).ptr;
    return access(next_to_it, F_OK) == 0 ? next_to_it : given.ptr;
}

enum gt_status gt_config_file_check(const char *path, const char *config_path, struct gt_error *err) {
    struct stat info;
    char reason[GT_OSERROR_MAX];
    if (stat(path, &info) != 0)
        return gt_fail(err, "cannot read '%s': %s; searched in the current directory and next to '%s'", path,
                       gt_oserror_text(errno, reason), config_path);
    if (S_ISDIR(info.st_mode))
        return gt_fail(err, "cannot read '%s': it is a directory; give a file in it", path);
    if (access(path, R_OK) != 0)
        return gt_fail(err, "cannot read '%s': %s", path, gt_oserror_text(errno, reason));
    return GT_OK;
}

/* Errors in the file itself are reported when it is read. */
const char *gt_config_file_format(const char *path) {
    struct stat info;
    struct gt_source *source = NULL;
    const struct gt_decoder *decoder = NULL;
    struct gt_error ignored = {0};
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return NULL;
    if (gt_source_open(path, &source, &ignored) == GT_OK)
        gt_decoder_choose(source, &decoder, &ignored);
    gt_source_close(source);
    return decoder ? decoder->key : NULL;
}
