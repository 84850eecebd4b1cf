/* Names of Python functions as profilers write them: "train.py(41): log_metrics". */
#ifndef GT_MEASURE_FINDINGS_PYTHON_CODE_H
#define GT_MEASURE_FINDINGS_PYTHON_CODE_H

#include "base/str.h"

/* It has a file and a line, unlike "<built-in method sleep of ...>". */
bool gt_python_code_has_line(struct gt_str name);

/* A function of the program itself: of no library that programs call for one thing (python_code.def), and no file as a
   whole ("train.py(1): <module>"), which says nothing. */
bool gt_python_code_is_own(struct gt_str name);

#endif
