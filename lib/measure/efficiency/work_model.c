/* Finds the model of an operator and applies it. */
#include "measure/efficiency/work_model.h"

#include "base/mem.h"
#include "measure/efficiency/work_formulas.h"

const struct gt_family_info gt_family_infos[GT_FAMILY_COUNT] = {
#define GT_FAMILY(key, name, words, is_matrix) [GT_FAMILY_##key] = {name, words, is_matrix},
#include "measure/efficiency/families.def"
#undef GT_FAMILY
};

#define ARG(n) ((n) + 1)
#define GT_MODEL(text, kind, how, ...)                                                                                 \
    {.name = {text, sizeof(text) - 1}, .family = GT_FAMILY_##kind, .formula = gt_work_formulas_##how, __VA_ARGS__},
#define GT_PREFIX(text, kind, how, ...)                                                                                \
    {.name = {text, sizeof(text) - 1},                                                                                 \
     .family = GT_FAMILY_##kind,                                                                                       \
     .formula = gt_work_formulas_##how,                                                                                \
     .is_prefix = true,                                                                                                \
     __VA_ARGS__},
static const struct gt_work_model models[] = {
#include "measure/efficiency/work_models.def"
};
#undef GT_MODEL
#undef GT_PREFIX

static bool is_of(const struct gt_work_model *model, struct gt_str name) {
    return model->is_prefix ? gt_str_starts(name, model->name) : gt_str_eq(name, model->name);
}

const struct gt_work_model *gt_work_model_find(struct gt_str name) {
    struct gt_str plain = name;
    for (size_t i = 0; i < GT_ARRAY_COUNT(models); i++)
        if (is_of(&models[i], name))
            return &models[i];
    if (!gt_str_take_end(&plain, GT_STR("_")))
        return NULL;
    for (size_t i = 0; i < GT_ARRAY_COUNT(models); i++)
        if (models[i].family == GT_FAMILY_ELEMENTWISE && gt_str_eq(models[i].name, plain))
            return &models[i];
    return NULL;
}

/* Parsed sizes may be any: numbers that a report cannot show are no work. */
static bool fits(const struct gt_work *work) {
    return gt_work_math_fits(work->flops) && gt_work_math_fits(work->model_flops) &&
           gt_work_math_fits(work->dense_flops) && work->bytes >= 0 && gt_work_math_fits(work->bytes);
}

bool gt_work_model_apply(const struct gt_work_model *model, const struct gt_work_args *args, struct gt_work *work) {
    *work = (struct gt_work){.flops = -1, .family = (uint8_t)model->family};
    if (!model->formula(model, args, work))
        return false;
    if (work->flops >= 0 && !work->model_flops && !work->dense_flops)
        work->model_flops = work->dense_flops = work->flops;
    return fits(work);
}
