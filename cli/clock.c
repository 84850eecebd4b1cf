/* The time that reports state, in UTC. */
#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

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
    return options->folder ? format(time(NULL), text) : NULL;
}
