/* Digits of numbers: an integer, or a format as printf has them, comes in, text that no locale changes goes out. */
#include "base/num_digits.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

static size_t count_digits(uint64_t value) {
    size_t count = 1;

    for (; value >= 10000; value /= 10000)
        count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* From the end, two at a time: half as many divisions, and no text to turn around. */
size_t gt_num_digits_put(char *buf, uint64_t value, size_t min_digits) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                                "25262728293031323334353637383940414243444546474849"
                                "50515253545556575859606162636465666768697071727374"
                                "75767778798081828384858687888990919293949596979899";
    size_t needed = count_digits(value), count = needed > min_digits ? needed : min_digits, at = count;

    for (; value >= 100; value /= 100)
        memcpy(buf + (at -= 2), pairs + value % 100 * 2, 2);
    if (value >= 10)
        memcpy(buf + (at -= 2), pairs + value * 2, 2);
    else
        buf[--at] = (char)('0' + value);
    memset(buf, '0', at);
    return count;
}

size_t gt_num_digits_print(char *buf, const char *format, ...) {
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(plain);
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(buf, GT_NUM_MAX, format, args);
    va_end(args);
    uselocale(before);
    if (plain)
        freelocale(plain);
    return length < 0 ? 0 : (size_t)length;
}
