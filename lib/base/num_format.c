/* Numbers for files and people: integers and doubles come in, text that no locale changes goes out. */
#include <assert.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/num.h"

