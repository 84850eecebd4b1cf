/* Names as C++ compilers mangle them for Linux (`_ZN2ns6kernelIfEEvPT_i`): finds the function's own name. */
#ifndef GT_BASE_MANGLED_H
#define GT_BASE_MANGLED_H

#include "base/str.h"

/* The part of text that is the function's own name, without namespaces and arguments (`kernel`); of a lambda, that of
   the function around it. Empty: the text is not mangled, or not understood. Text that is cut off in the arguments is
   understood. Linear. */
struct gt_str gt_mangled_name(struct gt_str text);
/* The same of the first template argument of `name`, a part of text, that is no number; empty if it is no class. */
struct gt_str gt_mangled_argument(struct gt_str text, struct gt_str name);

#endif
