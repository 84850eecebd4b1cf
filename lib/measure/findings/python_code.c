/* Separates functions of the program from those of libraries by the paths of their files. */
#include "measure/findings/python_code.h"

#include "base/mem.h"

static const char *const libraries[] = {
#define GT_PYTHON_LIBRARY(name) name,
#include "measure/findings/python_code.def"
#undef GT_PYTHON_LIBRARY
};

/* Folders of what is installed. */
static const char *const installed[] = {"site-packages/", "dist-packages/", "/lib/python"};

bool gt_python_code_has_line(struct gt_str name) {
    return gt_str_find_nocase(name, GT_STR(".py(")) != NULL;
}

/* "json" of "json/encoder.py(205): iterencode" */
static struct gt_str first_part(struct gt_str name) {
    size_t length = 0;
    while (length < name.len && name.ptr[length] != '/' && name.ptr[length] != '.')
        length++;
    return (struct gt_str){name.ptr, length};
}

static bool is_library(struct gt_str name) {
    struct gt_str package = first_part(name);
    for (size_t i = 0; i < GT_ARRAY_COUNT(installed); i++)
        if (gt_str_find_nocase(name, gt_str_of(installed[i])))
            return true;
    for (size_t i = 0; i < GT_ARRAY_COUNT(libraries); i++)
        if (gt_str_eq(package, gt_str_of(libraries[i])))
            return true;
    return false;
}

bool gt_python_code_is_own(struct gt_str name) {
    return gt_python_code_has_line(name) && !gt_str_find_nocase(name, GT_STR("): <module>")) && !is_library(name);
}
