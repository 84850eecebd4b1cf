/* The operating system's error numbers as text in the library's wording. */
#ifndef GT_BASE_OSERROR_H
#define GT_BASE_OSERROR_H

#define GT_OSERROR_MAX 128

/* "no such file or directory". Written to buf (GT_OSERROR_MAX bytes), which is returned; safe from any thread. */
const char *gt_oserror_text(int number, char *buf);

#endif
