/* The time of a report, in UTC, and the check of a time given as text. */
#include "clock.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- ISO 8601 ---- */

static bool take(const char **text, char wanted) {
    bool is_there = **text == wanted;
    *text += is_there;
    return is_there;
}

/* A number of so many digits within bounds; -1: there is none. */
static int take_number(const char **text, size_t digits, int least, int most) {
    int number = 0;
    for (size_t i = 0; i < digits; i++) {
        if (!isdigit((unsigned char)(*text)[i]))
            return -1;
        number = 10 * number + ((*text)[i] - '0');
    }
    *text += digits;
    return number >= least && number <= most ? number : -1;
}

static bool take_date(const char **text) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = take_number(text, 4, 0, 9999);
    int month = year >= 0 && take(text, '-') ? take_number(text, 2, 1, 12) : -1;
    if (month < 0 || !take(text, '-'))
        return false;
    bool is_leap_year = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return take_number(text, 2, 1, days[month - 1] + (month == 2 && is_leap_year)) > 0;
}

/* Minutes, then optional seconds with decimals. */
static bool take_time(const char **text) {
    if (take_number(text, 2, 0, 23) < 0 || !take(text, ':') || take_number(text, 2, 0, 59) < 0)
        return false;
    if (!take(text, ':'))
        return true;
    if (take_number(text, 2, 0, 60) < 0) /* 60: a leap second */
        return false;
    if (!take(text, '.'))
        return true;
    size_t decimals = strspn(*text, "0123456789");
    *text += decimals;
    return decimals > 0;
}

static bool take_zone(const char **text) {
    if (!**text || take(text, 'Z'))
        return true;
    if (!take(text, '+') && !take(text, '-'))
        return false;
    if (take_number(text, 2, 0, 23) < 0)
        return false;
    return !**text || (take(text, ':') && take_number(text, 2, 0, 59) >= 0);
}

bool cli_moment_is_valid(const char *text) {
    if (!take_date(&text))
        return false;
    return !*text || (take(&text, 'T') && take_time(&text) && take_zone(&text) && !*text);
}

/* ---- the time of a report ---- */

static const char *format(time_t when, char text[CLI_TIME_MAX]) {
    struct tm parts;
    if (!gmtime_r(&when, &parts) || strftime(text, CLI_TIME_MAX, "%Y-%m-%dT%H:%M:%S+00:00", &parts) == 0)
        return NULL;
    return text;
}

const char *cli_generated_at(const struct cli_options *options, char text[CLI_TIME_MAX]) {
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    if (options->generated_at)
        return options->generated_at;
    if (epoch && *epoch) {
        char *end;
        errno = 0;
        long long seconds = strtoll(epoch, &end, 10);
        const char *formatted = errno || *end ? NULL : format((time_t)seconds, text);
        if (formatted)
            return formatted;
    }
    return options->directory ? format(time(NULL), text) : NULL;
}
