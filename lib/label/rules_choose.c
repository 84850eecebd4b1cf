/* Which rules a user means: a request comes in; the rules of one model, out of all files that hold some, go out. */
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "label/rules_build.h"

static bool is_there(const char *path) {
    struct stat info;
    return stat(path, &info) == 0;
}

/* ---- all there are ---- */

static enum gt_status add_builtin(struct gt_rule_files *files, struct gt_error *err) {
    enum gt_status status = GT_OK;
    struct gt_rule_model model = {0};
    for (size_t i = 0; status == GT_OK && gt_rules_build_engine_model(i, &model.engine, &model.model); i++)
        status = gt_rules_build_files_add(files, model, err);
    return status;
}

/* The user's own files; an empty text where there are none. */
static struct gt_str own_folder(struct gt_arena *arena) {
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct gt_str path = GT_STR("");
    if (base && base[0] == '/')
        path = gt_arena_printf(arena, "%s/gputime/rules", base);
    else if (home && *home)
        path = gt_arena_printf(arena, "%s/.config/gputime/rules", home);
    return path.len && is_there(path.ptr) ? path : GT_STR("");
}

enum gt_status gt_rules_build_files_gather(struct gt_rule_files *files, const struct gt_rules_request *request,
                                           struct gt_error *err) {
    enum gt_status status = add_builtin(files, err);
    struct gt_str own = own_folder(&files->arena);
    if (status == GT_OK && own.len)
        status = gt_rules_build_files_read(files, own.ptr, err);
    for (size_t i = 0; status == GT_OK && i < request->file_count; i++)
        status = gt_rules_build_files_read(files, request->files[i], err);
    return status;
}

const struct gt_rule_model *gt_rules_build_files_find(const struct gt_rule_files *files, struct gt_str engine,
                                                      struct gt_str model, size_t index) {
    while (index-- > 0)
        if (gt_str_eq(files->models[index].engine, engine) && gt_str_eq(files->models[index].model, model))
            return &files->models[index];
    return NULL;
}

/* ---- the one that is asked for ---- */

static bool is_first_of_engine(const struct gt_rule_files *files, size_t index) {
    for (size_t i = 0; i < index; i++)
        if (gt_str_eq(files->models[i].engine, files->models[index].engine))
            return false;
    return true;
}

static bool is_first_of_name(const struct gt_rule_files *files, size_t index) {
    return !gt_rules_build_files_find(files, files->models[index].engine, files->models[index].model, index);
}

/* "vllm: llama, ds; sglang: llama", cut where it gets too long for a message. */
static struct gt_str list_models(struct gt_arena *arena, const struct gt_rule_files *files) {
    struct gt_str list = GT_STR("");
    for (size_t e = 0; files->models && e < files->count; e++) {
        struct gt_str engine = files->models[e].engine;
        if (engine.len == 0 || !is_first_of_engine(files, e))
            continue;
        const char *lead = ": ";
        list = gt_arena_printf(arena, "%s%s%s", list.ptr, list.len ? "; " : "", engine.ptr);
        for (size_t i = e; i < files->count; i++) {
            if (!gt_str_eq(files->models[i].engine, engine) || !is_first_of_name(files, i))
                continue;
            list = gt_arena_printf(arena, "%s%s%s", list.ptr, lead, files->models[i].model.ptr);
            lead = ", ";
            if (list.len > 600)
                return list;
        }
    }
    return list;
}

static enum gt_status fail_model(const struct gt_rules_request *request, struct gt_rule_files *files,
                                 struct gt_error *err) {
    struct gt_str list = list_models(&files->arena, files);
    const char *path = request->path ? request->path : "";
    if (!request->engine && files->count == 0)
        return gt_fail_usage(err, "'%s' contains no rules", path);
    if (!request->engine)
        return gt_fail_usage(err, "'%s' contains several models; choose one with --rules FILE,ENGINE,MODEL: %s", path,
                             list.ptr);
    return gt_fail_usage(err, "no model '%s' of engine '%s'%s%s%s; available: %s", request->model, request->engine,
                         *path ? " in '" : "", path, *path ? "'" : "", list.len ? list.ptr : "none");
}

/* The last of that name, since later files win; without a name the only one there is. */
static const struct gt_rule_model *find_model(const struct gt_rule_files *files,
                                              const struct gt_rules_request *request) {
    if (!request->engine)
        return files->count == 1 ? &files->models[0] : NULL;
    return gt_rules_build_files_find(files, gt_str_of(request->engine), gt_str_of(request->model), files->count);
}

/* Who takes the rules of an engine from a file should know it. */
static void remark_replaced(struct gt_rules *rules, const struct gt_rule_files *files,
                            const struct gt_rule_model *model) {
    size_t index = (size_t)(model - files->models);
    const struct gt_rule_model *replaced =
        model->engine.len ? gt_rules_build_files_find(files, model->engine, model->model, index) : NULL;
    if (replaced && replaced->path)
        rules->remark = gt_arena_printf(&rules->arena, "Rules %s come from '%s' and replace those of '%s'.",
                                        rules->source, model->path, replaced->path)
                            .ptr;
    else if (replaced)
        rules->remark = gt_arena_printf(&rules->arena, "Rules %s come from '%s' and replace the built-in ones.",
                                        rules->source, model->path)
                            .ptr;
}

static enum gt_status take_model(struct gt_rules *rules, const struct gt_rule_files *files,
                                 const struct gt_rule_model *model, struct gt_error *err) {
    rules->source = model->engine.len ? gt_arena_printf(&rules->arena, "%s/%s", model->engine.ptr, model->model.ptr).ptr
                                      : gt_arena_copy(&rules->arena, gt_str_of(model->path)).ptr;
    remark_replaced(rules, files, model);
    return gt_rules_build_add_model(rules, model, err);
}

enum gt_status gt_rules_build_choose(struct gt_rules *rules, const struct gt_rules_request *request,
                                     struct gt_error *err) {
    struct gt_rule_files files = {0};
    if (!request->engine != !request->model)
        return gt_fail_usage(err, "rules of an engine need both the engine and the model");
    enum gt_status status = request->path ? gt_rules_build_files_read(&files, request->path, err)
                                          : gt_rules_build_files_gather(&files, request, err);
    if (status == GT_OK) {
        const struct gt_rule_model *model = find_model(&files, request);
        status = model ? take_model(rules, &files, model, err) : fail_model(request, &files, err);
    }
    if (status == GT_OK && gt_arena_failed(&files.arena))
        status = gt_fail_memory(err);
    gt_rules_build_files_release(&files);
    return status;
}
