/* Opens files of a directory under temporary names and renames them together. */
#include "export/files.h"

#include <errno.h>
#include <unistd.h>

#include "base/durable.h"
#include "base/mem.h"
#include "base/oserror.h"

enum gt_status gt_files_init(struct gt_files *files, const char *directory, size_t capacity, struct gt_error *err) {
    char reason[GT_OSERROR_MAX];
    *files = (struct gt_files){
        .directory = directory, .capacity = capacity, .outs = gt_mem_array(capacity, sizeof *files->outs)};
    if (!files->outs)
        return gt_fail_memory(err);
    files->is_made = gt_durable_make_folder(directory) == 0;
    if (!files->is_made && errno != EEXIST)
        return gt_fail(err, "cannot create directory '%s': %s", directory, gt_oserror_text(errno, reason));
    return GT_OK;
}

enum gt_status gt_files_open(struct gt_files *files, const char *name, const char *suffix, struct gt_out **out,
                             struct gt_error *err) {
    struct gt_str path = gt_arena_printf(&files->arena, "%s%s%s", files->directory, name, suffix);
    *out = NULL;
    if (gt_arena_failed(&files->arena) || files->count == files->capacity)
        return gt_fail_memory(err);
    enum gt_status status = gt_out_open(path.ptr, out, err);
    if (status == GT_OK)
        files->outs[files->count++] = *out;
    return status;
}

enum gt_status gt_files_commit(struct gt_files *files, struct gt_error *err) {
    enum gt_status status = GT_OK;
    for (size_t i = 0; i < files->count && status == GT_OK; i++)
        status = gt_out_settle(files->outs[i], err);
    for (size_t i = 0; i < files->count && status == GT_OK; i++)
        status = gt_out_commit(files->outs[i], err);
    return status;
}

void gt_files_release(struct gt_files *files) {
    for (size_t i = 0; i < files->count; i++)
        gt_out_close(files->outs[i]);
    if (files->is_made)
        rmdir(files->directory); /* fails, as it should, where it has files */
    gt_mem_free(files->outs);
    gt_arena_release(&files->arena);
    *files = (struct gt_files){0};
}
