/* What a rank's clock shows at a true time, and when its profiler runs. Ranks of a host share its clock but for the
   calibration of each profiler. */
#include "job.h"

enum { HOST_OFFSET_NS = 5000000, RANK_OFFSET_NS = 20000 };

static int64_t around_zero(uint64_t key, int64_t most) {
    return (int64_t)((2 * draw_unit(key) - 1) * (double)most);
}

struct clock clock_of(const struct options *options, uint32_t rank) {
    uint32_t host = rank / options->gpus_per_host;
    struct clock clock = {0, 0};
    if (options->has_skew)
        clock.offset_ns = around_zero(draw_key(options->seed, 11, 0, host), HOST_OFFSET_NS) +
                          around_zero(draw_key(options->seed, 12, 0, rank), RANK_OFFSET_NS);
    if (options->drift_ppm != 0)
        clock.drift_ppm = options->drift_ppm * (2 * draw_unit(draw_key(options->seed, 13, 0, host)) - 1);
    return clock;
}

int64_t clock_read(struct clock clock, int64_t ns) {
    return ns + clock.offset_ns + (int64_t)((double)ns * clock.drift_ppm / 1e6);
}

/* Begin and end of the profiler: apart, within the first and the last step. */
struct step_times clock_window(const struct job *job, uint32_t rank) {
    const struct options *options = &job->options;
    const struct step_times *steps = &job->step_times[rank * options->steps];
    const struct step_times *last = &steps[options->steps - 1];
    struct step_times window = {steps->begin_ns, last->end_ns};
    if (options->has_windows_apart) {
        double begin = 0.6 * draw_unit(draw_key(options->seed, 14, 0, rank));
        double end = 0.6 * draw_unit(draw_key(options->seed, 15, 0, rank));
        window.begin_ns += (int64_t)(begin * (double)(steps->end_ns - steps->begin_ns));
        window.end_ns -= (int64_t)(end * (double)(last->end_ns - last->begin_ns));
    }
    return window;
}

/* The profiler has what was asked for while it ran. */
bool clock_records(struct step_times window, const struct event *event) {
    return event->op_start_ns >= window.begin_ns && event->op_start_ns < window.end_ns;
}
