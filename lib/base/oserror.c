/* Error numbers as text: an errno comes in, the system's own words with a small first letter go out. */
#include "base/oserror.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *gt_oserror_text(int number, char *buf) {
    char scratch[GT_OSERROR_MAX];
    snprintf(buf, GT_OSERROR_MAX, "%s", strerror_r(number, scratch, sizeof(scratch)));
    if (isupper((unsigned char)buf[0]) && !isupper((unsigned char)buf[1]))
        buf[0] = (char)tolower((unsigned char)buf[0]);
    return buf;
}
